//! Keeps Discord's conversations as notes: the files of a channel's log.
//!
//! Messages come in, once or several times; each stands in its log once. Nothing is answered here.
//! - [`logbook`]: the files (only `/new` begins a new one, never the size), and appending to them; `message_events`:
//!   the events of a message;
//! - `channel_log`: an index of one channel's log, and the current text of each message.

mod channel_log;
pub mod logbook;
mod message_events;
