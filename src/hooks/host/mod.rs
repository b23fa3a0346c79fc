//! Reads and writes a host's formats (the host is the coding agent that calls the hook): its messages, its transcripts,
//! and the answers to it.
//!
//! Bytes come in and values go out, or the other way round. Nothing is decided here, and no vault is opened.
//! - [`event`], [`input`]: the events of a session, and the message that comes with each;
//! - [`entry`], [`transcript`]: one line of a conversation as the host wrote it down, and its turns, read from its end;
//! - [`output`]: an answer, in the host's format and within its bounds;
//! - [`tool`]: hosts that call a tool of our MCP server instead of a process;
//! - [`timeout`]: an answer in time, or none.

pub mod entry;
mod event;
pub mod input;
mod output;
pub(super) mod timeout;
pub mod tool;
mod transcript;

pub use event::HostEvent;
pub(super) use output::HookAnswer;
pub(super) use output::{HOST_LIMIT, units};
#[cfg(test)]
pub(super) use transcript::parse;
pub(super) use transcript::{Transcript, TranscriptCall, TranscriptTurn, read_head, read_tail};
