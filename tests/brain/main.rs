//! Brains over real sockets: the three wires against a scripted model server.
#![cfg(feature = "assistant")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[cfg(all(unix, feature = "mcp"))]
mod harness_rig;
#[path = "../support/models/mod.rs"]
mod models;
mod rig;
#[path = "../support/mod.rs"]
mod support;

#[cfg(all(unix, feature = "acp", feature = "mcp"))]
mod acp;
mod aimock;
mod approvals;
mod asking;
#[cfg(all(unix, feature = "mcp"))]
mod codex;
#[cfg(all(unix, feature = "mcp"))]
mod codex_real;
mod conversation;
mod cuts;
mod failures;
mod recalling;
mod spending;
