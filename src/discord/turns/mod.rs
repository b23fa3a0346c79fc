//! Brings an accepted question to its answer in the channel and in the log. Calls no model: `agent` does that.
//!
//! - [`worker`]: one turn at a time a channel, resumed after a crash; [`conversation`]: the turn's notes and its
//!   progress, in a message that is edited; an answer is sent whole;
//! - [`approvals`]: shows an approval in full; `turn_claim`: which of several machines answers.

pub(super) mod approvals;
pub(super) mod conversation;
mod turn_claim;
pub(super) mod worker;
