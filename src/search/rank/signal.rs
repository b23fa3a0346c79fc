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
    /// The share of the question's terms, by rarity and without speakers' names, that stand in the block or, in
    /// part, in turns beside it; a question's terms count nearly in full for its answer.
    CoverAnswer,
    /// The same over six turns to either side, fading.
    Region,
    /// The same over the whole note or window.
    CoverSession,
    /// Terms that stand side by side in the question and together in the block.
    Pairs,
    /// As [`Signal::CoverAnswer`], near words (the table's neighbours) counting in part.
    SoftNear,
    /// Cosine of block and question, standardised over the candidates.
    Vector,
    /// The turn before is a question that matches.
    AnswersMatch,
    /// The turn before is a question near in meaning.
    AnswersVector,
    /// By a speaker whom the question names (and not all).
    Speaker,
    /// Such a speaker, speaking of themselves.
    SpeakerFirst,
    /// Ends as a question.
    IsQuestion,
    /// Asks something.
    Asks,
    /// Answers: the turn before is a question.
    Answers,
    /// Names a time, and that is asked for.
    TimeWanted,
    /// Has a number, and that is asked for.
    NumberWanted,
    /// Has a name, and that is asked for.
    NameWanted,
    /// Quotes a title or words.
    Quote,
    /// Speaks of the past, and that is asked for (0, 1, 2).
    PastWanted,
    /// Gives a reason, and that is asked for.
    ReasonWanted,
    /// Names a place, and that is asked for.
    PlaceWanted,
    /// Opens its window.
    Opening,
    /// On a day that the question names.
    Date,
    /// BM25 of the block and, less, of its neighbours (−2 to +1) as one text, as a share of the best one's.
    WindowTop,
    /// BM25 of the whole note or conversation window among all, as a share of the best one's.
    SessionTop,
    /// The best cosine in the note, standardised. (Not for dialogues alone.)
    VectorSession,
    /// The turn before asks something, though it need not end so.
    AskedBefore,
    /// One of the last two turns of its window: goodbyes.
    Closing,
    /// BM25 of the block alone, as a share of the best one's.
    OwnTop,
    /// Said by the agent.
    Agent,
    /// Said by the agent, and what it said is asked for.
    AgentAsked,
    /// How long the block is: the logarithm of its terms.
    Length,
    /// The best cosine of the turns beside it, standardised.
    VectorBeside,
    /// As [`Signal::OwnTop`], each term by how much its word tells in any text, too.
    TellingTop,
    /// As [`Signal::SoftNear`], each term by how much its word tells in any text, too.
    SoftTelling,
    /// By a person, speaking of themselves, where the question is about the one who asks.
    Mine,
}

/// How many signals there are.
pub const SIGNALS: usize = Signal::Mine as usize + 1;

/// The names, for tables.
#[rustfmt::skip]
pub const NAMES: [&str; SIGNALS] = [
    "cover_answer", "region", "cover_session", "pairs", "soft_near", "vector", "answers_match", "answers_vector", "speaker", "speaker_first", "is_question", "asks", "answers", "time_wanted", "number_wanted", "name_wanted", "quote", "past_wanted", "reason_wanted", "place_wanted", "opening", "date", "window_top", "session_top", "vector_session", "asked_before", "closing", "own_top", "agent", "agent_asked", "length", "vector_beside", "telling_top", "soft_telling", "mine",
];

/// A weight for each signal.
pub type Weights = [f32; SIGNALS];

/// The fitted weights.
#[rustfmt::skip]
pub const FITTED: Weights = [
    0.352, // cover_answer
    1.486, // region
    -1.425, // cover_session
    0.357, // pairs
    1.405, // soft_near
    0.315, // vector
    2.624, // answers_match
    0.117, // answers_vector
    0.458, // speaker
    0.618, // speaker_first
    -0.565, // is_question
    -0.026, // asks
    -0.048, // answers
    1.126, // time_wanted
    0.730, // number_wanted
    0.607, // name_wanted
    0.455, // quote
    0.536, // past_wanted
    0.259, // reason_wanted
    2.324, // place_wanted
    1.127, // opening
    9.438, // date
    1.405, // window_top
    2.623, // session_top
    0.289, // vector_session
    0.474, // asked_before
    -0.043, // closing
    1.625, // own_top
    -2.840, // agent
    4.782, // agent_asked
    -0.088, // length
    0.214, // vector_beside
    -1.908, // telling_top
    1.434, // soft_telling
    1.751, // mine
];

/// What is added to a signal's weight where a question asks for several things ("Which cities has she seen?"):
/// their mentions stand in many places, so the one place that matches best says less.
#[rustfmt::skip]
pub const SEVERAL: [(Signal, f32); 8] = [
    (Signal::Region, 0.464),
    (Signal::SessionTop, -0.877),
    (Signal::SoftNear, -2.140),
    (Signal::WindowTop, 0.997),
    (Signal::Vector, 0.187),
    (Signal::Speaker, 0.599),
    (Signal::VectorSession, -0.345),
    (Signal::CoverAnswer, -1.708),
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
