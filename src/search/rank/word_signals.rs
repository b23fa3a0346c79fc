//! Computes the ranking's word signals of a block: how well the block, the turns around it, and its whole note match
//! the question's terms.
//!
//! First, each term's values ([`TermValues`]) are computed for the blocks with the term and for their notes. Only turns
//! and the blocks of the notes in `others` count. Then each signal is the sum over the terms, divided by the highest
//! sum or by the total weight of the terms. A term of a turn also counts for the turns around it (`Region`,
//! `SoftTelling`), unless the term is common in a large scope. A matching question also counts for the next turn
//! (`AnswersMatch`).

use crate::embed::BuiltinTable;
use crate::search::analyze::Shape;
use crate::search::parallel::share;
use crate::search::query::QueryTerm;
use crate::search::rank::expanded_word::joined;
use crate::search::rank::turn_signals::{RankingInput, Scores, Speakers};
use crate::search::retrieve::{
    B, COMMON, CorpusScope, K1, MANY, Occurrence, RATHER_COMMON, count, idf, saturated,
};
use crate::search::store::Corpus;
use crate::search::weights::{AROUND, NEAR_WORD, Signal};

/// The region around a turn fades linearly to zero at eight turns, and ends after six.
const REGION: u32 = 6;

/// A term that stands nowhere counts as rare as this, so that it doesn't drown the others.
pub(in crate::search) const MOST_IDF: f32 = 5.5;
/// The least number of blocks for the rarity of a word. A smaller scope counts as if further blocks without the word
/// filled it up.
pub(in crate::search) const FEW: f32 = 400.0;

/// Values of blocks, by slot, or of notes, by number.
type Values = Vec<(u32, f32)>;

impl RankingInput<'_> {
    /// All signals from words, into `scores`, of the blocks that are looked at: turns, and those of the other notes.
    pub(super) fn word_signals(&self, speakers: &Speakers, scores: &mut Scores) {
        let Self { scope: scope @ CorpusScope { corpus, candidates, .. }, question, others, .. } = *self;
        let mut is_other = vec![false; corpus.note_count()];
        others.iter().for_each(|note| is_other[*note as usize] = true);
        let terms = share(candidates.count, question.terms.len(), |n| {
            let term = &question.terms[n];
            TermValues::new(scope, &is_other, term, speakers.names.contains(&term.word))
        });
        let all: f32 = terms.iter().map(|term| term.rarity).sum();
        let content = || terms.iter().filter(|term| !term.is_name);
        let without_names: f32 = content().map(|term| term.rarity).sum();
        let soft_whole = content().map(|term| term.soft_weight).sum::<f32>().max(f32::MIN_POSITIVE);
        for term in &terms {
            for (slot, value) in &term.region {
                scores.add(Signal::Region, *slot, term.rarity * value / without_names);
            }
        }
        let summed =
            |of: fn(&TermValues) -> Values| joined(terms.iter().flat_map(of).collect(), |a, b| a + b);
        let own = summed(|term| term.own.clone());
        let telling = summed(|term| term.own.iter().map(|(slot, gain)| (*slot, term.tells * gain)).collect());
        for (signal, values) in [(Signal::OwnTop, &own), (Signal::TellingTop, &telling)] {
            let highest = highest(values);
            values.iter().for_each(|(slot, value)| scores.add(signal, *slot, value / highest));
        }
        for term in &terms {
            for (slot, value) in &term.soft {
                scores.add(Signal::SoftTelling, *slot, term.soft_weight * value / soft_whole);
            }
        }
        // If there are many blocks, only those with a word get the score of their whole note.
        let touched = (candidates.count > MANY).then(|| {
            let soft = terms.iter().flat_map(|term| &term.soft);
            let mut touched: Vec<u32> = soft.chain(&own).map(|(slot, _)| *slot).collect();
            touched.sort();
            touched.dedup();
            touched
        });
        let mut of_notes = |signal: Signal, values: &Values, whole: f32| {
            for (note, value) in values {
                let slots = corpus.note(*note).slots;
                match &touched {
                    Some(touched) => {
                        let place = |slot: u32| touched.partition_point(|touched| *touched < slot);
                        let touched = &touched[place(slots.start)..place(slots.end)];
                        touched.iter().for_each(|slot| scores.add(signal, *slot, value / whole));
                    }
                    None => slots.for_each(|slot| scores.add(signal, slot, value / whole)),
                }
            }
        };
        let sessions = summed(|term| term.sessions.clone());
        of_notes(Signal::SessionTop, &sessions, highest(&sessions));
        let cover = |term: &TermValues| -> Values {
            let sessions = term.sessions.iter().filter(|_| !term.is_name);
            sessions.map(|(note, _)| (*note, term.rarity)).collect()
        };
        of_notes(Signal::CoverSession, &summed(cover), without_names);
        // A question that matches speaks for the turn after it.
        for (slot, value) in own {
            if let Some(after) = corpus.turn_beside(slot, 1)
                && corpus.shape(slot).has(Shape::QUESTION)
            {
                scores.add(Signal::AnswersMatch, after, value / (all * (K1 + 1.0)));
            }
        }
    }
}

