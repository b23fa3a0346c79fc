//! Receives all messages, live or from history. Each message is stored before it is acted on.
//!
//! - [`lanes`]: one task for each channel, which alone writes the channel's log and reads its history (`backfill`),
//!   chooses the action for a message (`message_action`) and finds missed edits;
//! - [`catchup`]: decides when the lanes read missed messages.

pub(super) mod catchup;
mod lanes;
