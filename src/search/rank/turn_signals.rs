//! Computes a score for every block in scope, from the question and the corpus.
//!
//! Signals from words walk the postings of the question's terms. Vectors and shapes are compared for every block in
//! scope, or, if there are many, for a shortlist: the best by words, and those whose vector's signs agree most with the
//! question's. All statistics (rarity, mean lengths, the spread of the cosines) are those of the blocks in scope at the
//! time of the question; nothing depends on the rest of the cache.

use jiff::tz::TimeZone;

use crate::search::Role;
use crate::search::analyze::stems::Shape;
use crate::search::parallel::both;
use crate::search::query::question::Question;
pub use crate::search::rank::accumulator::{Near, Scores, Sink, Table, Work};
use crate::search::rank::signal_names::Signal;
use crate::search::rank::vector_signals::vector_signals;
use crate::search::rank::word_signals::{Speakers, word_signals};
pub use crate::search::retrieve::candidates::{B, Bounds, Candidates, K1, bm25, idf, plain_bm25};
pub use crate::search::retrieve::cosines::Vectors;
use crate::search::retrieve::nearest_vectors::{Nearest, nearest_blocks};
use crate::search::retrieve::term_blocks::CorpusScope;
use crate::search::store::corpus::blocks::{Corpus, NEVER};
use crate::search::store::corpus::neighbours::{answers, is_turn};

/// A question, and the blocks that may answer it.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// All blocks.
    pub corpus: &'a Corpus,
    /// Those that may answer.
    pub candidates: &'a Candidates,
    /// The question.
    pub question: &'a Question,
    /// Its vector and theirs, where there are any.
    pub vectors: Option<Vectors<'a>>,
    /// Its nearest blocks, if known.
    pub nearest: Option<&'a Nearest>,
    /// Notes whose blocks' scores are wanted beside those of turns, ascending; of others nobody wants them.
    pub others: &'a [u32],
    /// The time zone of the days that the question names.
    pub zone: &'a TimeZone,
}

/// Computes all signals into `sink`; `work` is any question's.
pub fn compute(prompt: Prompt<'_>, work: &mut Work, sink: &mut impl Sink) {
    let Prompt { corpus, candidates, question, vectors, nearest: known, others, zone } = prompt;
    let speakers = Speakers::of(corpus, candidates, question);
    let is_short = sink.is_short(candidates);
    let scope = CorpusScope { corpus, candidates };
    let is_wanted =
        |slot: u32| is_turn(corpus, slot) || others.binary_search(&corpus.meta(slot).file).is_ok();
    let mut words = || {
        let before = word_signals(scope, question, &speakers, others, work, sink);
        for (slot, value) in before {
            sink.add(Signal::AnswersMatch, slot, value);
        }
        if !question.dates.is_empty() {
            dates(corpus, candidates, question, zone, sink);
        }
    };
    let made;
    let near = match vectors.filter(|_| is_short) {
        Some(vectors) if known.is_none() => {
            made = both(candidates.count, || nearest_blocks(scope, vectors), words).0;
            Some(&made)
        }
        vectors => {
            words();
            vectors.and(known)
        }
    };
    let mut listed = sink.shortlist(candidates);
    if let (Some(listed), Some(near)) = (&mut listed, near) {
        listed.extend(near.slots.iter().filter(|slot| is_wanted(**slot)));
        listed.sort_unstable();
        listed.dedup();
    }
    if let Some(vectors) = vectors {
        let sample = near.map_or(&[][..], |near| &near.sample);
        vector_signals(corpus, candidates, vectors, listed.as_deref(), sample, sink);
    }
    match listed {
        Some(slots) => {
            slots.iter().for_each(|slot| shape(corpus, *slot, question, &speakers, sink));
            sink.listed(slots);
        }
        None => candidates.slots().for_each(|slot| shape(corpus, slot, question, &speakers, sink)),
    }
}

/// Signals from what a block is, not from what it is about.
fn shape(corpus: &Corpus, slot: u32, question: &Question, speakers: &Speakers, sink: &mut impl Sink) {
    let wants = question.wants;
    let meta = corpus.meta(slot);
    let shape = meta.shape;
    if !shape.has(Shape::TURN) {
        return;
    }
    let named = !speakers.named.is_empty() && speakers.named.contains(&meta.author);
    if named {
        sink.add(Signal::Speaker, slot, 1.0);
        sink.add(Signal::SpeakerFirst, slot, shape.flag(Shape::FIRST_PERSON));
    }
    let is_agent = corpus.role(slot) == Some(Role::Agent);
    sink.add(Signal::Agent, slot, f32::from(u8::from(is_agent)));
    sink.add(Signal::AgentAsked, slot, f32::from(u8::from(is_agent && wants.agent)));
    sink.add(Signal::Length, slot, f32::from(meta.length).ln_1p());
    sink.add(Signal::IsQuestion, slot, shape.flag(Shape::QUESTION));
    sink.add(Signal::Answers, slot, f32::from(u8::from(answers(corpus, slot))));
    sink.add(Signal::Opening, slot, shape.flag(Shape::OPENING));
    if wants.time {
        sink.add(Signal::TimeWanted, slot, shape.flag(Shape::TIME));
    }
    if wants.number {
        sink.add(Signal::NumberWanted, slot, shape.flag(Shape::NUMBER));
    }
    if wants.name {
        sink.add(Signal::NameWanted, slot, shape.flag(Shape::PROPER));
    }
    if wants.past {
        sink.add(Signal::PastWanted, slot, shape.flag(Shape::PAST) + shape.flag(Shape::PAST_MORE));
    }
}

/// The days that the question names against those on which something was said, and those that it is about.
fn dates(
    corpus: &Corpus,
    candidates: &Candidates,
    question: &Question,
    zone: &TimeZone,
    sink: &mut impl Sink,
) {
    let (mut last_time, mut last_day) = (NEVER, None);
    for slot in candidates.slots() {
        let meta = corpus.meta(slot);
        if meta.time == NEVER {
            continue;
        }
        // Neighbours share their day nearly always; quarter hours are exact for every zone.
        let quarter = meta.time.div_euclid(900);
        if quarter != last_time {
            last_time = quarter;
            let at = jiff::Timestamp::from_second(meta.time).ok();
            last_day = at.map(|at| {
                let said = at.to_zoned(zone.clone()).date();
                (said, question.dates.iter().map(|named| named.fit(said)).fold(0.0, f32::max))
            });
        }
        let Some((said, own)) = last_day else { continue };
        let fit = question.dates.iter().map(|named| meta.about.fit(said, *named)).fold(own, f32::max);
        if fit > 0.0 {
            sink.add(Signal::Date, slot, fit);
        }
    }
}
