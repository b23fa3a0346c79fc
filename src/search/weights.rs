//! Holds the weights and thresholds of ranking and of recall's confidence, with the methods by which they were found.
//! Also defines [`Signal`]: the properties of a block that raise or lower its score. Of the parameters of BM25 only the
//! length normalisation for notes is here; the others are in [`crate::search::retrieve::bm25`].
//!
//! A turn's score is a weighted sum of [`Signal`]s. For a block that is no turn of a log, all signals but those of
//! words, vectors and days are zero.

use crate::search::query::Question;

/// Signals of turns ([`crate::search::weights::Signal`], in its order): name, weight, and what is added to the weight
/// where a question asks for several things ("Which cities has she seen?"): their mentions stand in many places, so the
/// one place that matches best says less.
///
/// Fitted with `benches/recall.rs --fit` on the development half of LoCoMo (conversations of two people) and on
/// LongMemEval's (logs of users with an assistant), one question of which counts as six, since they are fewer: a
/// listwise softmax over each question's candidates with an L2 penalty, cross-validated by conversation.
pub const TURNS: [(&str, f32, f32); 22] = [
    ("region", 3.072, -2.266),
    ("cover_session", -2.014, 0.0),
    ("vector", 0.224, 0.073),
    ("answers_match", 4.743, 0.0),
    ("speaker", 0.428, 0.520),
    ("speaker_first", 0.579, 0.0),
    ("is_question", -0.591, 0.0),
    ("answers", 0.332, 0.0),
    ("time_wanted", 1.088, 0.0),
    ("number_wanted", 0.739, 0.0),
    ("name_wanted", 0.762, 0.0),
    ("past_wanted", 0.533, 0.0),
    ("opening", 0.856, 0.0),
    ("date", 8.754, 0.0),
    ("session_top", 2.375, -0.226),
    ("vector_session", 0.408, -0.233),
    ("own_top", 2.628, 0.0),
    ("agent", -5.552, 0.0),
    ("agent_asked", 5.775, 0.0),
    ("length", -0.101, 0.0),
    ("telling_top", -2.129, 0.0),
    ("soft_telling", 3.131, 0.0),
];

/// From this cosine on, a built-in vector speaks for a block by itself. Of pairs of unrelated texts, three in a
/// thousand have such a cosine; of questions to an unrelated conversation, one in ten finds a turn with it.
pub const NEAR: f32 = 0.55;
/// The same for models whose distribution of cosines isn't known: so many standard deviations above the mean.
pub const NEAR_SPREADS: f32 = 4.0;
/// The weight of a near word in turns; the word itself has 1.
pub(in crate::search) const NEAR_WORD: f32 = 0.8;
/// The weight of a word in a neighbouring turn, from two turns before to two after.
pub(in crate::search) const AROUND: [f32; 5] = [0.3, 0.6, 1.0, 0.45, 0.2];

/// The weight of a comment's words; others have 1. A reader of the note doesn't see a comment.
pub const COMMENT: f32 = 0.25;

/// Notes. Chosen by hand on openly licensed notes in English, German and Chinese (`notes-dev`), after a fit of four
/// signals that left one vault out at a time; all four vaults were seen.
pub(in crate::search) mod notes {
    /// BM25 of the whole note, as a share of the best one's.
    pub const NOTE: f32 = 4.0;
    /// BM25 of its best section, as a share of the best one's.
    pub const SECTION: f32 = 2.7;
    /// BM25 of a block, as a share of the best one's, among those of its note.
    pub const BLOCK: f32 = 0.8;
    /// The cosine of its nearest block, beyond [`FAR`], where the model knows all words of the question.
    pub const MEANING: f32 = 9.0;
    /// The mean cosine of its blocks, long ones counting more.
    pub const MEAN_MEANING: f32 = 16.0;
    /// The cosine that unrelated texts usually have.
    pub const FAR: f32 = 0.1;
    /// Blocks with fewer terms than this count less, because their vectors overstate them.
    pub const SHORT: f32 = 6.0;
    /// The weight of a word that means nearly the same, multiplied with its likeness.
    pub const NEAR_WORD: f32 = 0.4;
    /// The weight of a word that stands there without its accents, or as a part of a compound alone.
    pub const FORM: f32 = 0.5;
    /// The weight of a translation of a word that stands nowhere itself. (0.35 and 0.7 rank the same but for one
    /// question.)
    pub const TRANSLATION: f32 = 0.5;
    /// The weight of a character of a script without spaces; a pair of them has 1.
    pub const CHARACTER: f32 = 2.0;
    /// BM25's length normalisation; its saturation is [`crate::search::retrieve::bm25::K1`].
    pub const LENGTH: f32 = 0.8;
    /// The least match with which a block counts as having a word.
    pub const LEAST_WORD: f32 = 0.2;
    /// The same for words of [`LONG`] bytes or more, for which less is enough.
    pub const LEAST_LONG_WORD: f32 = 0.04;
    /// A word of so many bytes is long.
    pub const LONG: usize = 6;
}

