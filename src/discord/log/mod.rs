//! Keeps Discord's conversations as notes: one log for each channel.
//!
//! Messages come in, once or several times; each is logged once. Nothing is answered here.
//! - [`logbook`]: appends to the log files; only `/new` begins a new file, whatever the old one's size;
//! - `channel_log`: the events of a message, and an index of one channel's log.

mod channel_log;
pub mod logbook;
