//! Limits a pass to this machine's share, if several machines have the vault: what it may send now, what it wants to
//! send next, and which lines it may rewrite.
//!
//! With one machine nothing here does anything.
//!
//! - [`claims`]: the due messages that this machine may send, and those of the next minute;
//! - [`rights`]: the right to one message, asked directly before it is sent;
//! - [`lines`]: lines that vanish before their notification, and the rewriter of a line that another machine notified.

mod claims;
mod lines;
mod rights;

pub(super) use claims::{allowed, mark_left_open, want};
pub(super) use lines::{PATIENCE, awaited, is_ours, look, set_notes};
pub(super) use rights::{Right, Rights};

/// How far ahead the next occurrences are claimed.
pub(super) const AHEAD: jiff::SignedDuration = jiff::SignedDuration::from_secs(60);
