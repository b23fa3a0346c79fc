//! Summarises logs: plans summaries, writes them with or without a brain, and expands them back to every byte.
//!
//! A log is the lossless store; a summary is a note that points into it and can always be made again. [`plan`] chooses
//! the events of the next one, [`summary_request`] makes the request to a brain and checks its answer, [`extract`] makes one
//! without any brain and can't fail; [`Window`] is one log with its summaries: it finds the events that each covers,
//! proves them, and lists due ones; [`grep`] searches both. All of that is pure. [`Summaries`] reads and writes the
//! notes.
//!
//! Never here: a call of a brain (`agent::background_writers` makes them), or a wait: no answer to a person waits for a
//! summary.
//!
//! - `condensed_log`, `due`, `plan`: a log in short, due summaries, the events of each;
//! - `summary_request`, `extract`: a summary by a brain, and one without;
//! - `window`, `proof`: covered events, and the proof of a summary;
//! - `store`, `answers`, `grep`: the notes, the way back to events, and questions. `tests` prints figures.

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
pub use store::{LogName, Summaries, SummaryError, SummaryText};
pub use window::Window;

#[cfg(test)]
mod tests;
