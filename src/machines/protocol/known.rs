//! What a machine knows of the shared entries, and since when each stands as it does, by the machine's own clock.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::machines::engine::{Change, Entries};

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Seen {
    value: String,
    /// When this machine first saw it so.
    since: Duration,
}

/// The entries as they were last read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Known {
    entries: BTreeMap<String, Seen>,
    /// When all of them were last read.
    read: Option<Duration>,
}

impl Known {
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

    /// The entries whose keys begin so, with the rest of their keys.
    pub fn under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let from = self.entries.range(prefix.to_owned()..);
        from.map_while(move |(key, seen)| Some((key.strip_prefix(prefix)?, seen.value.as_str())))
    }

    /// Whether nothing stands there.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes in all entries, which had been read at `now`.
    pub fn heard(&mut self, entries: Entries, now: Duration) {
        self.entries.retain(|key, _| entries.contains_key(key));
        for (key, value) in entries {
            self.put(key, Some(value), now);
        }
        self.read = Some(now);
    }

    /// Takes in what stands at the keys of some changes that were not made.
    pub fn heard_at(&mut self, changes: &[Change], mut standing: Entries, now: Duration) {
        for change in changes {
            self.put(change.key.clone(), standing.remove(&change.key), now);
        }
    }

    /// Takes in changes that were made.
    pub fn changed(&mut self, changes: &[Change], now: Duration) {
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
                self.entries.insert(key, Seen { value, since: now });
            }
        }
    }
}
