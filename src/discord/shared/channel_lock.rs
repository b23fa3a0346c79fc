//! One turn at a time a channel, across bots: what outlives a bot that starts anew with other settings.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// The longest pause after something that a turn needs could not be read or written.
pub(in crate::discord) const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The shortest pause before something is sent again.
pub(in crate::discord) const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
/// The longest that a turn waits for a last word on a question to be shown.
pub(in crate::discord) const FAREWELL: Duration = Duration::from_secs(5);

/// What all channels' workers share, for as long as the program runs: a bot that starts anew with other settings
/// waits here until the one before has let go of a channel.
#[derive(Debug, Default)]
pub struct ChannelLock {
    channels: Mutex<HashMap<u64, Arc<tokio::sync::Mutex<()>>>>,
    running: Mutex<HashMap<u64, Running>>,
    /// Messages that were accepted as they were said, and not after an absence.
    pub(in crate::discord) live: Mutex<HashSet<u64>>,
}

/// The turn that a channel is at.
#[derive(Debug)]
struct Running {
    messages: Vec<u64>,
    stop: CancellationToken,
    why: Option<Why>,
}

/// Why a running turn was interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::discord) enum Why {
    /// Somebody asked for it.
    Stopped(String),
    /// A question was edited or taken back.
    Changed,
}

impl ChannelLock {
    pub(in crate::discord) fn channel(&self, channel: u64) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(lock(&self.channels).entry(channel).or_default())
    }

    /// Ends the turn that runs in a channel, if it was asked before the message `before` where there is one; false where
    /// none does. The turn journal says so first: a turn that begins now looks there.
    pub fn stop(&self, channel: u64, before: Option<u64>, who: &str) -> bool {
        let mut running = lock(&self.running);
        let asked_before = |turn: &Running| {
            before.is_none_or(|before| turn.messages.iter().all(|message| *message < before))
        };
        let Some(turn) = running.get_mut(&channel).filter(|turn| asked_before(turn)) else { return false };
        turn.why = Some(Why::Stopped(who.to_owned()));
        turn.stop.cancel();
        true
    }

    /// Lets a turn begin again whose question was edited or taken back.
    pub fn changed(&self, channel: u64, message: u64) {
        let mut running = lock(&self.running);
        if let Some(turn) = running.get_mut(&channel).filter(|turn| turn.messages.contains(&message)) {
            turn.why.get_or_insert(Why::Changed);
            turn.stop.cancel();
        }
    }

    pub(in crate::discord) fn begin(&self, channel: u64, messages: Vec<u64>) -> CancellationToken {
        let stop = CancellationToken::new();
        lock(&self.running).insert(channel, Running { messages, stop: stop.clone(), why: None });
        stop
    }

    pub(in crate::discord) fn end(&self, channel: u64) -> Option<Why> {
        lock(&self.running).remove(&channel)?.why
    }

    /// Remembers that a message was accepted as it was said.
    pub fn is_live(&self, message: u64) {
        lock(&self.live).insert(message);
    }
}

pub(in crate::discord) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
