//! The blocks of a run of a note as a few bytes each: what an answer needs beside the text.
//!
//! Strings that repeat (sections, authors, conversations) stand once, numbers are differences in
//! variable length, which begin anew now and then so that one block can be had without all before it. The text itself is in the full-text store and not repeated here.

use std::collections::HashMap;
use std::sync::Arc;

use super::block::{Block, Kind, Role};

/// The bytes are not what [`pack`] wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torn;

const TIME: u64 = 1;
const ROLE: u64 = 2;
const CONTEXT: u64 = 4;
const ID: u64 = 8;
const TAGS: u64 = 16;
const LINKS: u64 = 32;
const DATES: u64 = 64;
const SECTION: u64 = 128;
const AUTHOR: u64 = 256;

/// As many blocks are packed one after the other; then the differences begin anew.
const STRETCH: usize = 64;

/// Packs all of `blocks` but their texts.
pub fn pack(blocks: &[Block]) -> Vec<u8> {
    let mut names = Names::default();
    let stretches: Vec<Vec<u8>> = blocks
        .chunks(STRETCH)
        .map(|blocks| {
            let mut body = Vec::with_capacity(blocks.len() * 10);
            let mut last = Last::default();
            blocks.iter().for_each(|block| put(&mut body, block, &mut names, &mut last));
            body
        })
        .collect();
    let mut out = Vec::with_capacity(blocks.len() * 10 + 16);
    number(&mut out, blocks.len() as u64);
    number(&mut out, names.order.len() as u64);
    names.order.iter().for_each(|name| text(&mut out, name));
    for stretch in stretches {
        number(&mut out, stretch.len() as u64);
        out.extend_from_slice(&stretch);
    }
    out
}

/// Strings that repeat, each at its place.
#[derive(Default)]
struct Names {
    places: HashMap<Arc<str>, u64>,
    order: Vec<Arc<str>>,
}

impl Names {
    fn place(&mut self, name: &Arc<str>) -> u64 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.order.len() as u64;
        self.places.insert(Arc::clone(name), place);
        self.order.push(Arc::clone(name));
        place
    }
}

/// What differences are taken from.
#[derive(Default)]
struct Last {
    line: i64,
    start: i64,
    time: i64,
}

fn put(body: &mut Vec<u8>, block: &Block, names: &mut Names, last: &mut Last) {
    let section = block.section.as_ref().map(|name| names.place(name));
    let author = block.author.as_ref().map(|name| names.place(name));
    let context = block.context_id.as_ref().map(|name| names.place(name));
    let flag = |set: bool, bit| if set { bit } else { 0 };
    let flags = flag(block.time.is_some(), TIME)
        | flag(block.role.is_some(), ROLE)
        | flag(context.is_some(), CONTEXT)
        | flag(block.block_id.is_some(), ID)
        | flag(!block.tags.is_empty(), TAGS)
        | flag(!block.links.is_empty(), LINKS)
        | flag(!block.dates.is_empty(), DATES)
        | flag(section.is_some(), SECTION)
        | flag(author.is_some(), AUTHOR);
    number(body, flags << 4 | block.kind as u64);
    signed(body, i64::from(block.line) - last.line);
    number(body, u64::from(block.end_line.saturating_sub(block.line)));
    signed(body, i64::from(block.start) - last.start);
    number(body, u64::from(block.end.saturating_sub(block.start)));
    last.line = i64::from(block.line);
    last.start = i64::from(block.start);
    if let Some(at) = block.time {
        signed(body, at.wrapping_sub(last.time));
        last.time = at;
    }
    if let Some(role) = block.role {
        body.push(role as u8);
    }
    for index in [section, author, context].into_iter().flatten() {
        number(body, index);
    }
    if let Some(id) = &block.block_id {
        text(body, id);
    }
    for list in [&block.tags, &block.links, &block.dates] {
        if !list.is_empty() {
            number(body, list.len() as u64);
            list.iter().for_each(|item| text(body, item));
        }
    }
}

/// The blocks that [`pack`] packed, their texts empty.
pub fn unpack(bytes: &[u8]) -> Result<Vec<Block>, Torn> {
    let (count, names, mut read) = open(bytes)?;
    let names: Vec<Arc<str>> = names.into_iter().map(Arc::from).collect();
    let mut blocks = Vec::with_capacity(count.min(bytes.len()));
    while blocks.len() < count {
        let mut stretch = Read(read.bytes()?);
        let mut last = Last::default();
        for _ in 0..STRETCH.min(count - blocks.len()) {
            blocks.push(take(&mut stretch, &names, &mut last)?);
        }
    }
    Ok(blocks)
}

/// The block at place `at` alone.
pub fn unpack_one(bytes: &[u8], at: usize) -> Result<Block, Torn> {
    let (count, names, mut read) = open(bytes)?;
    if at >= count {
        return Err(Torn);
    }
    for _ in 0..at / STRETCH {
        read.bytes()?;
    }
    let mut stretch = Read(read.bytes()?);
    let mut last = Last::default();
    for _ in 0..at % STRETCH {
        take(&mut stretch, &names, &mut last)?;
    }
    take(&mut stretch, &names, &mut last)
}

