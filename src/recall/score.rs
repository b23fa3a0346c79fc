//! From a question to a score for every block in scope: the signals, computed over the corpus.
//!
//! Signals from words walk the postings of the question's terms. Vectors and shapes are looked at for every
//! block in scope, or, where there are many, for a shortlist: the best by words, and those whose vector's signs
//! agree with the question's most. All statistics (rarity, mean lengths, the spread of the cosines) are those of
//! the blocks in scope, taken at the time of the question: nothing depends on what else the cache has seen.

use jiff::tz::TimeZone;

pub use super::candidates::{B, Candidates, K1, bm25, idf, plain_bm25};
use super::candidates::{WINDOW, answers, beside, is_turn, turn_beside};
use super::corpus::{Corpus, NEVER};
use super::question::Question;
pub use super::semantic::Vectors;
use super::semantic::{nearest, semantic};
use super::signal::Signal;
use super::tally::{COMMON, MANY, RATHER_COMMON, Scratch};
pub use super::tally::{Near, Scores, Sink, Table, Work};
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
/// A term that stands nowhere counts as rare as this, so that it doesn't drown the others.
const MOST_IDF: f32 = 5.5;

/// Few blocks tell little of how rare a word is: they are joined by others that don't have it, up to so many.
const FEW: f32 = 400.0;
/// Beyond so many candidates, words and vectors are gone through at the same time.
const ONE_CORE: usize = 40_000;

/// Computes all signals of `question` over `candidates` into `sink`; `work` is any question's.
pub fn signals(
    corpus: &Corpus,
    candidates: &Candidates,
    question: &Question,
    vectors: Option<Vectors<'_>>,
    zone: &TimeZone,
    work: &mut Work,
    sink: &mut impl Sink,
) {
    let speakers = speakers(corpus, candidates, question);
    let mut differences = std::mem::take(&mut work.differences);
    let is_short = sink.is_short(candidates);
    let mut words = || {
        let before = lexical(corpus, candidates, question, &speakers, work, sink);
        for (slot, value) in before {
            sink.add(Signal::AnswersMatch, slot, value);
        }
        if !question.dates.is_empty() {
            dates(corpus, candidates, question, zone, sink);
        }
    };
    let near = match vectors.filter(|_| is_short) {
        Some(vectors) => {
            let near = || nearest(corpus, candidates, vectors, &mut differences);
            Some(both(candidates.count > ONE_CORE, near, words))
        }
        None => {
            words();
            None
        }
    };
    work.differences = differences;
    let mut listed = sink.shortlist(candidates);
    if let (Some(listed), Some(near)) = (&mut listed, &near) {
        listed.extend(&near.slots);
        listed.sort_unstable();
        listed.dedup();
    }
    if let Some(vectors) = vectors {
        let sample = near.map_or_else(Vec::new, |near| near.sample);
        semantic(corpus, candidates, vectors, listed.as_deref(), &sample, sink);
    }
    match listed {
        Some(slots) => {
            slots.iter().for_each(|slot| shape(corpus, *slot, question, &speakers, sink));
            sink.listed(slots);
        }
        None => candidates.slots(corpus).for_each(|slot| shape(corpus, slot, question, &speakers, sink)),
    }
}

