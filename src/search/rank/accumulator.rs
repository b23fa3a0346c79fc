//! Adds up each block's ranking signals for a question, as a weighted sum ([`Scores`]). Also defines the inputs of the
//! ranking of turns ([`RankingInput`]), and keeps scratch memory for the next question ([`ScratchPool`]).

use std::sync::Mutex;

use jiff::tz::TimeZone;

use crate::search::query::Question;
use crate::search::retrieve::{Bounds, Candidates, CorpusScope, MANY, Nearest, Vectors};
use crate::search::store::{Corpus, cache::guard};
use crate::search::weights::{Signal, Weights};

/// Of more candidates than [`MANY`], so many of the best by words are looked at closely.
const SHORTLIST: usize = 1000;

/// Set with the first that is known of a slot, and where something speaks for it.
const TOUCHED: u8 = 1;
const SPEAKS: u8 = 2;

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
    /// The scratch memory of earlier questions.
    pub scratch: &'a ScratchPool,
}

/// The score of one slot, and what is known of it.
type Cell = (f32, u8);

/// The weighted sums, one a slot, each with a flag whether any signal speaks for the block.
#[derive(Debug)]
pub struct Scores<'p> {
    pool: &'p ScratchPool,
    weights: Weights,
    near: CosineThreshold,
    cells: Vec<Cell>,
    touched: Vec<u32>,
    /// The slots for which vectors were compared.
    pub(super) listed: Option<Vec<u32>>,
}

/// The threshold from which a cosine counts as a sign that two texts are related.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CosineThreshold {
    /// From this cosine on.
    Cosine(f32),
    /// From so many times the spread above the mean on: for models whose cosines are not known.
    Spreads(f32),
}

impl<'p> Scores<'p> {
    /// All zero, for a corpus of so many slots.
    pub fn new(weights: Weights, near: CosineThreshold, slots: usize, pool: &'p ScratchPool) -> Self {
        let mut cells = guard(&pool.cells).pop().unwrap_or_default();
        make_room(&mut cells, slots);
        Self { pool, weights, near, cells, touched: Vec::new(), listed: None }
    }

    #[inline]
    fn cell(&mut self, slot: u32) -> &mut Cell {
        let cell = &mut self.cells[slot as usize];
        if cell.1 & TOUCHED == 0 {
            cell.1 |= TOUCHED;
            self.touched.push(slot);
        }
        cell
    }

    /// The score of a slot.
    pub fn of(&self, slot: u32) -> f32 {
        self.cells[slot as usize].0
    }

    /// Whether anything speaks for a block: a word of the question in or beside it, a near word, a day that is
    /// named, or a vector nearer than those of unrelated texts.
    pub fn speaks(&self, slot: u32) -> bool {
        self.cells[slot as usize].1 & SPEAKS != 0
    }

    /// Adds `value` of `signal` to `slot`.
    #[inline]
    pub(super) fn add(&mut self, signal: Signal, slot: u32, value: f32) {
        let gain = self.weights[signal as usize] * value;
        let (score, known) = self.cell(slot);
        *score += gain;
        if value > 0.0 && matches!(signal, Signal::SoftTelling | Signal::OwnTop | Signal::Date) {
            *known |= SPEAKS;
        }
    }

    /// The cosine of `slot`, as it is and standardised.
    pub(super) fn near(&mut self, slot: u32, cosine: f32, standard: f32) {
        let is_near = match self.near {
            CosineThreshold::Cosine(least) => cosine >= least,
            CosineThreshold::Spreads(least) => standard >= least,
        };
        self.cell(slot).1 |= if is_near { SPEAKS } else { 0 };
    }

    /// The slots for which vectors are compared, after the signals from words; `None` means all.
    pub(super) fn shortlist(&self, candidates: &Candidates) -> Option<Vec<u32>> {
        if candidates.count <= MANY {
            return None;
        }
        let scored = self.touched.iter().map(|slot| (self.of(*slot), *slot));
        let mut scored: Vec<(f32, u32)> = scored.filter(|(score, _)| *score != 0.0).collect();
        if scored.len() > SHORTLIST {
            // If many are as good as the last one, all of them are taken: their order says nothing.
            let (_, last, _) = scored.select_nth_unstable_by(SHORTLIST - 1, |a, b| b.0.total_cmp(&a.0));
            let least = last.0;
            let equal = scored.iter().filter(|(score, _)| *score == least).count();
            scored.retain(|(score, _)| *score > least || (*score == least && equal <= 4 * SHORTLIST));
        }
        Some(scored.into_iter().map(|(_, slot)| slot).collect())
    }

