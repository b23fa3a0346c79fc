//! Adds up each block's ranking signals for a question, as a weighted sum ([`Scores`]). Also defines the inputs of the
//! ranking of turns ([`RankingInput`]).

use jiff::tz::TimeZone;

use crate::search::query::Question;
use crate::search::retrieve::{Bounds, Candidates, CorpusScope, MANY, Nearest, Vectors};
use crate::search::weights::{Signal, Weights};

/// Of more candidates than [`MANY`], so many of the best by words are looked at closely.
const SHORTLIST: usize = 1000;

/// A question, and the blocks that may answer it.
#[derive(Debug, Clone, Copy)]
pub struct RankingInput<'a> {
    /// The blocks that may answer.
    pub scope: CorpusScope<'a>,
    /// The question.
    pub question: &'a Question,
    /// Its vector and theirs, where there are any.
    pub vectors: Option<Vectors<'a>>,
    /// Its nearest blocks, if known.
    pub nearest: Option<&'a Nearest>,
    /// Notes whose blocks' scores are computed besides those of turns, ascending.
    pub others: &'a [u32],
    /// The time zone of the days that the question names.
    pub zone: &'a TimeZone,
}

/// The weighted sums, one a slot, each with a flag whether any signal speaks for the block.
#[derive(Debug)]
pub struct Scores {
    weights: Weights,
    near: CosineThreshold,
    cells: Vec<(f32, bool)>,
    /// The slots for which all signals were computed, in their order.
    pub(super) listed: Vec<u32>,
}

/// The threshold from which a cosine counts as a sign that two texts are related.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CosineThreshold {
    /// From this cosine on.
    Cosine(f32),
    /// From so many times the spread above the mean on: for models whose cosines are not known.
    Spreads(f32),
}

impl Scores {
    /// All zero, for a corpus of so many slots.
    pub fn new(weights: Weights, near: CosineThreshold, slots: usize) -> Self {
        Self { weights, near, cells: vec![(0.0, false); slots], listed: Vec::new() }
    }

    /// The score of a slot.
    pub fn of(&self, slot: u32) -> f32 {
        self.cells[slot as usize].0
    }

    /// Whether anything speaks for a block: a word of the question in or beside it, a near word, a day that is
    /// named, or a vector nearer than those of unrelated texts.
    pub fn speaks(&self, slot: u32) -> bool {
        self.cells[slot as usize].1
    }

    /// Adds `value` of `signal` to `slot`.
    #[inline]
    pub(super) fn add(&mut self, signal: Signal, slot: u32, value: f32) {
        let (score, speaks) = &mut self.cells[slot as usize];
        *score += self.weights[signal as usize] * value;
        *speaks |= value > 0.0 && matches!(signal, Signal::SoftTelling | Signal::OwnTop | Signal::Date);
    }

    /// The cosine of `slot`, as it is and standardised.
    pub(super) fn near(&mut self, slot: u32, cosine: f32, standard: f32) {
        let is_near = match self.near {
            CosineThreshold::Cosine(least) => cosine >= least,
            CosineThreshold::Spreads(least) => standard >= least,
        };
        self.cells[slot as usize].1 |= is_near;
    }

    /// The slots for which vectors are compared, after the signals from words: all, unless there are many.
    pub(super) fn shortlist(&self, candidates: &Candidates) -> Vec<u32> {
        if candidates.count <= MANY {
            return candidates.slots().collect();
        }
        let scored = candidates.slots().map(|slot| (self.of(slot), slot));
        let mut scored: Vec<(f32, u32)> = scored.filter(|(score, _)| *score != 0.0).collect();
        if scored.len() > SHORTLIST {
            // If many are as good as the last one, all of them are taken: their order says nothing.
            let (_, last, _) = scored.select_nth_unstable_by(SHORTLIST - 1, |a, b| b.0.total_cmp(&a.0));
            let least = last.0;
            let equal = scored.iter().filter(|(score, _)| *score == least).count();
            scored.retain(|(score, _)| *score > least || (*score == least && equal <= 4 * SHORTLIST));
        }
        scored.into_iter().map(|(_, slot)| slot).collect()
    }

    /// The `most` best turns within `bounds` for which something speaks, typed words before all others, then best
    /// first; equals in the order of path and line. For what a tool said only typed words speak.
    pub fn best(&self, scope: CorpusScope<'_>, bounds: Bounds<'_>, most: usize) -> Vec<u32> {
        let CorpusScope { corpus, candidates, .. } = scope;
        let Bounds { typed: first, allowed } = bounds;
        let is_first = |slot: u32| first.is_some_and(|first| first.contains(slot));
        let mut slots: Vec<u32> = if most <= self.listed.len() && allowed.is_none() {
            // Few blocks may have a word that many similar ones keep off the list.
            let few = first.filter(|first| first.len() <= self.listed.len() as u64);
            let further = few.into_iter().flatten().filter(|slot| self.listed.binary_search(slot).is_err());
            self.listed.iter().copied().chain(further).collect()
        } else {
            candidates.slots().filter(|slot| allowed.is_none_or(|allowed| allowed.contains(*slot))).collect()
        };
        slots.retain(|slot| {
            is_first(*slot) && corpus.is_said(*slot) || self.speaks(*slot) && corpus.is_turn(*slot)
        });
        let order = |a: &u32, b: &u32| {
            let place = |slot: u32| (corpus.path_at(slot), corpus.meta(slot).line);
            let is_first = is_first(*b).cmp(&is_first(*a));
            is_first.then_with(|| self.of(*b).total_cmp(&self.of(*a))).then_with(|| place(*a).cmp(&place(*b)))
        };
        if slots.len() > most && most > 0 {
            slots.select_nth_unstable_by(most - 1, order);
        }
        slots.truncate(most);
        slots.sort_unstable_by(order);
        slots
    }
}
