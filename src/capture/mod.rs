//! Captures facts: finds them in conversations and asks a person, with a quote, whether to keep them.
//!
//! New turns of logs come in; questions go to the note of the inbox, and kept facts to `MEMORY.md`. Candidates come
//! from what people said, never from injected memory, tools or the assistant's own words. In the order in which it
//! happens:
//! - [`read`]: new turns, their sentences and quotes;
//! - [`find`]: candidates, by rules or by a brain;
//! - [`judge`]: duplicates, scores, and each candidate's effect on a known fact;
//! - [`ask`]: the note of the inbox, and a person's answers;
//! - [`learner`], [`brain_learner`]: all of these for one turn after the other, by rules or by a brain.
//!
//! Finding and judging are pure. The note is the whole state of the questions, so that a "no" lasts as long as the
//! vault. Each question has a quote that stands in its block.

mod ask;
#[cfg(feature = "assistant")]
mod brain_learner;
mod find;
mod judge;
mod learner;
mod read;

use crate::format::candidate::Category;

pub use crate::format::candidate::{AUTO, HUMAN};

pub use self::ask::{Inbox, InboxError, InboxOutcome, KeptCandidate, ListedCandidate};
#[cfg(feature = "assistant")]
pub use self::brain_learner::BrainLearner;
pub use self::find::{offers, rules};
pub use self::learner::{InboxQuestions, Learner};
pub use self::read::{new_turns, phrase_match, sentences};

/// A finding in a turn, before it is compared with the kept facts.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractedFact {
    /// Its category.
    pub category: Category,
    /// The text that would be remembered.
    pub text: String,
    /// The quote, word for word.
    pub quote: String,
    /// Its subject; none for the speaker.
    pub about: Option<String>,
    /// How useful it looks, 0 to 1.
    pub utility: f64,
    /// A brain's verdict on a known fact; `None` if the words decide.
    pub verdict: Option<DedupVerdict>,
}

/// A candidate's effect, naming a known fact by its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DedupVerdict {
    /// It is a fact of its own.
    Create,
    /// It is known.
    Skip,
    /// It is put to the fact with these words.
    Merge(String),
    /// It takes the place of the fact with these words.
    Supersede(String),
}
