//! Computes BM25 over a corpus, exact and the same for the same vault.
//!
//! The items of a query and a corpus come in; the best documents go out. A compound counts as its parts and once more as a
//! whole. All documents with a word are scored in double
//! precision, words in a fixed order, with the statistics of the living documents ([`crate::search::store::corpus`]).
//! Equal scores are ordered by time, newest first, then by the tie field. So neither the segments' shape nor the order
//! of insertion has an influence.
//!
//! The score of a word is `boost · idf · (k1 + 1) / (1 + k1 · (1 − b + b · l / L))`, however often it occurs in a
//! block, with `idf = ln(1 + (N − n + ½) / (n + ½))` (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
//! 2009, in the variant that Lucene made common), `l` the document's length as ranking counts it, `L` the mean length.
//! A comment's score counts for a quarter.

use std::cmp::Ordering;

use roaring::{MultiOps, RoaringBitmap};

use crate::search::IndexError;
use crate::search::analyze::text::Analyzer;
use crate::search::query::syntax::Item;
use crate::search::retrieve::document_sets::DocumentSets;
use crate::search::retrieve::query_words::{WordMatcher, matchers};
use crate::search::store::corpus::Corpus;
use crate::search::weights::COMMENT;

/// How soon repeats of a term stop counting (Robertson; as Lucene has it).
pub const K1: f64 = 1.2;
/// How much a document's length counts.
pub const B: f64 = 0.75;

/// Of a very long query so many words are scored.
const MOST: usize = 96;

/// A word to look for.
#[derive(Debug, Clone)]
pub struct Clause {
    /// The slots of the living blocks that have it.
    pub docs: RoaringBitmap,
    /// Its weight before saturation.
    pub weight: f64,
}

/// A scored document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// BM25, summed over the clauses.
    pub score: f64,
    /// Seconds since 1970, [`i64::MIN`] without a date.
    pub time: i64,
    /// The order of equals; blocks of one run have the same, and stand in the order of their documents.
    pub tie: u64,
    /// The slot of the document.
    pub slot: u32,
}

impl Scored {
    /// The order of answers: best first.
    pub fn rank(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| other.time.cmp(&self.time))
            .then_with(|| self.tie.cmp(&other.tie))
            .then_with(|| self.slot.cmp(&other.slot))
    }
}

/// The inverse document frequency of a term in `n` of `all` documents.
pub fn idf(n: u64, all: u64) -> f64 {
    let (n, all) = (n.min(all) as f64, all as f64);
    (1.0 + (all - n + 0.5) / (n + 0.5)).ln()
}

/// How much a term counts in a document of `length` terms, `mean` being the usual length.
pub fn saturation(length: f64, mean: f64) -> f64 {
    (K1 + 1.0) / (1.0 + K1 * (1.0 - B + B * length / mean))
}

/// The scored words of `items`; what was left out is said in `notes`, for a person.
pub(in crate::search) fn clauses(
    sets: &mut DocumentSets<'_>,
    items: &[Item],
    notes: &mut Vec<String>,
) -> Result<Vec<Clause>, IndexError> {
    let mut analyzer = Analyzer::default();
    let mut all: Vec<WordMatcher> = items.iter().flat_map(|item| matchers(&mut analyzer, item)).collect();
    if all.len() > MOST {
        notes.push(format!("it has very many words; the first {MOST} were searched for"));
        all.truncate(MOST);
    }
    let living = sets.living();
    let clause = |wanted: WordMatcher| {
        let docs = sets.with(&wanted)? & &living;
        Ok(Clause { weight: idf(docs.len(), living.len()), docs })
    };
    all.into_iter().map(clause).collect()
}

/// The `most` best documents for `clauses`, best first: of `all` documents, or of those with one of the words. `allowed` are
/// the slots of the documents that may come; without it all living ones may. Without clauses all have the same score,
/// and the newest come first.
///
/// Every document with one of the words is scored: nothing is estimated, and nothing depends on what came first.
///
/// # Errors
/// tantivy's.
pub fn top(
    corpus: &Corpus,
    clauses: &[Clause],
    allowed: Option<&RoaringBitmap>,
    all: bool,
    most: usize,
) -> Result<Vec<Scored>, IndexError> {
    let sets = DocumentSets::new(corpus);
    let mut may = if all { sets.living() } else { clauses.iter().map(|clause| &clause.docs).union() };
    allowed.into_iter().for_each(|allowed| may &= allowed);
    let (comments, mean) = (sets.with_filter("kind:comment")?, corpus.mean_length());
    let mut scores = vec![0.0; corpus.len()];
    for Clause { docs, weight } in clauses {
        for slot in docs {
            scores[slot as usize] += weight * saturation(f64::from(corpus.meta(slot).length), mean);
        }
    }
    let scored = may.iter().map(|slot| {
        let (seg, doc) = corpus.place(slot);
        let weight = if comments.contains(slot) { COMMENT } else { 1.0 };
        let (time, tie) = (corpus.meta(slot).time, seg.rows.tie(doc as usize));
        Scored { score: weight * scores[slot as usize], time, tie, slot }
    });
    let mut scored: Vec<Scored> = scored.collect();
    if scored.len() > most && most > 0 {
        scored.select_nth_unstable_by(most - 1, Scored::rank);
    }
    scored.truncate(most);
    scored.sort_by(Scored::rank);
    Ok(scored)
}

#[cfg(test)]
mod tests;
