//! Finds candidates for memories in a turn. Pure: a turn, or a brain's answer, comes in;
//! [`ExtractedFact`](super::ExtractedFact) goes out.
//!
//! - [`rules`]: by rules alone, with [`statements`];
//! - [`brain`]: by a brain: the request, and the checks on its answer;
//! - [`offers`]: sentences of a prompt that look worth saving, for hooks.

#[cfg(feature = "assistant")]
pub(super) mod brain;
pub mod offers;
pub mod rules;
mod statements;

#[cfg(test)]
mod tests;
