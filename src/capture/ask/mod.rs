//! Asks through the inbox: a note with a line for each thing that could be remembered.
//!
//! - [`inbox`]: writes the questions, and carries out a person's ticks and changed words; [`note`]: the bytes of the
//!   note. Pure.
//! - [`plain_text`]: a speaker's words as plain text.

mod inbox;
mod note;
mod plain_text;

pub(super) use plain_text::is_keepable;

pub use inbox::{Inbox, InboxError, InboxOutcome, KeptCandidate, ListedCandidate};
