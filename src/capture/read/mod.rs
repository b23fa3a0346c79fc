//! Reads new turns of people from logs, with their sentences and words.
//!
//! - [`new_turns`]: the new turns of logs, and the place up to which each was read;
//! - [`sentences`], [`phrase_match`]: a text taken apart, and phrases in a text of any language. Pure;
//! - [`quote`]: the check that a quote stands in its block. Pure.

pub mod new_turns;
pub mod phrase_match;
pub(super) mod quote;
pub mod sentences;
