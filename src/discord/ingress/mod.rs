//! Receives all messages, live or from history. Each message is stored before it is acted on.
//!
//! - [`lanes`]: one task a channel, which alone writes its log and reads its history (`backfill`), decides what follows
//!   from a message (`message_action`) and finds missed edits;
//! - [`catchup`]: decides when the lanes read missed messages.

pub(super) mod catchup;
mod lanes;
