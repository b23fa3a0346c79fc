//! Routines: scheduled prompts, each a note of `routines/`, each run an isolated turn.
//!
//! A [`claim_due`](look()) reads the notes, works out which occurrences came since the last one ([`plan`]), and claims a
//! run for each routine that has something to do ([`gather`](gather()), which asks nobody) in the delivery journal.
//! [`Runner::drive`] brings a run to its end: a turn with a log of its own, whose text is fixed once and then sent by
//! `deliver`, appended to a note, or only logged. Whatever crashes when, one who drives the same run again goes on
//! from what the journals hold. A run keeps the note that it began with; where the note is taken away or disabled
//! before its text is fixed, nothing is sent.
//!
//! A run's budget is the bound of its turn: it is kept, and its end worded, by `agent::answer` (`rounds`, `run_texts`).
//!
//! No schedule is kept in memory, and an occurrence is decided with local time alone: `schedule` has the rules.
//!
//! - `routine_notes`, `list`: the notes, and all routines as they stand;
//! - `plan`, `claim_due`: what is due, and its claim; `run_material`, `unanswered`, `new_hits`, `run_memory`, `sections`: what it is
//!   about;
//! - `preview`: what a run would be now; `machine_claim`: which of several machines runs it;
//! - `run`, `run_conversation`, `run_log`, `run_texts`: a run to its end, where it takes place, its log, and what is said around its
//!   answer.

mod claim_due;
mod list;
mod machine_claim;
mod new_hits;
mod plan;
mod preview;
mod routine_notes;
mod run;
mod run_conversation;
mod run_log;
mod run_material;
mod run_memory;
mod run_texts;
mod sections;
mod unanswered;

pub use claim_due::{ClaimReport, claim_now, gather_now, look};
pub use list::{ListError, ListedRoutine, list, said};
pub use plan::{CountedFrom, PlannedRun, due, standing};
pub use preview::{Preview, place, preview};
pub use routine_notes::{EnableError, RoutineNote, find, names, read_all, set_enabled};
pub use run::{RunError, RunProgress, Runner, RunnerParts, ToolsOf};
pub use run_log::{RunLog, message_of};
pub use run_material::{RunMaterial, gather};
pub use run_texts::{is_nothing, target};
