//! What the ranking of turns weighs, and the weights; those of notes stand in `rank/note_weights.rs`.
//!
//! A block's score is a weighted sum of [`Signal`]s. The weights were fitted with `benches/recall.rs --fit`
//! on the development half of LoCoMo (conversations of two people) and on LongMemEval's (logs of users with an assistant),
//! one question of which counts as six, since they are fewer: a listwise softmax over each question's candidates with an L2
//! penalty of 2, cross-validated by conversation. Signals marked *dialogue* are zero for anything but turns of a log.

use crate::search::query::question::Question;

/// One thing that speaks for (or against) a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Signal {
    /// The share of the question's terms, by rarity and without speakers' names, that stand in the block or in the six turns
    /// to either side, fading.
    Region,
    /// The same over the whole note or window.
    CoverSession,
    /// Terms that stand side by side in the question and together in the block.
    Pairs,
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
    /// Names a place, and that is asked for.
    PlaceWanted,
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

/// The names, for tables.
#[rustfmt::skip]
pub const NAMES: [&str; SIGNALS] = [
    "region", "cover_session", "pairs", "vector", "answers_match", "speaker", "speaker_first", "is_question", "answers", "time_wanted", "number_wanted", "name_wanted", "past_wanted", "place_wanted", "opening", "date", "session_top", "vector_session", "own_top", "agent", "agent_asked", "length", "telling_top", "soft_telling",
];

/// A weight for each signal.
pub type Weights = [f32; SIGNALS];

/// The fitted weights.
#[rustfmt::skip]
pub const FITTED: Weights = [
    3.037, // region
    -2.089, // cover_session
    0.443, // pairs
    0.235, // vector
    4.599, // answers_match
    0.441, // speaker
    0.562, // speaker_first
    -0.582, // is_question
    0.356, // answers
    1.065, // time_wanted
    0.680, // number_wanted
    0.661, // name_wanted
    0.542, // past_wanted
    2.211, // place_wanted
    0.875, // opening
    8.842, // date
    2.495, // session_top
    0.401, // vector_session
    2.417, // own_top
    -4.490, // agent
    4.653, // agent_asked
    -0.096, // length
    -1.968, // telling_top
    2.731, // soft_telling
];

/// What is added to a signal's weight where a question asks for several things ("Which cities has she seen?"):
/// their mentions stand in many places, so the one place that matches best says less.
#[rustfmt::skip]
pub const SEVERAL: [(Signal, f32); 5] = [
    (Signal::Region, -2.151),
    (Signal::SessionTop, -0.271),
    (Signal::Vector, 0.065),
    (Signal::Speaker, 0.499),
    (Signal::VectorSession, -0.230),
];

/// The weights for a question.
pub fn weights(question: &Question) -> Weights {
    let mut weights = FITTED;
    if question.wants.several {
        for (signal, more) in SEVERAL {
            weights[signal as usize] += more;
        }
    }
    weights
}

/// From this cosine on, a built-in vector speaks for a block by itself. Of texts that have nothing to do with each
/// other three in a thousand are so near; of a question and a conversation that knows nothing of it, the nearest
/// turn is in one case of ten.
pub const NEAR: f32 = 0.55;

/// The same for models whose cosines are not known: so many spreads above the mean.
pub const NEAR_SPREADS: f32 = 4.0;
