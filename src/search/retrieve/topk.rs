//! The best documents for a few terms, without scoring all that hold one.
//!
//! MaxScore (Turtle and Flood, "Query Evaluation: Strategies and Optimizations", 1995) over windows of
//! documents, as Lucene evaluates disjunctions: the lists whose most possible scores together don't reach
//! the score of the worst document kept are not gone through; they are asked about single documents that
//! the other lists propose. Scores are single precision here; what comes near enough is scored again
//! exactly by [`bm25::rescore`], so the answer is that of scoring everything.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::query::Bm25Weight;
use tantivy::schema::IndexRecordOption;
use tantivy::{BitSet, TERMINATED};

use crate::search::IndexError;
use crate::search::cores::{share, threads};
use crate::search::retrieve::bm25;
use crate::search::retrieve::bm25::{B, COMMENT, Clause, K1, Scored};
use crate::search::store::segment::schema::Fields;
use crate::search::store::view::{DocRef, Seg, View};

/// Single precision and another order of addition move a score by less than this share.
const SLACK: f32 = 5e-5;
/// Documents of a window.
const WINDOW: u32 = 4096;

/// The `most` best documents for `clauses`, best first. `allowed`, one a segment, says which documents
/// may come; without it all living ones may.
pub fn top(
    view: &View,
    fields: &Fields,
    clauses: &[Clause],
    allowed: Option<&[BitSet]>,
    most: usize,
) -> Result<Vec<Scored>, IndexError> {
    if clauses.is_empty() || most == 0 || view.totals.docs == 0 {
        return Ok(Vec::new());
    }
    let best = Best::new(most);
    let postings = clauses.iter().map(|clause| clause.docs).sum::<u64>();
    let threads = threads(usize::try_from(postings).unwrap_or(usize::MAX));
    share(threads, view.segs.len(), |n| in_segment(view, fields, clauses, allowed, n, &best))
        .into_iter()
        .collect::<Result<(), _>>()?;
    let mut scored = bm25::rescore(view, fields, clauses, best.candidates())?;
    scored.sort_by(Scored::rank);
    scored.truncate(most);
    Ok(scored)
}

/// Hands `best` what may be among the best of segment `n`.
fn in_segment(
    view: &View,
    fields: &Fields,
    clauses: &[Clause],
    allowed: Option<&[BitSet]>,
    n: usize,
    best: &Best,
) -> Result<(), IndexError> {
    let seg = &view.segs[n];
    let mut lists = Vec::with_capacity(clauses.len());
    for clause in clauses {
        lists.extend(List::open(view, fields, seg, clause)?);
    }
    if lists.is_empty() {
        return Ok(());
    }
    let comments = seg.kept.comments(&seg.reader, fields)?;
    let factor = |doc: u32| {
        let may = match allowed {
            Some(allowed) => allowed[n].contains(doc),
            None => seg.is_alive(doc),
        };
        match comments {
            _ if !may => 0.0,
            Some(comments) if comments.contains(doc) => COMMENT as f32,
            _ => 1.0,
        }
    };
    Windows::new(lists).run(best, n, &factor);
    Ok(())
}

/// One clause's postings in one segment.
struct List {
    postings: BlockSegmentPostings,
    /// Place in the block of postings.
    at: usize,
    /// The weight with `k1 + 1`.
    weight: f32,
    /// The most that one document can get.
    bound: f32,
    /// What is added to the frequency below the line, by the code of a length.
    damping: [f32; 256],
    norms: FieldNormReader,
    /// The same score as tantivy works it out, for the most of a block of postings.
    peer: Bm25Weight,
    /// By how much a block's recorded best may be off: it was the best at the segment's own mean length.
    give: f32,
    /// Whether each posting stands for the blocks of a section.
    is_head: bool,
}