/// The number of blocks, the names, and what follows.
fn open(bytes: &[u8]) -> Result<(usize, Vec<&str>, Read<'_>), Torn> {
    let mut read = Read(bytes);
    let count = usize::try_from(read.number()?).map_err(|_| Torn)?;
    let names = (0..read.number()?).map(|_| read.text()).collect::<Result<Vec<&str>, Torn>>()?;
    Ok((count, names, read))
}

fn take<N: Clone + Into<Arc<str>>>(read: &mut Read<'_>, names: &[N], last: &mut Last) -> Result<Block, Torn> {
    let head = read.number()?;
    let flags = head >> 4;
    let kind = *usize::try_from(head & 15).ok().and_then(|code| Kind::ALL.get(code)).ok_or(Torn)?;
    let mut block = Block::new(kind, 0, 0, String::new());
    last.line = last.line.wrapping_add(read.signed()?);
    block.line = u32::try_from(last.line).map_err(|_| Torn)?;
    block.end_line = block.line.wrapping_add(u32::try_from(read.number()?).map_err(|_| Torn)?);
    last.start = last.start.wrapping_add(read.signed()?);
    block.start = u32::try_from(last.start).map_err(|_| Torn)?;
    block.end = block.start.wrapping_add(u32::try_from(read.number()?).map_err(|_| Torn)?);
    if flags & TIME != 0 {
        last.time = last.time.wrapping_add(read.signed()?);
        block.time = Some(last.time);
    }
    if flags & ROLE != 0 {
        block.role = Some(match read.byte()? {
            0 => Role::User,
            1 => Role::Agent,
            2 => Role::Tool,
            _ => return Err(Torn),
        });
    }
    let name = |read: &mut Read<'_>, bit| -> Result<Option<Arc<str>>, Torn> {
        if flags & bit == 0 {
            return Ok(None);
        }
        let index = usize::try_from(read.number()?).map_err(|_| Torn)?;
        names.get(index).cloned().map(|name| Some(name.into())).ok_or(Torn)
    };
    block.section = name(read, SECTION)?;
    block.author = name(read, AUTHOR)?;
    block.context_id = name(read, CONTEXT)?;
    if flags & ID != 0 {
        block.block_id = Some(read.text()?.to_owned());
    }
    for (bit, list) in [(TAGS, &mut block.tags), (LINKS, &mut block.links), (DATES, &mut block.dates)] {
        if flags & bit != 0 {
            for _ in 0..read.number()? {
                list.push(read.text()?.to_owned());
            }
        }
    }
    Ok(block)
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn signed(out: &mut Vec<u8>, value: i64) {
    number(out, ((value << 1) ^ (value >> 63)) as u64);
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

struct Read<'a>(&'a [u8]);

impl<'a> Read<'a> {
    fn byte(&mut self) -> Result<u8, Torn> {
        let (first, rest) = self.0.split_first().ok_or(Torn)?;
        self.0 = rest;
        Ok(*first)
    }

    fn number(&mut self) -> Result<u64, Torn> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Torn)
    }

    fn signed(&mut self) -> Result<i64, Torn> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Torn> {
        let length = usize::try_from(self.number()?).map_err(|_| Torn)?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Torn)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<&'a str, Torn> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Torn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block() -> impl Strategy<Value = Block> {
        (
            (0..Kind::ALL.len(), any::<u16>(), any::<u16>(), any::<u32>(), any::<u16>()),
            (
                any::<Option<i64>>(),
                any::<Option<bool>>(),
                proptest::option::of("[a-c]{0,2}"),
                proptest::option::of(".{0,3}"),
            ),
            (proptest::collection::vec(".{0,4}", 0..3), proptest::collection::vec("[a-z]", 0..3)),
        )
            .prop_map(
                |((kind, line, lines, start, length), (time, role, section, id), (tags, links))| {
                    let mut block = Block::new(Kind::ALL[kind], 0, 0, String::new());
                    block.line = u32::from(line);
                    block.end_line = block.line + u32::from(lines);
                    block.start = start / 2;
                    block.end = block.start + u32::from(length);
                    block.time = time;
                    block.role = role.map(|user| if user { Role::User } else { Role::Tool });
                    block.section = section.map(Arc::from);
                    block.block_id = id;
                    block.tags = tags;
                    block.links = links;
                    block
                },
            )
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back(blocks in proptest::collection::vec(block(), 0..8), times in 1..30usize) {
            let blocks: Vec<Block> = std::iter::repeat_n(blocks, times).flatten().collect();
            let packed = pack(&blocks);
            for (at, block) in blocks.iter().enumerate() {
                prop_assert_eq!(&unpack_one(&packed, at).unwrap(), block);
            }
            prop_assert_eq!(unpack_one(&packed, blocks.len()), Err(Torn));
            prop_assert_eq!(unpack(&packed).unwrap(), blocks);
        }

        #[test]
        fn torn_bytes_are_an_error_or_blocks_but_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = unpack(&bytes);
            let _ = unpack_one(&bytes, bytes.len() / 2);
        }
    }
}
