//! Rules for postponing and refusing a write of a note, and for looking at it again. Pure.
//!
//! Facts about a note (its hash, its times, files beside it) come in; a refusal, or a time to wait for, goes out.
//! - [`refusal`]: states that a person has to look at first (conflicting copies, a note that was cut short);
//! - [`quiet_time`]: whether a note rests, for edits that aren't urgent;
//! - [`recheck`]: when to look again at a note that was written, because an older buffer may undo the edit.

mod quiet_time;
mod recheck;
mod refusal;

pub use quiet_time::{QuietTracker, SteadyLines};
pub use recheck::FollowUps;
pub(super) use refusal::{ConflictCopies, KnownLengths};