impl List {
    fn open(view: &View, fields: &Fields, seg: &Seg, clause: &Clause) -> Result<Option<Self>, IndexError> {
        let field = clause.term.field();
        let inverted = seg.reader.inverted_index(field)?;
        let found = inverted.read_block_postings(&clause.term, IndexRecordOption::WithFreqs);
        let Some(postings) = found.map_err(tantivy::TantivyError::from)? else { return Ok(None) };
        let mean = view.mean_length(fields, field);
        let damping = std::array::from_fn(|code| {
            let length = f64::from(FieldNormReader::id_to_fieldnorm(code as u8));
            (K1 * (1.0 - B + B * length / mean)) as f32
        });
        let is_head = field == fields.head;
        let weight = (clause.weight * (K1 + 1.0)) as f32;
        // The shortest document has one term; how often it stands in the longest is not known.
        let bound = if is_head { weight / (1.0 + damping[1]) } else { weight };
        let norms = seg.reader.get_fieldnorms_reader(field)?;
        let all = view.totals.docs;
        let peer = Bm25Weight::for_one_term_without_explain(1, all, mean as f32)
            .boost_by((clause.weight / bm25::idf(1, all)) as f32);
        let own = inverted.total_num_tokens() as f64 / f64::from(seg.reader.max_doc().max(1));
        let give = if own > 0.0 { (own / mean).max(mean / own) } else { 1.0 };
        let give = give as f32 * (1.0 + SLACK);
        let bound = bound * (1.0 + SLACK);
        Ok(Some(Self { postings, at: 0, weight, bound, damping, norms, peer, give, is_head }))
    }

    /// The document of the current posting, [`TERMINATED`] behind the last.
    fn doc(&self) -> u32 {
        self.postings.docs().get(self.at).copied().unwrap_or(TERMINATED)
    }

    /// The first document from `from` on that the current posting or a later one may stand for.
    fn next(&self, from: u32) -> u32 {
        match self.doc() {
            TERMINATED => TERMINATED,
            doc if self.is_head => (doc + 1).saturating_sub(self.postings.freq(self.at)).max(from),
            doc => doc,
        }
    }

    fn score(&self, doc: u32, times: u32) -> f32 {
        let damping = self.damping[self.norms.fieldnorm_id(doc) as usize];
        let times = if self.is_head { 1.0 } else { times as f32 };
        self.weight * times / (times + damping)
    }

    fn step(&mut self) {
        self.at += 1;
        if self.at >= self.postings.block_len() {
            self.postings.advance();
            self.at = 0;
        }
    }

    /// The most that a document of the current block of postings can get.
    fn block_bound(&mut self) -> f32 {
        let most = self.postings.block_max_score(&self.norms, &self.peer) * self.give;
        most.min(self.bound)
    }

    /// Adds the scores of the documents of `start..end` to `window`, without those in whose blocks no
    /// document gets more than `worthless`.
    fn add(&mut self, start: u32, end: u32, worthless: f32, window: &mut Window) {
        if self.is_head {
            loop {
                let last = self.doc();
                if last == TERMINATED {
                    return;
                }
                let blocks = self.postings.freq(self.at);
                let first = (last + 1).saturating_sub(blocks).max(start);
                if first >= end {
                    return;
                }
                let score = self.score(last, blocks);
                (first..end.min(last + 1)).for_each(|doc| window.add(doc - start, score));
                if last >= end {
                    return;
                }
                self.step();
            }
        }
        loop {
            if worthless > 0.0 && self.at == 0 && self.block_bound() <= worthless {
                match self.postings.docs().last() {
                    Some(last) if *last < end => {
                        self.postings.advance();
                        continue;
                    }
                    _ => {}
                }
            }
            let (docs, times) = (self.postings.docs(), self.postings.freqs());
            let mut at = self.at;
            while at < docs.len() && docs[at] < end {
                window.add(docs[at] - start, self.score(docs[at], times[at]));
                at += 1;
            }
            let is_through = at >= docs.len();
            if docs.is_empty() || !is_through {
                self.at = at;
                return;
            }
            self.postings.advance();
            self.at = 0;
        }
    }

    /// What `doc` gets, which is not before any asked about so far.
    fn ask(&mut self, doc: u32) -> f32 {
        if self.doc() < doc {
            self.at = self.postings.seek(doc);
        }
        let found = self.doc();
        if found == TERMINATED {
            return 0.0;
        }
        let times = self.postings.freq(self.at);
        let is_there = if self.is_head { found - doc < times } else { found == doc };
        if is_there { self.score(found, times) } else { 0.0 }
    }
}

/// The scores of one window's documents.
struct Window {
    scores: Vec<f32>,
    touched: [u64; (WINDOW / 64) as usize],
}

impl Window {
    fn add(&mut self, place: u32, score: f32) {
        self.scores[place as usize] += score;
        self.touched[place as usize / 64] |= 1 << (place % 64);
    }
}

