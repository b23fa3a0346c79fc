//! Where the terms of a question stand, layer by layer, and how common each is in all of the scope.

use super::around::{ALONE, spread};
use super::candidates::{Candidates, WINDOW, idf, is_turn};
use super::corpus::Corpus;
use super::question::Asked;
use super::tally::{COMMON, MANY, RATHER_COMMON, Room};

/// What a near word counts beside the word itself.
const NEAR_WORD: f32 = 0.8;
/// A term that stands nowhere counts as rare as this, so that it doesn't drown the others.
const MOST_IDF: f32 = 5.5;
/// Few blocks tell little of how rare a word is: they are joined by others that don't have it, up to so many.
const FEW: f32 = 400.0;

pub(super) fn count(of: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "counts of blocks and notes")]
    let count = of as f32;
    count
}

/// What is asked about.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub corpus: &'a Corpus,
    pub candidates: &'a Candidates,
}

impl Scope<'_> {
    /// Whether a term in so many blocks is in more than one of `most` of many.
    fn is_common(self, blocks: usize, most: usize) -> bool {
        self.candidates.count > MANY && blocks * most > self.candidates.count
    }

    fn each(self, at: usize, term: &str, mut each: impl FnMut(u32, u8)) {
        self.corpus.each_in(at, term, |slot, tf| {
            if self.candidates.is[slot as usize] {
                each(slot, tf);
            }
        });
    }
}

/// A block in which a term stands.
#[derive(Clone, Copy)]
pub(super) struct Posting {
    pub slot: u32,
    pub tf: f32,
    pub is_turn: bool,
}

/// Where a term stands in a layer, and each of its near words.
pub(super) struct Found {
    pub term: Vec<Posting>,
    pub near: Vec<Vec<u32>>,
}

impl Found {
    pub fn new(scope: Scope<'_>, at: usize, asked: &Asked, is_name: bool) -> Self {
        let mut term = Vec::new();
        scope.each(at, &asked.term, |slot, tf| {
            term.push(Posting { slot, tf: f32::from(tf), is_turn: is_turn(scope.corpus, slot) });
        });
        let words = asked.near.iter().filter(|_| !is_name);
        let near = words.map(|(word, _)| {
            let mut slots = Vec::new();
            scope.each(at, word, |slot, _| slots.push(slot));
            slots
        });
        Self { near: near.collect(), term }
    }

    pub fn turns(&self) -> impl Iterator<Item = &Posting> {
        self.term.iter().filter(|posting| posting.is_turn)
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

/// How many blocks a layer has in whose window a term stands, how many notes that have it, and how many blocks that
/// have it or a near word.
pub(super) type Counts = [usize; 3];

/// What is known of a term in all of the scope.
pub(super) struct Term {
    pub is_name: bool,
    /// How many blocks have it.
    pub blocks: usize,
    pub rarity: f32,
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
        let blocks = found.clone().map(|found| found.term.len()).sum();
        let all = count(scope.candidates.count);
        let value = |n: usize, likeness: f32| {
            let blocks = found.clone().map(|found| found.near[n].len()).sum();
            (!scope.is_common(blocks, COMMON)).then_some(NEAR_WORD * likeness)
        };
        let near = asked.near.iter().filter(|_| !is_name).enumerate();
        Self {
            is_name,
            blocks,
            rarity: idf(count(blocks), all),
            is_alone: scope.is_common(blocks, COMMON),
            is_rather_common: scope.is_common(blocks, RATHER_COMMON),
            near: near.map(|(n, (_, likeness))| value(n, *likeness)).collect(),
            soft_rarity: idf(count(blocks), all.max(FEW)).min(MOST_IDF),
            window_rarity: 0.0,
            session_rarity: 0.0,
            is_soft_alone: false,
        }
    }

    pub fn window(&self) -> &'static [(i32, f32)] {
        if self.is_alone { &ALONE } else { &WINDOW }
    }

    pub fn counts(&self, scope: Scope<'_>, found: &Found, room: &mut Room) -> Counts {
        let Scope { corpus, candidates } = scope;
        let term = &mut room.term;
        for posting in found.turns() {
            spread(corpus, candidates, posting.slot, self.window(), |at, _| term.raise(at, 1.0));
        }
        let windows = term.clear() + found.notes().count();
        // A note's blocks stand together.
        let sessions =
            found.term.chunk_by(|a, b| corpus.meta(a.slot).file == corpus.meta(b.slot).file).count();
        if candidates.count <= MANY {
            return [windows, sessions, 0];
        }
        found.each_soft(&self.near, |slot, _| term.raise(slot, 1.0));
        [windows, sessions, term.clear()]
    }

    pub fn take(&mut self, scope: Scope<'_>, counts: impl Iterator<Item = Counts>) {
        let [windows, sessions, soft] =
            counts.fold([0; 3], |sum, counts| std::array::from_fn(|n| sum[n] + counts[n]));
        self.window_rarity = idf(count(windows), count(scope.candidates.count));
        self.session_rarity = idf(count(sessions), count(scope.candidates.files.len()));
        self.is_soft_alone = scope.is_common(soft, COMMON);
    }
}
