//! Reads and writes a host's formats (the host is the coding agent that calls the hook): its messages, its transcripts,
//! and the answers to it.
//!
//! Bytes come in and values go out, or the reverse. Nothing is decided here, and no vault is opened.
//! - [`messages`]: the events of a session, the message that comes with each, our answer, and the tool of our MCP
//!   server that does the same;
//! - [`entry`]: one line of the host's transcript; [`transcript`]: the turns of a transcript, read from its end.
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
