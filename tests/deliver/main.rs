//! Delivery end to end: passes over real files with a real journal, a clock that is set by hand and a
//! notifier that remembers what it took.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "../support/mod.rs"]
mod support;

mod commands;
mod crashes;
mod failures;
mod kill;
#[cfg(feature = "assistant")]
#[path = "../support/models/mod.rs"]
mod models;
mod passes;
#[cfg(feature = "assistant")]
mod phrases;
mod simulation;
mod tasks;
mod world;
