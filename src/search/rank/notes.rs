//! Which notes answer a question, and which of their blocks: the ranking of everything but conversations.
//!
//! A note is a document: what answers stands in it as a whole more often than in one of its blocks. Its score is BM25 of the
//! note, BM25 of its best section, the nearest of its blocks in meaning, and how near they are on average, as far as the
//! model knows the question's words. Title and headings count once, not with each block below them.
//! Of the file of memories, of pins and of a day's note each block is a document of its own. A word of the question
//! stands for itself, for words that look like it ([`crate::search::retrieve::alike`]) and, less, for words that mean
//! nearly the same. All statistics are those of the notes in scope, so they are the same however the corpus grew.
//! The weights stand in `rank/note_weights.rs`.

use std::ops::Range;

use roaring::RoaringBitmap;

use crate::search::analyze::function_words;
use crate::search::query::question::Question;
use crate::search::rank::note_parts::{
    Places, STEPS, Section, Unit, WHOLE, Weighted, mean_cosine, places, sections,
};
use crate::search::rank::note_weights::{NoteWeights, WEIGHTS};
use crate::search::rank::signal::NEAR;
use crate::search::rank::sought::Sought;
use crate::search::retrieve::candidates::{K1, idf};
use crate::search::retrieve::cosines::Vectors;
use crate::search::retrieve::nearest::Nearest;
use crate::search::retrieve::scope::{Scope, count};
use crate::search::store::corpus::neighbours::is_said;

use crate::embed::fast::{FastMap, FastSet};
use crate::search::cores::share;

/// So many documents by words, and half as many by meaning, are looked at closely for an answer of fewer hits.
const KEPT: usize = 400;

/// A note, or a block that is a document of its own, with its blocks for which something speaks.
#[derive(Debug)]
pub(in crate::search) struct Answering {
    /// How well it answers.
    pub score: f32,
    /// Its blocks' slots, those with a typed word first, then the best first, each with its own score.
    pub blocks: Vec<(u32, f32)>,
}

/// What is asked of which notes.
pub(in crate::search) struct Notes<'a> {
    /// The blocks.
    pub scope: Scope<'a>,
    /// What is asked.
    pub question: &'a Question,
    /// Its vector and theirs, where there are any.
    pub vectors: Option<Vectors<'a>>,
    /// The blocks nearest to it, where there are too many to look at all.
    pub nearest: Option<&'a Nearest>,
    /// Which notes' blocks are documents of their own, by number.
    pub lists: &'a [bool],
    /// What is looked for.
    pub sought: &'a [Sought],
    /// The blocks with a word as it was typed, which come before all others; none where only the score counts.
    pub typed: Option<&'a RoaringBitmap>,
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

/// How near a block is in meaning.
#[derive(Clone, Copy)]
struct Meaning {
    slot: u32,
    /// As a part of the score.
    score: f32,
    /// Whether that says by itself that it is about the question.
    is_near: bool,
}

