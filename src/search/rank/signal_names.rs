//! Names the signals by which turns are ranked; their weights stand in `search/weights.rs`.
//!
//! A block's score is a weighted sum of [`Signal`]s. A block that is no turn of a log has zero for all signals except
//! those of words and vectors.

use crate::search::query::question::Question;
use crate::search::weights::TURNS;

/// One thing that speaks for (or against) a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Signal {
    /// The share of the question's terms, by rarity and without speakers' names, that stand in the block or in the six turns
    /// to either side, fading.
    Region,
    /// The same over the whole note or window.
    CoverSession,
    /// Cosine of block and question, standardised over the candidates.
    Vector,
    /// The turn before is a question that matches.
    AnswersMatch,
    /// By a speaker whom the question names (and not all).
    Speaker,
    /// Such a speaker, speaking of themselves.
    SpeakerFirst,
    /// Ends as a question.
    IsQuestion,
    /// Answers: the turn before is a question.
    Answers,
    /// Names a time, and that is asked for.
    TimeWanted,
    /// Has a number, and that is asked for.
    NumberWanted,
    /// Has a name, and that is asked for.
    NameWanted,
    /// Speaks of the past, and that is asked for (0, 1, 2).
    PastWanted,
    /// Opens its window.
    Opening,
    /// On a day that the question names.
    Date,
    /// BM25 of the whole note or conversation window among all, as a share of the best one's.
    SessionTop,
    /// The best cosine in the note, standardised. (Not for dialogues alone.)
    VectorSession,
    /// BM25 of the block alone, as a share of the best one's.
    OwnTop,
    /// Said by the agent.
    Agent,
    /// Said by the agent, and what it said is asked for.
    AgentAsked,
    /// How long the block is: the logarithm of its terms.
    Length,
    /// As [`Signal::OwnTop`], each term by how much its word tells in any text, too.
    TellingTop,
    /// The share of the question's terms that stand in the block or, in part, in turns beside it, near words (the table's
    /// neighbours) counting in part, by rarity and by how much each word tells in any text.
    SoftTelling,
}

/// How many signals there are.
pub const SIGNALS: usize = Signal::SoftTelling as usize + 1;

/// A weight for each signal.
pub type Weights = [f32; SIGNALS];

/// The weights for a question.
pub fn weights(question: &Question) -> Weights {
    let several = f32::from(u8::from(question.wants.several));
    TURNS.map(|(_, weight, more)| weight + several * more)
}
