//! Reads and writes a host's formats (the host is the coding agent that calls the hook): its messages, its transcripts,
//! and the answers to it.
//!
//! Bytes come in and values go out, or the other way round. Nothing is decided here, and no vault is opened.
//! - [`messages`]: the events of a session, the message that comes with each, and our answer, also as a tool of our MCP server;
//! - [`entry`], [`transcript`]: one line of a conversation as the host wrote it down, and its turns, read from its end.
pub mod entry;
pub mod messages;
mod transcript;

pub use messages::HostEvent;
pub(super) use messages::{HOST_LIMIT, HookAnswer, units};
#[cfg(test)]
pub(super) use transcript::parse;
pub(super) use transcript::{
    Transcript, TranscriptCall, TranscriptTurn, open_transcript, read_head, read_tail,
};
