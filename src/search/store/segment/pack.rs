//! Packs the blocks of a run of a note into a few bytes each: the data that an answer needs beside the text.
//!
//! `bitcode` packs each field of all blocks together. This file makes the numbers small: repeated strings (sections,
//! authors, conversations) are stored once, each without its common prefix with the one before it, and numbers are
//! differences from the block before. The text itself is in the full-text store and not repeated here.

use std::collections::HashMap;
use std::sync::Arc;

use bitcode::{Decode, Encode};

use crate::search::read::block::{Block, Kind, Role};

/// The bytes are not what [`pack`] wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torn;

/// A run.
#[derive(Encode, Decode)]
struct Run {
    /// How many bytes each name shares with the one before it, and the rest.
    names: Vec<(u32, String)>,
    /// The time of the first block that has one.
    first_time: i64,
    rows: Vec<Row>,
}

/// A block. Names are places among the run's.
#[derive(Encode, Decode)]
struct Row {
    kind: u8,
    /// From the last line of the block before to the first.
    line: i64,
    lines: u32,
    /// From the end of the block before to the start.
    start: i64,
    length: u32,
    /// From the time of the block before that has one.
    time: Option<i64>,
    role: Option<u8>,
    section: Option<u32>,
    author: Option<u32>,
    context: Option<u32>,
    block_id: Option<String>,
    tags: Vec<String>,
    links: Vec<String>,
    dates: Vec<String>,
}

const ROLES: [Role; 3] = [Role::User, Role::Agent, Role::Tool];

/// Packs all of `blocks` but their texts.
pub fn pack(blocks: &[Block]) -> Vec<u8> {
    let mut names = Names::default();
    let first_time = blocks.iter().find_map(|block| block.time).unwrap_or(0);
    let (mut end_line, mut end, mut last_time) = (0, 0, first_time);
    let rows = blocks.iter().map(|block| {
        let row = Row {
            kind: block.kind as u8,
            line: i64::from(block.line) - i64::from(end_line),
            lines: block.end_line.saturating_sub(block.line),
            start: i64::from(block.start) - i64::from(end),
            length: block.end.saturating_sub(block.start),
            time: block.time.map(|time| time.wrapping_sub(last_time)),
            role: block.role.map(|role| role as u8),
            section: block.section.as_ref().map(|name| names.place(name)),
            author: block.author.as_ref().map(|name| names.place(name)),
            context: block.context_id.as_ref().map(|name| names.place(name)),
            block_id: block.block_id.clone(),
            tags: block.tags.clone(),
            links: block.links.clone(),
            dates: block.dates.clone(),
        };
        (end_line, end, last_time) = (block.end_line, block.end, block.time.unwrap_or(last_time));
        row
    });
    let rows = rows.collect();
    bitcode::encode(&Run { names: names.list, first_time, rows })
}

/// Strings that repeat, each at its place.
#[derive(Default)]
struct Names {
    places: HashMap<Arc<str>, u32>,
    last: Option<Arc<str>>,
    list: Vec<(u32, String)>,
}

impl Names {
    fn place(&mut self, name: &Arc<str>) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.list.len() as u32;
        self.places.insert(Arc::clone(name), place);
        let last = self.last.replace(Arc::clone(name));
        let pairs = last.as_deref().unwrap_or_default().bytes().zip(name.bytes());
        let mut shared = pairs.take_while(|(old, new)| old == new).count();
        while !name.is_char_boundary(shared) {
            shared -= 1;
        }
        self.list.push((shared as u32, name[shared..].to_owned()));
        place
    }
}

/// The blocks that [`pack`] packed, their texts empty.
///
/// # Errors
/// The bytes are something else.
pub fn unpack(bytes: &[u8]) -> Result<Vec<Block>, Torn> {
    let run: Run = bitcode::decode(bytes).map_err(|_| Torn)?;
    let mut names: Vec<Arc<str>> = Vec::with_capacity(run.names.len());
    for (shared, rest) in run.names {
        let last = names.last().map_or("", |last| &**last);
        let shared = last.get(..shared as usize).ok_or(Torn)?;
        names.push(Arc::from(format!("{shared}{rest}")));
    }
    let name =
        |place: Option<u32>| place.map(|place| names.get(place as usize).cloned().ok_or(Torn)).transpose();
    let whole =
        |last: u32, more: i64| i64::from(last).checked_add(more).and_then(|sum| u32::try_from(sum).ok());
    let (mut end_line, mut end, mut last_time) = (0, 0, run.first_time);
    let mut blocks = Vec::with_capacity(run.rows.len());
    for row in run.rows {
        let mut block = Block::new(*Kind::ALL.get(usize::from(row.kind)).ok_or(Torn)?, 0, 0, String::new());
        block.line = whole(end_line, row.line).ok_or(Torn)?;
        block.end_line = block.line.checked_add(row.lines).ok_or(Torn)?;
        block.start = whole(end, row.start).ok_or(Torn)?;
        block.end = block.start.checked_add(row.length).ok_or(Torn)?;
        block.time = row.time.map(|time| last_time.wrapping_add(time));
        block.role = row.role.map(|role| ROLES.get(usize::from(role)).copied().ok_or(Torn)).transpose()?;
        block.section = name(row.section)?;
        block.author = name(row.author)?;
        block.context_id = name(row.context)?;
        (block.block_id, block.tags, block.links, block.dates) =
            (row.block_id, row.tags, row.links, row.dates);
        (end_line, end, last_time) = (block.end_line, block.end, block.time.unwrap_or(last_time));
        blocks.push(block);
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests;
