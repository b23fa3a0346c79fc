//! The index as its users see it: answers, freshness, healing.
#![cfg(feature = "index")]
#![allow(clippy::unwrap_used)]

mod differential;
mod freshness;
mod queries;
mod vault;
