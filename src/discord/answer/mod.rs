//! Brings an accepted question to its answer in the channel and in the log. Calls no model: `agent` does that.
//!
//! - [`turns`]: one turn at a time a channel, resumed after a crash; `channel_conversation`: the turn's conversation;
//! - [`progress`]: a message that shows the progress of long work and is edited; an answer is sent whole;
//! - [`approvals`]: shows an approval in full; `turn_claim`: which of several machines answers.

pub(super) mod approvals;
mod channel_conversation;
pub(super) mod progress;
mod turn_claim;
pub(super) mod turns;
