//! BM25 over a view, exact and the same for the same vault.
//!
//! [`crate::search::retrieve::topk`] proposes documents; every one that could be among the best is scored again here in
//! double precision, terms in a fixed order, with the statistics of the living documents
//! ([`crate::search::store::view`]). Equal scores are ordered by time, newest first, then by the tie field. So neither
//! the segments' shape nor the order in which documents came has a say.
//!
//! The score of a term in a field is `boost · idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · l / L))` with
//! `idf = ln(1 + (N − n + ½) / (n + ½))` (Robertson and Zaragoza, "The Probabilistic Relevance
//! Framework", 2009, in the variant that Lucene made common), `l` the document's length as the index
//! keeps it (one byte), `L` the mean length. In the `head` field, sections take the place of documents,
//! and every block of a section has its score. A comment's score counts for a quarter.

use std::cmp::Ordering;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, TERMINATED, Term};

use crate::search::IndexError;
use crate::search::store::segment::schema::Fields;
use crate::search::store::view::{DocRef, View};

/// How soon repeats of a term stop counting (Robertson; as Lucene has it).
pub const K1: f64 = 1.2;
/// How much a document's length counts.
pub const B: f64 = 0.75;
/// What a comment's words weigh beside others: a reader of the note doesn't see it.
pub const COMMENT: f64 = 0.25;

/// A term to look for.
#[derive(Debug, Clone)]
pub struct Clause {
    /// The term, its field included.
    pub term: Term,
    /// What one occurrence weighs before saturation: boosts times idfs.
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

/// How much `tf` occurrences in a document of `length` terms count, `mean` being the usual length.
pub fn saturation(tf: f64, length: f64, mean: f64) -> f64 {
    tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length / mean))
}

/// Scores documents exactly.
pub fn rescore(
    view: &View,
    fields: &Fields,
    clauses: &[Clause],
    mut docs: Vec<DocRef>,
) -> Result<Vec<Scored>, IndexError> {
    docs.sort_unstable();
    let mut scored: Vec<Scored> =
        docs.iter().map(|at| Scored { score: 0.0, time: i64::MIN, tie: 0, at: *at }).collect();
    let mut rest = scored.as_mut_slice();
    while let Some(first) = rest.first() {
        let n = first.at.seg;
        let length = rest.iter().take_while(|scored| scored.at.seg == n).count();
        let (here, tail) = rest.split_at_mut(length);
        rest = tail;
        let (reader, kept) = (&view.segs[n].reader, &view.segs[n].kept);
        for clause in clauses {
            rescore_clause(view, fields, clause, reader, here)?;
        }
        let (columns, comments) = (kept.columns(reader)?, kept.comments(reader, fields)?);
        for scored in here {
            if comments.is_some_and(|comments| comments.contains(scored.at.doc)) {
                scored.score *= COMMENT;
            }
            scored.time = columns.time(scored.at.doc);
            scored.tie = columns.tie(scored.at.doc);
        }
    }
    Ok(scored)
}

/// Adds a clause's part to documents of one segment, which come in order.
fn rescore_clause(
    view: &View,
    fields: &Fields,
    clause: &Clause,
    reader: &SegmentReader,
    docs: &mut [Scored],
) -> Result<(), IndexError> {
    let field = clause.term.field();
    let found = reader.inverted_index(field)?.read_postings(&clause.term, IndexRecordOption::WithFreqs);
    let Some(mut postings) = found.map_err(tantivy::TantivyError::from)? else { return Ok(()) };
    let norms = reader.get_fieldnorms_reader(field)?;
    let mean = view.mean_length(fields, field);
    let is_head = field == fields.head;
    let mut doc = postings.doc();
    for scored in docs {
        if doc < scored.at.doc {
            doc = postings.seek(scored.at.doc);
        }
        if doc == TERMINATED {
            break;
        }
        // The posting of a section stands at its last block and says how many blocks it has.
        let (is_there, tf) = if is_head {
            (doc - scored.at.doc < postings.term_freq(), 1)
        } else {
            (doc == scored.at.doc, postings.term_freq())
        };
        if is_there {
            let length = f64::from(FieldNormReader::id_to_fieldnorm(norms.fieldnorm_id(doc)));
            scored.score += clause.weight * saturation(f64::from(tf), length, mean);
        }
    }
    Ok(())
}
