//! Makes the request of a turn. Pure: the same input makes the same request.
//!
//! The log's events and summaries, notes, questions and the time come in; a request goes out. Each part has a file:
//! - [`assemble`]: system text, the conversation so far, new messages;
//! - [`rebuild`]: finds the parts of an earlier request in its log;
//! - [`history`], [`files`]: a log's blocks as messages, and their attached files;
//! - [`notes`]: the notes of every request;
//! - `shorten`: the head and tail of a long text; [`mod@fit_results`]: shortens the results of a turn's tools until
//!   they fit;
//! - [`past_context`]: summaries and matching turns, for the part of the conversation that doesn't fit.

pub mod assemble;
pub mod files;
pub mod fit_results;
pub mod history;
pub mod notes;
pub mod past_context;
pub mod rebuild;
mod shorten;
