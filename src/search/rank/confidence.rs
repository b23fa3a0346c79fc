//! Computes the probability that a found block is about a prompt: [`measures`] compares the two, and [`confidence`]
//! converts the measures to a probability. Pure.
//!
//! No measure compares a block with other blocks, because even the best block of a vault may be no answer. [`NAMES`]
//! lists the measures. The first is the share of the prompt's words that are found with the block. For a turn, "with"
//! includes the two turns on either side; for a note that is no list, the whole note. In a small scope, only the block
//! itself counts. This share alone isn't enough, because any memory has the words of small talk.
//!
//! A word's weight is its rarity in the scope times its weight in any text ([`BuiltinTable::weight`]).

use rustc_hash::FxHashMap;

use crate::embed::BuiltinTable;
use crate::search::Role;
use crate::search::analyze::Shape;
use crate::search::query::{Question, Wants};
use crate::search::rank::{ExpandedWord, FEW, MOST_IDF};
use crate::search::retrieve::{CorpusScope, Vectors, count, idf};
use crate::search::weights::{AGENT, BESIDE, CONFIDENCE_WEIGHTS, Logistic, MEASURES};

/// The names of the measures, for tables. In their order: the share of the prompt's weight that stands in and beside
/// the find; that weight itself, as a logarithm; the share that stands nowhere in the scope; the cosine of the built-in
/// vectors; whether the prompt names a speaker of the scope; the weight that stands neither in the find nor beside it,
/// as a logarithm; whether the find lacks the kind of content that is asked for (a time, a number, a place); how far
/// the prompt's two heaviest words stand in or beside it; whether an agent said it.
pub const NAMES: [&str; MEASURES] =
    ["share", "mass", "unknown", "cosine", "named", "missing", "amiss", "heaviest", "agent"];
/// The number of finds that decide whether memory knows anything about the prompt. Among more finds, one would always
/// be similar to it.
pub const FIRST: usize = 3;
/// A scope of so many blocks is small: its lines are facts of their own, and no line helps out for its neighbour.
const SMALL: usize = 100;
/// A text with more words than this was told or pasted, not asked.
const LONGEST_ASKED: usize = 20;

/// The kind of text that a find stands in; each has weights of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// A conversation of people.
    Conversation,
    /// A conversation with an agent: it answers at length, so most words stand somewhere.
    Log,
    /// A note.
    Note,
    /// A note of a small scope, where each line is a fact of its own.
    Fact,
}

/// The measures of a find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// By [`NAMES`].
    pub of: [f32; MEASURES],
    /// The kind of text that it stands in.
    pub place: SourceKind,
    /// Whether the cosine could be taken.
    pub has_cosine: bool,
}

/// The probability that a find with these measures is about the prompt.
pub fn confidence(weights: &Logistic, measured: &Measured) -> f64 {
    let sum: f64 = weights[1..].iter().zip(&measured.of).map(|(weight, x)| weight * f64::from(*x)).sum();
    1.0 / (1.0 + (-(weights[0] + sum)).exp())
}

/// The same by [`CONFIDENCE_WEIGHTS`].
pub fn default_confidence(measured: &Measured) -> f64 {
    let weights = &CONFIDENCE_WEIGHTS[measured.place as usize];
    confidence(if measured.has_cosine { &weights.by_meaning } else { &weights.by_words }, measured)
}