/// Runs `aside` in a thread of its own, if that pays, while `here` runs here.
fn both<T: Send>(pays: bool, aside: impl FnOnce() -> T + Send, here: impl FnOnce()) -> T {
    if !pays {
        here();
        return aside();
    }
    std::thread::scope(|scope| {
        let aside = scope.spawn(aside);
        here();
        aside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The speakers in scope: all their names' words, and those whom the question names.
struct Speakers {
    names: Vec<String>,
    named: Vec<u32>,
}

fn speakers(corpus: &Corpus, candidates: &Candidates, question: &Question) -> Speakers {
    let ids = &candidates.authors;
    let asked = |name: &str| {
        name.split(' ').any(|part| part.len() > 1 && question.words.iter().any(|word| word == part))
    };
    let mut named: Vec<u32> = ids.iter().copied().filter(|id| asked(corpus.author_name(*id))).collect();
    if named.len() == ids.len() {
        named.clear();
    }
    let names = ids.iter().flat_map(|id| corpus.author_name(*id).split(' ').map(str::to_owned)).collect();
    Speakers { names, named }
}

/// All signals from words. Returns, for each answer to a matching question, how well that matches.
fn lexical(
    corpus: &Corpus,
    candidates: &Candidates,
    question: &Question,
    speakers: &Speakers,
    work: &mut Work,
    sink: &mut impl Sink,
) -> Vec<(u32, f32)> {
    #[expect(clippy::cast_precision_loss, reason = "counts of blocks")]
    let (n, sessions) = (candidates.count as f32, candidates.files.len() as f32);
    work.fit(corpus.len(), corpus.files().len());
    let Work { term: scratch, own, window, session, session_bm25, session_cover, .. } = work;
    // Sums over the terms, in the order of the question; their wholes are known only at the end.
    let (mut all, mut without_names, mut soft_all) = (0.0, 0.0, 0.0);
    let mut parts: Vec<(Signal, u32, f32)> = Vec::new();
    let mut pair_whole = 0.0;
    let mut last: Option<(Vec<(u32, f32)>, f32)> = None;
    for asked in &question.asked {
        let is_name = speakers.names.contains(&asked.word);
        let mut found: Vec<(u32, f32)> = Vec::new();
        corpus.each(&asked.term, |slot, tf| {
            if candidates.is[slot as usize] {
                found.push((slot, f32::from(tf)));
            }
        });
        #[expect(clippy::cast_precision_loss, reason = "counts of blocks")]
        let rarity = idf(found.len() as f32, n);
        let is_common = candidates.count > MANY && found.len() * COMMON > candidates.count;
        let is_rather_common = candidates.count > MANY && found.len() * RATHER_COMMON > candidates.count;
        let reach = |window: &'static [(i32, f32)]| if is_common { &ALONE[..] } else { window };
        if !found.is_empty() {
            all += rarity;
            for (slot, tf) in &found {
                own.add(
                    *slot,
                    bm25(*tf, rarity, f32::from(corpus.meta(*slot).length), candidates.mean_length),
                );
            }
            // BM25 of the window: the term's weighted count in it, its rarity among windows.
            for (slot, tf) in &found {
                spread(corpus, candidates, *slot, reach(&WINDOW), |at, weight| scratch.add(at, weight * tf));
            }
            #[expect(clippy::cast_precision_loss, reason = "counts of blocks")]
            let window_rarity = idf(scratch.touched.len() as f32, n);
            scratch.drain(|slot, tf| {
                let value = bm25(tf, window_rarity, corpus.meta(slot).window, candidates.mean_window);
                window.add(slot, value);
            });
            for (slot, tf) in &found {
                session.add(corpus.meta(*slot).file, *tf);
            }
            #[expect(clippy::cast_precision_loss, reason = "counts of notes")]
            let session_rarity = idf(session.touched.len() as f32, sessions);
            session.drain(|file, tf| {
                let length = session_length(corpus, file);
                session_bm25.add(file, bm25(tf, session_rarity, length, candidates.mean_session));
                if !is_name {
                    session_cover.add(file, rarity);
                }
            });
        }
        if is_name {
            continue;
        }
        if !found.is_empty() {
            without_names += rarity;
            for (slot, _) in &found {
                answer_spread(corpus, candidates, *slot, reach(&ANSWER), |at, weight| {
                    scratch.raise(at, weight);
                });
            }
            scratch.drain(|slot, value| parts.push((Signal::CoverAnswer, slot, rarity * value)));
            for (slot, _) in &found {
                region_spread(
                    corpus,
                    candidates,
                    *slot,
                    if is_rather_common { 0 } else { REGION },
                    |at, weight| scratch.raise(at, weight),
                );
            }
            scratch.drain(|slot, value| parts.push((Signal::Region, slot, rarity * value)));
            // Pairs: this term and the one before it in the question, in one turn or one and its answer.
            for (slot, _) in &found {
                scratch.raise(*slot, 1.0);
                if let Some(after) = turn_beside(corpus, candidates, *slot, 1) {
                    scratch.raise(after, 0.6);
                }
            }
            let mut here: Vec<(u32, f32)> = Vec::new();
            scratch.drain(|slot, value| here.push((slot, value)));
            here.sort_unstable_by_key(|(slot, _)| *slot);
            if let Some((before, before_rarity)) = &last {
                let weight = rarity.min(*before_rarity);
                pair_whole += weight;
                let mut at = 0;
                for (slot, value) in &here {
                    while before.get(at).is_some_and(|(other, _)| other < slot) {
                        at += 1;
                    }
                    if let Some((_, other)) = before.get(at).filter(|(other, _)| other == slot) {
                        parts.push((Signal::Pairs, *slot, weight * value * other));
                    }
                }
            }
            last = Some((here, rarity));
        }
        // Near words: the best match in the block counts.
        #[expect(clippy::cast_precision_loss, reason = "counts of blocks")]
        let soft_rarity = idf(found.len() as f32, n.max(FEW)).min(MOST_IDF);
        soft_all += soft_rarity;
        for (slot, _) in &found {
            scratch.raise(*slot, 1.0);
        }
        for (near, likeness) in &asked.near {
            // A near word that stands everywhere tells nothing, and costs the most.
            if candidates.count > MANY && corpus.count(near) * COMMON > corpus.blocks() {
                continue;
            }
            corpus.each(near, |slot, _| {
                if candidates.is[slot as usize] {
                    scratch.raise(slot, NEAR_WORD * likeness);
                }
            });
        }
        let reach = if candidates.count > MANY && scratch.touched.len() * COMMON > candidates.count {
            &ALONE[..]
        } else {
            &NEAR[..]
        };
        let mut matched: Vec<(u32, f32)> = Vec::with_capacity(scratch.touched.len());
        scratch.drain(|slot, value| matched.push((slot, value)));
        for (slot, value) in &matched {
            spread(corpus, candidates, *slot, reach, |at, weight| scratch.raise(at, weight * value));
        }
        scratch.drain(|slot, value| parts.push((Signal::SoftNear, slot, soft_rarity * value)));
    }
    // Where there are many blocks, a whole note's score is given to those alone that have a word, too.
    let touched = (candidates.count > MANY).then(|| {
        let soft = parts.iter().filter(|(signal, ..)| *signal == Signal::SoftNear).map(|(_, slot, _)| *slot);
        soft.chain(window.touched.iter().copied()).for_each(|slot| scratch.raise(slot, 1.0));
        let mut touched: Vec<u32> = Vec::with_capacity(scratch.touched.len());
        scratch.drain(|slot, _| touched.push(slot));
        touched
    });
    for (signal, slot, value) in parts {
        let whole = match signal {
            Signal::Pairs => pair_whole,
            Signal::SoftNear => soft_all,
            _ => without_names,
        };
        sink.add(signal, slot, value / whole);
    }
    let best_window = window.most();
    window.drain(|slot, value| sink.add(Signal::WindowTop, slot, value / best_window));
    let best_note = session_bm25.most();
    let mut per_session = |from: &mut Scratch, signal: Signal, whole: f32| {
        if let Some(touched) = &touched {
            for slot in touched {
                let value = from.value[corpus.meta(*slot).file as usize];
                if value > 0.0 {
                    sink.add(signal, *slot, value / whole);
                }
            }
            return from.clear();
        }
        from.drain(|file, value| {
            for slot in corpus.files()[file as usize].slots.clone() {
                sink.add(signal, slot, value / whole);
            }
        });
    };
    per_session(session_bm25, Signal::SessionTop, best_note);
    per_session(session_cover, Signal::CoverSession, without_names);
    let mut before = Vec::new();
    let best = all * (K1 + 1.0);
    own.drain(|slot, value| {
        if let Some(after) = turn_beside(corpus, candidates, slot, 1)
            && corpus.shape(slot).has(Shape::QUESTION)
        {
            before.push((after, value / best));
        }
    });
    before
}

fn session_length(corpus: &Corpus, file: u32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a note's words")]
    let length = corpus.files()[file as usize].terms as f32;
    length
}

/// Calls `each` with the blocks in whose window `slot` stands: itself, and for turns those beside it.
fn spread(
    corpus: &Corpus,
    candidates: &Candidates,
    slot: u32,
    window: &[(i32, f32)],
    mut each: impl FnMut(u32, f32),
) {
    let window = if window.len() > 1 && !is_turn(corpus, slot) { &ALONE[..] } else { window };
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
    if reach == 0 || !is_turn(corpus, slot) {
        return;
    }
    for offset in (-reach..=reach).filter(|offset| *offset != 0) {
        if let Some(at) = turn_beside(corpus, candidates, slot, offset) {
            #[expect(clippy::cast_precision_loss, reason = "at most 6")]
            each(at, 1.0 - offset.abs() as f32 / 8.0);
        }
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
    sink.add(Signal::IsQuestion, slot, shape.flag(Shape::QUESTION));
    sink.add(Signal::Asks, slot, shape.flag(Shape::ASKS));
    sink.add(Signal::Answers, slot, f32::from(u8::from(answers(corpus, slot))));
    let asked = beside(corpus, slot, -1).is_some_and(|at| corpus.shape(at).has(Shape::ASKS));
    sink.add(Signal::AskedBefore, slot, f32::from(u8::from(asked)));
    sink.add(Signal::Closing, slot, f32::from(u8::from(beside(corpus, slot, 2).is_none())));
    sink.add(Signal::Quote, slot, shape.flag(Shape::QUOTE));
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
    if wants.reason {
        sink.add(Signal::ReasonWanted, slot, shape.flag(Shape::REASON));
    }
    if wants.place {
        sink.add(Signal::PlaceWanted, slot, shape.flag(Shape::PLACE));
    }
}

/// The days that the question names against the blocks' own.
fn dates(
    corpus: &Corpus,
    candidates: &Candidates,
    question: &Question,
    zone: &TimeZone,
    sink: &mut impl Sink,
) {
    let (mut last_time, mut last_fit) = (NEVER, 0.0);
    for slot in candidates.slots(corpus) {
        let time = corpus.meta(slot).time;
        if time == NEVER {
            continue;
        }
        // Neighbours share their day nearly always; quarter hours are exact for every zone.
        let quarter = time.div_euclid(900);
        if quarter != last_time {
            last_time = quarter;
            last_fit = jiff::Timestamp::from_second(time).map_or(0.0, |at| {
                let date = at.to_zoned(zone.clone()).date();
                question.dates.iter().map(|named| named.fit(date)).fold(0.0, f32::max)
            });
        }
        if last_fit > 0.0 {
            sink.add(Signal::Date, slot, last_fit);
        }
    }
}
