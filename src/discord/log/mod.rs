//! The conversation as notes: every message of a bound channel, its threads and the owners' DMs, appended to its log.
//!
//! Messages come in, once or several times; each stands in its log once. Nothing is answered here.
//! - [`logbook`]: the files (a new one begins by `/new` alone, never by size), and what is appended; `message_events`: what is logged of a message;
//! - `channel_log`: what is known of one channel's log;
//! - [`current_text`]: what a log shows of each message by now.

mod channel_log;
mod current_text;
pub mod logbook;
mod message_events;
