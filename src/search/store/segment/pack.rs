//! Packs and unpacks two kinds of data of a segment: the postings of its terms, which say in which documents (blocks)
//! a term occurs, and the data of its blocks that an answer needs, except their text.
//!
//! Documents come in order, each with all of its terms. A posting is stored as a number: twice the number of documents
//! that were skipped since the term's last posting, plus one if the term's count in the document is above one. In that
//! case the count follows as a second number. Numbers are stored with seven bits per byte. The data of blocks is packed
//! by `bitcode`, field by field, and compressed by zstd. The text itself is in the full-text store and not repeated
//! here.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use zstd::bulk::{Compressor, Decompressor};

use crate::search::read::Block;

/// Longer runs are torn: no note has as many blocks.
const MOST: u32 = 1 << 28;

thread_local! {
    /// Both have large tables; a segment packs many notes, and an answer unpacks some dozens.
    static PACKER: RefCell<Compressor<'static>> =
        RefCell::new(Compressor::new(1).expect("memory is enough for a compressor"));
    static UNPACKER: RefCell<Decompressor<'static>> =
        RefCell::new(Decompressor::new().expect("memory is enough for a decompressor"));
}

/// Packs all of `blocks` but their texts, and their places in bytes.
pub fn pack(blocks: &[Block]) -> Vec<u8> {
    let rows = bitcode::encode(blocks);
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
    bitcode::decode(&rows.ok()?).ok()
}

/// The postings of all terms of some documents.
#[derive(Debug, Default, Clone)]
pub struct Postings {
    ids: FxHashMap<Box<str>, u32>,
    lists: Vec<List>,
}

/// The postings of one term.
#[derive(Debug, Default, Clone)]
pub struct List {
    /// In how many documents it stands.
    pub docs: u32,
    /// The document behind the last one.
    next: u32,
    /// The postings.
    pub packed: Vec<u8>,
}

impl Postings {
    /// The number of a term.
    pub fn id(&mut self, term: &str) -> u32 {
        if let Some(id) = self.ids.get(term) {
            return *id;
        }
        let id = self.lists.len() as u32;
        self.lists.push(List::default());
        self.ids.insert(term.into(), id);
        id
    }

    /// Adds a document, larger than all before, with its `terms` by their numbers, in any order.
    pub fn add(&mut self, doc: u32, terms: &mut [u32]) {
        terms.sort_unstable();
        for same in terms.chunk_by(|a, b| a == b) {
            self.push(same[0], doc, same.len() as u32);
        }
    }

    /// Adds a posting: a term occurs so many times in a document, whose number is larger than all before.
    pub fn push(&mut self, id: u32, doc: u32, times: u32) {
        let list = &mut self.lists[id as usize];
        put(&mut list.packed, u64::from(doc - list.next) << 1 | u64::from(times > 1));
        if times > 1 {
            put(&mut list.packed, u64::from(times));
        }
        list.next = doc + 1;
        list.docs += 1;
    }

    /// All terms that stand somewhere, in order.
    pub fn sorted(&self) -> Vec<(&str, &List)> {
        let all = self.ids.iter().map(|(term, id)| (&**term, &self.lists[*id as usize]));
        let mut terms: Vec<(&str, &List)> = all.filter(|(_, list)| list.docs > 0).collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        terms
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Calls `each` with the postings in `bytes`, up to the first invalid byte.
pub fn decode(bytes: &[u8], mut each: impl FnMut(u32, u32)) {
    let (mut doc, mut at) = (0_u64, 0);
    while let Some(step) = take(bytes, &mut at) {
        let times = if step & 1 == 1 { take(bytes, &mut at).unwrap_or(1) } else { 1 };
        doc = doc.saturating_add(step >> 1);
        let (Ok(of), Ok(times)) = (u32::try_from(doc), u32::try_from(times)) else { return };
        each(of, times);
        doc += 1;
    }
}

#[inline]
fn take(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests;
