//! Writing a note: one [`Editor`], which tries until the edit stands on the newest bytes.
//!
//! Operations with a reason come in; an [`EditReport`] goes out, and observers are told. A note is never written without
//! a line in the journal first, and never over bytes that nobody has read. An attempt finds out by itself that somebody was
//! faster; the editor then tries again on the newest bytes. (`docs/editing.md` is the protocol.)
//! - [`editor`], [`options`]: the loop around attempts, and its settings; [`report`]: what came of it;
//! - attempts: [`in_place`] under a write [`lease`], [`swap`] where no lease is to be had, [`create`] (and remove),
//!   [`append`] to a log;
//! - [`journal`], [`recover`]: what was about to happen, and how an edit that was cut short is finished or taken back;
//! - [`displaced`]: files that a swap replaced, watched for a minute;
//! - [`self_writes`]: which of the changes that a watcher sees are ours.

mod append;
mod create;
mod displaced;
mod editor;
mod in_place;
mod journal;
mod lease;
mod options;
mod recover;
mod report;
mod self_writes;
mod swap;

pub use editor::Editor;
pub use options::{EditOptions, EditStrategy};
pub use recover::{Recovered, Recovery};
pub use report::{EditReport, Plan};
