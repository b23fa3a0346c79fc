//! Reads the messages and transcripts of a host (the coding agent that calls the hook), and writes the answers to it.
//!
//! Bytes come in and values go out, or the reverse. Nothing is decided here, and no vault is opened.
//! - [`messages`]: the events of a session, the message that comes with each, the hook's answer, and the MCP tool that
//!   a connected host calls instead of the command;
//! - [`entry`]: one line of the host's transcript;
//! - [`transcript`]: the turns at a transcript's end, or at its beginning.
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
