//! The blocks of a run of a note as a few bytes each: what an answer needs beside the text.
//!
//! Strings that repeat (sections, authors, conversations) stand once, each without what it shares with the
//! one before it. Numbers are differences from the block before, in variable length; the usual small ones
//! share a byte. Differences begin anew now and then so that one block can be had without all before it.
//! The text itself is in the full-text store and not repeated here.

use std::collections::HashMap;
use std::sync::Arc;

use crate::search::read::block::{Block, Kind, Role};

/// The bytes are not what [`pack`] wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torn;

/// Another section than the block before.
const SECTION: u64 = 1;
/// Small differences in one byte.
const SMALL: u64 = 2;
const TIME: u64 = 4;
const ROLE: u64 = 8;
const CONTEXT: u64 = 16;
const AUTHOR: u64 = 32;
const ID: u64 = 64;
const TAGS: u64 = 128;
const LINKS: u64 = 256;
const DATES: u64 = 512;
const LISTS: [u64; 3] = [TAGS, LINKS, DATES];

/// As many blocks are packed one after the other; then the differences begin anew.
const STRETCH: usize = 64;

/// Packs all of `blocks` but their texts.
pub fn pack(blocks: &[Block]) -> Vec<u8> {
    let mut names = Names::default();
    let stretches: Vec<Vec<u8>> = blocks
        .chunks(STRETCH)
        .map(|blocks| {
            let mut body = Vec::with_capacity(blocks.len() * 6);
            let mut last = Last::default();
            blocks.iter().for_each(|block| put(&mut body, block, &mut names, &mut last));
            body
        })
        .collect();
    let mut out = Vec::with_capacity(blocks.len() * 6 + names.bytes.len() + 16);
    number(&mut out, blocks.len() as u64);
    number(&mut out, names.bytes.len() as u64);
    out.extend_from_slice(&names.bytes);
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
    last: Option<Arc<str>>,
    bytes: Vec<u8>,
}

impl Names {
    fn place(&mut self, name: &Arc<str>) -> u64 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.places.len() as u64;
        self.places.insert(Arc::clone(name), place);
        let last = self.last.replace(Arc::clone(name));
        let pairs = last.as_deref().unwrap_or_default().bytes().zip(name.bytes());
        let mut shared = pairs.take_while(|(old, new)| old == new).count();
        while !name.is_char_boundary(shared) {
            shared -= 1;
        }
        number(&mut self.bytes, shared as u64);
        text(&mut self.bytes, &name[shared..]);
        place
    }
}

/// What differences are taken from.
#[derive(Default)]
struct Last {
    end_line: i64,
    end: i64,
    time: i64,
    /// The place of the section's name plus one, 0 without a section.
    section: u64,
}

