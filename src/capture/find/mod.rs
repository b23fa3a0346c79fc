//! Candidates of a turn. Pure: a turn, or a brain's answer, comes in; [`Found`](super::Found) goes out.
//!
//! - [`rules`]: by rules alone, with [`category`] and [`statements`];
//! - [`brain`]: by a brain: what it is asked, and what of its answer is taken;
//! - [`offers`]: what looks worth saving in a prompt, for hooks.

#[cfg(all(feature = "assistant", feature = "index"))]
pub(super) mod brain;
mod category;
#[cfg(test)]
mod labelled;
pub mod offers;
pub mod rules;
mod statements;
