//! From an accepted question to its answer in the channel and in the log. No model is asked here: `agent` does that.
//!
//! - [`turns`]: one turn at a time a channel, taken up again after a crash where it stood; `place`: where it takes place;
//! - [`progress`]: what long work says it is doing, in a message that is edited; an answer is sent whole;
//! - [`approvals`]: a question of the assistant, shown in full; `claims`: which of several machines answers.

pub(super) mod approvals;
mod claims;
mod place;
pub(super) mod progress;
pub(super) mod turns;