/// The evaluation of one segment.
struct Windows {
    /// Least bound first.
    lists: Vec<List>,
    /// The bounds of the lists before each.
    before: Vec<f32>,
    window: Window,
}

impl Windows {
    fn new(mut lists: Vec<List>) -> Self {
        lists.sort_by(|a, b| a.bound.total_cmp(&b.bound));
        let mut sum = 0.0;
        let mut before = Vec::with_capacity(lists.len() + 1);
        for list in &lists {
            before.push(sum);
            sum += list.bound;
        }
        before.push(sum);
        let window = Window { scores: vec![0.0; WINDOW as usize], touched: [0; (WINDOW / 64) as usize] };
        Self { lists, before, window }
    }

    /// Hands `best` what may be among the best; `factor` is what a document's score counts for.
    fn run(mut self, best: &Best, seg: usize, factor: &dyn Fn(u32) -> f32) {
        let mut start = 0;
        loop {
            // The lists before this one don't make a document one of the best between them.
            let first = self.before[1..].partition_point(|sum| *sum <= best.threshold());
            let next = self.lists[first.min(self.lists.len())..].iter().map(|list| list.next(start)).min();
            match next {
                Some(doc) if doc != TERMINATED => start = doc,
                _ => return,
            }
            let end = start.saturating_add(WINDOW);
            let all = self.before[self.lists.len()];
            for list in &mut self.lists[first..] {
                // A document that no other list makes up for.
                let worthless = best.threshold() - (all - list.bound);
                list.add(start, end, worthless, &mut self.window);
            }
            for word in 0..self.window.touched.len() {
                let mut bits = std::mem::take(&mut self.window.touched[word]);
                while bits != 0 {
                    let place = word as u32 * 64 + bits.trailing_zeros();
                    bits &= bits - 1;
                    let score = std::mem::take(&mut self.window.scores[place as usize]);
                    self.weigh(start + place, score, first, best, seg, factor);
                }
            }
            start = end;
        }
    }

    /// Asks the lists before `first` about a document, as long as it may be among the best.
    fn weigh(
        &mut self,
        doc: u32,
        mut score: f32,
        first: usize,
        best: &Best,
        seg: usize,
        factor: &dyn Fn(u32) -> f32,
    ) {
        if score + self.before[first] <= best.threshold() {
            return;
        }
        let factor = factor(doc);
        for n in (0..first).rev() {
            if (score + self.before[n + 1]) * factor <= best.threshold() {
                return;
            }
            score += self.lists[n].ask(doc);
        }
        if score * factor > best.threshold() {
            best.push(score * factor, DocRef { seg, doc });
        }
    }
}

/// Collects what could be among the best, from all threads at work.
struct Best {
    most: usize,
    /// What scores no more is not among the best, as bits: scores are positive, so their bits order as they do.
    threshold: AtomicU32,
    kept: Mutex<Kept>,
}

struct Kept {
    /// The best scores, as bits.
    heap: BinaryHeap<Reverse<u32>>,
    found: Vec<(f32, DocRef)>,
    tidy_at: usize,
}

impl Best {
    fn new(most: usize) -> Self {
        let heap = BinaryHeap::with_capacity(most.min(10_000) + 1);
        let kept = Mutex::new(Kept { heap, found: Vec::new(), tidy_at: 4096 + most * 2 });
        Self { most, threshold: AtomicU32::new(0), kept }
    }

    fn threshold(&self) -> f32 {
        f32::from_bits(self.threshold.load(Ordering::Relaxed))
    }

    fn push(&self, score: f32, at: DocRef) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { heap, found, tidy_at } = &mut *kept;
        found.push((score, at));
        heap.push(Reverse(score.to_bits()));
        if heap.len() > self.most {
            heap.pop();
        }
        if heap.len() == self.most
            && let Some(Reverse(bits)) = heap.peek()
        {
            let threshold = f32::from_bits(*bits) * (1.0 - SLACK);
            self.threshold.store(threshold.to_bits(), Ordering::Relaxed);
        }
        if found.len() >= *tidy_at {
            let threshold = self.threshold();
            found.retain(|(score, _)| *score > threshold);
            *tidy_at = (found.len() * 2).max(*tidy_at);
        }
    }

    fn candidates(self) -> Vec<DocRef> {
        let threshold = self.threshold();
        let Kept { found, .. } = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.into_iter().filter(|(score, _)| *score > threshold).map(|(_, at)| at).collect()
    }
}

#[cfg(test)]
mod tests;
