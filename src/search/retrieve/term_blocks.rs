//! Finds the blocks of a scope in which a question's terms stand.
//!
//! A term comes in; its blocks go out, in the order of their slots. A question needs the same terms several times (for
//! what was typed, for notes, for turns), so [`Occurrences`] reads each term's postings once.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::search::analyze::stems::Shape;
use crate::search::query::question::QueryTerm;
use crate::search::retrieve::candidates::{Candidates, MANY, NoteSlots};
use crate::search::store::blocks::TermCount;
use crate::search::store::corpus::Corpus;

pub(in crate::search) fn count(of: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "counts of blocks and notes")]
    let count = of as f32;
    count
}

/// The corpus, and the blocks of it that may answer.
#[derive(Debug, Clone, Copy)]
pub(in crate::search) struct CorpusScope<'a> {
    pub corpus: &'a Corpus,
    pub candidates: &'a Candidates,
}

impl CorpusScope<'_> {
    /// Whether a term in so many blocks is in more than one of `most` of many.
    pub fn is_common(self, blocks: usize, most: usize) -> bool {
        self.candidates.count > MANY && blocks * most > self.candidates.count
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

/// The blocks of a scope in which a term stands, in the order of their slots.
#[derive(Debug, Default)]
pub(in crate::search) struct TermBlocks {
    pub blocks: Vec<Occurrence>,
    /// The slots of those that have it in another form alone.
    pub forms: Vec<u32>,
    /// How many notes they are of.
    pub notes: usize,
}

impl TermBlocks {
    /// Reads those of a term, and of other forms of its word ([`QueryTerm::forms`]).
    pub fn new(scope: CorpusScope<'_>, term: &str, forms: &[String]) -> Self {
        let CorpusScope { corpus, candidates } = scope;
        let mut this = Self::default();
        // The first note that doesn't end before where the postings have come to.
        let mut note: Option<&NoteSlots> = None;
        corpus.each_posting(term, forms, |slot, times, is_form| {
            if note.is_none_or(|note| note.slots.end <= slot) {
                note = candidates.reaching(slot);
            }
            let Some(own) = note.filter(|note| note.slots.start <= slot) else { return };
            this.notes += usize::from(this.blocks.last().is_none_or(|last| last.note != own.note));
            let shape = if own.has_turns { corpus.shape(slot) } else { Shape(0) };
            this.forms.extend(is_form.then_some(slot));
            this.blocks.push(Occurrence {
                slot,
                note: own.note,
                times: u16::try_from(times.0).unwrap_or(u16::MAX),
                is_turn: shape.has(Shape::TURN),
                is_said: shape.has(Shape::TURN | Shape::TOOL),
            });
        });
        this
    }

    /// Those of some slots.
    pub fn within(&self, slots: &Range<u32>) -> &[Occurrence] {
        let at = |slot: u32| self.blocks.partition_point(|block| block.slot < slot);
        &self.blocks[at(slots.start)..at(slots.end)]
    }
}

/// The blocks of terms, each with and without its other forms.
type TermMap = FxHashMap<(String, bool), Arc<TermBlocks>>;

/// The blocks of all terms that one question has asked for in its scope.
#[derive(Debug, Default)]
pub(in crate::search) struct Occurrences(Mutex<TermMap>);

impl Occurrences {
    /// Those of a term of the question.
    pub fn of_question(&self, scope: CorpusScope<'_>, term: &QueryTerm) -> Arc<TermBlocks> {
        self.known_or_read(scope, &term.stem, &term.forms)
    }

    /// Those of another term.
    pub fn of(&self, scope: CorpusScope<'_>, term: &str) -> Arc<TermBlocks> {
        self.known_or_read(scope, term, &[])
    }

    fn known_or_read(&self, scope: CorpusScope<'_>, term: &str, forms: &[String]) -> Arc<TermBlocks> {
        // The forms belong to the key: a term may be near another one of the question.
        let key = (term.to_owned(), !forms.is_empty());
        if let Some(known) = self.known().get(&key) {
            return Arc::clone(known);
        }
        let found = Arc::new(TermBlocks::new(scope, term, forms));
        self.known().insert(key, Arc::clone(&found));
        found
    }

    /// Forgets them: another question has another scope.
    pub fn clear(&mut self) {
        self.known().clear();
    }

    fn known(&self) -> MutexGuard<'_, TermMap> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
