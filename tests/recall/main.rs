//! Recall and embeddings, from the outside: the program over small vaults, the tokenizer against the
//! reference implementation, endpoints that misbehave.
#![cfg(feature = "index")]
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

#[cfg(feature = "http")]
mod endpoints;
mod giving;
mod grown;
mod local;
mod scale;
#[cfg(feature = "http")]
mod shapes;
mod step;
mod tokenizer;
