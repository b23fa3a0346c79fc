//! Scores turns of conversations, and blocks of further notes, for a question: the score is the weighted sum of the
//! signals.
//!
//! Word signals come from the postings of the question's terms. Vector signals and, for turns, signals of the turn's
//! form (a question, first person, a time or a number in it) are computed for every block in scope. If there are many
//! blocks, they are computed for a shortlist: the best blocks by words, and those whose vectors' signs agree most with
//! the question's. All statistics (rarity, mean lengths, the spread of the cosines) are those of the blocks in scope at
//! the time of the question.

use std::collections::HashMap;

use jiff::tz::TimeZone;

use crate::search::Role;
use crate::search::analyze::Shape;
use crate::search::query::Question;
use crate::search::retrieve::{MANY, Nearest, nearest_blocks};
use crate::search::store::NEVER;
use crate::search::weights::{NEAR, NEAR_SPREADS, Signal, Weights};

pub use crate::search::retrieve::candidates::{Bounds, Candidates, CorpusScope, Occurrences};
pub use crate::search::retrieve::nearest_vectors::Vectors;

/// Of more candidates than [`MANY`], so many of the best by words are looked at closely.
const SHORTLIST: usize = 1000;

/// A question, and the blocks that may answer it.
#[derive(Debug, Clone, Copy)]
pub struct RankingInput<'a> {
    /// The blocks that may answer.
    pub scope: CorpusScope<'a>,
    /// The question.
    pub question: &'a Question,
    /// Its vector and theirs, where there are any.
    pub vectors: Option<Vectors<'a>>,
    /// Its nearest blocks, if known.
    pub nearest: Option<&'a Nearest>,
    /// Notes whose blocks' scores are computed besides those of turns, ascending.
    pub others: &'a [u32],
    /// The time zone of the days that the question names.
    pub zone: &'a TimeZone,
}

impl RankingInput<'_> {
    /// Computes all signals into `scores`.
    pub fn compute(&self, scores: &mut Scores) {
        let Self { scope, vectors, nearest: known, others, .. } = *self;
        let CorpusScope { corpus, candidates, .. } = scope;
        let speakers = Speakers::of(self);
        let is_wanted =
            |slot: u32| corpus.is_turn(slot) || others.binary_search(&corpus.meta(slot).file).is_ok();
        self.word_signals(&speakers, scores);
        self.dates(scores);
        let many = vectors.filter(|_| known.is_none() && candidates.count > MANY);
        let made = many.map(|vectors| nearest_blocks(scope, vectors));
        let near = known.or(made.as_ref());
        let mut listed = scores.shortlist(candidates);
        let of_near = near.into_iter().flat_map(|near| &near.slots).copied();
        listed.extend(of_near.filter(|slot| is_wanted(*slot)));
        listed.sort_unstable();
        listed.dedup();
        self.vector_signals(&listed, near.map_or(&[][..], |near| &near.sample), scores);
        listed.iter().for_each(|slot| self.shape(*slot, &speakers, scores));
        scores.listed = listed;
    }

    /// The cosines of the blocks that are listed, standardised over a sample of all candidates; without one, over the
    /// listed blocks.
    fn vector_signals(&self, listed: &[u32], sample: &[f32], scores: &mut Scores) {
        let Self { scope: CorpusScope { corpus, .. }, vectors: Some(vectors), .. } = *self else { return };
        let cosines = vectors.cosines(corpus, listed.iter().copied());
        let sample = match sample {
            [] => cosines.iter().map(|(_, cosine)| *cosine).collect(),
            sample => sample.to_vec(),
        };
        let Some((mean, scale)) = spread_of(sample) else { return };
        let mut most: HashMap<u32, f32> = HashMap::new();
        for (slot, cosine) in &cosines {
            let most = most.entry(corpus.meta(*slot).file).or_insert(f32::MIN);
            *most = most.max(*cosine);
        }
        let standard = |cosine: f32| (cosine - mean) * scale;
        for (slot, cosine) in &cosines {
            let own = standard(*cosine);
            let is_near = if scores.is_builtin { *cosine >= NEAR } else { own >= NEAR_SPREADS };
            scores.cell_mut(*slot as usize).1 |= is_near;
            scores.add(Signal::Vector, *slot, own);
            scores.add(Signal::VectorSession, *slot, standard(most[&corpus.meta(*slot).file]));
        }
    }

    /// Signals from what a block is, not from what it is about.
    fn shape(&self, slot: u32, speakers: &Speakers, scores: &mut Scores) {
        let (corpus, wants) = (self.scope.corpus, self.question.wants);
        let meta = corpus.meta(slot);
        let shape = meta.shape;
        if !shape.has(Shape::TURN) {
            return;
        }
        let flag = |is: bool| f32::from(u8::from(is));
        let named = flag(speakers.named.contains(&meta.author));
        let is_agent = corpus.role(slot) == Some(Role::Agent);
        for (signal, value) in [
            (Signal::Speaker, named),
            (Signal::SpeakerFirst, named * shape.flag(Shape::FIRST_PERSON)),
            (Signal::Agent, flag(is_agent)),
            (Signal::AgentAsked, flag(is_agent && wants.agent)),
            (Signal::Length, f32::from(meta.length).ln_1p()),
            (Signal::IsQuestion, shape.flag(Shape::QUESTION)),
            (Signal::Answers, flag(corpus.answers(slot))),
            (Signal::Opening, shape.flag(Shape::OPENING)),
            (Signal::TimeWanted, flag(wants.time) * shape.flag(Shape::TIME)),
            (Signal::NumberWanted, flag(wants.number) * shape.flag(Shape::NUMBER)),
            (Signal::NameWanted, flag(wants.name) * shape.flag(Shape::PROPER)),
            (Signal::PastWanted, flag(wants.past) * (shape.flag(Shape::PAST) + shape.flag(Shape::PAST_MORE))),
        ] {
            scores.add(signal, slot, value);
        }
    }

    /// The days that the question names against those on which something was said, and those that it is about.
    fn dates(&self, scores: &mut Scores) {
        let Self { scope: CorpusScope { corpus, candidates, .. }, question, zone, .. } = *self;
        if question.dates.is_empty() {
            return;
        }
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
}

