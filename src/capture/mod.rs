//! What is learned in conversations: candidates, each with a quote, for a person to keep or to decline.
//!
//! Candidates come from what people said in a log, never from injected memory, tools or the assistant's own words: by
//! [`rules`], or by a brain ([`brain`]), whose answer counts only as far as its quotes stand in the block ([`mod@quote`]).
//! [`propose`] takes out duplicates ([`dedup`]), scores the rest ([`admission`]) and says what each would do to a known
//! fact. All of that is pure. [`Inbox`] writes the questions into a note and what a person keeps into `MEMORY.md`; the
//! note is the whole state of what was asked, so that a "no" lasts as long as the vault. [`reading`] says which turns of
//! which logs are new.

pub mod admission;
pub mod brain;
pub mod category;
pub mod dedup;
mod inbox;
#[cfg(feature = "index")]
mod learn;
#[cfg(all(test, feature = "index"))]
mod measures;
mod note;
pub mod offers;
pub mod phrase;
#[cfg(feature = "index")]
pub mod propose;
pub mod quote;
pub mod reading;
pub mod rules;
pub mod sentences;
#[cfg(all(feature = "assistant", feature = "index"))]
mod student;
pub mod worth;

use crate::format::candidate::Category;

pub use crate::format::candidate::{AUTO, HUMAN};
pub use inbox::{Inbox, InboxError, Kept, Listed, Settled};
#[cfg(feature = "index")]
pub use learn::{Learner, lines};
#[cfg(all(feature = "assistant", feature = "index"))]
pub use student::Student;

/// Something that was found in a turn, before anything is known of what is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What kind of thing it is.
    pub category: Category,
    /// What would be remembered.
    pub text: String,
    /// What was said, word for word.
    pub quote: String,
    /// Whom or what it is about; none for who said it.
    pub about: Option<String>,
    /// How useful it looks, 0 to 1.
    pub utility: f64,
    /// What a brain says that it does to a known fact; none where the words decide.
    pub judged: Option<dedup::Judged>,
}
