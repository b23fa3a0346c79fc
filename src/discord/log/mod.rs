//! Keeps Discord's conversations as notes: one log for each channel.
//!
//! Messages come in, once or several times; each stands in its log once. Nothing is answered here.
//! - [`logbook`]: the files (only `/new` begins a new one, never the size), and appending to them;
//! - `channel_log`: the events of a message, and an index of one channel's log.

mod channel_log;
pub mod logbook;
