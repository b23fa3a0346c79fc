//! Brains over real sockets: the three wires against a scripted model server.
#![cfg(feature = "assistant")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/models/mod.rs"]
mod models;
mod rig;
#[path = "../support/mod.rs"]
mod support;

mod aimock;
mod approvals;
mod asking;
mod bounds;
#[cfg(feature = "index")]
mod capture;
mod conversation;
mod cuts;
mod failures;
mod recalling;
mod seams;
mod spending;
