//! Which blocks may answer, their statistics, and plain BM25 over them.
//!
//! The statistics are those of the candidates alone, taken at the time of the question.

use super::corpus::Corpus;
use super::question::Question;
use super::text::Shape;

/// BM25's saturation and length normalisation (Robertson; Lucene's defaults).
pub const K1: f32 = 1.2;
/// See [`K1`].
pub const B: f32 = 0.75;
/// A turn's neighbours count in its text with these weights: offset of the neighbour, weight.
pub(super) const WINDOW: [(i32, f32); 4] = [(-2, 0.15), (-1, 0.4), (0, 1.0), (1, 0.25)];
/// The blocks that a question may be answered from: one flag a slot, and their statistics.
#[derive(Debug)]
pub struct Candidates {
    /// Whether each slot is one.
    pub is: Vec<bool>,
    /// How many are.
    pub count: usize,
    pub(super) mean_length: f32,
    pub(super) mean_window: f32,
    pub(super) sessions: usize,
    pub(super) mean_session: f32,
}

impl Candidates {
    /// The living slots of the notes that `file` takes, less those that `slot` refuses.
    pub fn new(corpus: &Corpus, file: impl Fn(&str) -> bool, slot: impl Fn(u32) -> bool) -> Self {
        let mut this = Self {
            is: vec![false; corpus.len()],
            count: 0,
            mean_length: 0.0,
            mean_window: 0.0,
            sessions: 0,
            mean_session: 0.0,
        };
        let (mut length, mut window) = (0_u64, 0.0_f64);
        for note in corpus.files().iter().filter(|note| note.alive && file(&note.path)) {
            let mut any = false;
            for at in note.slots.clone().filter(|at| slot(*at)) {
                this.is[at as usize] = true;
                this.count += 1;
                any = true;
                length += u64::from(corpus.length[at as usize]);
                window += f64::from(corpus.window[at as usize]);
            }
            this.sessions += usize::from(any);
        }
        #[expect(clippy::cast_precision_loss, reason = "means need no more")]
        {
            let count = this.count.max(1) as f64;
            this.mean_length = (length as f64 / count).max(1e-9) as f32;
            this.mean_window = (window / count).max(1e-9) as f32;
            this.mean_session = (length as f64 / this.sessions.max(1) as f64).max(1e-9) as f32;
        }
        this
    }
}

/// The slot `offset` places beside `slot` in the same note, where it exists.
pub(super) fn beside(corpus: &Corpus, slot: u32, offset: i32) -> Option<u32> {
    let at = slot.checked_add_signed(offset)?;
    (corpus.file_of.get(at as usize)? == &corpus.file_of[slot as usize]).then_some(at)
}

pub(super) fn is_turn(corpus: &Corpus, slot: u32) -> bool {
    corpus.shape[slot as usize].has(Shape::TURN)
}

/// The length of a block's window: its own and, for turns, its neighbours' by their weight.
pub(super) fn window_length(corpus: &Corpus, slot: u32) -> f32 {
    let own = f32::from(corpus.length[slot as usize]);
    if !is_turn(corpus, slot) {
        return own;
    }
    WINDOW
        .iter()
        .filter_map(|(offset, weight)| {
            Some(weight * f32::from(corpus.length[beside(corpus, slot, *offset)? as usize]))
        })
        .sum()
}

pub(super) fn answers(corpus: &Corpus, slot: u32) -> bool {
    is_turn(corpus, slot)
        && beside(corpus, slot, -1).is_some_and(|before| corpus.shape[before as usize].has(Shape::QUESTION))
}

/// Lucene's BM25 idf of a term in `df` of `n` documents.
pub fn idf(df: f32, n: f32) -> f32 {
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln()
}

/// BM25 of one term.
pub fn bm25(tf: f32, idf: f32, length: f32, mean: f32) -> f32 {
    idf * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length / mean))
}

/// Plain BM25 of each slot, for the published formulas and as the measure of all else.
pub fn plain_bm25(corpus: &Corpus, candidates: &Candidates, question: &Question) -> Vec<f32> {
    let mut out = vec![0.0; corpus.len()];
    #[expect(clippy::cast_precision_loss, reason = "counts of blocks")]
    let n = candidates.count as f32;
    for asked in &question.asked {
        let mut found = Vec::new();
        corpus.each(&asked.term, |slot, tf| {
            if candidates.is[slot as usize] {
                found.push((slot as usize, f32::from(tf)));
            }
        });
        #[expect(clippy::cast_precision_loss, reason = "counts of blocks")]
        let rarity = idf(found.len() as f32, n);
        for (slot, tf) in found {
            out[slot] += bm25(tf, rarity, f32::from(corpus.length[slot]), candidates.mean_length);
        }
    }
    out
}
/// The candidate turn `offset` places beside a turn.
pub(super) fn turn_beside(corpus: &Corpus, candidates: &Candidates, slot: u32, offset: i32) -> Option<u32> {
    let at = beside(corpus, slot, offset)?;
    (is_turn(corpus, slot) && is_turn(corpus, at) && candidates.is[at as usize]).then_some(at)
}
