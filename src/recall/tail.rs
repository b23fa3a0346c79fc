//! The blocks that were taken in last, in memory, until they become a [`super::layer`].

use std::collections::HashMap;

use super::layer::{Meta, NO_ROW, Signs};
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
    pub(super) rows: HashMap<Hash, u32>,
}

impl Default for Tail {
    fn default() -> Self {
        Self {
            metas: Vec::new(),
            hashes: Vec::new(),
            vectors: Matrix::new(DIMENSIONS),
            signs: Vec::new(),
            postings: Postings::default(),
            rows: HashMap::new(),
        }
    }
}

impl Tail {
    /// How many blocks it has.
    pub fn len(&self) -> usize {
        self.metas.len()
    }

    /// The row of a text's vector; `embed` makes it where no other block has the same text.
    pub fn row(&mut self, hash: &Hash, embed: impl FnOnce() -> Vec<f32>) -> u32 {
        if let Some(row) = self.rows.get(hash) {
            return *row;
        }
        self.vectors.push(&embed());
        let at = self.vectors.len() - 1;
        if !self.vectors.has(at) {
            self.vectors.pop();
            self.rows.insert(*hash, NO_ROW);
            return NO_ROW;
        }
        self.signs.push(self.vectors.signs(at));
        let row = u32::try_from(at).unwrap_or(NO_ROW);
        self.rows.insert(*hash, row);
        row
    }

    /// Fills in what follows from the rest: the rows by their texts' hash.
    pub(super) fn connect(&mut self) {
        self.rows = self.hashes.iter().copied().zip(self.metas.iter().map(|meta| meta.row)).collect();
        self.rows.retain(|_, row| *row != NO_ROW);
    }

    /// Takes in the blocks of `other`, in their order, with notes renumbered by none.
    pub fn append(&mut self, other: &Self) {
        let first = u32::try_from(self.len()).unwrap_or(u32::MAX);
        for (meta, hash) in other.metas.iter().zip(&other.hashes) {
            let row = if meta.row == NO_ROW {
                NO_ROW
            } else {
                self.row(hash, || other.vectors.row(meta.row as usize))
            };
            self.metas.push(Meta { row, ..*meta });
            self.hashes.push(*hash);
        }
        for (term, slots, counts) in other.postings.sorted() {
            let id = self.postings.id(term);
            for (slot, count) in slots.iter().zip(counts) {
                self.postings.push(id, first + slot, *count);
            }
        }
    }
}
