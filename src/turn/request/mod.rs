//! Makes the request of a turn: the files of its parts. Pure: the log's bytes, notes and settings come in; the same
//! bytes make the same request.
//!
//! - [`assemble`]: system text, the conversation so far, new messages; [`rebuild`]: finds the parts of an
//!   earlier request in its log;
//! - [`history`], [`files`]: a log's blocks as messages, and their attached files;
//! - [`notes`]: the notes of every request;
//! - `shorten`: the head and tail of a long text;
//! - [`past_context`]: summaries and matching turns for the past that doesn't fit.

pub mod assemble;
pub mod files;
pub mod history;
pub mod notes;
pub mod past_context;
pub mod rebuild;
mod shorten;
