//! The history: `history`, `diff` and `audit` read it; `restore` and `undo` bring back what it holds; `conflicts` merges what sync tools left.
//!
//! - [`history`], [`diff`], [`audit`], [`restore`], [`undo`], [`conflicts`]: one file a command;
//! - [`shared`]: opening the history, paths, pages and words of all of them;
//! - [`blame`]: `history --lines`.
//!
//! Nothing is restored before it was shown.

pub(super) mod audit;
mod blame;
pub(super) mod conflicts;
pub(super) mod diff;
pub(super) mod history;
pub(super) mod restore;
mod shared;
pub(super) mod undo;
