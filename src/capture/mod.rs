//! What is learned in conversations: candidates, each with a quote, for a person to keep or to decline.
//!
//! New turns of logs come in; questions in the note of the inbox go out, and what a person keeps goes into `MEMORY.md`.
//! Candidates come from what people said, never from injected memory, tools or the assistant's own words. In the order in
//! which it happens:
//! - [`read`]: which turns are new, and their sentences and quotes;
//! - [`find`]: candidates, by rules or by a brain;
//! - [`judge`]: duplicates go, scores decide, and what each would do to a known fact is said;
//! - [`ask`]: the note of the inbox, and what a person says to it;
//! - [`learn`], [`student`]: all of these for one turn after the other, by rules or by a brain.
//!
//! Finding and judging are pure. The note is the whole state of what was asked, so that a "no" lasts as long as the vault.
//! Nothing is asked without a quote that stands in its block.

mod ask;
mod find;
#[cfg(feature = "index")]
mod judge;
#[cfg(feature = "index")]
mod learn;
mod read;
#[cfg(all(feature = "assistant", feature = "index"))]
mod student;

use crate::format::candidate::Category;

pub use crate::format::candidate::{AUTO, HUMAN};

pub use self::ask::{Inbox, InboxError, Kept, Listed, Settled};
pub use self::find::{offers, rules};
#[cfg(feature = "index")]
pub use self::learn::{Asking, Learner};
pub use self::read::{phrase, reading, sentences};
#[cfg(all(feature = "assistant", feature = "index"))]
pub use self::student::Student;

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
    pub judged: Option<Judged>,
}

/// What a brain says of a candidate, naming a known fact by its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged {
    /// It is a fact of its own.
    Create,
    /// It is known.
    Skip,
    /// It is put to the fact with these words.
    Merge(String),
    /// It takes the place of the fact with these words.
    Supersede(String),
}
