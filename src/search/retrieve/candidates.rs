//! Selects the blocks that may answer, with their statistics.
//!
//! The statistics are those of the candidates alone, at the time of the question.

use std::ops::Range;
use std::sync::OnceLock;

use roaring::RoaringBitmap;

use crate::search::retrieve::bm25;
use crate::search::store::corpus::{Corpus, CorpusNote};

/// [`bm25::K1`], in single precision.
pub const K1: f32 = bm25::K1 as f32;
/// [`bm25::B`], in single precision.
pub const B: f32 = bm25::B as f32;
/// Beyond so many candidates, vectors and what a block is (not what it is about) are looked at only for the best by words
/// and those with the nearest signs: the rest can't come to the top any more.
pub(in crate::search) const MANY: usize = 5000;
/// Beyond [`MANY`] candidates, a term in more than one of so many blocks counts where it stands alone, not in the blocks
/// around.
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

/// A block by whose vector the nearness of the others is judged ([`crate::search::retrieve::nearest_vectors`]).
#[derive(Debug)]
pub(in crate::search) struct SampledBlock {
    pub slot: u32,
    /// The first word of its vector's signs.
    pub signs: u64,
}

/// The blocks that a question may be answered from: those of some notes, and their statistics.
#[derive(Debug)]
pub struct Candidates {
    /// The notes whose blocks are, in the order of their slots.
    pub notes: Vec<NoteSlots>,
    /// How many are.
    pub count: usize,
    /// Whether some are no events of a log.
    pub has_notes: bool,
    /// Whether some are.
    pub has_turns: bool,
    /// Their speakers, each once, by number.
    pub authors: Vec<u32>,
    pub(in crate::search) mean_length: f32,
    pub(in crate::search) mean_session: f32,
    /// Those by which the others' nearness is judged, once they are needed.
    pub(in crate::search) sample: OnceLock<Vec<SampledBlock>>,
    /// For each [`STRIDE`] slots the place of the first note that ends behind the first of them.
    places: Vec<u32>,
}

/// Sets of slots that bound an order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds<'a> {
    /// The blocks with a word as it was typed, which come before all others; none where only the score counts.
    pub typed: Option<&'a RoaringBitmap>,
    /// The blocks that may come; none where all may.
    pub allowed: Option<&'a RoaringBitmap>,
}

/// So many slots have one place in [`Candidates::places`].
const STRIDE: u32 = 64;

impl Candidates {
    /// The blocks of the living notes that `takes` their path.
    pub fn new(corpus: &Corpus, takes: impl Fn(&str) -> bool) -> Self {
        let mut this = Self {
            notes: Vec::new(),
            count: 0,
            has_notes: false,
            has_turns: false,
            authors: Vec::new(),
            mean_length: 0.0,
            mean_session: 0.0,
            sample: OnceLock::new(),
            places: Vec::new(),
        };
        let mut length = 0_u64;
        let mut is_author = vec![false; corpus.authors().len()];
        for CorpusNote { number, row, slots } in corpus.notes() {
            if slots.is_empty() || !takes(&row.path) {
                continue;
            }
            this.count += slots.len();
            this.notes.push(NoteSlots { slots, note: number, has_turns: row.has_turns });
            this.has_notes |= row.has_notes;
            this.has_turns |= row.has_turns;
            for author in corpus.speakers(number) {
                if is_author.get_mut(author as usize).is_some_and(|known| !std::mem::replace(known, true)) {
                    this.authors.push(author);
                }
            }
            length += u64::from(row.terms);
        }
        if !this.notes.is_sorted_by_key(|own| own.slots.start) {
            this.notes.sort_unstable_by_key(|own| own.slots.start);
        }
        let mut place = 0;
        for slot in (0..u32::try_from(corpus.len()).unwrap_or(u32::MAX)).step_by(STRIDE as usize) {
            while this.notes.get(place).is_some_and(|own| own.slots.end <= slot) {
                place += 1;
            }
            this.places.push(u32::try_from(place).unwrap_or(u32::MAX));
        }
        #[expect(clippy::cast_precision_loss, reason = "means need no more")]
        {
            let count = this.count.max(1) as f64;
            this.mean_length = (length as f64 / count).max(1e-9) as f32;
            this.mean_session = (length as f64 / this.notes.len().max(1) as f64).max(1e-9) as f32;
        }
        this
    }

    /// All slots, ascending.
    pub fn slots(&self) -> impl Iterator<Item = u32> {
        self.notes.iter().flat_map(|own| own.slots.clone())
    }

    /// The first note that ends behind `slot`.
    #[inline(always)]
    pub(in crate::search) fn reaching(&self, slot: u32) -> Option<&NoteSlots> {
        let place = *self.places.get((slot / STRIDE) as usize)?;
        self.notes.get(place as usize..)?.iter().find(|own| own.slots.end > slot)
    }
}

/// Lucene's BM25 idf of a term in `df` of `n` documents.
pub fn idf(df: f32, n: f32) -> f32 {
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln()
}

/// BM25 of one term.
#[inline(always)]
pub fn bm25(tf: f32, idf: f32, length: f32, mean: f32) -> f32 {
    idf * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length / mean))
}
