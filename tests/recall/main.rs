//! Recall and embeddings, from the outside: the program over small vaults, the tokenizer against the
//! reference implementation, endpoints that misbehave.
#![cfg(feature = "index")]

#[path = "../support/mod.rs"]
#[allow(dead_code)]
mod support;

mod giving;
#[cfg(feature = "http")]
mod endpoints;
mod local;
mod tokenizer;
