//! The signals from words: where the question's terms stand, alone, beside each other, and around.
//!
//! Each term's postings are gone through once. A turn speaks for those around it, so its values are gathered in
//! [`Scratch`] by slot; a block of a note speaks for itself alone and goes where it belongs at once.

use super::candidates::{Candidates, K1, WINDOW, bm25, idf, is_turn, turn_beside};
use super::corpus::Corpus;
use super::question::{Asked, Question};
use super::score::Speakers;
use super::signal::Signal;
use super::tally::{COMMON, MANY, RATHER_COMMON, Scratch, Sink, Work};
use super::text::Shape;

/// How much a term in a neighbouring turn counts as covered.
const NEAR: [(i32, f32); 5] = [(-2, 0.3), (-1, 0.6), (0, 1.0), (1, 0.45), (2, 0.2)];
/// The same where the turn before (offset −1) is a question, and where it isn't.
const ANSWER: [(i32, f32); 5] = [(-2, 0.3), (-1, 0.5), (0, 1.0), (1, 0.4), (2, 0.2)];
const ANSWER_TO_QUESTION: f32 = 0.9;
/// The region fades linearly to zero at eight turns, and ends after six.
const REGION: i32 = 6;
/// The block alone.
const ALONE: [(i32, f32); 1] = [(0, 1.0)];
/// What a near word counts beside the word itself.
const NEAR_WORD: f32 = 0.8;
/// What the turn after one with a term counts for pairs of terms.
const PAIRED_ANSWER: f32 = 0.6;
/// A term that stands nowhere counts as rare as this, so that it doesn't drown the others.
const MOST_IDF: f32 = 5.5;
/// Few blocks tell little of how rare a word is: they are joined by others that don't have it, up to so many.
const FEW: f32 = 400.0;

/// A block in which a term stands.
#[derive(Clone, Copy)]
struct Posting {
    slot: u32,
    tf: f32,
    is_turn: bool,
}

/// Values of blocks.
type Values = Vec<(u32, f32)>;

/// The sums over a question's terms so far. What they are shares of is known at the end.
struct Lexical<'a> {
    corpus: &'a Corpus,
    candidates: &'a Candidates,
    work: &'a mut Work,
    cover_answer: Values,
    region: Values,
    pairs: Values,
    soft: Values,
    /// The rarities of all terms; of those that are no speaker's name; of pairs; of all terms, near ones and all.
    all: f32,
    without_names: f32,
    all_pairs: f32,
    all_soft: f32,
    /// Where the term before stands, or beside which turns, and its rarity.
    last: Option<(Values, f32)>,
}

/// All signals from words, into `sink`. Returns, for each answer to a matching question, how well that matches.
pub(super) fn lexical(
    corpus: &Corpus,
    candidates: &Candidates,
    question: &Question,
    speakers: &Speakers,
    work: &mut Work,
    sink: &mut impl Sink,
) -> Values {
    work.fit(corpus.len(), corpus.files().len());
    let mut this = Lexical {
        corpus,
        candidates,
        work,
        cover_answer: Vec::new(),
        region: Vec::new(),
        pairs: Vec::new(),
        soft: Vec::new(),
        all: 0.0,
        without_names: 0.0,
        all_pairs: 0.0,
        all_soft: 0.0,
        last: None,
    };
    for asked in &question.asked {
        this.term(asked, speakers.names.contains(&asked.word));
    }
    this.hand_over(sink)
}

fn count(of: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "counts of blocks and notes")]
    let count = of as f32;
    count
}

