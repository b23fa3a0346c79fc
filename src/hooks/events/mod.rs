//! Handles a host's events, one file each: [`start`], [`prompt`], [`stop`], [`compact`], [`end`].
//!
//! The opened workspace and the host's message come in; a [`HookAnswer`](super::host::output::HookAnswer) goes out. Beside them:
//! - [`session`]: what a conversation was given so far;
//! - [`injection`]: memories as the text that a model gets;
//! - [`background_reindex`]: a process that updates an index which is too far behind.

pub(crate) mod background_reindex;
pub(super) mod compact;
pub(super) mod end;
mod injection;
pub(super) mod prompt;
mod session;
pub(super) mod start;
pub(super) mod stop;
