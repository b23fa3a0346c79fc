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
    /// BM25 of the whole note or conversation window among all.
    Session,
    /// The share of the question's terms, by rarity, that stand in the block.
    Cover,
    /// The same, with terms of neighbouring turns counting in part.
    CoverNear,
    /// The same without speakers' names, a question's terms counting nearly in full for its answer.
    CoverAnswer,
    /// The same over six turns to either side, fading.
    Region,
    /// The same over the whole note or window.
    CoverSession,
    /// Terms that stand side by side in the question and together in the block.
    Pairs,
    /// As [`Signal::Cover`] without names, near words (the table's neighbours) counting in part.
    Soft,
    /// As [`Signal::CoverNear`] over near words.
    SoftNear,
    /// Cosine of block and question, standardised over the candidates.
    Vector,
    /// The cosine of the turn before. *Dialogue*, as all below.
    VectorBefore,
    /// The cosine of the turn after.
    VectorAfter,
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
    /// Names a time.
    Time,
    /// Names a time, and that is asked for.
    TimeWanted,
    /// Speaks in the first person.
    First,
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
}

/// How many signals there are.
pub const SIGNALS: usize = Signal::Date as usize + 1;

/// The names, for tables.
pub const NAMES: [&str; SIGNALS] = [
    "window", "session", "cover", "cover_near", "cover_answer", "region", "cover_session", "pairs", "soft",
    "soft_near", "vector", "vector_before", "vector_after", "answers_match", "answers_vector", "speaker",
    "speaker_first", "is_question", "asks", "answers", "time", "time_wanted", "first", "number_wanted",
    "name_wanted", "quote", "past_wanted", "reason_wanted", "place_wanted", "you", "opening", "rich", "date",
];

/// A weight for each signal.
pub type Weights = [f32; SIGNALS];

/// The fitted weights.
#[rustfmt::skip]
pub const FITTED: Weights = [
    -1.339, 3.878, -0.430, 0.328, 1.029, 3.223, -0.825, 0.235, -1.049, 4.025, 0.452, 0.033, 0.033, 2.338, 0.190, 0.510, 0.714, -0.304, -0.372, 0.198, 0.117, 2.057, 0.003, 1.213, 0.674, 0.690, 0.506, 0.293, 1.931, -0.123, 0.718, -0.205, 9.317,
];

/// The logistic that turns a block's soft coverage and standardised cosine into how sure it is to be about
/// the question: constant, weight of [`Signal::SoftNear`], weight of [`Signal::Vector`].
pub const SURE: [f64; 3] = [-6.0, 7.0, 0.6];

/// Nothing below this is given without being asked for.
pub const SURE_ENOUGH: f64 = 0.5;
