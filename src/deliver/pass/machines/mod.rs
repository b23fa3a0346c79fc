//! The pass among several machines: what it may send, what it would send next, and whose line a line is.
//!
//! With one machine nothing here does anything.
//!
//! - [`claims`]: of the messages that are due those that this machine may send; what it wants to send within a minute;
//! - [`rights`]: the right to one message, asked directly before it is sent;
//! - [`lines`]: lines that go before they are told, and who rewrites a line that another machine told.

mod claims;
mod lines;
mod rights;

pub(super) use claims::{allowed, mark_left_open, want};
pub(super) use lines::{PATIENCE, awaited, is_ours, look, set_notes};
pub(super) use rights::{Right, Rights};

/// How far ahead the next occurrences are claimed.
pub(super) const AHEAD: jiff::SignedDuration = jiff::SignedDuration::from_secs(60);
