//! Reads new turns of people from logs, with their sentences and words.
//!
//! - [`reading`]: the new turns of logs, and the place up to which each was read;
//! - [`sentences`], [`phrase`]: a text taken apart, and phrases in a text of any language. Pure;
//! - [`quote`]: the check that a quote stands in its block. Pure.

pub mod phrase;
pub(super) mod quote;
pub mod reading;
pub mod sentences;
