//! The behaviour tests of all rooms in one binary, so that the library is linked once: `cargo test --test rooms vault::`
//! runs those of a room.
//!
//! Beside it stand `map` (reads text alone), `confine` (is run once more as another user), `machines` (long runs, in a
//! release build) and `web` (has a browser).
//! All tests share a process. A failpoint that hits every thread, and anything else that is one for the process, is set in
//! a process of its own: `support::processes::alone`.
#![allow(missing_docs, reason = "tests say what they check by their names")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    reason = "a failing helper fails its test"
)]

#[path = "support/http.rs"]
mod http;
#[path = "support/models/mod.rs"]
mod models;
#[cfg(unix)]
#[path = "support/pty.rs"]
mod pty;
#[path = "support/reranker.rs"]
mod reranker;
mod support;

#[cfg(all(unix, feature = "assistant"))]
mod agent;
#[cfg(feature = "assistant")]
mod brain;
mod cli;
mod deliver;
#[cfg(feature = "assistant")]
mod discord;
mod format;
#[cfg(all(unix, feature = "assistant"))]
mod harness;
mod history;
mod hooks;
mod index;
mod mcp;
mod memory;
mod recall;
#[cfg(feature = "assistant")]
mod routines;
mod schedule;
#[cfg(all(feature = "assistant", target_os = "linux"))]
mod servers;
mod transfer;
mod vault;
