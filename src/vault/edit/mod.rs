//! Writes notes: [`Editor`] repeats an edit until it is made on the newest bytes.
//!
//! Operations with a reason come in; an [`EditReport`] goes out, and observers are notified. A note is never written
//! before its journal entry is on disk, and never over unread bytes. Only [`append`] adds to a log without reading or
//! journalling it, and notifies no observer. (`docs/editing.md` is the protocol.)
//!
//! - [`editor`]: the loop around attempts; this file: its settings and its outcome;
//! - attempts: [`in_place`] under a write [`lease`], [`append`] to a log, and [`swap`] where no lease is available and
//!   for notes that are created or removed;
//! - [`edit_journal`]: the planned write; [`recover`]: the recovery of an interrupted edit;
//! - [`displaced`]: files that a swap replaced, watched for a minute.

mod append;
mod displaced;
mod edit_journal;
mod editor;
mod in_place;
mod lease;
mod recover;
mod swap;

use std::time::Duration;

use super::plan::{OpOutcome, Operation};
use crate::config::EditStrategy;
use crate::defaults::defaults;

pub(crate) use edit_journal::edited_note;
pub use editor::Editor;
pub use recover::RecoveryOutcome;

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

defaults! {
    /// The editor's settings.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct EditOptions {
        /// The way in which it writes.
        pub strategy: EditStrategy = EditStrategy::Auto,
        /// For how long to try while another program has the file open.
        pub patience: Duration = Duration::from_millis(1_500),
        /// Whether the swap asks the kernel if another program has the file open for writing, on systems that can say
        /// so (Linux). If off, it does what it can do on macOS; tests measure that.
        pub ask_for_writers: bool = true,
    }
}
