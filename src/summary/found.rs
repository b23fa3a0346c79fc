//! A summary that was asked for, with the log that it is of.

use super::window::{Note, Window};

/// A summary with its log.
#[derive(Debug)]
pub struct Found {
    /// The log with all its summaries; this is one of them.
    pub window: Window,
    /// Its note.
    pub note: Note,
}