impl Notes<'_> {
    /// The notes that answer, best first.
    pub fn rank(&self) -> Vec<Answering> {
        let corpus = self.scope.corpus;
        let totals = self.totals();
        let sought = self.sought;
        let places = share(self.scope.candidates.count, corpus.parts(), |layer| {
            sought.iter().map(|sought| places(self.scope, self.lists, layer, sought)).collect::<Vec<_>>()
        });
        let mut units: FastMap<Unit, f32> = FastMap::default();
        for at in 0..sought.len() {
            let rarity = self.rarity(at, &places, |places| places.unit_steps, totals.units);
            for (unit, count) in places.iter().flat_map(|of| &of[at].units) {
                let score = rarity * saturated(*count, self.length(*unit), totals.unit_length);
                *units.entry(*unit).or_default() += score;
            }
        }
        let best = self.best(&units, KEPT.max(self.most));
        let meanings = self.meanings(&best);
        let kept = self.kept(best, &meanings);
        let (blocks, sections) = self.parts(&places, &kept, &totals);
        self.answering(&units, &blocks, &sections, &meanings, &kept)
    }

    /// How rare what is looked for is, among `all` blocks or documents.
    fn rarity(&self, at: usize, places: &[Vec<Places>], steps: fn(&Places) -> u64, all: f32) -> f32 {
        let sum: u64 = places.iter().map(|of| steps(&of[at])).sum();
        #[expect(clippy::cast_precision_loss, reason = "counts of blocks")]
        let documents = sum as f32 / STEPS;
        self.sought[at].weight * idf(documents.min(all), all)
    }

    /// BM25 of the blocks of some documents, and whether each has a word; and that of their sections.
    fn parts(
        &self,
        places: &[Vec<Places>],
        kept: &FastSet<Unit>,
        totals: &Totals,
    ) -> (FastMap<u32, (f32, bool)>, Vec<Section>) {
        let corpus = self.scope.corpus;
        let mut blocks: FastMap<u32, (f32, bool)> = FastMap::default();
        let mut sections = sections(corpus, kept.iter().map(|unit| self.slots(*unit)).collect());
        let starts: Vec<Range<u32>> = sections.iter().map(|section| section.slots.clone()).collect();
        let lengths: f32 = sections.iter().map(|section| section.length).sum();
        let mean_section = lengths / count(sections.len().max(1));
        for (at, sought) in self.sought.iter().enumerate() {
            let rarity = self.rarity(at, places, |places| places.block_steps, totals.blocks);
            // A section's blocks stand side by side.
            let mut last: Option<(usize, Weighted)> = None;
            let mut add = |(section, there): (usize, Weighted)| {
                let Section { length, score, .. } = &mut sections[section];
                *score += rarity * saturated(there.all(), *length, mean_section);
            };
            let mut open = None;
            for ((slot, unit), there, best) in places.iter().flat_map(|of| &of[at].blocks) {
                let (_, is_kept) =
                    *open.take_if(|(of, _)| of == unit).get_or_insert_with(|| (*unit, kept.contains(unit)));
                open = Some((*unit, is_kept));
                if !is_kept {
                    continue;
                }
                let length = f32::from(corpus.meta(*slot).length);
                let (score, has_word) = blocks.entry(*slot).or_default();
                *score += rarity * saturated(there.all(), length, totals.block_length);
                *has_word |= *best >= sought.least;
                last = match last {
                    Some((section, before)) if starts[section].contains(slot) => {
                        Some((section, before.and(*there)))
                    }
                    before => {
                        before.into_iter().for_each(&mut add);
                        Some((starts.partition_point(|slots| slots.end <= *slot), *there))
                    }
                };
            }
            last.into_iter().for_each(&mut add);
        }
        (blocks, sections)
    }

    fn totals(&self) -> Totals {
        let Scope { corpus, candidates, .. } = self.scope;
        let (mut units, mut blocks, mut length) = (0, 0, 0_u64);
        for own in candidates.notes.iter().filter(|own| !own.has_turns) {
            blocks += own.slots.len();
            units += if self.lists[own.note as usize] { own.slots.len() } else { 1 };
            length += u64::from(corpus.files()[own.note as usize].terms);
        }
        #[expect(clippy::cast_precision_loss, reason = "means need no more")]
        let mean = |count: usize| (length as f64 / count.max(1) as f64).max(1.0) as f32;
        Totals {
            units: count(units.max(1)),
            unit_length: mean(units),
            blocks: count(blocks.max(1)),
            block_length: mean(blocks),
        }
    }

    /// The document that a block belongs to.
    fn unit(&self, slot: u32) -> Unit {
        let note = self.scope.corpus.meta(slot).file;
        let file = &self.scope.corpus.files()[note as usize];
        Unit { note, slot: if self.lists[note as usize] || file.has_turns { slot } else { WHOLE } }
    }

    fn slots(&self, unit: Unit) -> Range<u32> {
        match unit.slot {
            WHOLE => self.scope.corpus.files()[unit.note as usize].slots.clone(),
            slot => slot..slot + 1,
        }
    }

    fn length(&self, unit: Unit) -> f32 {
        let corpus = self.scope.corpus;
        match unit.slot {
            WHOLE => count(corpus.files()[unit.note as usize].terms as usize),
            slot => f32::from(corpus.meta(slot).length),
        }
    }

    /// How near blocks are in meaning, in the order of their slots: all, or, where there are many, the nearest and those of the documents with the
    /// most words.
    fn meanings(&self, best: &[Unit]) -> Vec<Meaning> {
        let Scope { corpus, candidates, .. } = self.scope;
        let Some(vectors) = self.vectors else { return Vec::new() };
        let known = self.known();
        let mut slots: Vec<u32> = if let Some(near) = self.nearest {
            let mut slots = near.slots.clone();
            slots.extend(best.iter().flat_map(|unit| self.slots(*unit)));
            slots.sort_unstable();
            slots.dedup();
            slots
        } else {
            candidates.slots().collect()
        };
        slots.retain(|slot| !is_said(corpus, *slot));
        let mut meanings = Vec::with_capacity(slots.len());
        for (slot, cosine) in vectors.cosines(corpus, slots.into_iter()) {
            let length = f32::from(corpus.meta(slot).length) + 1.0;
            let says = (length / WEIGHTS.short).sqrt().min(1.0);
            let beyond = (cosine * says - WEIGHTS.far).max(0.0);
            meanings.push(Meaning { slot, score: WEIGHTS.meaning * known * beyond, is_near: cosine >= NEAR });
        }
        meanings
    }

    /// The share of the question's words that the model knows; of another model that can't be told.
    fn known(&self) -> f32 {
        if self.vectors.is_none_or(|vectors| vectors.matrix.is_some()) {
            return 1.0;
        }
        let skipped = function_words::of(&self.question.words);
        self.scope.corpus.table.known(&self.question.text, |word| skipped.contains(&word))
    }

    /// The documents that are looked at closely: the best by words, and the nearest in meaning.
    fn kept(&self, best: Vec<Unit>, meanings: &[Meaning]) -> FastSet<Unit> {
        let mut nearest: FastMap<Unit, f32> = FastMap::default();
        for meaning in meanings.iter().filter(|meaning| meaning.score > 0.0) {
            let most = nearest.entry(self.unit(meaning.slot)).or_default();
            *most = most.max(meaning.score);
        }
        let nearest = self.best(&nearest, KEPT.max(self.most) / 2);
        best.into_iter().chain(nearest).collect()
    }

    /// The best documents with a typed word, and the best others; of equals all or those first in the order of their paths.
    fn best(&self, units: &FastMap<Unit, f32>, most: usize) -> Vec<Unit> {
        let mut best: Vec<(Unit, f32)> = units.iter().map(|(unit, score)| (*unit, *score)).collect();
        let order = |a: &(Unit, f32), b: &(Unit, f32)| {
            b.1.total_cmp(&a.1).then_with(|| self.place(a.0).cmp(&self.place(b.0)))
        };
        let mut alike = Vec::new();
        if self.typed.is_some() {
            (best, alike) = best.into_iter().partition(|(unit, _)| self.has_typed(*unit));
        }
        for units in [&mut best, &mut alike] {
            if units.len() > most {
                units.select_nth_unstable_by(most, order);
                units.truncate(most);
            }
        }
        best.into_iter().chain(alike).map(|(unit, _)| unit).collect()
    }

    /// Whether a block of it has a word as it was typed.
    fn has_typed(&self, unit: Unit) -> bool {
        self.typed.is_some_and(|typed| typed.range_cardinality(self.slots(unit)) > 0)
    }

    fn is_typed(&self, slot: u32) -> bool {
        self.typed.is_some_and(|typed| typed.contains(slot))
    }

    fn place(&self, unit: Unit) -> (&str, u32) {
        let corpus = self.scope.corpus;
        (
            &corpus.files()[unit.note as usize].path,
            if unit.slot == WHOLE { 0 } else { corpus.meta(unit.slot).line },
        )
    }

    /// The documents in their order, with their blocks in theirs.
    fn answering(
        &self,
        units: &FastMap<Unit, f32>,
        blocks: &FastMap<u32, (f32, bool)>,
        sections: &[Section],
        meanings: &[Meaning],
        kept: &FastSet<Unit>,
    ) -> Vec<Answering> {
        let corpus = self.scope.corpus;
        let best_unit = units.values().copied().fold(f32::MIN_POSITIVE, f32::max);
        let best_block = blocks.values().map(|(score, _)| *score).fold(f32::MIN_POSITIVE, f32::max);
        let best_section = sections.iter().map(|section| section.score).fold(f32::MIN_POSITIVE, f32::max);
        let known = self.known();
        let mut out: Vec<(Unit, Answering)> = Vec::with_capacity(kept.len());
        for unit in kept {
            let mut nearest = 0.0_f32;
            let mut own: Vec<(u32, f32)> = Vec::new();
            let slots = self.slots(*unit);
            let mut meanings = &meanings[meanings.partition_point(|meaning| meaning.slot < slots.start)..];
            for slot in slots {
                let (score, has_word) = blocks.get(&slot).copied().unwrap_or_default();
                let (mut near, mut is_near) = (0.0, false);
                if let Some((meaning, rest)) = meanings.split_first().filter(|(first, _)| first.slot == slot)
                {
                    (near, is_near, meanings) = (meaning.score, meaning.is_near, rest);
                }
                nearest = nearest.max(near);
                if has_word || is_near {
                    own.push((slot, WEIGHTS.block * score / best_block + near));
                }
            }
            if own.is_empty() {
                continue;
            }
            own.sort_by(|a, b| {
                let is_typed = self.is_typed(b.0).cmp(&self.is_typed(a.0));
                is_typed
                    .then_with(|| b.1.total_cmp(&a.1))
                    .then_with(|| corpus.meta(a.0).line.cmp(&corpus.meta(b.0).line))
            });
            let whole = units.get(unit).copied().unwrap_or_default() / best_unit;
            let slots = self.slots(*unit);
            let own_sections =
                &sections[sections.partition_point(|section| section.slots.start < slots.start)..];
            let own_sections = own_sections.iter().take_while(|section| section.slots.start < slots.end);
            let section = own_sections.map(|section| section.score).fold(0.0, f32::max) / best_section;
            let mean = self.vectors.map_or(0.0, |vectors| known * mean_cosine(corpus, vectors, slots));
            let score =
                WEIGHTS.note * whole + WEIGHTS.section * section + WEIGHTS.mean_meaning * mean + nearest;
            out.push((*unit, Answering { score, blocks: own }));
        }
        let is_typed = |answering: &Answering| self.is_typed(answering.blocks[0].0);
        out.sort_by(|(a, x), (b, y)| {
            is_typed(y)
                .cmp(&is_typed(x))
                .then_with(|| y.score.total_cmp(&x.score))
                .then_with(|| self.place(*a).cmp(&self.place(*b)))
        });
        out.into_iter().map(|(_, answering)| answering).collect()
    }
}

/// What BM25 makes of a count in a document of this length, where the mean is that.
fn saturated(count: f32, length: f32, mean: f32) -> f32 {
    let NoteWeights { length: b, .. } = WEIGHTS;
    count * (K1 + 1.0) / (count + K1 * (1.0 - b + b * length / mean))
}
