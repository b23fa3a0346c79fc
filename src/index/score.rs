//! BM25 over a view, exact and the same for the same vault.
//!
//! tantivy's block-max union proposes documents; every one that could be among the best is scored again
//! here in double precision, terms in a fixed order, with the statistics of the living documents
//! ([`super::view`]). Equal scores are ordered by time, newest first, then by the tie field. So neither
//! the segments' shape nor the order in which documents came has a say.
//!
//! The score of a term in a field is `boost · idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · l / L))` with
//! `idf = ln(1 + (N − n + ½) / (n + ½))` (Robertson and Zaragoza, "The Probabilistic Relevance
//! Framework", 2009, in the variant that Lucene made common), `l` the document's length as the index
//! keeps it (one byte), `L` the mean length. A comment's score counts for a quarter.

use std::cmp::Ordering;

use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::Postings;
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, BoostQuery, EnableScoring, Occur, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{BitSet, DocSet, Searcher, TERMINATED, Term};

use super::IndexError;
use super::schema::Fields;
use super::view::{DocRef, View};

/// How soon repeats of a term stop counting.
pub const K1: f64 = 1.2;
/// How much a document's length counts.
pub const B: f64 = 0.75;
/// What a comment's words weigh beside others: a reader of the note doesn't see it.
pub const COMMENT: f64 = 0.25;
/// Single precision and another order of addition move a score by less than this share.
const SLACK: f32 = 5e-5;

/// A term to look for.
#[derive(Debug, Clone)]
pub struct Clause {
    /// The term, its field included.
    pub term: Term,
    /// What one occurrence weighs before saturation: boosts times idfs.
    pub weight: f64,
}

/// A scored document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// BM25, summed over the clauses.
    pub score: f64,
    /// Seconds since 1970, [`i64::MIN`] without a date.
    pub time: i64,
    /// The order of equals.
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

/// What tantivy is told, so that its scores come near ours: every term in one document, the true idf
/// being in the clause's weight.
struct Statistics<'a> {
    view: &'a View,
    fields: &'a Fields,
}

impl Bm25StatisticsProvider for Statistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let totals = &self.view.totals;
        let terms = if field == self.fields.head { totals.head_terms } else { totals.text_terms };
        Ok(terms.max(totals.docs))
    }
    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.view.totals.docs.max(1))
    }
    fn doc_freq(&self, _: &Term) -> tantivy::Result<u64> {
        Ok(1)
    }
}

/// The `most` best documents for `clauses`, best first. `allowed`, one a segment, says which documents
/// may come; without it all living ones may.
pub fn top(
    view: &View,
    fields: &Fields,
    searcher: &Searcher,
    clauses: &[Clause],
    allowed: Option<&[BitSet]>,
    most: usize,
) -> Result<Vec<Scored>, IndexError> {
    if clauses.is_empty() || most == 0 || view.totals.docs == 0 {
        return Ok(Vec::new());
    }
    let statistics = Statistics { view, fields };
    let unit = idf(1, view.totals.docs);
    let parts = clauses.iter().map(|clause| {
        let term = TermQuery::new(clause.term.clone(), IndexRecordOption::WithFreqs);
        let boosted: Box<dyn Query> =
            Box::new(BoostQuery::new(Box::new(term), (clause.weight / unit) as f32));
        (Occur::Should, boosted)
    });
    let query = BooleanQuery::new(parts.collect());
    let weight = query.weight(EnableScoring::enabled_from_statistics_provider(&statistics, searcher))?;
    let mut best = Best::new(most);
    for (n, seg) in view.segs.iter().enumerate() {
        // A block's recorded best document is best at the segment's own mean length. At another mean
        // the bound is off by at most the ratio of the two, so the threshold gives way by as much.
        let give = [fields.text, fields.head]
            .into_iter()
            .map(|field| {
                let own = seg.reader.inverted_index(field)?.total_num_tokens() as f64
                    / f64::from(seg.reader.max_doc().max(1));
                let mean = view.mean_length(fields, field);
                Ok(if own > 0.0 { (own / mean).max(mean / own) } else { 1.0 })
            })
            .collect::<Result<Vec<f64>, IndexError>>()?
            .into_iter()
            .fold(1.0, f64::max) as f32;
        let start = best.threshold / give;
        let comments = comments(&seg.reader, fields)?;
        let mut found = |doc: u32, mut score: f32| {
            if comments.as_ref().is_some_and(|comments| comments.contains(doc)) {
                score *= COMMENT as f32;
            }
            let may = match allowed {
                Some(allowed) => allowed[n].contains(doc),
                None => seg.is_alive(doc),
            };
            if may && score > best.threshold {
                best.push(score, DocRef { seg: n, doc });
            }
            best.threshold / give
        };
        weight.for_each_pruning(start, &seg.reader, &mut found)?;
    }
    let mut scored = rescore(view, fields, clauses, best.candidates())?;
    scored.sort_by(Scored::rank);
    scored.truncate(most);
    Ok(scored)
}

