//! One way in for everything that is said, live or from history: stored first, acted on then.
//!
//! - [`lanes`]: a task a channel, which alone writes its log and reads its history;
//! - [`catchup`]: what was missed, read from history.

pub(super) mod catchup;
mod lanes;
