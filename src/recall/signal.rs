//! What the ranking weighs, and the weights: the one place where its numbers stand.
//!
//! A block's score is a weighted sum of [`Signal`]s. The weights were fitted with `benches/recall.rs --fit`
//! on the development half of LoCoMo: a listwise softmax over each question's candidates with an L2
//! penalty of 1, cross-validated by conversation; a signal that did not pay on conversations that the fit
//! had not seen was left out. Signals marked *dialogue* are zero for anything but turns of a log.

/// One thing that speaks for (or against) a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Signal {
    /// BM25 of the block and, less, of its neighbours (−2 to +1) as one text, as a share of the best possible.
    Window,
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
    /// Addresses the other one (0, 1, 2).
    You,
    /// Opens its window.
    Opening,
    /// Logarithm of the number of different terms.
    Rich,
    /// On a day that the question names.
    Date,
    /// [`Signal::Window`] as a share of the best block's.
    WindowTop,
    /// BM25 of the whole note or conversation window among all, as a share of the best one's.
    SessionTop,
    /// [`Signal::SoftNear`] as a share of the best block's.
    SoftTop,
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
    "window", "cover_answer", "region", "cover_session", "pairs", "soft_near", "vector", "answers_match", "answers_vector", "speaker", "speaker_first", "is_question", "asks", "answers", "time_wanted", "number_wanted", "name_wanted", "quote", "past_wanted", "reason_wanted", "place_wanted", "you", "opening", "rich", "date", "window_top", "session_top", "soft_top", "vector_session", "asked_before", "closing",
];

/// A weight for each signal.
pub type Weights = [f32; SIGNALS];

/// The fitted weights.
#[rustfmt::skip]
pub const FITTED: Weights = [
    -7.490, // window
    0.467, // cover_answer
    3.586, // region
    -1.986, // cover_session
    0.662, // pairs
    1.486, // soft_near
    0.280, // vector
    3.219, // answers_match
    0.162, // answers_vector
    0.562, // speaker
    0.648, // speaker_first
    -0.326, // is_question
    -0.264, // asks
    -0.508, // answers
    2.088, // time_wanted
    1.275, // number_wanted
    0.633, // name_wanted
    0.622, // quote
    0.483, // past_wanted
    0.319, // reason_wanted
    1.906, // place_wanted
    -0.083, // you
    0.889, // opening
    -0.171, // rich
    9.781, // date
    2.883, // window_top
    2.384, // session_top
    0.581, // soft_top
    0.379, // vector_session
    0.887, // asked_before
    0.293, // closing
];

/// The logistic that turns a block's soft coverage and its standardised cosine into how sure it is to be about the
/// question: constant, weight of [`Signal::SoftNear`], weight of [`Signal::Vector`].
pub const SURE: [f64; 3] = [-5.961, 11.093, 0.386];

/// Nothing below this is given without being asked for.
pub const SURE_ENOUGH: f64 = 0.31;
