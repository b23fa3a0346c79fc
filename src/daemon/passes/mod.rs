//! The scheduler's loop: a pass on every minute, and again when a watched note changes.
//!
//! Events and the clock come in; passes of `deliver` go out. No schedule is kept, and the loop never waits for a part.
//! - [`scheduler`]: the loop, which fires nothing while the vault's folder is gone; [`stdout_reader`]: detects the end
//!   of standard output's reader;
//! - [`phrasing`]: phrases of a brain for reminders that are soon due, beside the passes.

#[cfg(feature = "assistant")]
mod phrasing;
mod scheduler;
mod stdout_reader;

pub(super) use scheduler::run;
