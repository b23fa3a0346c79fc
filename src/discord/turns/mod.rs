//! Brings an accepted question to its answer in the channel and in the log. Calls no model: `agent` does that.
//!
//! - [`worker`]: runs the turns of a channel one at a time, and resumes a turn after a crash; an answer is sent whole;
//! - [`conversation`]: the turn's memories and tool calls in the log, and its progress in a message that is edited;
//! - [`approvals`]: shows a question for approval; `turn_claim`: decides which of several machines answers.

pub(super) mod approvals;
pub(super) mod conversation;
mod turn_claim;
pub(super) mod worker;
