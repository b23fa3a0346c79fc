//! Finds the positions of a question's terms in a scope, layer by layer (a layer is one part of the corpus).

use crate::search::query::question::QueryTerm;
use crate::search::retrieve::candidates::{Candidates, MANY, NoteSlots};
use crate::search::store::corpus::blocks::Corpus;
use crate::search::store::corpus::neighbours::is_turn;
use crate::search::store::corpus::times::Times;

pub(in crate::search) fn count(of: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "counts of blocks and notes")]
    let count = of as f32;
    count
}

/// What is asked about.
#[derive(Debug, Clone, Copy)]
pub(in crate::search) struct Scope<'a> {
    pub corpus: &'a Corpus,
    pub candidates: &'a Candidates,
}

impl Scope<'_> {
    /// Whether a term in so many blocks is in more than one of `most` of many.
    pub fn is_common(self, blocks: usize, most: usize) -> bool {
        self.candidates.count > MANY && blocks * most > self.candidates.count
    }

    /// In how many blocks a term stands.
    pub fn blocks_with(self, term: &str) -> usize {
        (0..self.corpus.parts()).map(|layer| self.each(layer, term, |_, _, _| {}).blocks).sum()
    }

    /// Calls `each` with where a term stands in a layer: the slot, its count there, and the note.
    pub fn each(self, at: usize, term: &str, mut each: impl FnMut(u32, Times, &NoteSlots)) -> Counts {
        let Candidates { notes, .. } = self.candidates;
        let mut counts = Counts::default();
        let mut place = 0;
        // The slots of the note at this place, the first that doesn't end before where the postings have come to.
        let (mut start, mut end) = (0, 0);
        let (mut is_inside, mut is_counted) = (false, false);
        self.corpus.each_in(at, term, |slot, times| {
            if slot >= end {
                place = self.candidates.reaching(slot);
                let own = notes.get(place);
                (start, end) = own.map_or((u32::MAX, u32::MAX), |own| (own.slots.start, own.slots.end));
                is_inside = own.is_some();
                is_counted = false;
            }
            if slot < start {
                return;
            }
            counts.blocks += 1;
            counts.notes += usize::from(!std::mem::replace(&mut is_counted, true));
            if is_inside {
                each(slot, times, &notes[place]);
            }
        });
        counts
    }
}

/// In how many candidates a term stands, and in how many notes.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::search) struct Counts {
    pub blocks: usize,
    pub notes: usize,
}

/// A block in which a term stands.
#[derive(Debug, Clone, Copy)]
pub(in crate::search) struct Posting {
    pub slot: u32,
    tf: u32,
    is_turn: bool,
}

impl Posting {
    pub fn tf(self) -> f32 {
        count(self.tf as usize)
    }
}

/// Where a term stands in a layer and is looked at, and each of its near words; and in how many candidates each does.
#[derive(Debug)]
pub(in crate::search) struct TermMatches {
    pub term: Vec<Posting>,
    near: Vec<Vec<u32>>,
    pub counts: Counts,
    pub near_counts: Vec<Counts>,
    /// How many of the term's blocks are turns.
    pub turns: usize,
}

impl TermMatches {
    /// In turns, and in the blocks of `others`: whether a note is one, by its number.
    pub fn new(scope: Scope<'_>, at: usize, asked: &QueryTerm, is_name: bool, others: &[bool]) -> Self {
        let (mut term, mut turns) = (Vec::new(), 0);
        let is_turn = |slot: u32, own: &NoteSlots| own.has_turns && is_turn(scope.corpus, slot);
        let is_other = |own: &NoteSlots| others[own.note as usize];
        let counts = scope.each(at, &asked.term, |slot, times, own| {
            let is_turn = is_turn(slot, own);
            turns += usize::from(is_turn);
            if is_turn || is_other(own) {
                term.push(Posting { slot, tf: times.all(), is_turn });
            }
        });
        let words = asked.near.iter().filter(|_| !is_name);
        let (near, near_counts) = words
            .map(|(word, _)| {
                let mut slots = Vec::new();
                let counts = scope.each(at, word, |slot, _, own| {
                    if is_turn(slot, own) || is_other(own) {
                        slots.push(slot);
                    }
                });
                (slots, counts)
            })
            .unzip();
        Self { term, near, counts, near_counts, turns }
    }

    pub fn turns(&self) -> impl Iterator<Item = &Posting> {
        let any = if self.turns > 0 { &self.term[..] } else { &[] };
        any.iter().filter(|posting| posting.is_turn)
    }

    pub fn notes(&self) -> impl Iterator<Item = &Posting> {
        self.term.iter().filter(|posting| !posting.is_turn)
    }

    /// The block of the term, and those of the near words that count, each with what it counts.
    pub fn each_soft(&self, near: &[Option<f32>], mut each: impl FnMut(u32, f32)) {
        self.term.iter().for_each(|posting| each(posting.slot, 1.0));
        for (slots, value) in self.near.iter().zip(near) {
            let Some(value) = value else { continue };
            slots.iter().for_each(|slot| each(*slot, *value));
        }
    }
}
