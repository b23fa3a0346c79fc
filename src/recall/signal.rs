//! What the ranking weighs, and the weights: the one place where its numbers stand.
//!
//! A block's score is a weighted sum of [`Signal`]s. The weights were fitted with `benches/recall.rs --fit`
//! on the development half of LoCoMo: a listwise softmax over each question's candidates with an L2
//! penalty of 1, cross-validated by conversation; a signal that did not pay on conversations that the fit
//! had not seen was left out. Signals marked *dialogue* are zero for anything but turns of a log.

use super::question::Question;

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
}

/// How many signals there are.
pub const SIGNALS: usize = Signal::Closing as usize + 1;

/// The names, for tables.
#[rustfmt::skip]
pub const NAMES: [&str; SIGNALS] = [
    "cover_answer", "region", "cover_session", "pairs", "soft_near", "vector", "answers_match", "answers_vector", "speaker", "speaker_first", "is_question", "asks", "answers", "time_wanted", "number_wanted", "name_wanted", "quote", "past_wanted", "reason_wanted", "place_wanted", "opening", "date", "window_top", "session_top", "vector_session", "asked_before", "closing",
];

/// A weight for each signal.
pub type Weights = [f32; SIGNALS];

/// The fitted weights.
#[rustfmt::skip]
pub const FITTED: Weights = [
    -0.272, // cover_answer
    3.703, // region
    -2.206, // cover_session
    0.455, // pairs
    1.805, // soft_near
    0.212, // vector
    3.076, // answers_match
    0.175, // answers_vector
    0.445, // speaker
    0.588, // speaker_first
    -0.339, // is_question
    -0.295, // asks
    -0.464, // answers
    2.101, // time_wanted
    1.286, // number_wanted
    0.587, // name_wanted
    0.579, // quote
    0.466, // past_wanted
    0.289, // reason_wanted
    1.930, // place_wanted
    0.817, // opening
    9.298, // date
    1.332, // window_top
    2.456, // session_top
    0.405, // vector_session
    0.833, // asked_before
    0.343, // closing
];

/// What is added to a signal's weight where a question asks for several things ("Which cities has she seen?"):
/// their mentions stand in many places, so the one place that matches best says less.
#[rustfmt::skip]
pub const SEVERAL: [(Signal, f32); 8] = [
    (Signal::Region, -0.827),
    (Signal::SessionTop, -0.355),
    (Signal::SoftNear, -0.963),
    (Signal::WindowTop, 0.969),
    (Signal::Vector, 0.245),
    (Signal::Speaker, 0.601),
    (Signal::VectorSession, -0.328),
    (Signal::CoverAnswer, -1.812),
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

/// The logistic that turns a block's soft coverage and its standardised cosine into how sure it is to be about the
/// question: constant, weight of [`Signal::SoftNear`], weight of [`Signal::Vector`].
pub const SURE: [f64; 3] = [-5.871, 11.184, 0.348];

/// Nothing below this is given without being asked for.
pub const SURE_ENOUGH: f64 = 0.31;

/// From this cosine on, a built-in vector speaks for a block by itself. Of texts that have nothing to do with each
/// other three in a thousand are so near; of a question and a conversation that knows nothing of it, the nearest
/// turn is in one case of ten.
pub const NEAR: f32 = 0.55;

/// The same for models whose cosines are not known: so many spreads above the mean.
pub const NEAR_SPREADS: f32 = 4.0;