/// The shares with which the turns beside a find count for its confidence, from two turns before to two after. In a
/// note, all blocks count whole.
pub(in crate::search) const BESIDE: [f32; 5] = [0.4, 0.7, 1.0, 0.7, 0.4];
/// The weight of an agent's words in the confidence, unless the question is about the agent's words. An agent answers
/// at length, so most words occur somewhere.
pub(in crate::search) const AGENT: f32 = 0.3;

/// The number of measures that the confidence is computed from.
pub const MEASURES: usize = 9;

/// Constant and weights, by [`crate::search::rank::confidence::NAMES`].
pub type Logistic = [f64; MEASURES + 1];

/// The logistics of one place: with the cosine, and without built-in vectors.
#[derive(Debug, Clone, Copy)]
pub struct ConfidenceWeights {
    /// With the cosine.
    pub by_meaning: Logistic,
    /// By words alone.
    pub by_words: Logistic,
}

/// The logistics that make of a find's measures the probability that it is about the prompt, by
/// [`crate::search::rank::confidence::SourceKind`]: the constant, then the weights of
/// [`crate::search::rank::confidence::NAMES`]. Fitted on what `--none` of `benches/recall.rs` measures: questions asked
/// of their own memory and of another's, and small talk in many languages, bare and dressed, over LoCoMo, LongMemEval
/// and `notes-dev`. Each keeps so many of its answerable prompts: 97, 95 and 93 of 100. That a speaker is named weighs
/// no more than 3 in conversations: all of LoCoMo's questions name one, real ones need not. Further measures (a
/// standardised cosine, words side by side, and so on) and boosted trees over all of them let as many of another
/// vault's questions through when they judge questions that they were not fitted on.
///
/// That of logs weighs the prompt's two heaviest words and who said it, too. Each question of 56 users was asked of its
/// own log and of two others'; with an eighth of the users left out in turn it keeps 51 of 56 and gives nothing for 80
/// of 100 of others'.
///
/// That of notes is fitted on `notes-dev` alone, what stands in the whole note counting: with each vault left out in
/// turn it keeps 94 of 100 answerable questions and gives nothing for 55 of 100 that no note answers.
///
/// The last one is fitted on `tests/recall/small/fit.txt`, small memories with questions that they answer and questions
/// that they don't, `missing` and `amiss` in it; the others know nothing of those two.
pub const CONFIDENCE_WEIGHTS: [ConfidenceWeights; 4] = [
    ConfidenceWeights {
        by_meaning: [-4.75, 2.48, 0.46, -0.54, 2.21, 3.0, 0.0, 0.0, 0.0, 0.0],
        by_words: [-4.42, 2.74, 0.58, -0.77, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0],
    },
    ConfidenceWeights {
        by_meaning: [-6.29, 1.61, 0.85, -2.15, 6.0, 0.0, 0.0, 0.0, 1.6, -1.24],
        by_words: [-4.99, 2.25, 1.2, -2.44, 0.0, 0.0, 0.0, 0.0, 1.87, -1.15],
    },
    ConfidenceWeights {
        by_meaning: [-5.41, 1.37, 0.89, -1.65, 4.82, 0.0, 0.0, 0.0, 0.0, 0.0],
        by_words: [-3.55, 1.29, 1.29, -0.02, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    },
    ConfidenceWeights {
        by_meaning: [5.93, 1.76, 0.0, 0.0, 2.67, 0.0, -4.48, -3.21, 0.0, 0.0],
        by_words: [6.85, 2.38, 0.0, 0.0, 0.0, 0.0, -4.43, -3.37, 0.0, 0.0],
    },
];

/// Recall returns nothing with a lower confidence.
pub const LEAST_CONFIDENCE: f64 = 0.31;

/// A property of a block that raises or lowers its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Signal {
    /// The share of the question's terms, by rarity and without speakers' names, that stand in the block or in the six
    /// turns to either side, fading.
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
    /// The share of the question's terms that stand in the block or, in part, in turns beside it, near words (the
    /// table's neighbours) counting in part, by rarity and by how much each word tells in any text.
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
