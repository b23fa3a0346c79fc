//! Decides when a write of a note is postponed or refused, and when the note is checked again. Pure.
//!
//! Facts about a note (its hash, its times, files beside it) come in; a refusal, or a time to wait for, goes out.
//! - [`refusal`]: states that a person has to resolve first (conflicting copies, a note that was cut short);
//! - [`quiet_time`]: the time until a note is still, for edits that aren't urgent;
//! - [`recheck`]: the times of checks after a write, because an older buffer may undo it.

mod quiet_time;
mod recheck;
mod refusal;

pub use quiet_time::{QuietTracker, SteadyLines};
pub use recheck::FollowUps;
pub(super) use refusal::{ConflictCopies, KnownLengths};
