//! Parses and writes `COMMITMENTS.md`: promised follow-ups, one block each with a YAML head and a text.
//!
//! ```text
//! ---
//! id: c-2026-05-08-001
//! status: pending          # pending | delivered | cancelled
//! due: 2026-05-08T19:00:00Z
//! ---
//! Remind Kyle about the dentist appointment at 3 PM.
//! ```
//!
//! A block begins at a live `---` line whose next line is a `key: value`; its head runs to the next `---` and names an
//! `id`. Its text runs to the next block or the end of the file, so a rule in the text is text. The file has no
//! frontmatter: a block at its top is a commitment. The grammar is `grammar/commitments.abnf`.

mod read;
mod write;

use std::{ops::Range, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Finding;
use crate::words::words;

pub use read::{is_place, parse};
pub use write::{next_id, set_due, set_each, set_status, set_text};

words! {
    /// The state of a commitment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum CommitmentStatus, name {
        /// To be told when it is due.
        Pending = "pending",
        /// Told, or done.
        Delivered = "delivered",
        /// Not wanted any more.
        Cancelled = "cancelled",
    }
}

words! {
    /// How exactly its time is meant: a hint for the wording, never another path.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Precision, name {
        /// To the minute.
        Precise = "precise",
        /// About then.
        Soft = "soft",
    }
}

/// Text that is none of a value's names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown} is not one of {names}")]
pub struct NameError {
    shown: String,
    names: String,
}

impl NameError {
    fn new(text: &str, names: &[&str]) -> NameError {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        NameError { shown: super::quote(text), names: names.join(", ") }
    }
}

impl FromStr for Precision {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Precision, NameError> {
        Self::named(text).ok_or_else(|| NameError::new(text, &Self::NAMES))
    }
}

/// A follow-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commitment {
    /// Its id: one word, by this program `c-YYYY-MM-DD-NNN`.
    pub id: String,
    /// Its state.
    pub status: CommitmentStatus,
    /// How exactly its time is meant.
    pub precision: Option<Precision>,
    /// When it is due. Without it, it waits to be done by hand.
    pub due: Option<Timestamp>,
    /// Its destination: `channel:ID`, `thread:ID` or `user:ID`.
    pub scope: Option<String>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// The turn it came from.
    pub source: Option<String>,
    /// The promise, without blank lines around it; never empty.
    pub text: String,
}

/// A commitment and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitmentBlock {
    /// The line of its first `---`, from 1.
    pub line: usize,
    /// Its last line, blank ones included: the one before the next block, or the file's last.
    pub end_line: usize,
    /// Its bytes, from the first `---` to the next block or the end of the file.
    pub range: Range<usize>,
    /// The bytes of its status value in the file.
    pub status_range: Range<usize>,
    /// The bytes of its due time's value in the file, where it has one.
    pub due_range: Option<Range<usize>>,
    /// Its parsed content.
    pub commitment: Commitment,
}

/// The commitments of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitmentsFile {
    /// The valid ones, in file order.
    pub blocks: Vec<CommitmentBlock>,
    /// Near misses. A block with a wrong hint stands in `blocks` all the same.
    pub findings: Vec<Finding>,
    /// The ids of blocks that aren't valid: taken all the same.
    pub other_ids: Vec<String>,
}

impl CommitmentsFile {
    /// The block with this id, if exactly one has it.
    pub fn find(&self, id: &str) -> Option<&CommitmentBlock> {
        let mut found = self.blocks.iter().filter(|block| block.commitment.id == id);
        found.next().filter(|_| found.next().is_none())
    }
}
