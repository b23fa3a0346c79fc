//! Routines: scheduled prompts, each a note of `routines/`, each run an isolated turn.
//!
//! A [`look`](look()) reads the notes, works out which occurrences came since the last one ([`plan`]), and claims a
//! run for each routine that has something to do ([`gather`](gather()), which asks nobody) in the delivery journal.
//! [`Runner::drive`] brings a run to its end: a turn with a log of its own, whose text is fixed once and then sent by
//! `deliver`, appended to a note, or only logged. Whatever crashes when, one who drives the same run again goes on
//! from what the journals hold. A run keeps the note that it began with; where the note is taken away or disabled
//! before its text is fixed, nothing is sent.
//!
//! A run's budget is the bound of its turn: it is kept, and its end worded, by `agent::answer` (`rounds`, `words`).
//!
//! No schedule is kept in memory, and an occurrence is decided with local time alone: `schedule` has the rules.
//!
//! - `book`, `listed`: the notes, and all routines as they stand;
//! - `plan`, `look`: what is due, and its claim; `material`, `said`, `news`, `memory`, `sections`: what it is
//!   about;
//! - `preview`: what a run would be now; `turn`: which of several machines runs it;
//! - `run`, `place`, `log`, `words`: a run to its end, where it takes place, its log, and what is said around its
//!   answer.

mod book;
mod listed;
mod log;
mod look;
mod material;
mod memory;
mod news;
mod place;
mod plan;
mod preview;
mod run;
mod said;
mod sections;
mod turn;
mod words;

pub use book::{EnableError, Note, find, names, read_all, set_enabled};
pub use listed::{ListError, Listed, list, said};
pub use log::{RunLog, message_of};
pub use look::{Claimed, claim_now, gather_now, look};
pub use material::{Gathered, gather};
pub use plan::{Planned, Standing, due, standing};
pub use preview::{Preview, place, preview};
pub use run::{Driven, RunError, Runner, RunnerParts, ToolsOf};
pub use words::{is_nothing, target};
