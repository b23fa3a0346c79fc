//! The conversation as notes: every message of a bound channel, its threads and the owners' DMs, appended to its log.
//!
//! Messages come in, once or several times; each stands in its log once. Nothing is answered here.
//! - [`logbook`]: the files (a new one begins by `/new` alone, never by size), and what is appended; `entries`: what is logged of a message;
//! - `context`: what is known of one channel's log;
//! - [`shown`]: what a log shows of each message by now.

mod context;
mod entries;
pub mod logbook;
mod shown;
