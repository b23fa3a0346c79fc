//! Asks through the inbox: a note with a line for each thing that could be remembered.
//!
//! - [`inbox`]: asking, and what a person's ticks and words do; [`note`]: the bytes of the note. Pure.
//! - [`plain_text`]: what was said as plain text.

mod inbox;
mod note;
mod plain_text;

pub(super) use plain_text::is_keepable;

pub use inbox::{Inbox, InboxError, InboxOutcome, KeptCandidate, ListedCandidate};
