//! Reading the history: no commit is made here, and no note opened.
//!
//! - [`point`]: a snapshot's id, a time, or a step back from the newest;
//! - [`log`]: the life of a note, of a reminder, of one actor; [`filter`]: which commits of it are meant;
//! - [`entry`]: a snapshot as programs read it;
//! - [`blame`]: where each line of a note comes from;
//! - [`diff`]: differences between two states of a note, as people read them; [`lines`]: what they are made of.

mod blame;
mod diff;
mod entry;
mod filter;
mod lines;
mod log;
mod point;

pub use blame::{Blame, BlameBound, BlamedLine, LineOrigin, Writer};
pub(super) use diff::within;
pub use diff::{DiffStyle, FileDiff, Stat, diff_stat, render};
pub use entry::{Entry, Value as TrailerValue};
pub use filter::Filter;
pub(super) use lines::{body, lines};
pub use log::Record;
pub(super) use point::show;
pub use point::{Point, parse_time};
