//! From an accepted question to its answer in the channel and in the log. No model is asked here: `agent` does that.
//!
//! - [`turns`]: one turn at a time a channel, taken up again after a crash where it stood; `channel_conversation`: where it takes place;
//! - [`progress`]: what long work says it is doing, in a message that is edited; an answer is sent whole;
//! - [`approvals`]: a question of the assistant, shown in full; `turn_claim`: which of several machines answers.

pub(super) mod approvals;
mod channel_conversation;
pub(super) mod progress;
mod turn_claim;
pub(super) mod turns;
