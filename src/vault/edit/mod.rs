//! Writes notes: one [`Editor`], which tries until the edit stands on the newest bytes.
//!
//! Operations with a reason come in; an [`EditReport`] goes out, and observers are told. A note is never written
//! without a line in the journal first, and never over unread bytes. An attempt detects a faster writer; the editor
//! then tries again on the newest bytes. (`docs/editing.md` is the protocol.)
//! - [`editor`]: the loop around attempts; [`report`]: its settings and its outcome;
//! - attempts: [`in_place`] under a write [`lease`], [`swap`] where no lease is available, [`create`] (and remove),
//!   [`append`] to a log;
//! - [`journal`], [`recover`]: the planned write, and the recovery of an edit that was cut short;
//! - [`displaced`]: files that a swap replaced, watched for a minute.

mod append;
mod create;
mod displaced;
mod editor;
mod in_place;
mod journal;
mod lease;
mod recover;
mod report;
mod swap;

pub use editor::Editor;
pub use recover::RecoveryOutcome;
pub use report::{EditOptions, EditPlan, EditReport};
