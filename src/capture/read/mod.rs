//! What people said: new turns, their sentences and words.
//!
//! - [`reading`]: which turns of which logs are new;
//! - [`sentences`], [`phrase`]: a text taken apart, and phrases in a text of any language. Pure;
//! - [`quote`]: whether a quote stands in its block. Pure.

pub mod phrase;
pub(super) mod quote;
pub mod reading;
pub mod sentences;
