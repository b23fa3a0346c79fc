//! Computes BM25 scores over a corpus. The scores are exact, and the same for the same vault.
//!
//! A corpus and the items of a query come in; the best documents go out. A compound counts as its parts and once more
//! as a whole. All documents with a word are scored, with statistics that count no deleted documents. The words' scores
//! are added in the order of the query. Equal sums are ordered by time, newest first, then by path and line. So the
//! segments and the order of insertion have no influence.
//!
//! The score of a word is `idf · (k1 + 1) / (1 + k1 · (1 − b + b · l / L))`, however often the word occurs in a block.
//! `idf` is `ln(1 + (N − n + ½) / (n + ½))`, as in Lucene; `l` is the document's length, `L` the mean length. The
//! source is Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009. A comment's score counts for a
//! quarter.

use std::cmp::Ordering;

use roaring::{MultiOps, RoaringBitmap};

use crate::search::Result;
use crate::search::analyze::Analyzer;
use crate::search::query::Item;
use crate::search::retrieve::{DocumentSets, WordMatcher, count, matchers};
use crate::search::store::Corpus;
use crate::search::weights::COMMENT;

/// BM25's `k1`, the saturation of a term's frequency (Robertson; Lucene's default).
pub const K1: f32 = 1.2;
/// BM25's `b`, the weight of a document's length.
pub const B: f32 = 0.75;

/// Of a very long query so many words are scored.
const MOST: usize = 96;

/// A word to look for.
#[derive(Debug, Clone)]
pub struct Clause {
    /// The slots of the living blocks that have it.
    pub docs: RoaringBitmap,
    /// Its weight before saturation.
    pub weight: f32,
}

/// The inverse document frequency of a term in `n` of `all` documents.
pub fn idf(n: f32, all: f32) -> f32 {
    (1.0 + (all - n + 0.5) / (n + 0.5)).ln()
}

/// The saturated frequency of a term that occurs `tf` times in a document of this length; `mean` is the mean length,
/// `b` the weight of the length.
#[inline(always)]
pub fn saturated(tf: f32, length: f32, mean: f32, b: f32) -> f32 {
    tf * (K1 + 1.0) / (tf + K1 * (1.0 - b + b * length / mean))
}

/// The scored words of `items`. Words that were left out are named in `notes`, for a person.
pub(in crate::search) fn clauses(
    sets: &mut DocumentSets<'_>,
    items: &[Item],
    notes: &mut Vec<String>,
) -> Result<Vec<Clause>> {
    let mut analyzer = Analyzer::default();
    let mut all: Vec<WordMatcher> = items.iter().flat_map(|item| matchers(&mut analyzer, item)).collect();
    if all.len() > MOST {
        notes.push(format!("it has very many words; the first {MOST} were searched for"));
        all.truncate(MOST);
    }
    let living = sets.living();
    let documents = count(living.len() as usize);
    let clause = |wanted: WordMatcher| {
        let docs = sets.with(&wanted)? & &living;
        Ok(Clause { weight: idf(count(docs.len() as usize), documents), docs })
    };
    all.into_iter().map(clause).collect()
}

/// The `most` best documents for `clauses`, best first, each with its score: of `all` documents, or of those with one
/// of the words. `allowed` are the slots of the documents that may come; without it all living ones may. Without
/// clauses all have the same score, and the newest come first.
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
) -> Result<Vec<(u32, f32)>> {
    let sets = DocumentSets::new(corpus);
    let mut may = if all { sets.living() } else { clauses.iter().map(|clause| &clause.docs).union() };
    allowed.into_iter().for_each(|allowed| may &= allowed);
    let (comments, mean) = (sets.with_filter("kind:comment")?, corpus.mean_length());
    let mut scores = vec![0.0; corpus.len()];
    for Clause { docs, weight } in clauses {
        for slot in docs {
            scores[slot as usize] += weight * saturated(1.0, f32::from(corpus.meta(slot).length), mean, B);
        }
    }
    let weight = |slot: u32| if comments.contains(slot) { COMMENT } else { 1.0 };
    let mut scored: Vec<(u32, f32)> =
        may.iter().map(|slot| (slot, weight(slot) * scores[slot as usize])).collect();
    let places = places(corpus, scored.iter().map(|(slot, _)| *slot));
    let order = |a: &(u32, f32), b: &(u32, f32)| rank(corpus, &places, a, b);
    if scored.len() > most && most > 0 {
        scored.select_nth_unstable_by(most - 1, order);
    }
    scored.truncate(most);
    scored.sort_by(order);
    Ok(scored)
}

/// For the number of each note that has one of these slots, its place in the order of their paths. To compare paths for
/// each pair of equal scores would take longer, where a filter alone gives all of them the same one.
fn places(corpus: &Corpus, slots: impl Iterator<Item = u32>) -> Vec<u32> {
    let path = |note: u32| &*corpus.note(note).row.path;
    let mut notes: Vec<u32> = slots.map(|slot| corpus.meta(slot).file).collect();
    notes.dedup();
    notes.sort_by(|a, b| path(*a).cmp(path(*b)));
    let mut places = vec![0; corpus.note_count()];
    (0..).zip(notes).for_each(|(place, note)| places[note as usize] = place);
    places
}

/// The order of answers, slots with their scores: best first, then the newest, then by note and place.
/// `places` are those of [`places()`].
fn rank(corpus: &Corpus, places: &[u32], a: &(u32, f32), b: &(u32, f32)) -> Ordering {
    let time = |slot| corpus.meta(slot).time;
    let place = |slot| (places[corpus.meta(slot).file as usize], corpus.meta(slot).line, slot);
    let by_score = b.1.total_cmp(&a.1).then_with(|| time(b.0).cmp(&time(a.0)));
    by_score.then_with(|| place(a.0).cmp(&place(b.0)))
}

#[cfg(test)]
mod tests;
