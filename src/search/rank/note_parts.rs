//! What a note is made of for ranking: where a word stands in it, its sections, and how near it is in meaning on average.
//!
//! Title and headings count once for a section and once for a note, not with each block below them.

use std::ops::Range;

use crate::search::analyze::stems::Shape;
use crate::search::rank::sought::Sought;
use crate::search::retrieve::cosines::Vectors;
use crate::search::retrieve::scope::{Scope, count};
use crate::search::store::corpus::blocks::Corpus;
use crate::search::store::corpus::neighbours::is_said;

/// What a section's headings add to its length.
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

/// Where it stands in a layer: by block, and by document.
#[derive(Default)]
pub(in crate::search) struct Places {
    /// Slot and document, what stands there, likeness of the best match.
    pub blocks: Vec<((u32, Unit), Weighted, f32)>,
    /// Document, weighted count.
    pub units: Vec<(Unit, f32)>,
    /// The sums of likenesses, in [`STEPS`].
    pub block_steps: u64,
    pub unit_steps: u64,
}

/// How often a word stands in a text, and in the title or headings above it, by the likeness of what stands for it.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::search) struct Weighted {
    pub text: f32,
    pub above: f32,
}

impl Weighted {
    pub fn all(self) -> f32 {
        self.text + self.above
    }

    /// Of two blocks below one heading, or of two words that stand for one.
    pub fn and(self, other: Self) -> Self {
        Self { text: self.text + other.text, above: self.above.max(other.above) }
    }
}

/// A stretch of a note's blocks below the same headings.
pub(in crate::search) struct Section {
    pub slots: Range<u32>,
    pub length: f32,
    pub score: f32,
}

/// Where what is looked for stands in a layer of a scope's notes, in the blocks that are documents of their own (all of a
/// note of which `lists` says so) and in whole notes.
pub(in crate::search) fn places(scope: Scope<'_>, lists: &[bool], layer: usize, sought: &Sought) -> Places {
    let mut found: Vec<((u32, Unit), Weighted, f32)> = Vec::new();
    for (term, likeness) in &sought.members {
        scope.each(layer, term, |slot, times, own| {
            if !own.has_turns || !is_said(scope.corpus, slot) {
                let is_own = own.has_turns || lists[own.note as usize];
                let unit = Unit { note: own.note, slot: if is_own { slot } else { WHOLE } };
                let there = Weighted {
                    text: likeness * count(times.in_text() as usize),
                    above: if times.is_above() { *likeness } else { 0.0 },
                };
                found.push(((slot, unit), there, *likeness));
            }
        });
    }
    // A run in order for each member; a block's stay in the members' order.
    found.sort_by_key(|((slot, _), ..)| *slot);
    let mut places = Places::default();
    for same in found.chunk_by(|a, b| a.0 == b.0) {
        let best = same.iter().map(|(.., likeness)| *likeness).fold(0.0, f32::max);
        places.block_steps += steps(best);
        let there = same.iter().fold(Weighted::default(), |sum, (_, there, _)| sum.and(*there));
        places.blocks.push((same[0].0, there, best));
    }
    for same in places.blocks.chunk_by(|((_, a), ..), ((_, b), ..)| a == b) {
        let best = same.iter().map(|(.., best)| *best).fold(0.0, f32::max);
        let ((_, unit), ..) = same[0];
        places.unit_steps += steps(best);
        let there = same.iter().fold(Weighted::default(), |sum, (_, there, _)| sum.and(*there));
        places.units.push((unit, there.all()));
    }
    places
}

/// The sections of documents with these slots, ascending.
pub(in crate::search) fn sections(corpus: &Corpus, mut documents: Vec<Range<u32>>) -> Vec<Section> {
    documents.sort_unstable_by_key(|slots| slots.start);
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

/// How near a document's blocks are in meaning on average, the long ones counting more.
pub(in crate::search) fn mean_cosine(corpus: &Corpus, vectors: Vectors<'_>, slots: Range<u32>) -> f32 {
    let weight = |slot: u32| (f32::from(corpus.meta(slot).length) + 1.0).sqrt();
    let alone = if slots.len() == 1 { ALONE } else { 0.0 };
    let all: f32 = slots.clone().map(weight).sum();
    let cosines = vectors.cosines(corpus, slots).into_iter();
    cosines.map(|(slot, cosine)| weight(slot) * cosine).sum::<f32>() / (all + alone)
}

fn steps(likeness: f32) -> u64 {
    // Not negative, and at most 1.
    (likeness * STEPS) as u64
}
