//! When a note must not be written now, and when to look at it again.
//!
//! What is known of a note (its bytes' hash, its times, what stands beside it) comes in; a refusal, or the time to wait
//! until, goes out. These are rules: nothing is written here.
//! - [`refusal`]: what a person has to look at first (conflicting copies, a note that was cut short);
//! - [`quiet`]: whether a note rests, for edits that aren't urgent;
//! - [`recheck`]: when to look again at a note that was written, because an older buffer may undo the edit.

mod quiet;
mod recheck;
mod refusal;

pub use quiet::{QuietTracker, SteadyLines};
pub use recheck::FollowUps;
pub(super) use refusal::{ConflictCopies, KnownLengths};
