//! Decides about candidates: duplicates, scores, effects on known facts. Pure: candidates and known facts come in;
//! questions go out.
//!
//! - [`dedup`]: duplicates, and a candidate's effect on a known fact;
//! - [`admission`]: the scores that let a candidate in; [`propose`]: both, for one turn;
//! - `tests`: its figures, printed by a test that is run by hand.

mod admission;
pub(super) mod dedup;
mod propose;

pub(super) use admission::Admission;
#[cfg(feature = "assistant")]
pub(super) use admission::UNJUDGED;
pub(super) use propose::{KnownFacts, KnownItem, Proposal, propose};

#[cfg(test)]
mod tests;
