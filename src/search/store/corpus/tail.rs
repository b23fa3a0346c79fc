//! The blocks that were taken in last, in memory, until they become a [`crate::search::store::corpus::layer`].

use std::collections::HashMap;

use crate::search::store::corpus::code::Code;
use crate::search::store::corpus::meta::{Meta, NO_ROW, Rest};
use crate::search::store::corpus::vectors::Hash;
use crate::search::store::postings::{Postings, decode};

/// Blocks, numbered from 0.
#[derive(Debug, Default)]
pub struct Tail {
    /// What is known of each.
    pub metas: Vec<Meta>,
    /// The content hash of what a model embeds of each.
    pub hashes: Vec<Hash>,
    /// The built-in vectors of the different texts.
    pub codes: Vec<Code>,
    /// Where terms stand.
    pub postings: Postings,
    /// Each block's row in `codes`, or [`NO_ROW`].
    pub rows: Vec<u32>,
    pub(in crate::search) row_of: HashMap<Hash, u32>,
}

impl Tail {
    /// How many blocks it has.
    pub fn len(&self) -> usize {
        self.metas.len()
    }

    /// The row of a text's vector, which `code` makes where no other block has the same text.
    pub fn row(&mut self, hash: &Hash, code: impl FnOnce() -> Option<Code>) -> u32 {
        *self.row_of.entry(*hash).or_insert_with(|| {
            let Some(code) = code() else { return NO_ROW };
            self.codes.push(code);
            u32::try_from(self.codes.len() - 1).unwrap_or(NO_ROW)
        })
    }

    /// The vector of a block; none where it has none.
    pub fn code(&self, slot: usize) -> Option<Code> {
        self.codes.get(*self.rows.get(slot)? as usize).copied()
    }

    /// The first word of the signs of a block's vector; zero where it has none.
    pub fn first_signs(&self, slot: usize) -> u64 {
        self.code(slot).map_or(0, |code| code.signs[0])
    }

    /// The signs of a block's vector behind the first word; none where it has none.
    pub fn other_signs(&self, slot: usize) -> Option<Rest> {
        self.code(slot)?.signs[1..].try_into().ok()
    }

    /// Takes in the blocks of `other`, in their order, with notes renumbered by none.
    pub fn append(&mut self, other: &Self) {
        let first = u32::try_from(self.len()).unwrap_or(u32::MAX);
        for (slot, hash) in other.hashes.iter().enumerate() {
            let row = self.row(hash, || other.code(slot));
            self.rows.push(row);
        }
        self.metas.extend_from_slice(&other.metas);
        self.hashes.extend_from_slice(&other.hashes);
        for (term, list) in other.postings.sorted() {
            let id = self.postings.id(term);
            decode(&list.packed, |slot, times| self.postings.push(id, first + slot, times));
        }
    }
}
