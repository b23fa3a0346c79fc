//! Brings an accepted question to its answer in the channel and in the log. Calls no model: `agent` does that.
//!
//! - [`worker`]: runs the turns of a channel one at a time, and resumes a turn after a crash; an answer is sent whole;
//! - [`conversation`]: the turn's notes, and its progress in a message that is edited;
//! - [`approvals`]: shows an approval in full; `turn_claim`: decides which of several machines answers.

pub(super) mod approvals;
pub(super) mod conversation;
mod turn_claim;
pub(super) mod worker;
