//! Tests several machines with one vault: the engines, the protocol as a model and in a simulation, and real daemons.
#![allow(missing_docs, clippy::print_stderr, clippy::unwrap_used)]

#[cfg(feature = "assistant")]
#[path = "../support/discord/mod.rs"]
mod fake;
#[path = "../support/models/mod.rs"]
mod models;
#[path = "../support/mod.rs"]
mod support;

mod cost;
mod engines;
mod etcd;
mod git;
#[cfg(feature = "assistant")]
mod https;
mod model;
mod parts;
#[cfg(feature = "assistant")]
mod proxy;
#[cfg(feature = "assistant")]
mod real;
mod simulation;
#[cfg(feature = "assistant")]
mod sync_tool;
mod world;
