//! Other people's MCP servers as tools of a turn: real programs over real pipes, and our own server as a good one.
#![cfg(all(feature = "mcp", feature = "assistant", target_os = "linux"))]
#![allow(clippy::needless_pass_by_value, clippy::unwrap_used, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/models/mod.rs"]
mod models;

mod hostile;
mod rig;
mod turns;
mod well;
