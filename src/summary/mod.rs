//! Summarises logs: plans summaries, writes them with or without a brain, and expands them to the original bytes.
//!
//! A log keeps every byte; a summary is a note that points into the log and can always be made again. [`plan`]
//! chooses the events of the next summary. [`summary_request`] makes the request to a brain and checks its answer;
//! [`extract`] makes a summary without a brain and can't fail. [`Window`] is one log with its summaries: it finds the
//! events that each summary covers, verifies the summaries, and lists due ones. [`grep`] searches logs and summaries.
//! All of that is pure. [`Summaries`] reads and writes the notes.
//!
//! Never here: a call to a brain (`agent::background_writers` makes these calls), or a wait: no answer to a person
//! waits for a summary.
//!
//! - `condensed_log`: a shortened log; `due`: due summaries; `plan`: the events of the next one;
//! - `summary_request`: a summary by a brain; `extract`: one without;
//! - `window`: the events that each summary covers; `proof`: verifies summaries against their log;
//! - `store`: the notes of summaries; `answers`, `grep`: requests about summaries, and searches. `tests` prints
//!   figures.

pub mod answers;
mod condensed_log;
mod due;
pub mod extract;
pub mod grep;
pub mod plan;
mod proof;
mod store;
pub mod summary_request;
pub mod window;

pub use answers::DescribedSummary;
pub use condensed_log::CondensedLog;
pub use due::DueSummary;
pub use plan::DueScope;
pub use store::{Summaries, SummaryError, SummaryText};
pub use window::Window;

#[cfg(test)]
mod tests;
