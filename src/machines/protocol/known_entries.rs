//! Keeps the shared entries as this machine read them last. For each entry, records since when it hasn't changed, by
//! this machine's own clock.

use std::collections::BTreeMap;
use std::time::Duration;

use super::value::{Claim, ClaimState, SharedValue};
use crate::machines::engine::{Entries, EntryChange};

/// The prefix of the keys of claims.
pub const CLAIM: &str = "claim/";

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct KnownEntry {
    value: String,
    /// When this machine first saw it so.
    since: Duration,
    /// Read once, when it was put here; none of other entries, and of claims that can't be read.
    claim: Option<ClaimSummary>,
}

/// The fields of a claim that decisions depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClaimSummary {
    /// Its progress.
    pub state: ClaimState,
    /// As in [`Claim::epoch`].
    pub epoch: u64,
    /// As in [`Claim::until`].
    pub until: Duration,
    /// Whether it is this machine's.
    pub is_own: bool,
    /// As in [`Claim::order`].
    pub order: Option<u64>,
}

/// The entries as they were last read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct KnownEntries {
    /// The id of the machine that knows it.
    machine: String,
    entries: BTreeMap<String, KnownEntry>,
    /// When all of them were last read.
    read: Option<Duration>,
    /// Since when they have been read without a long pause.
    pub steady: Option<Duration>,
}

impl KnownEntries {
    /// The knowledge of the machine with this id before it read anything.
    pub fn of(machine: String) -> Self {
        Self { machine, ..Self::default() }
    }

    /// When all entries were last read.
    pub fn read_at(&self) -> Option<Duration> {
        self.read
    }

    /// The value at a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(|seen| seen.value.as_str())
    }

    /// Since when the value at a key is known to stand unchanged.
    pub fn since(&self, key: &str) -> Option<Duration> {
        self.entries.get(key).map(|seen| seen.since)
    }

    /// The claim at a key; none where there is none that can be read.
    pub fn claim(&self, key: &str) -> Option<ClaimSummary> {
        self.entries.get(key)?.claim
    }

    /// The keys of this machine's own claims that are not settled.
    pub fn own_open(&self) -> impl Iterator<Item = &str> {
        let is_open = |brief: ClaimSummary| brief.is_own && brief.state == ClaimState::Claimed;
        self.entries
            .iter()
            .filter(move |(_, seen)| seen.claim.is_some_and(is_open))
            .map(|(key, _)| key.as_str())
    }

    /// All entries but settled claims.
    pub fn unsettled(&self) -> Entries {
        let is_open = |seen: &KnownEntry| seen.claim.is_none_or(|brief| brief.state == ClaimState::Claimed);
        let open = self.entries.iter().filter(|(_, seen)| is_open(seen));
        open.map(|(key, seen)| (key.clone(), seen.value.clone())).collect()
    }

    /// The entries whose keys begin so, with the rest of their keys.
    pub fn under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let from = self.entries.range(prefix.to_owned()..);
        from.map_while(move |(key, seen)| Some((key.strip_prefix(prefix)?, seen.value.as_str())))
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Records all entries, which were read at `now`. If the last reading is older than `pause`, readings before `now`
    /// no longer count.
    pub fn record_all(&mut self, entries: Entries, now: Duration, pause: Duration) {
        self.entries.retain(|key, _| entries.contains_key(key));
        for (key, value) in entries {
            self.put(key, Some(value), now);
        }
        if self.read.is_none_or(|before| before + pause < now) {
            self.steady = Some(now);
        }
        self.read = Some(now);
    }

    /// Records the present values at the keys of changes that were refused.
    pub fn record_at(&mut self, changes: &[EntryChange], mut standing: Entries, now: Duration) {
        for change in changes {
            self.put(change.key.clone(), standing.remove(&change.key), now);
        }
    }

    /// Records changes that were made.
    pub fn changed(&mut self, changes: &[EntryChange], now: Duration) {
        for change in changes {
            self.put(change.key.clone(), change.value.clone(), now);
        }
    }

    fn put(&mut self, key: String, value: Option<String>, now: Duration) {
        match value {
            None => {
                self.entries.remove(&key);
            }
            Some(value) if self.value(&key) == Some(value.as_str()) => {}
            Some(value) => {
                let claim = key.strip_prefix(CLAIM).and_then(|_| self.brief(&value));
                self.entries.insert(key, KnownEntry { value, since: now, claim });
            }
        }
    }

    fn brief(&self, text: &str) -> Option<ClaimSummary> {
        let claim = Claim::read(text)?;
        let is_own = claim.machine == self.machine;
        let until = Duration::from_millis(claim.until);
        Some(ClaimSummary { state: claim.state, epoch: claim.epoch, until, is_own, order: claim.order })
    }
}