fn put(body: &mut Vec<u8>, block: &Block, names: &mut Names, last: &mut Last) {
    let section = block.section.as_ref().map_or(0, |name| names.place(name) + 1);
    let author = block.author.as_ref().map(|name| names.place(name));
    let context = block.context_id.as_ref().map(|name| names.place(name));
    let line = i64::from(block.line) - last.end_line;
    let lines = u64::from(block.end_line.saturating_sub(block.line));
    let start = i64::from(block.start) - last.end;
    let length = u64::from(block.end.saturating_sub(block.start));
    let is_small = (0..4).contains(&line) && lines < 4 && (0..16).contains(&start);
    let flag = |set: bool, bit| if set { bit } else { 0 };
    let flags = flag(section != last.section, SECTION)
        | flag(is_small, SMALL)
        | flag(block.time.is_some(), TIME)
        | flag(block.role.is_some(), ROLE)
        | flag(context.is_some(), CONTEXT)
        | flag(author.is_some(), AUTHOR)
        | flag(block.block_id.is_some(), ID)
        | flag(!block.tags.is_empty(), TAGS)
        | flag(!block.links.is_empty(), LINKS)
        | flag(!block.dates.is_empty(), DATES);
    number(body, flags << 4 | block.kind as u64);
    if is_small {
        body.push(line as u8 | (lines as u8) << 2 | (start as u8) << 4);
    } else {
        signed(body, line);
        number(body, lines);
        signed(body, start);
    }
    number(body, length);
    last.end_line = i64::from(block.line) + lines as i64;
    last.end = i64::from(block.start) + length as i64;
    if section != last.section {
        number(body, section);
        last.section = section;
    }
    if let Some(at) = block.time {
        signed(body, at.wrapping_sub(last.time));
        last.time = at;
    }
    if let Some(role) = block.role {
        body.push(role as u8);
    }
    for place in [author, context].into_iter().flatten() {
        number(body, place);
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
    let (count, mut names, mut read) = open(bytes)?;
    let mut known: Vec<Arc<str>> = Vec::new();
    let mut name = String::new();
    while !names.0.is_empty() {
        next_name(&mut names, &mut name)?;
        known.push(Arc::from(name.as_str()));
    }
    let find = |place: usize| known.get(place).cloned().ok_or(Torn);
    let mut blocks = Vec::with_capacity(count.min(bytes.len()));
    while blocks.len() < count {
        let mut stretch = Read(read.bytes()?);
        let mut last = Last::default();
        for _ in 0..STRETCH.min(count - blocks.len()) {
            blocks.push(take(&mut stretch, &mut last)?.block(&find)?);
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
        take(&mut stretch, &mut last)?;
    }
    let find = |place: usize| {
        let (mut names, mut name) = (Read(names.0), String::new());
        for _ in 0..=place {
            next_name(&mut names, &mut name)?;
        }
        Ok(Arc::from(name))
    };
    take(&mut stretch, &mut last)?.block(&find)
}

/// The number of blocks, the names, and what follows.
fn open(bytes: &[u8]) -> Result<(usize, Read<'_>, Read<'_>), Torn> {
    let mut read = Read(bytes);
    let count = usize::try_from(read.number()?).map_err(|_| Torn)?;
    let names = Read(read.bytes()?);
    Ok((count, names, read))
}

/// Makes the name before the next one.
fn next_name(names: &mut Read<'_>, name: &mut String) -> Result<(), Torn> {
    let shared = usize::try_from(names.number()?).map_err(|_| Torn)?;
    if !name.is_char_boundary(shared) {
        return Err(Torn);
    }
    name.truncate(shared);
    name.push_str(names.text()?);
    Ok(())
}

/// A block as it stands in the bytes: what is passed over is not made.
#[derive(Default)]
struct Packed<'a> {
    kind: usize,
    line: u32,
    end_line: u32,
    start: u32,
    end: u32,
    time: Option<i64>,
    role: Option<Role>,
    section: Option<usize>,
    author: Option<usize>,
    context: Option<usize>,
    id: Option<&'a str>,
    /// How many strings each list has, and the bytes from the first one on.
    lists: [(u64, &'a [u8]); 3],
}

impl Packed<'_> {
    fn block(&self, name: &impl Fn(usize) -> Result<Arc<str>, Torn>) -> Result<Block, Torn> {
        let mut block = Block::new(*Kind::ALL.get(self.kind).ok_or(Torn)?, 0, 0, String::new());
        (block.line, block.end_line) = (self.line, self.end_line);
        (block.start, block.end) = (self.start, self.end);
        (block.time, block.role) = (self.time, self.role);
        block.section = self.section.map(name).transpose()?;
        block.author = self.author.map(name).transpose()?;
        block.context_id = self.context.map(name).transpose()?;
        block.block_id = self.id.map(str::to_owned);
        let lists = [&mut block.tags, &mut block.links, &mut block.dates];
        for ((count, bytes), list) in self.lists.into_iter().zip(lists) {
            let mut read = Read(bytes);
            for _ in 0..count {
                list.push(read.text()?.to_owned());
            }
        }
        Ok(block)
    }
}

fn take<'a>(read: &mut Read<'a>, last: &mut Last) -> Result<Packed<'a>, Torn> {
    let head = read.number()?;
    let flags = head >> 4;
    let has = |bit| flags & bit != 0;
    let mut packed = Packed { kind: (head & 15) as usize, ..Packed::default() };
    let (line, lines, start) = if has(SMALL) {
        let small = i64::from(read.byte()?);
        (small & 3, small >> 2 & 3, small >> 4)
    } else {
        let line = read.signed()?;
        (line, i64::from(read.small()?), read.signed()?)
    };
    let length = read.small()?;
    let whole = |number: i64| u32::try_from(number).map_err(|_| Torn);
    packed.line = whole(last.end_line.wrapping_add(line))?;
    packed.end_line = whole(i64::from(packed.line) + lines)?;
    packed.start = whole(last.end.wrapping_add(start))?;
    packed.end = whole(i64::from(packed.start) + i64::from(length))?;
    (last.end_line, last.end) = (packed.end_line.into(), packed.end.into());
    if has(SECTION) {
        last.section = read.number()?;
    }
    let section = usize::try_from(last.section).map_err(|_| Torn)?;
    packed.section = section.checked_sub(1);
    if has(TIME) {
        last.time = last.time.wrapping_add(read.signed()?);
        packed.time = Some(last.time);
    }
    if has(ROLE) {
        packed.role = Some(match read.byte()? {
            0 => Role::User,
            1 => Role::Agent,
            2 => Role::Tool,
            _ => return Err(Torn),
        });
    }
    for (bit, place) in [(AUTHOR, &mut packed.author), (CONTEXT, &mut packed.context)] {
        if has(bit) {
            *place = Some(read.small()? as usize);
        }
    }
    if has(ID) {
        packed.id = Some(read.text()?);
    }
    for (bit, list) in LISTS.into_iter().zip(&mut packed.lists) {
        if has(bit) {
            let count = read.number()?;
            *list = (count, read.0);
            for _ in 0..count {
                read.bytes()?;
            }
        }
    }
    Ok(packed)
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

    fn small(&mut self) -> Result<u32, Torn> {
        u32::try_from(self.number()?).map_err(|_| Torn)
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
mod tests;
