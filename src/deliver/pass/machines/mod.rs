//! Limits a pass to the part of this machine, where several machines share one vault: the messages that it may send
//! now, those that it claims for the next minute, and the reminder lines that it may rewrite.
//!
//! If one machine alone has the vault, nothing is limited.
//!
//! - [`claims`]: the due messages that this machine may send, and those of the next minute;
//! - [`message_claims`]: the right to one message, asked directly before it is sent;
//! - [`lines`]: reminder lines that vanish before their notification; the machine that rewrites a line after it, and when.

mod claims;
mod lines;
mod message_claims;

pub(super) use claims::{allowed, announce_sends, mark_left_open};
pub(super) use lines::{WriteOrder, check_lines, set_notes};
pub(super) use message_claims::MessageClaims;

/// How far ahead the next occurrences are claimed.
pub(super) const AHEAD: jiff::SignedDuration = jiff::SignedDuration::from_secs(60);
