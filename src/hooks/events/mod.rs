//! Handles the events of a host (the coding agent's program, which calls the hooks): [`start`] and [`end`] of a
//! session, [`prompt`], and [`stop`] (the end of an answer). [`end`] also handles the event before a compaction.
//!
//! The opened workspace and the host's message come in; a [`HookAnswer`](super::host::HookAnswer) goes out. [`session`]
//! formats memories for a model, and keeps the state of a conversation, so that nothing comes twice soon: the memories
//! that the model was given, the offers to save a fact, and the model's claims to have saved something, if the hook has
//! already asked about them.

pub(super) mod end;
pub(super) mod prompt;
mod session;
pub(super) mod start;
pub(super) mod stop;