/// The measures of each of `finds`; `vectors` are the built-in ones.
pub(in crate::search) fn measures(
    scope: CorpusScope<'_>,
    question: &Question,
    expanded: &[ExpandedWord],
    vectors: Option<Vectors<'_>>,
    lists: &[bool],
    finds: &[u32],
) -> Vec<Measured> {
    let corpus = scope.corpus;
    let table = BuiltinTable::builtin();
    let expanded: Vec<&ExpandedWord> = expanded.iter().filter(|expanded| !expanded.word.is_empty()).collect();
    let is_asked = question.words.len() <= LONGEST_ASKED && question.is_plain;
    let is_small = is_asked && scope.candidates.count <= SMALL;
    let is_agent = |at: u32| corpus.role(at) == Some(Role::Agent);
    let is_name = |word: &str| {
        let mut names = scope.candidates.authors.iter().map(|author| corpus.author_name(*author));
        names.any(|name| name.split(' ').any(|part| part == word))
    };
    let all = count(scope.candidates.count).max(FEW);
    let weight = |expanded: &&ExpandedWord| {
        idf((expanded.sum as f32).min(all), all).min(MOST_IDF) * table.weight(&expanded.word)
    };
    let weights: Vec<f32> = expanded.iter().map(weight).collect();
    let mut heaviest: Vec<usize> = (0..weights.len()).collect();
    heaviest.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    heaviest.truncate(2);
    let all: f32 = weights.iter().sum::<f32>().max(1e-6);
    let unknown = weights.iter().zip(&expanded).filter(|(_, expanded)| expanded.sum < 0.5);
    let unknown: f32 = unknown.map(|(weight, _)| weight).sum();
    let named = expanded.iter().any(|expanded| is_name(&expanded.word));
    let mut cosines: FxHashMap<u32, f32> = FxHashMap::default();
    if let Some(vectors) = vectors {
        cosines.extend(vectors.cosines(corpus, finds.iter().copied()));
    }
    // The matches of whole notes, which several finds may share.
    let mut wholes: FxHashMap<u32, Vec<f32>> = FxHashMap::default();
    let of = |slot: &u32| {
        let (is_said, note) = (corpus.is_said(*slot), corpus.note(corpus.meta(*slot).file));
        let is_fact = is_small && !is_said;
        let is_whole = !is_fact && !is_said && !lists[note.number as usize];
        // The blocks that count: the whole note, the fact alone, or those beside the find.
        let slots = match (is_whole, is_fact) {
            (true, _) => note.slots,
            (_, true) => *slot..slot + 1,
            _ => slot.saturating_sub(2).max(note.slots.start)..(slot + 3).min(note.slots.end),
        };
        let part = |at: u32| match (is_whole, is_agent(at) && !question.wants.agent) {
            (true, _) => 1.0,
            (_, true) => AGENT * BESIDE[(at + 2 - slot) as usize],
            _ => BESIDE[(at + 2 - slot) as usize],
        };
        let best = |expanded: &&ExpandedWord| {
            let found = expanded.within(slots.clone()).iter().map(|(at, found)| part(*at) * found.best);
            found.fold(0.0, f32::max)
        };
        let matched = || -> Vec<f32> { expanded.iter().map(best).collect() };
        let matched = match is_whole {
            true => wholes.entry(note.number).or_insert_with(matched).clone(),
            false => matched(),
        };
        let heaviest: Vec<f32> = heaviest.iter().map(|at| matched[*at]).collect();
        let mass: f32 = matched.iter().zip(&weights).map(|(matched, weight)| matched * weight).sum();
        let cosine = cosines.get(slot).copied().unwrap_or(0.0).max(0.0);
        let place = match is_said {
            false if is_fact => SourceKind::Fact,
            false => SourceKind::Note,
            true if slots.clone().any(is_agent) => SourceKind::Log,
            true => SourceKind::Conversation,
        };
        let named = f32::from(u8::from(named));
        Measured {
            of: [
                mass / all,
                mass.ln_1p(),
                unknown / all,
                cosine,
                named,
                (all - mass).max(0.0).ln_1p(),
                f32::from(u8::from(is_amiss(question.wants, corpus.shape(*slot)))),
                heaviest.iter().sum::<f32>() / count(heaviest.len().max(1)),
                f32::from(u8::from(is_agent(*slot))),
            ],
            place,
            has_cosine: vectors.is_some(),
        }
    };
    finds.iter().map(of).collect()
}

/// Whether a text has nothing of the kind that is asked for: a time, a number, a place.
fn is_amiss(wants: Wants, shape: Shape) -> bool {
    wants.time && !shape.has(Shape::TIME | Shape::NUMBER)
        || wants.number && !wants.time && !shape.has(Shape::NUMBER)
        || wants.place && !shape.has(Shape::PLACE | Shape::PROPER)
}
