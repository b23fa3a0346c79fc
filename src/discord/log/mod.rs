//! The conversation as notes: every message of a bound channel, its threads and the owners' DMs, appended to its log.
//!
//! Messages come in, once or several times; each stands in its log once. Nothing is answered here.
//! - [`logbook`]: the files, their windows, and what is appended;
//! - [`shown`]: what a log shows of each message by now.

pub mod logbook;
mod shown;
