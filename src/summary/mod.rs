//! Summarises logs: plans summaries, writes them with or without a brain, and expands them to the original bytes.
//!
//! A log keeps every byte. A summary is a note that points into the log and can always be made again. No answer to a
//! person waits for a summary. The calls to a brain are made by `agent::background_writers`, never here.
//!
//! - `plan`: chooses the events of the next summary; `due`: lists due summaries;
//! - `summary_request`: makes the request to a brain and checks its answer;
//! - `extract`: makes a summary without a brain, and can't fail;
//! - `window` ([`Window`]): holds a log with its summaries, and finds the events that each summary covers;
//! - `proof`: verifies summaries against their log;
//! - `store` ([`Summaries`]): reads and writes the notes of summaries;
//! - `answers`, `grep`: answer requests about summaries, and search logs and summaries;
//! - `condensed_log`: shortens a log to a limited size; `tests`: prints figures.

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
