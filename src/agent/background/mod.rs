//! Brains that are asked beside the answers. Nobody waits for them, and an answer goes first.
//!
//! - [`beside`]: the one way to ask so;
//! - [`phrase`]: words for what is about to be due; [`scribe`]: summaries of logs; [`working`]: working memory.

pub mod beside;
mod phrase;
mod scribe;
mod working;

pub use phrase::Phraser;
pub use scribe::{Done, Scribe};
pub use working::Rememberer;
