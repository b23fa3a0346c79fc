//! Runs routines: scheduled prompts, each a note of `routines/`, each run an isolated turn.
//!
//! [`claim_due_runs`] reads the notes, computes the occurrences since the last run (`claim_due`), and claims a run in
//! the delivery journal for each routine that has something to do (`gather`, which asks no brain).
//! [`Runner::drive`] brings a run to its end: a turn with a log of its own, whose text is fixed once and then sent by
//! `deliver`, appended to a note, or only logged. After a crash the same run continues from the journals. A run keeps
//! the note that it began with; if the note is deleted or disabled before the text is fixed, nothing is sent.
//!
//! A run's budget is the token limit of its turn: `agent::answer` (`rounds`, `fixed_texts`) applies it and words its
//! end.
//!
//! No schedule is kept in memory, and occurrences are decided with local time alone: `schedule` has the rules.
//!
//! - `routine_notes`, `list`: the notes; the list of routines, and the run that would start now;
//! - `claim_due`: the due runs, and their claims; `machine_claim`: which of several machines runs them;
//! - `run_material`, `new_hits`: the material of a run;
//! - `run`, `run_conversation`, `run_log`, `run_texts`: a run to its end, its conversation and memory, its log, its texts.

mod claim_due;
mod list;
mod machine_claim;
mod new_hits;
mod routine_notes;
mod run;
mod run_conversation;
mod run_log;
mod run_material;
mod run_texts;

pub use claim_due::{ClaimReport, claim_due_runs, claim_now};
pub use list::{ListError, ListedRoutine, Preview, destination, list, moment_in_words, preview};
pub use routine_notes::{EnableError, RoutineNote, find, names, read_all, set_enabled};
pub use run::{RunError, RunProgress, Runner, RunnerParts, ToolsOf};
pub use run_log::message_of;