impl Lexical<'_> {
    /// Whether a term in so many blocks is in more than one of `most` of many.
    fn is_common(&self, blocks: usize, most: usize) -> bool {
        self.candidates.count > MANY && blocks * most > self.candidates.count
    }

    fn postings(&self, term: &str) -> Vec<Posting> {
        let mut found = Vec::new();
        self.corpus.each(term, |slot, tf| {
            if self.candidates.is[slot as usize] {
                found.push(Posting { slot, tf: f32::from(tf), is_turn: is_turn(self.corpus, slot) });
            }
        });
        found
    }

    fn term(&mut self, asked: &Asked, is_name: bool) {
        let found = self.postings(&asked.term);
        let rarity = idf(count(found.len()), count(self.candidates.count));
        let is_alone = self.is_common(found.len(), COMMON);
        if !found.is_empty() {
            self.all += rarity;
            self.alone_and_in_windows(&found, rarity, is_alone);
            self.in_sessions(&found, (!is_name).then_some(rarity));
        }
        if is_name {
            return;
        }
        if !found.is_empty() {
            self.without_names += rarity;
            self.cover(&found, rarity, is_alone);
            self.pair(&found, rarity);
        }
        self.soften(asked, &found);
    }

    /// BM25 of the block (of turns: it speaks for the answer), and of its window: the term's weighted count in it, its
    /// rarity among windows.
    fn alone_and_in_windows(&mut self, found: &[Posting], rarity: f32, is_alone: bool) {
        let (corpus, candidates) = (self.corpus, self.candidates);
        let Work { term, own, window, .. } = &mut *self.work;
        let reach = if is_alone { &ALONE[..] } else { &WINDOW[..] };
        for posting in found.iter().filter(|posting| posting.is_turn) {
            let length = f32::from(corpus.meta(posting.slot).length);
            own.add(posting.slot, bm25(posting.tf, rarity, length, candidates.mean_length));
            spread(corpus, candidates, posting.slot, reach, |at, weight| term.add(at, weight * posting.tf));
        }
        let notes = || found.iter().filter(|posting| !posting.is_turn);
        let window_rarity = idf(count(term.touched.len() + notes().count()), count(candidates.count));
        let mut add = |slot: u32, tf: f32| {
            window.add(slot, bm25(tf, window_rarity, corpus.meta(slot).window, candidates.mean_window));
        };
        term.drain(&mut add);
        notes().for_each(|posting| add(posting.slot, posting.tf));
    }

    /// BM25 of whole notes, and how many of the terms they have.
    fn in_sessions(&mut self, found: &[Posting], rarity: Option<f32>) {
        let (corpus, candidates) = (self.corpus, self.candidates);
        let Work { session, session_bm25, session_cover, .. } = &mut *self.work;
        for posting in found {
            session.add(corpus.meta(posting.slot).file, posting.tf);
        }
        let session_rarity = idf(count(session.touched.len()), count(candidates.files.len()));
        session.drain(|file, tf| {
            let length = count(corpus.files()[file as usize].terms as usize);
            session_bm25.add(file, bm25(tf, session_rarity, length, candidates.mean_session));
            if let Some(rarity) = rarity {
                session_cover.add(file, rarity);
            }
        });
    }

    /// Where the term is covered: in the block, in the turns around as far as they may answer, and in the region.
    fn cover(&mut self, found: &[Posting], rarity: f32, is_alone: bool) {
        let (corpus, candidates) = (self.corpus, self.candidates);
        let term = &mut self.work.term;
        let turns = || found.iter().filter(|posting| posting.is_turn);
        let reach = if is_alone { &ALONE[..] } else { &ANSWER[..] };
        for posting in turns() {
            answer_spread(corpus, candidates, posting.slot, reach, |at, weight| term.raise(at, weight));
        }
        term.drain(|slot, value| self.cover_answer.push((slot, rarity * value)));
        let is_rather_common = candidates.count > MANY && found.len() * RATHER_COMMON > candidates.count;
        let reach = if is_rather_common { 0 } else { REGION };
        for posting in turns() {
            region_spread(corpus, candidates, posting.slot, reach, |at, weight| term.raise(at, weight));
        }
        term.drain(|slot, value| self.region.push((slot, rarity * value)));
        for posting in found.iter().filter(|posting| !posting.is_turn) {
            self.cover_answer.push((posting.slot, rarity));
            self.region.push((posting.slot, rarity));
        }
    }

    /// Pairs: this term and the one before it in the question, in one block, or in one turn and its answer.
    fn pair(&mut self, found: &[Posting], rarity: f32) {
        let term = &mut self.work.term;
        for posting in found.iter().filter(|posting| posting.is_turn) {
            term.raise(posting.slot, 1.0);
            if let Some(after) = turn_beside(self.corpus, self.candidates, posting.slot, 1) {
                term.raise(after, PAIRED_ANSWER);
            }
        }
        let mut here: Values = Vec::with_capacity(found.len());
        term.drain(|slot, value| here.push((slot, value)));
        here.extend(found.iter().filter(|posting| !posting.is_turn).map(|posting| (posting.slot, 1.0)));
        // Two runs in order, as good as merged.
        here.sort_by_key(|(slot, _)| *slot);
        if let Some((before, before_rarity)) = &self.last {
            let weight = rarity.min(*before_rarity);
            self.all_pairs += weight;
            let mut at = 0;
            for (slot, value) in &here {
                while before.get(at).is_some_and(|(other, _)| other < slot) {
                    at += 1;
                }
                if let Some((_, other)) = before.get(at).filter(|(other, _)| other == slot) {
                    self.pairs.push((*slot, weight * value * other));
                }
            }
        }
        self.last = Some((here, rarity));
    }

    /// The term and its near words: the best match in the block counts, and in the turns around.
    fn soften(&mut self, asked: &Asked, found: &[Posting]) {
        let (corpus, candidates) = (self.corpus, self.candidates);
        let rarity = idf(count(found.len()), count(candidates.count).max(FEW)).min(MOST_IDF);
        self.all_soft += rarity;
        let mut near: Vec<(Vec<u32>, f32)> = Vec::with_capacity(asked.near.len());
        for (word, likeness) in &asked.near {
            let mut slots = Vec::new();
            corpus.each(word, |slot, _| {
                if candidates.is[slot as usize] {
                    slots.push(slot);
                }
            });
            // A near word that stands everywhere tells nothing, and costs the most.
            if !self.is_common(slots.len(), COMMON) {
                near.push((slots, NEAR_WORD * likeness));
            }
        }
        let term = &mut self.work.term;
        found.iter().for_each(|posting| term.raise(posting.slot, 1.0));
        for (slots, value) in near {
            slots.into_iter().for_each(|slot| term.raise(slot, value));
        }
        let is_common = candidates.count > MANY && term.touched.len() * COMMON > candidates.count;
        let reach = if is_common { &ALONE[..] } else { &NEAR[..] };
        let (mut turns, soft) = (Values::new(), &mut self.soft);
        term.drain(|slot, value| {
            if is_turn(corpus, slot) { turns.push((slot, value)) } else { soft.push((slot, rarity * value)) }
        });
        for (slot, value) in &turns {
            spread(corpus, candidates, *slot, reach, |at, weight| term.raise(at, weight * value));
        }
        term.drain(|slot, value| soft.push((slot, rarity * value)));
    }

    /// Hands all sums over as shares of their wholes.
    fn hand_over(self, sink: &mut impl Sink) -> Values {
        let (corpus, candidates) = (self.corpus, self.candidates);
        let Work { term, own, window, session_bm25, session_cover, .. } = self.work;
        // Where there are many blocks, a whole note's score is given to those alone that have a word, too.
        let touched = (candidates.count > MANY).then(|| {
            let soft = self.soft.iter().map(|(slot, _)| *slot);
            soft.chain(window.touched.iter().copied()).for_each(|slot| term.raise(slot, 1.0));
            let mut touched: Vec<u32> = Vec::with_capacity(term.touched.len());
            term.drain(|slot, _| touched.push(slot));
            touched
        });
        let mut add = |signal: Signal, values: Values, whole: f32| {
            values.into_iter().for_each(|(slot, value)| sink.add(signal, slot, value / whole));
        };
        add(Signal::CoverAnswer, self.cover_answer, self.without_names);
        add(Signal::Region, self.region, self.without_names);
        add(Signal::Pairs, self.pairs, self.all_pairs);
        add(Signal::SoftNear, self.soft, self.all_soft);
        let best_window = window.most();
        window.drain(|slot, value| sink.add(Signal::WindowTop, slot, value / best_window));
        let best_note = session_bm25.most();
        let mut per_session = |from: &mut Scratch, signal: Signal, whole: f32| match &touched {
            Some(touched) => {
                for slot in touched {
                    let value = from.value[corpus.meta(*slot).file as usize];
                    if value > 0.0 {
                        sink.add(signal, *slot, value / whole);
                    }
                }
                from.clear();
            }
            None => from.drain(|file, value| {
                for slot in corpus.files()[file as usize].slots.clone() {
                    sink.add(signal, slot, value / whole);
                }
            }),
        };
        per_session(session_bm25, Signal::SessionTop, best_note);
        per_session(session_cover, Signal::CoverSession, self.without_names);
        let mut answers = Vec::new();
        let best = self.all * (K1 + 1.0);
        own.drain(|slot, value| {
            if let Some(after) = turn_beside(corpus, candidates, slot, 1)
                && corpus.shape(slot).has(Shape::QUESTION)
            {
                answers.push((after, value / best));
            }
        });
        answers
    }
}

