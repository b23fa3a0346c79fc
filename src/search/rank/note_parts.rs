//! Splits a note into the parts that ranking counts: the positions of a word, its sections, and its mean nearness in
//! meaning.
//!
//! Title and headings count once for a section and once for a note, not with each block below them.

use std::ops::Range;

use crate::search::analyze::stems::Shape;
use crate::search::rank::expanded_word::{ExpandedWord, WordMatch};
use crate::search::retrieve::term_blocks::CorpusScope;
use crate::search::store::corpus::Corpus;

/// The length that a section's headings add.
const HEADINGS: f32 = 2.0;
/// A document that is one block has but one cosine, which is no mean: so much of weight, as the square root of a length, is
/// added that is near to nothing.
const ALONE: f32 = 3.0;
/// Likenesses are summed up in steps of this part: whole numbers have no order.
pub(in crate::search) const STEPS: f32 = 256.0;

/// In place of a slot: the whole note.
pub(in crate::search) const WHOLE: u32 = u32::MAX;

/// A document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::search) struct Unit {
    pub note: u32,
    /// The slot of a block that is a document of its own, or [`WHOLE`].
    pub slot: u32,
}

/// The documents in which a word stands.
pub(in crate::search) struct WordPlaces {
    /// Document, weighted count, in the order of their slots.
    pub units: Vec<(Unit, f32)>,
    /// The sums of likenesses, in [`STEPS`].
    pub block_steps: u64,
    pub unit_steps: u64,
}

/// A stretch of a note's blocks below the same headings.
pub(in crate::search) struct Section {
    pub slots: Range<u32>,
    pub length: f32,
    pub score: f32,
}

impl WordPlaces {
    /// The documents of a scope's notes in which a word stands: the blocks that are documents of their own (all of a note of
    /// which `lists` says so) and in whole notes.
    pub fn new(scope: CorpusScope<'_>, lists: &[bool], expanded: &ExpandedWord) -> Self {
        let CorpusScope { corpus, candidates } = scope;
        let (mut units, mut block_steps) = (Vec::<(Unit, WordMatch)>::new(), 0);
        for (slot, matches) in expanded.blocks() {
            let Some(own) = candidates.reaching(slot) else { break };
            if own.has_turns && corpus.is_said(slot) {
                continue;
            }
            let found = matches.fold(WordMatch::default(), WordMatch::and);
            block_steps += steps(found.best);
            let is_own = own.has_turns || lists[own.note as usize];
            let unit = Unit { note: own.note, slot: if is_own { slot } else { WHOLE } };
            match units.last_mut() {
                Some((last, sum)) if *last == unit => *sum = sum.and(found),
                _ => units.push((unit, found)),
            }
        }
        let unit_steps = units.iter().map(|(_, found)| steps(found.best)).sum();
        let units = units.into_iter().map(|(unit, found)| (unit, found.all())).collect();
        Self { units, block_steps, unit_steps }
    }
}

/// The sections of documents with these slots, in their order.
pub(in crate::search) fn sections(
    corpus: &Corpus,
    documents: impl Iterator<Item = Range<u32>>,
) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for slots in documents {
        for slot in slots.clone() {
            let meta = corpus.meta(slot);
            if slot == slots.start || meta.shape.has(Shape::OPENING) {
                sections.push(Section { slots: slot..slot, length: HEADINGS, score: 0.0 });
            }
            if let Some(section) = sections.last_mut() {
                section.slots.end = slot + 1;
                section.length += f32::from(meta.length);
            }
        }
    }
    sections
}

/// How near a document's blocks are in meaning on average, the long ones counting more. One without a vector is near to
/// nothing.
pub(in crate::search) struct MeanCosine {
    sum: f32,
    weight: f32,
}

impl MeanCosine {
    /// Of a document with so many blocks.
    pub fn new(blocks: usize) -> Self {
        Self { sum: 0.0, weight: if blocks == 1 { ALONE } else { 0.0 } }
    }

    /// Adds a block with so many terms.
    pub fn add(&mut self, length: u16, cosine: Option<f32>) {
        let weight = (f32::from(length) + 1.0).sqrt();
        self.weight += weight;
        self.sum += weight * cosine.unwrap_or(0.0);
    }

    pub fn mean(&self) -> f32 {
        self.sum / self.weight
    }
}

fn steps(likeness: f32) -> u64 {
    // Not negative, and at most 1.
    (likeness * STEPS) as u64
}
