//! Handles a host's events: [`start`] and [`end`] of a session, [`prompt`], [`stop`] (the end of an answer), and the
//! event before a compaction (in [`end`]).
//!
//! The opened workspace and the host's message come in; a [`HookAnswer`](super::host::HookAnswer) goes out. [`session`]
//! records the memories that a conversation has received, and formats memories for a model.

pub(super) mod end;
pub(super) mod prompt;
mod session;
pub(super) mod start;
pub(super) mod stop;
