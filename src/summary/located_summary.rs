//! Defines a summary with its log, as the answer to a question about it.

use super::window::{SummaryNote, Window};

/// A summary with its log.
#[derive(Debug)]
pub struct LocatedSummary {
    /// The log with all its summaries; this is one of them.
    pub window: Window,
    /// Its note.
    pub note: SummaryNote,
}
