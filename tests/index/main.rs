//! The index as its users see it: answers, freshness, healing.
#![cfg(feature = "index")]
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod commands;
mod differential;
mod freshness;
mod hardship;
mod hostile;
mod queries;
mod vault;
