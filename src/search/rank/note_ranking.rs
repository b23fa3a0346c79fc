//! Ranks notes and their blocks: everything except turns of conversations.
//!
//! A note is ranked as one document, because an answer is more often in the whole note than in one of its blocks. The
//! score of a note combines BM25 of the note, BM25 of its best section, and the largest and the mean cosine of its
//! blocks. The cosines are weighted by the share of the question's words that the model has. Title and headings count
//! once. In lists (the notes of memories, pins, reminders, follow-ups and days) and in logs, each block is a document
//! of its own.
//!
//! Words are expanded as in [`crate::search::rank::expanded_word`]. All statistics are those of the notes in scope, so
//! they don't depend on the corpus's history. The weights stand in `search/weights.rs`.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::embed::StaticModel;
use crate::search::analyze::function_words;
use crate::search::parallel::share;
use crate::search::query::Question;
use crate::search::rank::{ExpandedWord, RankedDocument, Section, WHOLE, WordDocuments, WordMatch, sections};
use crate::search::retrieve::{Bounds, CorpusScope, Nearest, Vectors, count, idf, saturated};
use crate::search::weights::{NEAR, notes as weights};

/// The number of documents by words (half as many by meaning) that are scored exactly for an answer of fewer hits.
const KEPT: usize = 200;
/// Vectors are compared in parts of so many: the codes of one part stay near the processor.
const COMPARED: usize = 1000;
/// A document that is one block has but one cosine, which is no mean: so much of weight, as the square root of a
/// length, is added that is near to nothing.
const ALONE: f32 = 3.0;

/// A note, or a block that is a document of its own, with those of its blocks for which a signal speaks.
#[derive(Debug)]
pub(in crate::search) struct RankedNote {
    /// Its score.
    pub score: f32,
    /// Its blocks' slots, those with a typed word first, then the best first, each with its own score.
    pub blocks: Vec<(u32, f32)>,
}

/// The question, and the notes in scope.
pub(in crate::search) struct NoteRanking<'a> {
    /// The blocks.
    pub scope: CorpusScope<'a>,
    /// The question.
    pub question: &'a Question,
    /// Its vector and theirs, where there are any.
    pub vectors: Option<Vectors<'a>>,
    /// The table of the built-in ones.
    pub table: &'a StaticModel,
    /// The blocks nearest to it, where there are too many to look at all.
    pub nearest: Option<&'a Nearest>,
    /// The flags, by a note's number, of the notes whose blocks are documents of their own.
    pub lists: &'a [bool],
    /// The expanded words.
    pub expanded: &'a [ExpandedWord],
    /// The blocks that come before all others, and those that may come at all.
    pub bounds: Bounds<'a>,
    /// At most so many documents are wanted.
    pub most: usize,
}

/// How many documents and blocks there are, and how long they are on average.
struct Totals {
    units: f32,
    unit_length: f32,
    blocks: f32,
    block_length: f32,
}

/// The cosine of a block.
#[derive(Debug, Clone, Copy)]
struct Meaning {
    slot: u32,
    cosine: f32,
    /// As a part of the score.
    score: f32,
    /// Whether that says by itself that it is about the question.
    is_near: bool,
}

