//! The MCP server as a client meets it: the real binary over its pipes and its sockets.

mod brains;
pub mod client;
mod config;
mod contract;
mod edits;
mod http;
mod memory;
#[cfg(feature = "assistant")]
mod protected;
mod protocol;
mod reminders;
mod resources;
