//! Groups the commands for the history: reading it, restoring from it, merging conflict copies.
//!
//! - [`history`], [`diff`], [`audit`], [`restore`], [`undo`], [`conflicts`]: one file for each command;
//! - [`shared`]: opening the history, paths and wording for all of them.
//!
//! Nothing is restored before the plan is shown.

pub(super) mod audit;
pub(super) mod conflicts;
pub(super) mod diff;
pub(super) mod history;
pub(super) mod restore;
mod shared;
pub(super) mod undo;

pub(super) use shared::refresh;