    /// The `most` best turns within `bounds` for which something speaks, typed words before all others, then best
    /// first; equals in the order of path and line. For what a tool said only typed words speak.
    pub fn best(&self, scope: CorpusScope<'_>, bounds: Bounds<'_>, most: usize) -> Vec<u32> {
        let CorpusScope { corpus, candidates, .. } = scope;
        let Bounds { typed: first, allowed } = bounds;
        let is_first = |slot: u32| first.is_some_and(|first| first.contains(slot));
        let mut slots: Vec<u32> = match &self.listed {
            Some(listed) if most <= listed.len() && allowed.is_none() => {
                // Few blocks may have a word that many similar ones keep off the list.
                let few = first.filter(|first| first.len() <= listed.len() as u64);
                let further = few.into_iter().flatten().filter(|slot| listed.binary_search(slot).is_err());
                listed.iter().copied().chain(further).collect()
            }
            _ => candidates
                .slots()
                .filter(|slot| allowed.is_none_or(|allowed| allowed.contains(*slot)))
                .collect(),
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

impl Drop for Scores<'_> {
    /// Leaves the cells, all zero, to the next question.
    fn drop(&mut self) {
        self.touched.drain(..).for_each(|slot| self.cells[slot as usize] = Cell::default());
        guard(&self.pool.cells).push(std::mem::take(&mut self.cells));
    }
}

/// Scratch memory that is reused from question to question and is zero in between. Clearing the touched part takes a
/// fraction of the time of zeroing all of it, or of getting zeroed pages from the system.
#[derive(Debug, Default)]
pub struct ScratchPool {
    cells: Mutex<Vec<Vec<Cell>>>,
    layers: Mutex<Vec<LayerScratch>>,
}

impl ScratchPool {
    /// Runs `work` with scratch memory for any layer of a corpus; `work` leaves it zero.
    pub(super) fn with_layer<T>(&self, corpus: &Corpus, work: impl FnOnce(&mut LayerScratch) -> T) -> T {
        let mut scratch = guard(&self.layers).pop().unwrap_or_default();
        let largest = corpus.segs.iter().map(|seg| seg.rows.len()).max().unwrap_or(0);
        for by_slot in [&mut scratch.term, &mut scratch.own, &mut scratch.telling] {
            make_room(&mut by_slot.value, largest.next_power_of_two());
        }
        for by_note in [&mut scratch.session, &mut scratch.session_bm25, &mut scratch.session_cover] {
            make_room(&mut by_note.value, corpus.note_count().next_power_of_two());
        }
        let made = work(&mut scratch);
        guard(&self.layers).push(scratch);
        made
    }

    /// Frees all of it; for a time without questions.
    pub(in crate::search) fn clear(&self) {
        guard(&self.cells).clear();
        guard(&self.layers).clear();
    }
}

/// Makes `values`, all zero, as long as this; where there are none yet, zeroed pages are asked for instead of written.
fn make_room<T: Copy + Default>(values: &mut Vec<T>, length: usize) {
    if values.is_empty() {
        *values = vec![T::default(); length];
    } else {
        values.resize(length, T::default());
    }
}

/// The scratch memory for one layer: by slot, and by note.
#[derive(Debug, Default)]
pub(in crate::search) struct LayerScratch {
    pub term: SparseValues,
    pub own: SparseValues,
    pub telling: SparseValues,
    pub session: SparseValues,
    pub session_bm25: SparseValues,
    pub session_cover: SparseValues,
}

/// The values of one term for some slots of a layer, or for some notes, before they are added up. They are cheap to
/// reset. The capacity is a power of two.
#[derive(Debug, Default)]
pub(in crate::search) struct SparseValues {
    value: Vec<f32>,
    touched: Vec<u32>,
}

impl SparseValues {
    /// The value of a slot, or of a note; a layer's slots differ in the lower bits.
    #[inline]
    fn at(&mut self, of: u32) -> &mut f32 {
        let place = of as usize & (self.value.len() - 1);
        let at = &mut self.value[place];
        if *at == 0.0 {
            self.touched.push(of);
        }
        at
    }

    #[inline]
    pub fn add(&mut self, of: u32, value: f32) {
        *self.at(of) += value;
    }

    #[inline]
    pub fn raise(&mut self, of: u32, value: f32) {
        let at = self.at(of);
        *at = at.max(value);
    }

    pub fn get(&self, of: u32) -> f32 {
        self.value[of as usize & (self.value.len() - 1)]
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.drain(|_, _| {});
    }

    pub fn drain(&mut self, mut each: impl FnMut(u32, f32)) {
        let mask = self.value.len() - 1;
        for of in self.touched.drain(..) {
            each(of, std::mem::take(&mut self.value[of as usize & mask]));
        }
    }
}