/// Calls `each` with the turns in whose window the turn `slot` stands: itself and those beside it.
fn spread(
    corpus: &Corpus,
    candidates: &Candidates,
    slot: u32,
    window: &[(i32, f32)],
    mut each: impl FnMut(u32, f32),
) {
    for (offset, weight) in window {
        if *offset == 0 {
            each(slot, *weight);
        } else if let Some(at) = turn_beside(corpus, candidates, slot, -offset) {
            each(at, *weight);
        }
    }
}

fn answer_spread(
    corpus: &Corpus,
    candidates: &Candidates,
    slot: u32,
    window: &[(i32, f32)],
    mut each: impl FnMut(u32, f32),
) {
    spread(corpus, candidates, slot, window, |at, weight| {
        let answers = at == slot + 1 && corpus.shape(slot).has(Shape::QUESTION);
        each(at, if answers { ANSWER_TO_QUESTION } else { weight });
    });
}

fn region_spread(
    corpus: &Corpus,
    candidates: &Candidates,
    slot: u32,
    reach: i32,
    mut each: impl FnMut(u32, f32),
) {
    each(slot, 1.0);
    for offset in (-reach..=reach).filter(|offset| *offset != 0) {
        if let Some(at) = turn_beside(corpus, candidates, slot, offset) {
            #[expect(clippy::cast_precision_loss, reason = "at most 6")]
            each(at, 1.0 - offset.abs() as f32 / 8.0);
        }
    }
}
