//! Computes a score for every block in scope, from the question and the corpus.
//!
//! Signals from words walk the postings of the question's terms. Vectors and shapes are compared for every block in
//! scope, or, if there are many, for a shortlist: the best by words, and those whose vector's signs agree most with the
//! question's. All statistics (rarity, mean lengths, the spread of the cosines) are those of the blocks in scope at the
//! time of the question; nothing depends on the rest of the cache.

use std::collections::HashMap;

use jiff::tz::TimeZone;

use crate::search::Role;
use crate::search::analyze::stems::Shape;
use crate::search::parallel::both;
use crate::search::query::question::Question;
pub use crate::search::rank::accumulator::{Near, Scores, Work};
use crate::search::rank::signal_names::Signal;
use crate::search::rank::word_signals::{Speakers, word_signals};
use crate::search::retrieve::candidates::MANY;
pub use crate::search::retrieve::candidates::{Bounds, Candidates};
pub use crate::search::retrieve::nearest_vectors::Vectors;
use crate::search::retrieve::nearest_vectors::{Nearest, nearest_blocks};
use crate::search::retrieve::term_blocks::CorpusScope;
use crate::search::store::corpus::Corpus;
use crate::search::store::segment::block_meta::NEVER;

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

/// Computes all signals into `scores`; `work` is any question's.
pub fn compute(prompt: Prompt<'_>, work: &mut Work, scores: &mut Scores) {
    let Prompt { corpus, candidates, question, vectors, nearest: known, others, zone } = prompt;
    let speakers = Speakers::of(corpus, candidates, question);
    let scope = CorpusScope { corpus, candidates };
    let is_wanted = |slot: u32| corpus.is_turn(slot) || others.binary_search(&corpus.meta(slot).file).is_ok();
    let mut words = || {
        word_signals(scope, question, &speakers, others, work, scores);
        if !question.dates.is_empty() {
            dates(corpus, candidates, question, zone, scores);
        }
    };
    let made;
    let near = match vectors.filter(|_| candidates.count > MANY) {
        Some(vectors) if known.is_none() => {
            made = both(candidates.count, || nearest_blocks(scope, vectors), words).0;
            Some(&made)
        }
        vectors => {
            words();
            vectors.and(known)
        }
    };
    let mut listed = scores.shortlist(candidates);
    if let (Some(listed), Some(near)) = (&mut listed, near) {
        listed.extend(near.slots.iter().filter(|slot| is_wanted(**slot)));
        listed.sort_unstable();
        listed.dedup();
    }
    if let Some(vectors) = vectors {
        let sample = near.map_or(&[][..], |near| &near.sample);
        vector_signals(corpus, candidates, vectors, listed.as_deref(), sample, scores);
    }
    match listed {
        Some(slots) => {
            slots.iter().for_each(|slot| shape(corpus, *slot, question, &speakers, scores));
            scores.set_listed(slots);
        }
        None => candidates.slots().for_each(|slot| shape(corpus, slot, question, &speakers, scores)),
    }
}

/// The usual mean and spread of the built-in model's cosines between a question and a memory's blocks, and for
/// how many blocks they count.
const USUAL: (f64, f64, f64) = (0.147, 0.1, 20.0);

/// The cosines, standardised over the candidates that have a vector (or a sample of them): of all candidates, or
/// of those that are listed.
fn vector_signals(
    corpus: &Corpus,
    candidates: &Candidates,
    vectors: Vectors<'_>,
    listed: Option<&[u32]>,
    sample: &[f32],
    scores: &mut Scores,
) {
    let cosines = match listed {
        Some(listed) => vectors.cosines(corpus, listed.iter().copied()),
        None => vectors.cosines(corpus, candidates.slots()),
    };
    let Some((mean, scale)) = (match listed {
        Some(_) if !sample.is_empty() => spread_of(sample.iter().copied()),
        _ => spread_of(cosines.iter().map(|(_, cosine)| *cosine)),
    }) else {
        return;
    };
    let mut most: HashMap<u32, f32> = HashMap::new();
    for (slot, cosine) in &cosines {
        let most = most.entry(corpus.meta(*slot).file).or_insert(f32::MIN);
        *most = most.max(*cosine);
    }
    let standard = |cosine: f32| (cosine - mean) * scale;
    for (slot, cosine) in &cosines {
        scores.near(*slot, *cosine, standard(*cosine));
        scores.add(Signal::Vector, *slot, standard(*cosine));
        scores.add(Signal::VectorSession, *slot, standard(most[&corpus.meta(*slot).file]));
    }
}

/// The mean of cosines and one over their spread. A few have no spread to speak of: they are joined by as many
/// usual ones as make one.
fn spread_of(cosines: impl Iterator<Item = f32>) -> Option<(f32, f32)> {
    let mut cosines: Vec<f32> = cosines.collect();
    // Sums depend on their order, which is that in which the corpus grew.
    cosines.sort_unstable_by(f32::total_cmp);
    let (mut count, mut sum, mut squares) = (0_u32, 0.0_f64, 0.0_f64);
    for cosine in cosines.into_iter().map(f64::from) {
        count += 1;
        sum += cosine;
        squares += cosine * cosine;
    }
    if count == 0 {
        return None;
    }
    let (usual_mean, usual_spread, weight) = USUAL;
    let count = f64::from(count) + weight;
    let mean = (sum + weight * usual_mean) / count;
    let usual_square = usual_spread * usual_spread + usual_mean * usual_mean;
    let spread = ((squares + weight * usual_square) / count - mean * mean).max(0.0).sqrt();
    Some((mean as f32, (1.0 / spread.max(1e-4)) as f32))
}

/// Signals from what a block is, not from what it is about.
fn shape(corpus: &Corpus, slot: u32, question: &Question, speakers: &Speakers, scores: &mut Scores) {
    let wants = question.wants;
    let meta = corpus.meta(slot);
    let shape = meta.shape;
    if !shape.has(Shape::TURN) {
        return;
    }
    let named = !speakers.named.is_empty() && speakers.named.contains(&meta.author);
    if named {
        scores.add(Signal::Speaker, slot, 1.0);
        scores.add(Signal::SpeakerFirst, slot, shape.flag(Shape::FIRST_PERSON));
    }
    let is_agent = corpus.role(slot) == Some(Role::Agent);
    scores.add(Signal::Agent, slot, f32::from(u8::from(is_agent)));
    scores.add(Signal::AgentAsked, slot, f32::from(u8::from(is_agent && wants.agent)));
    scores.add(Signal::Length, slot, f32::from(meta.length).ln_1p());
    scores.add(Signal::IsQuestion, slot, shape.flag(Shape::QUESTION));
    scores.add(Signal::Answers, slot, f32::from(u8::from(corpus.answers(slot))));
    scores.add(Signal::Opening, slot, shape.flag(Shape::OPENING));
    if wants.time {
        scores.add(Signal::TimeWanted, slot, shape.flag(Shape::TIME));
    }
    if wants.number {
        scores.add(Signal::NumberWanted, slot, shape.flag(Shape::NUMBER));
    }
    if wants.name {
        scores.add(Signal::NameWanted, slot, shape.flag(Shape::PROPER));
    }
    if wants.past {
        scores.add(Signal::PastWanted, slot, shape.flag(Shape::PAST) + shape.flag(Shape::PAST_MORE));
    }
}

/// The days that the question names against those on which something was said, and those that it is about.
fn dates(
    corpus: &Corpus,
    candidates: &Candidates,
    question: &Question,
    zone: &TimeZone,
    scores: &mut Scores,
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
            scores.add(Signal::Date, slot, fit);
        }
    }
}
