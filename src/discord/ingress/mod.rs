//! One way in for everything that is said, live or from history: stored first, acted on then.
//!
//! - [`lanes`]: a task a channel, which alone writes its log and reads its history (`backfill`), decides what is acted on
//!   (`message_action`) and looks for missed edits (`missed_edits`);
//! - [`catchup`]: when all lanes are to read what was missed.

pub(super) mod catchup;
mod lanes;

pub(super) use lanes::GATHER;
