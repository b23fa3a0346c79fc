//! Groups the commands for the history: reading it, restoring from it, merging conflict copies.
//!
//! - [`history`], [`diff`], [`audit`], [`restore`], [`undo`], [`conflicts`]: one file for each command;
//! - [`shared`]: opening the history, paths and wording for all of them.
//!
//! `restore` and `conflicts merge` print their plan before they write, except with `--json`.

pub(super) mod audit;
pub(super) mod conflicts;
pub(super) mod diff;
pub(super) mod history;
pub(super) mod restore;
mod shared;
pub(super) mod undo;

pub(super) use shared::refresh;
