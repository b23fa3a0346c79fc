//! Handles a host's events: [`start`] and [`end`] of a session, [`prompt`], and [`stop`] (the end of an answer).
//! [`end`] also handles the event before a compaction.
//!
//! The opened workspace and the host's message come in; a [`HookAnswer`](super::host::HookAnswer) goes out. [`session`]
//! keeps the state of a conversation (memories given, offers made, claims asked about), and formats memories for a
//! model.

pub(super) mod end;
pub(super) mod prompt;
mod session;
pub(super) mod start;
pub(super) mod stop;
