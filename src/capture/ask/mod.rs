//! The inbox: a note with a line for each thing that could be remembered.
//!
//! - [`inbox`]: asking, and what a person's ticks and words do; [`note`]: the bytes of the note. Pure.
//! - [`inert`]: what was said as plain text.

mod inbox;
mod inert;
mod note;

pub(super) use inert::is_keepable;

pub use inbox::{Inbox, InboxError, Kept, Listed, Settled};