impl NoteRanking<'_> {
    /// The notes that answer, best first.
    pub fn rank(&self) -> Vec<RankedNote> {
        let corpus = self.scope.corpus;
        let totals = self.totals();
        let expanded = self.expanded;
        let places = share(self.scope.candidates.count, expanded.len(), |at| {
            WordDocuments::new(self.scope, self.lists, &expanded[at])
        });
        let mut units: FxHashMap<RankedDocument, f32> = FxHashMap::default();
        for (expanded, places) in expanded.iter().zip(&places) {
            let rarity = rarity(expanded, places.in_units, totals.units);
            for (unit, count) in &places.units {
                let score =
                    rarity * saturated(*count, self.length(*unit), totals.unit_length, weights::LENGTH);
                *units.entry(*unit).or_default() += score;
            }
        }
        let best = self.best(&units, KEPT.max(self.most));
        let known = self.known();
        let all = || self.scope.candidates.slots().collect();
        let mut near: Vec<u32> = self.nearest.map_or_else(all, |nearest| nearest.slots.clone());
        near.retain(|slot| !corpus.is_said(*slot));
        let kept = self.kept(best, &self.meanings(&near, known));
        let mut sections = sections(corpus, kept.iter().map(|unit| self.slots(*unit)));
        let of_kept: Vec<u32> = kept.iter().flat_map(|unit| self.slots(*unit)).collect();
        let meanings = self.meanings(&of_kept, known);
        self.fill(&mut sections, &places, &totals);
        self.answering(&units, &sections, &meanings, kept, known)
    }

    /// BM25 of the sections that are looked at closely, and of their blocks.
    fn fill(&self, sections: &mut [Section], places: &[WordDocuments], totals: &Totals) {
        let corpus = self.scope.corpus;
        let lengths: f32 = sections.iter().map(|section| section.length).sum();
        let mean_section = lengths / count(sections.len().max(1));
        for (expanded, places) in self.expanded.iter().zip(places) {
            let rarity = rarity(expanded, places.in_blocks, totals.blocks);
            let mut with_word = expanded.blocks.iter().copied().peekable();
            for Section { slots, length, score, blocks } in &mut *sections {
                let mut in_section = WordMatch::default();
                while with_word.next_if(|(slot, _)| *slot < slots.start).is_some() {}
                while let Some((slot, found)) = with_word.next_if(|(slot, _)| *slot < slots.end) {
                    let length = f32::from(corpus.meta(slot).length);
                    let block = &mut blocks[(slot - slots.start) as usize];
                    block.score +=
                        rarity * saturated(found.all(), length, totals.block_length, weights::LENGTH);
                    block.has_word |= found.best >= expanded.least;
                    in_section = in_section.and(found);
                }
                *score += rarity * saturated(in_section.all(), *length, mean_section, weights::LENGTH);
            }
        }
    }

    fn totals(&self) -> Totals {
        let CorpusScope { corpus, candidates, .. } = self.scope;
        let (mut units, mut blocks, mut length) = (0, 0, 0_u64);
        for own in candidates.notes.iter().filter(|own| !own.has_turns) {
            blocks += own.slots.len();
            units += if self.lists[own.note as usize] { own.slots.len() } else { 1 };
            length += u64::from(corpus.note(own.note).row.terms);
        }
        let mean = |count: usize| (length as f64 / count.max(1) as f64).max(1.0) as f32;
        Totals {
            units: count(units.max(1)),
            unit_length: mean(units),
            blocks: count(blocks.max(1)),
            block_length: mean(blocks),
        }
    }

    /// The document that a block belongs to.
    fn unit(&self, slot: u32) -> RankedDocument {
        let note = self.scope.corpus.meta(slot).file;
        let is_list = self.lists[note as usize] || self.scope.corpus.note(note).row.has_turns;
        RankedDocument { note, slot: if is_list { slot } else { WHOLE } }
    }

    fn slots(&self, unit: RankedDocument) -> Range<u32> {
        match unit.slot {
            WHOLE => self.scope.corpus.note(unit.note).slots,
            slot => slot..slot + 1,
        }
    }

    fn length(&self, unit: RankedDocument) -> f32 {
        let corpus = self.scope.corpus;
        match unit.slot {
            WHOLE => count(corpus.note(unit.note).row.terms as usize),
            slot => f32::from(corpus.meta(slot).length),
        }
    }

    /// The cosines of those of these blocks (none of them a turn) that have a vector, in their order. `known` is the
    /// share of the question's words that the model knows.
    fn meanings(&self, slots: &[u32], known: f32) -> Vec<Meaning> {
        let CorpusScope { corpus, candidates, .. } = self.scope;
        let Some(vectors) = self.vectors else { return Vec::new() };
        let parts: Vec<&[u32]> = slots.chunks(COMPARED).collect();
        let cosines =
            share(candidates.count, parts.len(), |at| vectors.cosines(corpus, parts[at].iter().copied()));
        let meaning = |(slot, cosine): (u32, f32)| {
            let length = f32::from(corpus.meta(slot).length) + 1.0;
            let says = (length / weights::SHORT).sqrt().min(1.0);
            let beyond = (cosine * says - weights::FAR).max(0.0);
            Meaning { slot, cosine, score: weights::MEANING * known * beyond, is_near: cosine >= NEAR }
        };
        cosines.into_iter().flatten().map(meaning).collect()
    }

    /// The share of the question's words that the model knows; of another model that can't be told.
    fn known(&self) -> f32 {
        if self.vectors.is_none_or(|vectors| vectors.matrix.is_some()) {
            return 1.0;
        }
        let skipped = function_words::of(&self.question.words);
        self.table.known(&self.question.text, |word| skipped.contains(&word))
    }

    /// The documents that are looked at closely, in the order of their slots: the best by words, and the nearest in
    /// meaning.
    fn kept(&self, best: Vec<RankedDocument>, meanings: &[Meaning]) -> Vec<RankedDocument> {
        let mut nearest: FxHashMap<RankedDocument, f32> = FxHashMap::default();
        for meaning in meanings.iter().filter(|meaning| meaning.score > 0.0) {
            let most = nearest.entry(self.unit(meaning.slot)).or_default();
            *most = most.max(meaning.score);
        }
        let mut kept = best;
        kept.extend(self.best(&nearest, KEPT.max(self.most) / 2));
        kept.sort_unstable_by_key(|unit| self.slots(*unit).start);
        kept.dedup();
        kept
    }

    /// The best documents with a typed word, the best others, and the best that may come: scores are shares of the best
    /// ones' whatever may come. Of equals all or those first in the order of their paths.
    fn best(&self, units: &FxHashMap<RankedDocument, f32>, most: usize) -> Vec<RankedDocument> {
        let mut best: Vec<(RankedDocument, f32)> =
            units.iter().map(|(unit, score)| (*unit, *score)).collect();
        let mut allowed = Vec::new();
        if let Some(slots) = self.bounds.allowed {
            let may = |(unit, _): &&(RankedDocument, f32)| slots.range_cardinality(self.slots(*unit)) > 0;
            allowed = best.iter().filter(may).copied().collect();
        }
        let order = |a: &(RankedDocument, f32), b: &(RankedDocument, f32)| {
            b.1.total_cmp(&a.1).then_with(|| self.place(a.0).cmp(&self.place(b.0)))
        };
        let mut alike = Vec::new();
        if let Some(typed) = self.bounds.typed {
            let has_typed = |unit: RankedDocument| typed.range_cardinality(self.slots(unit)) > 0;
            (best, alike) = best.into_iter().partition(|(unit, _)| has_typed(*unit));
        }
        for units in [&mut best, &mut alike, &mut allowed] {
            if units.len() > most {
                units.select_nth_unstable_by(most, order);
                units.truncate(most);
            }
        }
        best.into_iter().chain(alike).chain(allowed).map(|(unit, _)| unit).collect()
    }

    fn is_typed(&self, slot: u32) -> bool {
        self.bounds.typed.is_some_and(|typed| typed.contains(slot))
    }

    fn place(&self, unit: RankedDocument) -> (&str, u32) {
        let corpus = self.scope.corpus;
        (&corpus.note(unit.note).row.path, if unit.slot == WHOLE { 0 } else { corpus.meta(unit.slot).line })
    }

    /// The documents in their order, with their blocks in theirs.
    fn answering(
        &self,
        units: &FxHashMap<RankedDocument, f32>,
        sections: &[Section],
        meanings: &[Meaning],
        kept: Vec<RankedDocument>,
        known: f32,
    ) -> Vec<RankedNote> {
        let corpus = self.scope.corpus;
        let best_unit = units.values().copied().fold(f32::MIN_POSITIVE, f32::max);
        let mut blocks = sections.iter().flat_map(|section| &section.blocks);
        let best_block = blocks.clone().map(|block| block.score).fold(f32::MIN_POSITIVE, f32::max);
        let best_section = sections.iter().map(|section| section.score).fold(f32::MIN_POSITIVE, f32::max);
        let mut sections = sections.iter().peekable();
        let mut meanings = meanings.iter().peekable();
        let mut out: Vec<(bool, RankedDocument, RankedNote)> = Vec::with_capacity(kept.len());
        for unit in kept {
            let slots = self.slots(unit);
            // The mean cosine is weighted by the blocks' lengths; one without a vector counts as 0.
            let (mut nearest, mut cosines) = (0.0_f32, 0.0);
            let mut lengths = if slots.len() == 1 { ALONE } else { 0.0 };
            let mut own: Vec<(bool, u32, f32)> = Vec::new();
            for (slot, block) in slots.clone().zip(&mut blocks) {
                while meanings.next_if(|meaning| meaning.slot < slot).is_some() {}
                let meaning = meanings.next_if(|meaning| meaning.slot == slot);
                let near = meaning.map_or(0.0, |meaning| meaning.score);
                let length = (f32::from(corpus.meta(slot).length) + 1.0).sqrt();
                lengths += length;
                cosines += length * meaning.map_or(0.0, |meaning| meaning.cosine);
                nearest = nearest.max(near);
                let speaks = block.has_word || meaning.is_some_and(|meaning| meaning.is_near);
                if speaks && self.bounds.allowed.is_none_or(|allowed| allowed.contains(slot)) {
                    own.push((self.is_typed(slot), slot, weights::BLOCK * block.score / best_block + near));
                }
            }
            let mut section = 0.0_f32;
            while let Some(next) = sections.next_if(|section| section.slots.start < slots.end) {
                section = section.max(next.score / best_section);
            }
            own.sort_by(|a, b| {
                let line = |slot: u32| corpus.meta(slot).line;
                b.0.cmp(&a.0).then_with(|| b.2.total_cmp(&a.2)).then_with(|| line(a.1).cmp(&line(b.1)))
            });
            let Some((is_typed, ..)) = own.first().copied() else { continue };
            let whole = units.get(&unit).copied().unwrap_or_default() / best_unit;
            let score = weights::NOTE * whole
                + weights::SECTION * section
                + weights::MEAN_MEANING * known * (cosines / lengths)
                + nearest;
            let blocks = own.into_iter().map(|(_, slot, own)| (slot, own)).collect();
            out.push((is_typed, unit, RankedNote { score, blocks }));
        }
        out.sort_by(|(a_typed, a, x), (b_typed, b, y)| {
            let order = b_typed.cmp(a_typed).then_with(|| y.score.total_cmp(&x.score));
            order.then_with(|| self.place(*a).cmp(&self.place(*b)))
        });
        out.into_iter().map(|(.., answering)| answering).collect()
    }
}

/// The inverse document frequency of a word whose likenesses sum up to so many among `all` blocks or documents.
fn rarity(expanded: &ExpandedWord, sum: f64, all: f32) -> f32 {
    expanded.weight * idf((sum as f32).min(all), all)
}
