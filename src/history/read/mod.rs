//! Reads the history, and makes no commit. Only [`blame`] opens a note, to show the origin of its present lines.
//!
//! - [`point`]: resolves a snapshot's id, a time, or a step back from the newest;
//! - [`log`]: the commits of a note, a reminder or an actor, also as JSON; [`filter`]: the conditions;
//! - [`blame`]: the origin of each line of a note;
//! - [`diff`]: differences between two states of a note, for people.

mod blame;
mod diff;
mod filter;
mod log;
mod point;

pub use blame::{Blame, BlameBound, BlamedLine, LineOrigin, LineWriter};
pub(super) use diff::is_within;
pub use diff::{DiffStyle, FileDiff, diff_stat, render};
pub use filter::LogFilter;
pub use log::{CommitRecord, SnapshotEntry};
pub use point::parse_time;
pub(super) use point::show;
