//! Handles a host's events: [`start`], [`prompt`], [`stop`], and [`end`] (of a session, and a coming compaction).
//!
//! The opened workspace and the host's message come in; a [`HookAnswer`](super::host::HookAnswer) goes out. Beside them,
//! [`session`]: what a conversation was given so far, and memories as the text that a model gets.

pub(super) mod end;
pub(super) mod prompt;
mod session;
pub(super) mod start;
pub(super) mod stop;
