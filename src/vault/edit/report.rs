//! Defines what an edit is to do to a note's bytes ([`EditPlan`]), and what came of it ([`EditReport`]).

use crate::vault::plan::{OpOutcome, Operation};

/// The edit that [`crate::vault::Editor::edit_with`] makes of the bytes that it was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditPlan {
    /// These operations; none means that nothing is to be done.
    Operations(Vec<Operation>),
    /// Make them these bytes.
    Bytes(Vec<u8>),
}

impl EditPlan {
    /// Leaves the note as it is.
    pub const NOTHING: Self = Self::Operations(Vec::new());
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditReport {
    /// The outcome of each operation, in order.
    pub outcomes: Vec<OpOutcome>,
    /// The file's bytes now; empty where it was removed.
    pub after: Vec<u8>,
    /// Whether anything was written. If not, the file was not touched.
    pub changed: bool,
    /// Whether the file was removed.
    pub removed: bool,
    /// A failure after the file had been written, such as history being unable to keep it.
    pub warning: Option<String>,
}

impl EditReport {
    /// Nothing was written: the file has these bytes.
    pub(super) fn of(outcomes: Vec<OpOutcome>, after: Vec<u8>) -> Self {
        Self { outcomes, after, changed: false, removed: false, warning: None }
    }

    /// Whether every operation was done.
    pub fn all_done(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.is_done())
    }
}
