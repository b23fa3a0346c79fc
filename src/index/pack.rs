//! The blocks of a run of a note as a few bytes each: what an answer needs beside the text.
//!
//! Strings that repeat (sections, authors, conversations) stand once, numbers are differences in
//! variable length. The text itself is in the full-text store and not repeated here.

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

/// Packs all of `blocks` but their texts.
pub fn pack(blocks: &[Block]) -> Vec<u8> {
    let mut out = Vec::with_capacity(blocks.len() * 10 + 16);
    let mut names: HashMap<Arc<str>, u64> = HashMap::new();
    let mut order: Vec<Arc<str>> = Vec::new();
    let mut body = Vec::with_capacity(blocks.len() * 10);
    let (mut line, mut start, mut time) = (0, 0, 0);
    for block in blocks {
        let mut name = |text: &Arc<str>| {
            *names.entry(Arc::clone(text)).or_insert_with(|| {
                order.push(Arc::clone(text));
                order.len() as u64 - 1
            })
        };
        let section = block.section.as_ref().map(&mut name);
        let author = block.author.as_ref().map(&mut name);
        let context = block.context_id.as_ref().map(&mut name);
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
        number(&mut body, flags << 4 | block.kind as u64);
        signed(&mut body, i64::from(block.line) - line);
        number(&mut body, u64::from(block.end_line.saturating_sub(block.line)));
        signed(&mut body, i64::from(block.start) - start);
        number(&mut body, u64::from(block.end.saturating_sub(block.start)));
        line = i64::from(block.line);
        start = i64::from(block.start);
        if let Some(at) = block.time {
            signed(&mut body, at.wrapping_sub(time));
            time = at;
        }
        if let Some(role) = block.role {
            body.push(role as u8);
        }
        for index in [section, author, context].into_iter().flatten() {
            number(&mut body, index);
        }
        if let Some(id) = &block.block_id {
            text(&mut body, id);
        }
        for list in [&block.tags, &block.links, &block.dates] {
            if !list.is_empty() {
                number(&mut body, list.len() as u64);
                list.iter().for_each(|item| text(&mut body, item));
            }
        }
    }
    number(&mut out, blocks.len() as u64);
    number(&mut out, order.len() as u64);
    order.iter().for_each(|name| text(&mut out, name));
    out.extend_from_slice(&body);
    out
}

/// The blocks that [`pack`] packed, their texts empty.
pub fn unpack(bytes: &[u8]) -> Result<Vec<Block>, Torn> {
    let mut read = Read(bytes);
    let count = read.number()?;
    let names =
        (0..read.number()?).map(|_| Ok(Arc::from(read.text()?))).collect::<Result<Vec<Arc<str>>, Torn>>()?;
    let mut blocks = Vec::with_capacity(usize::try_from(count).map_err(|_| Torn)?.min(bytes.len()));
    let (mut line, mut start, mut time) = (0i64, 0i64, 0i64);
    for _ in 0..count {
        let head = read.number()?;
        let flags = head >> 4;
        let kind = *usize::try_from(head & 15).ok().and_then(|code| Kind::ALL.get(code)).ok_or(Torn)?;
        let mut block = Block::new(kind, 0, 0, String::new());
        line = line.wrapping_add(read.signed()?);
        block.line = u32::try_from(line).map_err(|_| Torn)?;
        block.end_line = block.line.wrapping_add(u32::try_from(read.number()?).map_err(|_| Torn)?);
        start = start.wrapping_add(read.signed()?);
        block.start = u32::try_from(start).map_err(|_| Torn)?;
        block.end = block.start.wrapping_add(u32::try_from(read.number()?).map_err(|_| Torn)?);
        if flags & TIME != 0 {
            time = time.wrapping_add(read.signed()?);
            block.time = Some(time);
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
            names.get(index).cloned().map(Some).ok_or(Torn)
        };
        block.section = name(&mut read, SECTION)?;
        block.author = name(&mut read, AUTHOR)?;
        block.context_id = name(&mut read, CONTEXT)?;
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
        blocks.push(block);
    }
    Ok(blocks)
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

    fn text(&mut self) -> Result<&'a str, Torn> {
        let length = usize::try_from(self.number()?).map_err(|_| Torn)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(Torn)?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| Torn)
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
        fn what_is_packed_comes_back(blocks in proptest::collection::vec(block(), 0..8)) {
            prop_assert_eq!(unpack(&pack(&blocks)).unwrap(), blocks);
        }

        #[test]
        fn torn_bytes_are_an_error_or_blocks_but_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = unpack(&bytes);
        }
    }
}
