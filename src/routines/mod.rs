//! Runs routines: scheduled prompts. Each routine is a note of `routines/`; each run is an isolated turn.
//!
//! [`claim_due_runs`] reads the notes and computes the occurrences since the last run. If a routine has something to
//! do, it gets a run, which is claimed in the delivery journal. Conditions are checked without a brain.
//! [`Runner::drive`] brings a run to its end: a turn with a log of its own. After a crash the same run continues from
//! the journals.
//!
//! The turn's text is stored once and stays as it is. The text is sent by `deliver`, appended to a note, or only
//! logged. A run keeps the text of the note that it began with. If the note is deleted before the turn's text is
//! stored, nothing is sent. The same holds for a note that is disabled, unless a person started the run.
//!
//! A run's budget is the token limit of its turn. `agent::answer::rounds` applies the limit; the answer of a turn that
//! reaches the limit is in `agent::answer::fixed_texts`.
//!
//! No schedule is kept in memory. `schedule` computes the occurrences in local time.
//!
//! - `routine_notes`: the notes, and the list of routines;
//! - `due_runs`: due runs and their claims, also among several machines; a preview of a run;
//! - `run_material`, `new_hits`: the material of a run;
//! - `run`: executes a run; `run_log`: its log, conversation and memory; `run_texts`: its texts.

mod due_runs;
mod new_hits;
mod routine_notes;
mod run;
mod run_log;
mod run_material;
mod run_texts;

pub use due_runs::{ClaimReport, Preview, claim_due_runs, claim_now, destination, preview, reset_disabled};
pub use routine_notes::{
    EnableError, ListedRoutine, RoutineNote, find, list, moment_in_words, names, read_all, set_enabled,
};
pub use run::{RunProgress, Runner, RunnerParts, ToolsOf};

use crate::sqlite::DatabaseError;
use crate::vault::{EditError, NotePath, VaultError};

/// The reason why a run can't go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The delivery journal.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A note can't be read.
    #[error(transparent)]
    Read(#[from] VaultError),
    /// A note can't be written.
    #[error(transparent)]
    Write(#[from] EditError),
    /// An answer that is appended to this note would not be seen.
    #[error("a code block or a comment is left open in `{0}`: close it, and the answer is appended")]
    LeftOpen(NotePath),
    /// Anything else that keeps it from running, in a sentence.
    #[error("{0}")]
    Problem(String),
    /// The note isn't understood.
    #[error("the routine `{0}` is not understood; `vault-agent check` says why")]
    NoRoutine(String),
}

/// The message id of a run's turn: made of its key, and never one of Discord's, whose first bit is not set until 2084.
pub fn message_of(key: &str) -> u64 {
    let hash = blake3::hash(key.as_bytes());
    let mut eight = [0; 8];
    eight.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(eight) | 1 << 63
}
