//! The loop: a pass on every minute, and again when a watched note changes.
//!
//! Events and the clock come in; passes of `deliver` go out. No schedule is kept, and nothing here waits for a part.
//! - [`scheduler`]: the loop; while the vault's folder is gone nothing fires; [`stdout_reader`]: whether somebody still reads standard output;
//! - [`phrasing`]: words for what is about to be due, beside the passes.

#[cfg(feature = "assistant")]
mod phrasing;
mod scheduler;
mod stdout_reader;

pub(super) use scheduler::run;
