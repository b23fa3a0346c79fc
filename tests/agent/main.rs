//! What the assistant may do: its shell and its skills, over a model server of our own.
//!
//! Where this machine can't build the whole box, the shell's tests say so and pass.
#![cfg(all(unix, feature = "assistant", feature = "history", feature = "index", feature = "mcp"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "../support/models/mod.rs"]
mod models;
mod rig;
#[path = "../support/mod.rs"]
mod support;

mod bash;
mod recalled;
mod secrets;
mod skills;
