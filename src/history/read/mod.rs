//! Reading the history: no commit is made here, and no note opened.
//!
//! - [`point`]: a snapshot's id, a time, or a step back from the newest;
//! - [`log`]: the life of a note, of a reminder, of one actor;
//! - [`diff`]: differences between two states of a note, as people read them.

mod diff;
mod log;
mod point;

pub(super) use diff::within;
pub use diff::{DiffStyle, FileDiff, Stat, diff_stat, render};
pub use log::{Filter, Record};
pub(super) use point::show;
pub use point::{Point, parse_time};
