//! The MCP server as a client meets it: the real binary over its pipes and its sockets.
#![cfg(feature = "mcp")]
#![allow(clippy::needless_pass_by_value, clippy::unwrap_used, clippy::print_stderr)]

#[cfg(feature = "http")]
#[path = "../support/reranker.rs"]
mod reranker;
#[path = "../support/mod.rs"]
mod support;

#[cfg(feature = "assistant")]
#[path = "../support/models/mod.rs"]
mod models;

mod brains;
mod catalog;
mod client;
mod config;
mod contract;
mod crowd;
mod edits;
mod http;
mod memory;
#[cfg(feature = "assistant")]
mod protected;
mod protocol;
mod reminders;
mod resources;