/// Collects what could be among the best.
struct Best {
    most: usize,
    heap: std::collections::BinaryHeap<std::cmp::Reverse<u32>>,
    threshold: f32,
    kept: Vec<(f32, DocRef)>,
    tidy_at: usize,
}

impl Best {
    fn new(most: usize) -> Self {
        Self {
            most,
            heap: std::collections::BinaryHeap::with_capacity(most + 1),
            threshold: 0.0,
            kept: Vec::new(),
            tidy_at: 4096 + most * 2,
        }
    }

    fn push(&mut self, score: f32, at: DocRef) {
        self.kept.push((score, at));
        // Scores are positive, so their bits order as they do.
        self.heap.push(std::cmp::Reverse(score.to_bits()));
        if self.heap.len() > self.most {
            self.heap.pop();
        }
        if self.heap.len() == self.most
            && let Some(std::cmp::Reverse(bits)) = self.heap.peek()
        {
            self.threshold = f32::from_bits(*bits) * (1.0 - SLACK);
        }
        if self.kept.len() >= self.tidy_at {
            let threshold = self.threshold;
            self.kept.retain(|(score, _)| *score > threshold);
            self.tidy_at = (self.kept.len() * 2).max(self.tidy_at);
        }
    }

    fn candidates(self) -> Vec<DocRef> {
        let threshold = self.threshold;
        self.kept.into_iter().filter(|(score, _)| *score > threshold).map(|(_, at)| at).collect()
    }
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
        let reader = &view.segs[n].reader;
        for clause in clauses {
            let field = clause.term.field();
            let inverted = reader.inverted_index(field)?;
            let Some(mut postings) = inverted
                .read_postings(&clause.term, IndexRecordOption::WithFreqs)
                .map_err(tantivy::TantivyError::from)?
            else {
                continue;
            };
            let norms = reader.get_fieldnorms_reader(field)?;
            let mean = view.mean_length(fields, field);
            let mut doc = postings.doc();
            for scored in &mut *here {
                if doc < scored.at.doc {
                    doc = postings.seek(scored.at.doc);
                }
                if doc == scored.at.doc {
                    let length = f64::from(FieldNormReader::id_to_fieldnorm(norms.fieldnorm_id(doc)));
                    scored.score += clause.weight * saturation(f64::from(postings.term_freq()), length, mean);
                }
            }
        }
        let (times, ties) = columns(reader)?;
        let comments = comments(reader, fields)?;
        for scored in here {
            if comments.as_ref().is_some_and(|comments| comments.contains(scored.at.doc)) {
                scored.score *= COMMENT;
            }
            scored.time = times.as_ref().and_then(|times| times.first(scored.at.doc)).unwrap_or(i64::MIN);
            scored.tie = ties.as_ref().and_then(|ties| ties.first(scored.at.doc)).unwrap_or(u64::MAX);
        }
    }
    Ok(scored)
}

/// The comments of a segment, if it has any.
fn comments(reader: &tantivy::SegmentReader, fields: &Fields) -> Result<Option<BitSet>, IndexError> {
    let term = Term::from_field_text(fields.filter, "kind:comment");
    let inverted = reader.inverted_index(fields.filter)?;
    let postings = inverted.read_postings(&term, IndexRecordOption::Basic);
    let Some(mut postings) = postings.map_err(tantivy::TantivyError::from)? else { return Ok(None) };
    let mut comments = BitSet::with_max_value(reader.max_doc());
    while postings.doc() != TERMINATED {
        comments.insert(postings.doc());
        postings.advance();
    }
    Ok(Some(comments))
}

/// How much `tf` occurrences in a document of `length` terms count, `mean` being the usual length.
pub fn saturation(tf: f64, length: f64, mean: f64) -> f64 {
    tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length / mean))
}

/// A segment's times and ties.
pub type Columns = (Option<Column<i64>>, Option<Column<u64>>);

/// The time and tie columns of a segment.
pub fn columns(reader: &tantivy::SegmentReader) -> Result<Columns, IndexError> {
    let fast = reader.fast_fields();
    Ok((fast.column_opt::<i64>("time")?, fast.column_opt::<u64>("tie")?))
}
