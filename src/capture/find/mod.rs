//! Finds candidates for memories in a turn. Pure: a turn comes in; [`ExtractedFact`](super::ExtractedFact) goes out.
//!
//! - [`rules`]: finds candidates by rules; [`statements`]: the English statements that the rules accept;
//! - [`offers`]: finds sentences of a prompt that look worth saving, for hooks.

pub mod offers;
pub mod rules;
mod statements;

#[cfg(test)]
mod tests;
