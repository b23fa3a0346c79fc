//! Allows one running turn in each channel ([`ChannelLock`], one value for the whole program).
//!
//! A worker takes the lock of its channel, registers its turn with [`ChannelLock::begin`], and removes the turn with
//! `end`. When changed settings restart the bot, the new bot waits until the old bot's turn in a channel has ended.
//! `stop` and an edited or deleted question cancel a running turn; `end` returns the reason.
//!
//! Also holds the ids of accepted questions that were sent after the bot's start; only those are joined into one turn.
//! Also defines the pauses between attempts that all tasks of the bot use.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// The first pause after a failed read or write; it doubles up to [`LONGEST_PAUSE`].
pub(in crate::discord) const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause after a failed read or write.
pub(in crate::discord) const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The shortest pause before something is sent again.
pub(super) const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
/// The longest wait for the end of a question to be shown, or for a progress message to be deleted.
pub(in crate::discord) const END_TIME: Duration = Duration::from_secs(5);

/// The locks of all channels, for as long as the program runs: a bot that restarts with other settings
/// waits here until the one before it has released a channel.
#[derive(Debug, Default)]
pub struct ChannelLock {
    channels: Mutex<HashMap<u64, Arc<tokio::sync::Mutex<()>>>>,
    running: Mutex<HashMap<u64, RunningTurn>>,
    /// Messages that were accepted when they were sent, not after an absence.
    pub(in crate::discord) live: Mutex<HashSet<u64>>,
}

/// The running turn of a channel.
#[derive(Debug)]
struct RunningTurn {
    messages: Vec<u64>,
    stop: CancellationToken,
    why: Option<Interruption>,
}

/// Why a running turn was interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::discord) enum Interruption {
    /// A person stopped it: the name.
    Stopped(String),
    /// A question was edited or taken back.
    Changed,
}

impl ChannelLock {
    pub(in crate::discord) fn channel(&self, channel: u64) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(lock(&self.channels).entry(channel).or_default())
    }

    /// Stops the running turn of a channel, if all its messages are older than `before` (if given); false if
    /// there is none. The turn journal records it first, for a turn that begins now.
    pub fn stop(&self, channel: u64, before: Option<u64>, who: &str) -> bool {
        let mut running = lock(&self.running);
        let asked_before = |turn: &RunningTurn| {
            before.is_none_or(|before| turn.messages.iter().all(|message| *message < before))
        };
        let Some(turn) = running.get_mut(&channel).filter(|turn| asked_before(turn)) else { return false };
        turn.why = Some(Interruption::Stopped(who.to_owned()));
        turn.stop.cancel();
        true
    }

    /// Interrupts a turn whose question was edited or deleted, so that it restarts.
    pub fn changed(&self, channel: u64, message: u64) {
        let mut running = lock(&self.running);
        if let Some(turn) = running.get_mut(&channel).filter(|turn| turn.messages.contains(&message)) {
            turn.why.get_or_insert(Interruption::Changed);
            turn.stop.cancel();
        }
    }

    pub(in crate::discord) fn begin(&self, channel: u64, messages: Vec<u64>) -> CancellationToken {
        let stop = CancellationToken::new();
        lock(&self.running).insert(channel, RunningTurn { messages, stop: stop.clone(), why: None });
        stop
    }

    pub(in crate::discord) fn end(&self, channel: u64) -> Option<Interruption> {
        lock(&self.running).remove(&channel)?.why
    }
}

pub(in crate::discord) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
