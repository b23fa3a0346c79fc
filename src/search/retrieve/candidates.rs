//! Selects the candidate blocks of a scope, with their statistics, and finds the candidates that have a question's
//! terms.
//!
//! The statistics are those of the candidates alone, at the time of the question. A term's blocks go out in the order
//! of their slots. Several steps need the postings of the same terms (typed words, notes and turns are ranked apart),
//! so [`Occurrences`] reads them once.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::search::analyze::Shape;
use crate::search::query::QueryTerm;
use crate::search::store::{Corpus, CorpusNote, TermCount};

/// With more candidates than this, vectors and shapes are compared only for the best blocks by words and those with the
/// nearest signs, because no other block can reach the top.
pub(in crate::search) const MANY: usize = 5000;
/// With more than [`MANY`] candidates, a term in more than one of so many blocks counts only in its own block, not in
/// the blocks around.
pub(in crate::search) const COMMON: usize = 50;
/// The same for the wide region around it.
pub(in crate::search) const RATHER_COMMON: usize = 400;

/// The slots of a note's blocks.
#[derive(Debug)]
pub struct NoteSlots {
    /// Its slots.
    pub slots: Range<u32>,
    /// Its number.
    pub note: u32,
    /// Whether a log's events are among them.
    pub has_turns: bool,
}

/// The blocks that a question may be answered from: those of some notes, and their statistics.
#[derive(Debug, Default)]
pub struct Candidates {
    /// The notes whose blocks are, in the order of their slots.
    pub notes: Vec<NoteSlots>,
    /// How many are.
    pub count: usize,
    /// Whether some are no events of a log.
    pub has_notes: bool,
    /// Whether some are.
    pub has_turns: bool,
    /// Their speakers, by number.
    pub authors: BTreeSet<u32>,
    pub(in crate::search) mean_length: f32,
    pub(in crate::search) mean_session: f32,
}

/// Sets of slots that bound an order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds<'a> {
    /// The blocks with a word as it was typed, which come before all others; none where only the score counts.
    pub typed: Option<&'a RoaringBitmap>,
    /// The blocks that may come; none where all may.
    pub allowed: Option<&'a RoaringBitmap>,
}

impl Candidates {
    /// The blocks of the living notes that `takes` their path.
    pub fn new(corpus: &Corpus, takes: impl Fn(&str) -> bool) -> Self {
        let mut this = Self::default();
        let mut length = 0_u64;
        for CorpusNote { number, row, slots } in corpus.notes() {
            if slots.is_empty() || !takes(&row.path) {
                continue;
            }
            this.count += slots.len();
            this.notes.push(NoteSlots { slots, note: number, has_turns: row.has_turns });
            this.has_notes |= row.has_notes;
            this.has_turns |= row.has_turns;
            this.authors.extend(corpus.speakers(number));
            length += u64::from(row.terms);
        }
        this.notes.sort_unstable_by_key(|own| own.slots.start);
        let mean = |count: usize| (length as f64 / count.max(1) as f64).max(1e-9) as f32;
        (this.mean_length, this.mean_session) = (mean(this.count), mean(this.notes.len()));
        this
    }

    /// All slots, ascending.
    pub fn slots(&self) -> impl Iterator<Item = u32> {
        self.notes.iter().flat_map(|own| own.slots.clone())
    }

    /// Whether the block in `slot` is one.
    pub(in crate::search) fn has(&self, slot: u32) -> bool {
        self.reaching(slot).is_some_and(|own| own.slots.contains(&slot))
    }

    /// The first note that ends after `slot`.
    #[inline(always)]
    pub(in crate::search) fn reaching(&self, slot: u32) -> Option<&NoteSlots> {
        self.notes.get(self.notes.partition_point(|own| own.slots.end <= slot))
    }
}

pub(in crate::search) fn count(of: usize) -> f32 {
    of as f32
}

/// The corpus, its candidates for a question, and the postings of the question's terms that were read.
#[derive(Debug, Clone, Copy)]
pub struct CorpusScope<'a> {
    /// All blocks.
    pub corpus: &'a Corpus,
    /// Those that may answer.
    pub candidates: &'a Candidates,
    /// The blocks of the question's terms.
    pub occurrences: &'a Occurrences,
}

impl CorpusScope<'_> {
    /// Whether a term in so many blocks is in more than one of `most` of many.
    pub(in crate::search) fn is_common(self, blocks: usize, most: usize) -> bool {
        self.candidates.count > MANY && blocks * most > self.candidates.count
    }

    /// The blocks of a term of the question.
    pub(in crate::search) fn of_question(self, term: &QueryTerm) -> Arc<Vec<Occurrence>> {
        self.known_or_read(&term.stem, &term.forms)
    }

    /// Those of another term.
    pub(in crate::search) fn of(self, term: &str) -> Arc<Vec<Occurrence>> {
        self.known_or_read(term, &[])
    }

    fn known_or_read(self, term: &str, forms: &[String]) -> Arc<Vec<Occurrence>> {
        let known = || self.occurrences.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The forms belong to the key: a term may be near another one of the question.
        let key = (term.to_owned(), !forms.is_empty());
        if let Some(blocks) = known().get(&key) {
            return Arc::clone(blocks);
        }
        let found = Arc::new(self.read(term, forms));
        known().insert(key, Arc::clone(&found));
        found
    }

    /// Reads the blocks of a term, and of other forms of its word ([`QueryTerm::forms`]), in the order of their slots.
    pub(in crate::search) fn read(self, term: &str, forms: &[String]) -> Vec<Occurrence> {
        let mut blocks = Vec::new();
        // The first note that doesn't end before where the postings have come to.
        let mut note: Option<&NoteSlots> = None;
        self.corpus.each_posting(term, forms, |slot, times, is_form| {
            if note.is_none_or(|note| note.slots.end <= slot) {
                note = self.candidates.reaching(slot);
            }
            let Some(own) = note.filter(|note| note.slots.start <= slot) else { return };
            let shape = if own.has_turns { self.corpus.shape(slot) } else { Shape(0) };
            blocks.push(Occurrence {
                slot,
                note: own.note,
                times: u16::try_from(times.0).unwrap_or(u16::MAX),
                is_turn: shape.has(Shape::TURN),
                is_said: shape.has(Shape::TURN | Shape::TOOL),
                is_form,
            });
        });
        blocks
    }
}

/// A block in which a term stands.
#[derive(Debug, Clone, Copy)]
pub(in crate::search) struct Occurrence {
    pub slot: u32,
    /// Its note, by number.
    pub note: u32,
    times: u16,
    pub is_turn: bool,
    /// Whether it is an event of a conversation, a tool's among them.
    pub is_said: bool,
    /// Whether it has the term in another form alone.
    pub is_form: bool,
}

impl Occurrence {
    #[inline(always)]
    pub fn times(self) -> TermCount {
        TermCount(self.times.into())
    }

    #[inline(always)]
    pub fn tf(self) -> f32 {
        count(self.times().all() as usize)
    }
}

/// The blocks of terms, each with and without its other forms.
type TermMap = FxHashMap<(String, bool), Arc<Vec<Occurrence>>>;

/// The blocks of all terms that one question has asked for in its scope.
#[derive(Debug, Default)]
pub struct Occurrences(Mutex<TermMap>);
