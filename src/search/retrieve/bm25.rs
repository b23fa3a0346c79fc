//! Computes BM25 over a view, exact and the same for the same vault.
//!
//! Terms and a view come in; the best documents go out. All documents with a term are scored in double precision, terms
//! in a fixed order, with the statistics of the living documents ([`crate::search::store::view`]). Equal scores are
//! ordered by time, newest first, then by the tie field. So neither the segments' shape nor the order of insertion has
//! an influence.
//!
//! The score of a term is `boost · idf · (k1 + 1) / (1 + k1 · (1 − b + b · l / L))`, however often it occurs in a
//! block, with `idf = ln(1 + (N − n + ½) / (n + ½))` (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
//! 2009, in the variant that Lucene made common), `l` the document's length as ranking counts it, `L` the mean length.
//! A comment's score counts for a quarter.

use std::cmp::Ordering;

use roaring::RoaringBitmap;
use tantivy::Term;

use crate::search::IndexError;
use crate::search::cores::share;
use crate::search::store::segment::schema::Fields;
use crate::search::store::view::{DocRef, View};
use crate::search::weights::COMMENT;

/// How soon repeats of a term stop counting (Robertson; as Lucene has it).
pub const K1: f64 = 1.2;
/// How much a document's length counts.
pub const B: f64 = 0.75;

/// A term to look for.
#[derive(Debug, Clone)]
pub struct Clause {
    /// The term.
    pub term: Term,
    /// What it weighs before saturation: boosts times idfs.
    pub weight: f64,
    /// How many living documents hold it.
    pub docs: u64,
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
    /// The document.
    pub at: DocRef,
}

impl Scored {
    /// The order of answers: best first.
    pub fn rank(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then_with(|| other.time.cmp(&self.time))
            .then_with(|| self.tie.cmp(&other.tie))
            .then_with(|| self.at.cmp(&other.at))
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

/// The `most` best documents for `clauses`, best first. `allowed` are the numbers of the documents that may come
/// ([`View::number`]); without it all living ones may.
///
/// Every document with one of the terms is scored: nothing is estimated, and nothing depends on what came first.
///
/// # Errors
/// tantivy's.
pub fn top(
    view: &View,
    fields: &Fields,
    clauses: &[Clause],
    allowed: Option<&RoaringBitmap>,
    most: usize,
) -> Result<Vec<Scored>, IndexError> {
    if clauses.is_empty() || most == 0 {
        return Ok(Vec::new());
    }
    let postings: u64 = clauses.iter().map(|clause| clause.docs).sum();
    let postings = usize::try_from(postings).unwrap_or(usize::MAX);
    let of_segments = share(postings, view.segs.len(), |n| {
        in_segment(view, fields, clauses, allowed, n).map(|scored| best(scored, most))
    });
    let mut scored = of_segments.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    scored = best(scored, most);
    scored.sort_by(Scored::rank);
    Ok(scored)
}

/// The `most` best, in no order.
fn best(mut scored: Vec<Scored>, most: usize) -> Vec<Scored> {
    if scored.len() > most {
        scored.select_nth_unstable_by(most - 1, Scored::rank);
        scored.truncate(most);
    }
    scored
}

/// The allowed documents, newest first: what filters without words ask for.
pub fn newest(view: &View, allowed: Option<&RoaringBitmap>, most: usize) -> Vec<Scored> {
    let mut all = Vec::new();
    let mut number = 0;
    for (n, seg) in view.segs.iter().enumerate() {
        for doc in 0..seg.reader.max_doc() {
            if allowed.map_or_else(|| seg.is_alive(doc), |allowed| allowed.contains(number)) {
                let (time, tie) = (seg.rows.meta(doc as usize).time, seg.rows.tie(doc as usize));
                all.push(Scored { score: 0.0, time, tie, at: DocRef { seg: n, doc } });
            }
            number += 1;
        }
    }
    all.sort_by(Scored::rank);
    all.truncate(most);
    all
}

/// The documents of segment `n` that have one of the terms and may come.
fn in_segment(
    view: &View,
    fields: &Fields,
    clauses: &[Clause],
    allowed: Option<&RoaringBitmap>,
    n: usize,
) -> Result<Vec<Scored>, IndexError> {
    let seg = &view.segs[n];
    let (mut scores, mean) = (vec![0.0; seg.reader.max_doc() as usize], view.mean_length());
    for Clause { term, weight, .. } in clauses {
        seg.each(term, |doc| {
            let length = f64::from(seg.rows.meta(doc as usize).length);
            scores[doc as usize] += weight * saturation(length, mean);
        })?;
    }
    let comments = seg.comments(fields)?;
    let base = view.number(DocRef { seg: n, doc: 0 });
    let may = |doc| allowed.map_or_else(|| seg.is_alive(doc), |allowed| allowed.contains(base + doc));
    let scored = (0..).zip(scores).filter(|(doc, score)| *score > 0.0 && may(*doc));
    let scored = scored.map(|(doc, score)| Scored {
        score: if comments.contains(doc) { COMMENT * score } else { score },
        time: seg.rows.meta(doc as usize).time,
        tie: seg.rows.tie(doc as usize),
        at: DocRef { seg: n, doc },
    });
    Ok(scored.collect())
}

#[cfg(test)]
mod tests;