/// The usual mean and spread of the built-in model's cosines between a question and a memory's blocks, and for
/// how many blocks they count.
const USUAL: (f64, f64, f64) = (0.147, 0.1, 20.0);

/// The mean of cosines and one over their spread. A few have no spread to speak of: they are joined by as many
/// usual ones as make one.
fn spread_of(mut cosines: Vec<f32>) -> Option<(f32, f32)> {
    if cosines.is_empty() {
        return None;
    }
    // Sums depend on their order, which is that in which the corpus grew.
    cosines.sort_unstable_by(f32::total_cmp);
    let exact = || cosines.iter().map(|cosine| f64::from(*cosine));
    let (sum, squares) = (exact().sum::<f64>(), exact().map(|cosine| cosine * cosine).sum::<f64>());
    let (usual_mean, usual_spread, weight) = USUAL;
    let count = cosines.len() as f64 + weight;
    let mean = (sum + weight * usual_mean) / count;
    let usual_square = usual_spread * usual_spread + usual_mean * usual_mean;
    let spread = ((squares + weight * usual_square) / count - mean * mean).max(0.0).sqrt();
    Some((mean as f32, (1.0 / spread.max(1e-4)) as f32))
}

/// A slot's weighted sum, with a flag whether any signal speaks for the block.
type Cell = (f32, bool);

/// So many slots have their cells together.
const CHUNK: usize = 64;

/// The weighted sums by slot, in chunks that are made when one of their slots gets a value: most questions touch few,
/// and one buffer for all slots would be the largest of a question.
#[derive(Debug)]
pub struct Scores {
    weights: Weights,
    /// Whether cosines are those of the built-in vectors.
    is_builtin: bool,
    chunks: Vec<Option<Box<[Cell; CHUNK]>>>,
    /// The slots for which all signals were computed, in their order.
    pub(super) listed: Vec<u32>,
}

impl Scores {
    /// All zero, for a corpus of so many slots.
    pub fn new(weights: Weights, is_builtin: bool, slots: usize) -> Self {
        Self { weights, is_builtin, chunks: vec![None; slots.div_ceil(CHUNK)], listed: Vec::new() }
    }

    fn cell(&self, slot: usize) -> Cell {
        self.chunks[slot / CHUNK].as_ref().map_or_else(Cell::default, |cells| cells[slot % CHUNK])
    }

    #[inline]
    fn cell_mut(&mut self, slot: usize) -> &mut Cell {
        let chunk = self.chunks[slot / CHUNK].get_or_insert_with(|| Box::new([Cell::default(); CHUNK]));
        &mut chunk[slot % CHUNK]
    }

    /// The score of a slot.
    pub fn of(&self, slot: u32) -> f32 {
        self.cell(slot as usize).0
    }

