//! Receives all messages, from events or from history. Each message is stored before it is acted on.
//!
//! - [`lanes`]: one task for each channel, which alone writes the channel's log; `lanes::backfill` reads its history
//!   and finds missed edits, `lanes::message_action` chooses the action for a message;
//! - [`catchup`]: decides when the lanes read missed messages.

pub(super) mod catchup;
mod lanes;