/// What a term says of the blocks that are looked at, and of their notes.
struct TermValues {
    is_name: bool,
    /// Its rarity in the scope; 0 where it stands nowhere.
    rarity: f32,
    /// The weight of its word in any text.
    tells: f32,
    /// The rarity of it and its near words, by that weight.
    soft_weight: f32,
    /// BM25 of the blocks alone.
    own: Values,
    /// How near a block is to one with the term; none for a name.
    region: Values,
    /// How well the block, and the turns around it, match it or a near word; none for a name.
    soft: Values,
    /// BM25 of whole notes.
    sessions: Values,
}

impl TermValues {
    /// Of a term in the turns of a scope and in the notes that `is_other` marks. A name has no near words.
    fn new(scope: CorpusScope<'_>, is_other: &[bool], term: &QueryTerm, is_name: bool) -> Self {
        let CorpusScope { corpus, candidates, .. } = scope;
        let looked_at = |found: &[Occurrence]| -> Vec<Occurrence> {
            let blocks = found.iter();
            blocks.filter(|block| block.is_turn || is_other[block.note as usize]).copied().collect()
        };
        let (all, notes) = (count(candidates.count), count(candidates.notes.len()));
        let found = scope.of_question(term);
        let (found_in, found_notes) = (found.len(), found.chunk_by(|a, b| a.note == b.note).count());
        let blocks = looked_at(&found);
        let (rarity, session_rarity) = (idf(count(found_in), all), idf(count(found_notes), notes));
        let gain = |block: &Occurrence| {
            let length = f32::from(corpus.meta(block.slot).length);
            (block.slot, rarity * saturated(block.tf(), length, candidates.mean_length, B))
        };
        let in_session = |blocks: &[Occurrence]| {
            let (note, tf) = (blocks[0].note, blocks.iter().map(|block| block.tf()).sum::<f32>());
            let length = count(corpus.note(note).row.terms as usize);
            (note, session_rarity * saturated(tf, length, candidates.mean_session, B))
        };
        let mut this = Self {
            is_name,
            rarity: if found_in == 0 { 0.0 } else { rarity },
            tells: BuiltinTable::builtin().weight(&term.word),
            soft_weight: 0.0,
            own: blocks.iter().map(gain).collect(),
            region: Vec::new(),
            soft: Vec::new(),
            sessions: blocks.chunk_by(|a, b| a.note == b.note).map(in_session).collect(),
        };
        if is_name {
            return this;
        }
        let mut values: Values = blocks.iter().map(|block| (block.slot, 1.0)).collect();
        let reach = if scope.is_common(found_in, RATHER_COMMON) { 0 } else { REGION };
        let fades = |distance: i32| 1.0 - distance.abs() as f32 / 8.0;
        this.region = around(corpus, &values, reach, fades);
        let mut soft_in = found_in;
        for (word, likeness) in &term.near {
            let near = scope.of(word);
            // A term of every block distinguishes nothing, and costs the most.
            if !scope.is_common(near.len(), COMMON) {
                soft_in += near.len();
                values.extend(looked_at(&near).iter().map(|block| (block.slot, NEAR_WORD * likeness)));
            }
        }
        let reach = if scope.is_common(soft_in, COMMON) { 0 } else { 2 };
        // The turn with the word stands this far before the one for which it counts.
        let weight = |distance: i32| AROUND[(2 - distance) as usize];
        this.soft = around(corpus, &values, reach, weight);
        this.soft_weight = this.tells * idf(count(found_in), all.max(FEW)).min(MOST_IDF);
        this
    }
}

/// The values of blocks; a turn's, by its distance, for the turns at most `reach` beside it, too. Of several values for
/// a block the highest.
fn around(corpus: &Corpus, values: &[(u32, f32)], reach: u32, weight: impl Fn(i32) -> f32) -> Values {
    let mut all = Values::with_capacity(values.len());
    for (slot, value) in values {
        if corpus.is_turn(*slot) {
            let turns = corpus.turns_around(*slot, reach);
            all.extend(turns.map(|(at, distance)| (at, weight(distance) * value)));
        } else {
            all.push((*slot, *value));
        }
    }
    joined(all, f32::max)
}

/// The highest value; 1 where there is none.
fn highest(values: &[(u32, f32)]) -> f32 {
    let best = values.iter().map(|(_, value)| *value).fold(0.0, f32::max);
    if best > 0.0 { best } else { 1.0 }
}
