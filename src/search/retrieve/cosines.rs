//! Computes the cosines of a question's vector and those of blocks, by the corpus's own vectors or by another model's.

use std::ops::Range;

use crate::search::store::corpus::blocks::Corpus;
use crate::search::store::corpus::matrix::{Matrix, Probe};
use crate::search::store::corpus::rows::Rows;

/// The vectors to compare with, and the question's own.
#[derive(Debug, Clone, Copy)]
pub struct Vectors<'a> {
    /// Rows by slot; none for the corpus's own.
    pub matrix: Option<&'a Matrix>,
    /// The question's vector.
    pub probe: &'a Probe,
}

impl Vectors<'_> {
    /// The cosines of the question and those of `slots` that have a vector.
    pub(in crate::search) fn cosines(
        &self,
        corpus: &Corpus,
        slots: impl Iterator<Item = u32>,
    ) -> Vec<(u32, f32)> {
        // First the vectors, or where they stand: the waits for memory of many go on at once.
        let Some(matrix) = self.matrix else {
            let Some(sums) = &self.probe.sums else { return Vec::new() };
            let mut codes = Vec::with_capacity(slots.size_hint().1.unwrap_or_default());
            let mut part = None;
            codes.extend(slots.filter_map(|slot| {
                let is_in = |(_, own): &(&Rows, Range<u32>)| own.contains(&slot);
                let (rows, own) = part.take_if(|part| is_in(part)).unwrap_or_else(|| corpus.part_of(slot));
                let code = rows.code((slot - own.start) as usize);
                part = Some((rows, own));
                Some((slot, code?))
            }));
            return codes.iter().map(|(slot, code)| (*slot, sums.cosine(code))).collect();
        };
        let rows = slots.filter(|slot| matrix.has(*slot as usize));
        let rows: Vec<_> = rows.map(|slot| (slot, matrix.row_parts(slot as usize))).collect();
        rows.into_iter().map(|(slot, (values, scale))| (slot, self.probe.cosine(values, scale))).collect()
    }
}
