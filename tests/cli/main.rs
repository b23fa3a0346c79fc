//! The command line as a person meets it: the real binary over a hermetic vault.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[cfg(unix)]
#[path = "../support/pty.rs"]
mod pty;
#[cfg(feature = "http")]
#[path = "../support/reranker.rs"]
mod reranker;
#[path = "../support/mod.rs"]
mod support;

mod asking;
mod basics;
#[cfg(feature = "assistant")]
mod brains;
mod daemon;
mod docs;
mod doctor;
#[cfg(all(feature = "index", feature = "history"))]
mod inbox;
mod init;
mod lcm;
mod machines;
mod pasting;
mod pausing;
mod pipes;
#[cfg(unix)]
mod setting_up;
#[cfg(unix)]
mod shells;
mod status;
#[cfg(feature = "history")]
mod story;
