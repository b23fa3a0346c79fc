//! Finds candidates for memories in a turn ([`ExtractedFact`](super::ExtractedFact)), and sentences worth saving in a
//! prompt. Pure.
//!
//! - [`rules`]: finds candidates by rules; [`statements`]: the English statements that the rules accept;
//! - [`offers`]: finds sentences of a prompt that look worth saving, for hooks.

pub mod offers;
pub mod rules;
mod statements;

#[cfg(test)]
mod tests;
