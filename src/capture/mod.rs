//! Captures facts: finds them in conversations and asks a person, with a quote, whether to keep them.
//!
//! New turns (messages of people) in logs come in; questions go to the note of the inbox, and kept facts to
//! `MEMORY.md`. A candidate is a fact that may be kept. Candidates come from people's own words, never from injected
//! memory, tools or the assistant's words. The files, in the order of the steps:
//!
//! - [`new_turns`]: new turns of logs; [`sentences`]: their sentences, phrases and quotes. Pure;
//! - [`find`]: candidates by rules; [`brain_learner`]: candidates by a brain (a language model);
//! - [`propose`]: the questions of one turn, after a check for duplicates in [`dedup`] and scores of [`admission`];
//! - [`question_builder`]: the questions of several turns, and the choice of the best questions;
//! - [`inbox`]: the questions in the note of the inbox, and a person's answers; [`inbox_note`]: the bytes of that note.
//!
//! Finding by rules, removing duplicates and scoring are pure. The note is the whole state of the questions, so that a
//! "no" lasts as long as the vault. Each question has a quote that occurs in the log block that it names.

mod admission;
#[cfg(feature = "assistant")]
mod brain_learner;
mod dedup;
mod find;
mod inbox;
mod inbox_note;
pub mod new_turns;
mod propose;
mod question_builder;
pub mod sentences;
#[cfg(test)]
mod tests;

use crate::format::candidate::{Category, FactChange};

pub use crate::format::candidate::{AUTO, HUMAN};

#[cfg(feature = "assistant")]
pub use self::brain_learner::BrainLearner;
pub use self::find::{offers, rules};
pub use self::inbox::{Inbox, InboxError, InboxOutcome, KeptCandidate, ListedCandidate};
pub use self::question_builder::QuestionBuilder;

/// A candidate of a turn, before it is compared with the known facts.
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

/// Whether a candidate says something new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DedupVerdict {
    /// It is known already.
    Known,
    /// It is a fact of its own, or one with an effect on a known fact.
    New(Option<FactChange>),
}
