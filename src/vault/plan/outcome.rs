//! Defines the result of an operation on a note: done, or dropped with the reason (gone, changed, not unique).

use serde::{Deserialize, Serialize};

/// Why an operation was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
pub enum DropReason {
    /// No line, passage or commitment like it is there any more.
    #[error("it is not there any more")]
    Gone,
    /// It is there, but has changed.
    #[error("it has been changed in the meantime")]
    Changed,
    /// It occurs more than once, and the intended one is unknown.
    #[error("it is there more than once")]
    NotUnique,
}

/// The outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OpOutcome {
    /// Done.
    Done,
    /// Not done; the bytes are untouched by it.
    Dropped(DropReason),
}

impl OpOutcome {
    /// Whether it was done.
    pub fn is_done(self) -> bool {
        self == Self::Done
    }
}
