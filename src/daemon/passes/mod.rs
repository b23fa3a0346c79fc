//! Runs the scheduler's passes: one on every minute, and another when a watched note changes.
//!
//! Events and the clock come in; passes of `deliver` go out. No schedule is kept, and the loop waits for no other part
//! of the daemon.
//! - [`scheduler`]: the loop, which fires nothing while the vault's folder is gone;
//! - [`stdout_reader`]: detects that the program which reads our standard output has ended;
//! - [`phrasing`]: asks a brain for the wording of reminders that are soon due, beside the passes.

#[cfg(feature = "assistant")]
mod phrasing;
mod scheduler;
mod stdout_reader;

pub(super) use scheduler::run;
