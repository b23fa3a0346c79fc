//! Where the terms of a question stand, layer by layer, and how common each is in all of the scope.

use crate::embed::Table;
use crate::search::query::question::Asked;
use crate::search::rank::accumulator::{COMMON, MANY, RATHER_COMMON, Room};
use crate::search::retrieve::around::{ALONE, spread};
use crate::search::retrieve::candidates::{Candidates, NoteSlots, WINDOW, idf, is_turn};
use crate::search::store::corpus::blocks::Corpus;
use crate::search::store::corpus::layer::BITS;

/// What a near word counts beside the word itself.
const NEAR_WORD: f32 = 0.8;
/// A term that stands nowhere counts as rare as this, so that it doesn't drown the others.
pub(in crate::search) const MOST_IDF: f32 = 5.5;
/// Few blocks tell little of how rare a word is: they are joined by others that don't have it, up to so many.
pub(in crate::search) const FEW: f32 = 400.0;

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

    /// In how many blocks that `counts`, each with its note, a term stands.
    pub fn blocks_with(self, term: &str, counts: impl Fn(u32, &NoteSlots) -> bool) -> usize {
        let mut blocks = 0;
        for layer in 0..self.corpus.parts() {
            self.each(layer, term, |slot, _, own| blocks += usize::from(counts(slot, own)));
        }
        blocks
    }

    /// Calls `each` with where a term stands in a layer: the slot, its count there, and the note.
    pub fn each(self, at: usize, term: &str, mut each: impl FnMut(u32, u8, &NoteSlots)) -> Counts {
        let Candidates { notes, .. } = self.candidates;
        let mut counts = Counts::default();
        let mut place = self.candidates.reaching(u32::try_from(at << BITS).unwrap_or(u32::MAX), 0);
        // The slots of the note at this place, the first that doesn't end before where the postings have come to.
        let (mut start, mut end) = (0, 0);
        let (mut is_inside, mut is_counted) = (false, false);
        self.corpus.each_in(at, term, |slot, tf| {
            if slot >= end {
                place = self.candidates.reaching(slot, place);
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
                each(slot, tf, &notes[place]);
            }
        });
        counts
    }
}

/// In how many candidates a term stands, and in how many notes.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::search) struct Counts {
    blocks: usize,
    notes: usize,
}

/// A block in which a term stands.
#[derive(Debug, Clone, Copy)]
pub(in crate::search) struct Posting {
    pub slot: u32,
    tf: u8,
    is_turn: bool,
}

impl Posting {
    pub fn tf(self) -> f32 {
        f32::from(self.tf)
    }
}

/// Where a term stands in a layer and is looked at, and each of its near words; and in how many candidates each does.
#[derive(Debug)]
pub(in crate::search) struct Found {
    pub term: Vec<Posting>,
    near: Vec<Vec<u32>>,
    counts: Counts,
    near_counts: Vec<Counts>,
    /// How many of the term's blocks are turns.
    turns: usize,
}

impl Found {
    pub fn new(scope: Scope<'_>, at: usize, asked: &Asked, is_name: bool) -> Self {
        let (mut term, mut turns) = (Vec::new(), 0);
        let counts = scope.each(at, &asked.term, |slot, tf, own| {
            let is_turn = own.has_turns && is_turn(scope.corpus, slot);
            turns += usize::from(is_turn);
            term.push(Posting { slot, tf, is_turn });
        });
        let words = asked.near.iter().filter(|_| !is_name);
        let (near, near_counts) = words
            .map(|(word, _)| {
                let mut slots = Vec::new();
                let counts = scope.each(at, word, |slot, _, _| slots.push(slot));
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

/// What is known of a term in all of the scope.
#[derive(Debug)]
pub(in crate::search) struct Term {
    pub is_name: bool,
    /// How many blocks have it.
    pub blocks: usize,
    pub rarity: f32,
    /// How much its word tells in any text.
    pub tells: f32,
    /// Whether it stands for the block alone, being common.
    pub is_alone: bool,
    pub is_rather_common: bool,
    /// What each near word counts; one that stands everywhere tells nothing, and costs the most.
    pub near: Vec<Option<f32>>,
    pub soft_rarity: f32,
    /// Its rarity among windows and among notes.
    pub window_rarity: f32,
    pub session_rarity: f32,
    /// Whether it and its near words stand for the block alone.
    pub is_soft_alone: bool,
}

impl Term {
    pub fn new<'f>(
        scope: Scope<'_>,
        asked: &Asked,
        is_name: bool,
        found: &(impl Iterator<Item = &'f Found> + Clone),
    ) -> Self {
        let blocks = found.clone().map(|found| found.counts.blocks).sum();
        let notes = found.clone().map(|found| found.counts.notes).sum();
        let Candidates { count: all, notes: all_notes, .. } = scope.candidates;
        let mut soft_blocks: usize = blocks;
        let near = asked.near.iter().filter(|_| !is_name).enumerate().map(|(n, (_, likeness))| {
            let blocks = found.clone().map(|found| found.near_counts[n].blocks).sum();
            (!scope.is_common(blocks, COMMON)).then(|| {
                soft_blocks += blocks;
                NEAR_WORD * likeness
            })
        });
        let near = near.collect();
        Self {
            is_name,
            blocks,
            rarity: idf(count(blocks), count(*all)),
            tells: Table::builtin().weight(&asked.word),
            is_alone: scope.is_common(blocks, COMMON),
            is_rather_common: scope.is_common(blocks, RATHER_COMMON),
            near,
            soft_rarity: idf(count(blocks), count(*all).max(FEW)).min(MOST_IDF),
            window_rarity: 0.0,
            session_rarity: idf(count(notes), count(all_notes.len())),
            is_soft_alone: scope.is_common(soft_blocks, COMMON),
        }
    }

    pub fn window(&self) -> &'static [(i32, f32)] {
        if self.is_alone { &ALONE } else { &WINDOW }
    }

    /// In how many blocks' windows of a layer it stands.
    pub fn windows(&self, scope: Scope<'_>, found: &Found, room: &mut Room) -> usize {
        for posting in found.turns() {
            spread(scope.corpus, posting.slot, self.window(), |at, _| room.term.raise(at, 1.0));
        }
        room.term.clear() + found.counts.blocks - found.turns
    }

    /// It stands in so many windows of the scope.
    pub fn in_windows(&mut self, scope: Scope<'_>, windows: usize) {
        self.window_rarity = idf(count(windows), count(scope.candidates.count));
    }
}
