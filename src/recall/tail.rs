//! The blocks that were taken in last, in memory, until they become a [`super::layer`].

use std::collections::HashMap;

use super::layer::{Meta, NO_ROW, Rest, Signs};
use super::matrix::Matrix;
use super::postings::Postings;
use super::vectors::Hash;
use crate::embed::table::DIMENSIONS;

/// Blocks, numbered from 0.
#[derive(Debug)]
pub struct Tail {
    /// What is known of each.
    pub metas: Vec<Meta>,
    /// The content hash of what a model embeds of each.
    pub hashes: Vec<Hash>,
    /// The built-in vectors of the different texts.
    pub vectors: Matrix,
    /// The signs of each vector.
    pub signs: Vec<Signs>,
    /// Where terms stand.
    pub postings: Postings,
    /// Each block's row in `vectors`, or [`NO_ROW`].
    pub rows: Vec<u32>,
    pub(super) row_of: HashMap<Hash, u32>,
}

impl Default for Tail {
    fn default() -> Self {
        Self {
            metas: Vec::new(),
            hashes: Vec::new(),
            vectors: Matrix::new(DIMENSIONS),
            signs: Vec::new(),
            postings: Postings::default(),
            rows: Vec::new(),
            row_of: HashMap::new(),
        }
    }
}

impl Tail {
    /// How many blocks it has.
    pub fn len(&self) -> usize {
        self.metas.len()
    }

    /// The row of a text's vector; `push` appends it where no other block has the same text.
    pub fn row(&mut self, hash: &Hash, push: impl FnOnce(&mut Matrix)) -> u32 {
        if let Some(row) = self.row_of.get(hash) {
            return *row;
        }
        push(&mut self.vectors);
        let at = self.vectors.len() - 1;
        if !self.vectors.has(at) {
            self.vectors.pop();
            self.row_of.insert(*hash, NO_ROW);
            return NO_ROW;
        }
        self.signs.push(self.vectors.signs(at));
        let row = u32::try_from(at).unwrap_or(NO_ROW);
        self.row_of.insert(*hash, row);
        row
    }

    /// The first word of the signs of a block's vector; zero where it has none.
    pub fn first_signs(&self, slot: usize) -> u64 {
        let signs = self.rows.get(slot).and_then(|row| self.signs.get(*row as usize));
        signs.map_or(0, |signs| signs[0])
    }

    /// The signs of a block's vector behind the first word; none where it has none.
    pub fn other_signs(&self, slot: usize) -> Option<Rest> {
        self.signs.get(*self.rows.get(slot)? as usize)?[1..].try_into().ok()
    }

    /// Fills in what follows from the rest: the rows by their texts' hash.
    pub(super) fn connect(&mut self) {
        self.row_of = self.hashes.iter().copied().zip(self.rows.iter().copied()).collect();
        self.row_of.retain(|_, row| *row != NO_ROW);
    }

    /// Takes in the blocks of `other`, in their order, with notes renumbered by none.
    pub fn append(&mut self, other: &Self) {
        let first = u32::try_from(self.len()).unwrap_or(u32::MAX);
        for (row, hash) in other.rows.iter().zip(&other.hashes) {
            let row = if *row == NO_ROW {
                NO_ROW
            } else {
                let (values, scale) = other.vectors.row_parts(*row as usize);
                // As it is: taken apart and made again it would be another by a rounding.
                self.row(hash, |vectors| vectors.push_parts(values, scale))
            };
            self.rows.push(row);
        }
        self.metas.extend_from_slice(&other.metas);
        self.hashes.extend_from_slice(&other.hashes);
        for (term, slots, counts) in other.postings.sorted() {
            let id = self.postings.id(term);
            for (slot, count) in slots.iter().zip(counts) {
                self.postings.push(id, first + slot, *count);
            }
        }
    }
}
