//! The gate: from what is measured of a find to how sure it is to be about the prompt, and from where on it is given.
//!
//! Measures enter ([`crate::search::rank::sure`] takes them). A probability leaves. The fitted weights stand here, too.

/// How many things are weighed.
pub const MEASURES: usize = 7;
/// Their names, for tables: the share of the prompt's weight that stands in and beside the find; that weight itself, as a
/// logarithm; the share that stands nowhere in the scope; the cosine of the built-in vectors; whether the prompt names
/// somebody who speaks here; the weight that stands neither in the find nor beside it, as a logarithm; whether the find has
/// nothing of the kind that is asked for (a time, a number, a place).
pub const NAMES: [&str; MEASURES] = ["share", "mass", "unknown", "cosine", "named", "missing", "amiss"];
/// The first so many finds say whether the memory knows anything of the prompt: of many, one is always like it.
pub const FIRST: usize = 3;

/// Where a find stands: what tells an answer from a guess differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A conversation of people.
    Conversation,
    /// A conversation with an agent: it answers at length, so most words stand somewhere.
    Log,
    /// A note.
    Note,
    /// A note of a small scope, where each line is a fact of its own.
    Fact,
}

/// What is measured of a find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// By [`NAMES`].
    pub of: [f32; MEASURES],
    /// Where it stands.
    pub place: Place,
    /// Whether the cosine could be taken.
    pub has_cosine: bool,
}

/// Constant and weights, by [`NAMES`].
pub type Logistic = [f64; MEASURES + 1];

/// The probability that a find with these measures is about the prompt.
pub fn sureness(weights: &Logistic, measured: &Measured) -> f64 {
    let sum: f64 = weights[1..].iter().zip(&measured.of).map(|(weight, x)| weight * f64::from(*x)).sum();
    1.0 / (1.0 + (-(weights[0] + sum)).exp())
}

/// The logistics of one place: with the cosine, and without built-in vectors.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// With the cosine.
    pub by_meaning: Logistic,
    /// By words alone.
    pub by_words: Logistic,
}

/// The logistics that turn what is measured of a find into how sure it is to be about the prompt, by [`Place`]: the
/// constant, then the weights of [`NAMES`]. Fitted on what `--none` of `benches/recall.rs` measures: questions asked of
/// their own memory and of another's, and small talk in many languages, bare and dressed, over LoCoMo, LongMemEval and
/// `notes-dev`. Each keeps so many of its answerable prompts: 97, 95 and 93 of 100. That a speaker is named weighs no more
/// than 3 in conversations: all of LoCoMo's questions name one, real ones need not. Further measures (a standardised
/// cosine, words side by side, and so on) and boosted trees over all of them let as many of
/// another vault's questions through when they judge questions that they were not fitted on.
///
/// That of notes is fitted on `notes-dev` alone, what stands in the whole note counting: with each vault left out in turn it
/// keeps 94 of 100 answerable questions and gives nothing for 55 of 100 that no note answers.
///
/// The last one is fitted on `tests/recall/small/fit.txt`, small memories with questions that they answer and questions that
/// they don't, the last two measures alone in it; the others know nothing of those two.
pub const GATES: [Gate; 4] = [
    Gate {
        by_meaning: [-4.75, 2.48, 0.46, -0.54, 2.21, 3.0, 0.0, 0.0],
        by_words: [-4.42, 2.74, 0.58, -0.77, 0.0, 3.0, 0.0, 0.0],
    },
    Gate {
        by_meaning: [-10.59, 2.64, 2.34, -5.73, 8.09, -0.06, 0.0, 0.0],
        by_words: [-8.72, 3.85, 2.96, -6.47, 0.0, -0.06, 0.0, 0.0],
    },
    Gate {
        by_meaning: [-5.41, 1.37, 0.89, -1.65, 4.82, 0.0, 0.0, 0.0],
        by_words: [-3.55, 1.29, 1.29, -0.02, 0.0, 0.0, 0.0, 0.0],
    },
    Gate {
        by_meaning: [5.93, 1.76, 0.0, 0.0, 2.67, 0.0, -4.48, -3.21],
        by_words: [6.85, 2.38, 0.0, 0.0, 0.0, 0.0, -4.43, -3.37],
    },
];

/// Nothing below this is given without being asked for.
pub const SURE_ENOUGH: f64 = 0.31;

/// The same by [`GATES`].
pub fn as_built(measured: &Measured) -> f64 {
    let gate = &GATES[measured.place as usize];
    sureness(if measured.has_cosine { &gate.by_meaning } else { &gate.by_words }, measured)
}
