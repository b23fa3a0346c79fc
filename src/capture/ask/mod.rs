//! The inbox: a note with a line for each thing that could be remembered.
//!
//! - [`inbox`]: asking, and what a person's ticks and words do; [`note`]: the bytes of the note. Pure.

mod inbox;
mod note;

pub use inbox::{Inbox, InboxError, Kept, Listed, Settled};
