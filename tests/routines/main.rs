//! Routines end to end: the real runner over real notes, journals and logs, a clock that is set by hand, a place that
//! deduplicates as Discord does, and models over real sockets.
#![cfg(feature = "assistant")]
#![allow(clippy::unwrap_used, clippy::print_stdout, dead_code)]

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/models/mod.rs"]
mod models;

#[path = "../deliver/world.rs"]
mod world;

mod asking;
mod by_hand;
mod conditions;
mod days;
mod hostile;
mod killed;
mod left_open;
mod program;
mod rig;
