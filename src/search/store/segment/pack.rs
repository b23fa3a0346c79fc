//! Packs the blocks of a note into a few bytes each: the data that an answer needs beside the text.
//!
//! `bitcode` packs each field of all blocks together, and zstd finds what repeats. Places and times are differences
//! from the block before, which makes them small. The text itself is in the full-text store and not repeated here.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};

use crate::search::read::block::Block;

/// Longer runs are torn: no note has as many blocks.
const MOST: u32 = 1 << 28;

thread_local! {
    /// Both have large tables; a segment packs many notes, and an answer unpacks some dozens.
    static PACKER: RefCell<Compressor<'static>> =
        RefCell::new(Compressor::new(1).expect("memory is enough for a compressor"));
    static UNPACKER: RefCell<Decompressor<'static>> =
        RefCell::new(Decompressor::new().expect("memory is enough for a decompressor"));
}

/// Packs all of `blocks` but their texts.
pub fn pack(blocks: &[Block]) -> Vec<u8> {
    let bare = |block: &Block| Block { text: String::new(), extra: String::new(), ..block.clone() };
    let mut rows: Vec<Block> = blocks.iter().map(bare).collect();
    for (at, row) in rows.iter_mut().enumerate() {
        row.end_line = row.end_line.wrapping_sub(row.line);
        row.end = row.end.wrapping_sub(row.start);
        if let Some(before) = at.checked_sub(1).map(|before| &blocks[before]) {
            row.line = row.line.wrapping_sub(before.end_line);
            row.start = row.start.wrapping_sub(before.end);
            row.time = row.time.map(|time| time.wrapping_sub(before.time.unwrap_or(0)));
        }
    }
    let rows = bitcode::encode(&rows);
    let mut packed = (rows.len() as u32).to_le_bytes().to_vec();
    let rows = PACKER.with_borrow_mut(|packer| packer.compress(&rows));
    packed.extend(rows.expect("memory is enough for what was just made"));
    packed
}

/// The blocks that [`pack`] packed, their texts empty; none where the bytes are something else.
pub fn unpack(bytes: &[u8]) -> Option<Vec<Block>> {
    let (length, packed) = bytes.split_first_chunk::<4>()?;
    let length = Some(u32::from_le_bytes(*length)).filter(|length| *length < MOST)?;
    let rows = UNPACKER.with_borrow_mut(|unpacker| unpacker.decompress(packed, length as usize));
    let mut blocks: Vec<Block> = bitcode::decode(&rows.ok()?).ok()?;
    let (mut end_line, mut end, mut time) = (0_u32, 0_u32, None);
    for block in &mut blocks {
        block.line = block.line.wrapping_add(end_line);
        block.end_line = block.end_line.wrapping_add(block.line);
        block.start = block.start.wrapping_add(end);
        block.end = block.end.wrapping_add(block.start);
        block.time = block.time.map(|own: i64| own.wrapping_add(time.unwrap_or(0)));
        (end_line, end, time) = (block.end_line, block.end, block.time);
    }
    Some(blocks)
}

#[cfg(test)]
mod tests;
