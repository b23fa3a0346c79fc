//! Handles a host's events: [`start`], [`prompt`], [`stop`], and [`end`] (of a session, and a coming compaction).
//!
//! The opened workspace and the host's message come in; a [`HookAnswer`](super::host::HookAnswer) goes out. [`session`]
//! records the memories that a conversation has received, and formats memories for a model.

pub(super) mod end;
pub(super) mod prompt;
mod session;
pub(super) mod start;
pub(super) mod stop;