    /// Whether anything speaks for a block: a word of the question in or beside it, a near word, a day that is
    /// named, or a vector nearer than those of unrelated texts.
    pub fn speaks(&self, slot: u32) -> bool {
        self.cell(slot as usize).1
    }

    /// Adds `value` of `signal` to `slot`.
    #[inline]
    pub(super) fn add(&mut self, signal: Signal, slot: u32, value: f32) {
        let added = self.weights[signal as usize] * value;
        let (score, speaks) = self.cell_mut(slot as usize);
        *score += added;
        *speaks |= value > 0.0 && matches!(signal, Signal::SoftTelling | Signal::OwnTop | Signal::Date);
    }

    /// The slots for which vectors are compared, after the signals from words: all, unless there are many.
    pub(super) fn shortlist(&self, candidates: &Candidates) -> Vec<u32> {
        if candidates.count <= MANY {
            return candidates.slots().collect();
        }
        // Only candidates have scores.
        let mut scored: Vec<(f32, u32)> = Vec::new();
        for (chunk, start) in self.chunks.iter().zip((0..).step_by(CHUNK)) {
            let cells = chunk.iter().flat_map(|cells| cells.iter()).zip(start..);
            scored.extend(cells.map(|((score, _), slot)| (*score, slot)).filter(|(score, _)| *score != 0.0));
        }
        if scored.len() > SHORTLIST {
            // If many are as good as the last one, all of them are taken: their order says nothing.
            let (_, last, _) = scored.select_nth_unstable_by(SHORTLIST - 1, |a, b| b.0.total_cmp(&a.0));
            let least = last.0;
            let equal = scored.iter().filter(|(score, _)| *score == least).count();
            scored.retain(|(score, _)| *score > least || (*score == least && equal <= 4 * SHORTLIST));
        }
        scored.into_iter().map(|(_, slot)| slot).collect()
    }

    /// The `most` best turns within `bounds` for which something speaks, typed words before all others, then best
    /// first; equals in the order of path and line. For what a tool said only typed words speak.
    pub fn best(&self, scope: CorpusScope<'_>, bounds: Bounds<'_>, most: usize) -> Vec<u32> {
        let CorpusScope { corpus, candidates, .. } = scope;
        let Bounds { typed: first, allowed } = bounds;
        let is_first = |slot: u32| first.is_some_and(|first| first.contains(slot));
        let mut slots: Vec<u32> = if most <= self.listed.len() && allowed.is_none() {
            // Few blocks may have a word that many similar ones keep off the list.
            let few = first.filter(|first| first.len() <= self.listed.len() as u64);
            let further = few.into_iter().flatten().filter(|slot| self.listed.binary_search(slot).is_err());
            self.listed.iter().copied().chain(further).collect()
        } else {
            candidates.slots().filter(|slot| allowed.is_none_or(|allowed| allowed.contains(*slot))).collect()
        };
        slots.retain(|slot| {
            is_first(*slot) && corpus.is_said(*slot) || self.speaks(*slot) && corpus.is_turn(*slot)
        });
        let order = |a: &u32, b: &u32| {
            let place = |slot: u32| (corpus.path_at(slot), corpus.meta(slot).line);
            let is_first = is_first(*b).cmp(&is_first(*a));
            is_first.then_with(|| self.of(*b).total_cmp(&self.of(*a))).then_with(|| place(*a).cmp(&place(*b)))
        };
        if slots.len() > most && most > 0 {
            slots.select_nth_unstable_by(most - 1, order);
        }
        slots.truncate(most);
        slots.sort_unstable_by(order);
        slots
    }
}

/// The speakers in scope: the words of all their names, and the speakers that the question names.
pub(in crate::search) struct Speakers {
    pub names: Vec<String>,
    pub named: Vec<u32>,
}

impl Speakers {
    /// The speakers of `candidates`. If the question names all of them, none counts as named.
    pub fn of(input: &RankingInput<'_>) -> Self {
        let RankingInput { scope: CorpusScope { corpus, candidates, .. }, question, .. } = *input;
        let ids = &candidates.authors;
        let asked = |name: &str| {
            name.split(' ').any(|part| part.len() > 1 && question.words.iter().any(|word| word == part))
        };
        let mut named: Vec<u32> = ids.iter().copied().filter(|id| asked(corpus.author_name(*id))).collect();
        if named.len() == ids.len() {
            named.clear();
        }
        let names = ids.iter().flat_map(|id| corpus.author_name(*id).split(' ').map(str::to_owned)).collect();
        Self { names, named }
    }
}
