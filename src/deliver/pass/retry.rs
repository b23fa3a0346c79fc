//! Schedules the next attempt at a message that could not be sent. Pure.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::deliver::journal::JournalMessage;

const BACKOFF_FIRST: SignedDuration = SignedDuration::from_secs(5);
const BACKOFF_MOST: SignedDuration = SignedDuration::from_mins(10);

/// The time of the next attempt at a chunk, at `now`: the place's own wish, else exponential backoff; both with a
/// jitter that is fixed by the nonce and the attempt, so that a pass is a function of its input.
pub(super) fn retry_at(
    message: &JournalMessage,
    chunk: usize,
    after: Option<Duration>,
    now: Timestamp,
) -> Timestamp {
    let seed = blake3::hash(format!("{}/{}", message.chunks[chunk].nonce, message.attempts).as_bytes());
    let jitter = f64::from(seed.as_bytes()[0]) / 255.0;
    let wait = match after {
        Some(after) => SignedDuration::try_from(after).unwrap_or(BACKOFF_MOST).mul_f64(1.0 + jitter / 10.0),
        None => backoff(message.attempts).mul_f64(0.8 + 0.4 * jitter),
    };
    now.saturating_add(wait).unwrap_or(now)
}

/// 5 s, doubled with each attempt, up to 10 minutes.
fn backoff(attempts: u32) -> SignedDuration {
    BACKOFF_FIRST.saturating_mul(1 << attempts.min(10)).min(BACKOFF_MOST)
}
