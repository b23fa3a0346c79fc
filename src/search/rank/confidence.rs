//! Computes the probability that a found block is about the prompt, and holds the threshold above which recall returns
//! it.
//!
//! The block's measures come in ([`crate::search::rank::measures`] takes them); a probability goes out.

use crate::search::weights::{CONFIDENCE_WEIGHTS, Logistic, MEASURES};

/// Their names, for tables: the share of the prompt's weight that stands in and beside the find; that weight itself, as a
/// logarithm; the share that stands nowhere in the scope; the cosine of the built-in vectors; whether the prompt names
/// somebody who speaks here; the weight that stands neither in the find nor beside it, as a logarithm; whether the find has
/// nothing of the kind that is asked for (a time, a number, a place); how far the prompt's two heaviest words stand in or beside
/// it; whether an agent said it.
pub const NAMES: [&str; MEASURES] =
    ["share", "mass", "unknown", "cosine", "named", "missing", "amiss", "heaviest", "agent"];
/// The first so many finds say whether the memory knows anything of the prompt: of many, one is always like it.
pub const FIRST: usize = 3;

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
