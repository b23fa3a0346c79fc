//! Reads the history. No commit is made here, and no note is opened.
//!
//! - [`point`]: resolves a snapshot's id, a time, or a step back from the newest;
//! - [`log`]: the commits of a note, a reminder or an actor; [`filter`]: the conditions;
//! - [`entry`]: a snapshot as JSON;
//! - [`blame`]: the origin of each line of a note;
//! - [`diff`]: differences between two states of a note, for people; [`lines`]: splitting into lines.

mod blame;
mod diff;
mod entry;
mod filter;
mod lines;
mod log;
mod point;

pub use blame::{Blame, BlameBound, BlamedLine, LineOrigin, LineWriter};
pub(super) use diff::within;
pub use diff::{DiffStat, DiffStyle, FileDiff, diff_stat, render};
pub use entry::{SnapshotEntry, TrailerValue};
pub use filter::LogFilter;
pub(super) use lines::{body, lines};
pub use log::CommitRecord;
pub(super) use point::show;
pub use point::{Point, parse_time};
