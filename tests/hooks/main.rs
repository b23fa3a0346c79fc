//! The hooks as a host calls them: the real binary, recorded inputs on standard input, a hermetic vault.
#![allow(clippy::needless_pass_by_value, clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod archive;
mod archive_kills;
mod claims;
mod fail_open;
mod host;
mod installing;
mod labelled;
#[cfg(feature = "index")]
mod prompts;
mod recorded;
#[cfg(feature = "index")]
mod sessions;
mod small_talk;
