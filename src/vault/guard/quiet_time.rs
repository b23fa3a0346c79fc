//! Decides when a note may be changed by an edit that isn't urgent. Pure: hashes and times come in.
//!
//! A person who types saves every few seconds. So the edit waits until the note has been unchanged for 5 s, but at most
//! a minute. A line gets an id only if it read the same at two readings at least 5 s apart.

use std::collections::BTreeMap;

use blake3::Hash;
use jiff::{SignedDuration, Timestamp};

use crate::vault::path::NotePath;

/// How long a note, or a line, must have stood still.
pub const STILL: SignedDuration = SignedDuration::from_secs(5);
/// The longest wait for that.
pub const AT_MOST: SignedDuration = SignedDuration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq)]
struct LastSeen {
    hash: Hash,
    since: Timestamp,
    wanted: Option<Timestamp>,
}

/// Keeps how long each note has stood still.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuietTracker {
    notes: BTreeMap<NotePath, LastSeen>,
}

impl QuietTracker {
    /// A note was read at `now` and had this hash. The first look counts as a change.
    pub fn observe(&mut self, path: &NotePath, hash: Hash, now: Timestamp) {
        match self.notes.get_mut(path) {
            Some(seen) if seen.hash == hash => {
                // A clock that was set back must not make the note wait for hours.
                seen.since = seen.since.min(now);
            }
            Some(seen) => {
                seen.hash = hash;
                seen.since = now;
            }
            None => {
                self.notes.insert(path.clone(), LastSeen { hash, since: now, wanted: None });
            }
        }
    }

    /// Our own write: the note has a new hash, and is no less quiet for it.
    pub fn record_own_write(&mut self, path: &NotePath, hash: Hash) {
        match self.notes.get_mut(path) {
            Some(seen) => {
                seen.hash = hash;
                seen.wanted = None;
            }
            None => {
                self.notes.insert(path.clone(), LastSeen { hash, since: Timestamp::MIN, wanted: None });
            }
        }
    }

    /// Something that isn't urgent is to be changed: from now on it waits at most a minute.
    pub fn start_waiting(&mut self, path: &NotePath, now: Timestamp) {
        if let Some(seen) = self.notes.get_mut(path) {
            let wanted = seen.wanted.get_or_insert(now);
            *wanted = (*wanted).min(now);
        }
    }

    /// When it may be done without another write until then.
    pub fn ready_at(&self, path: &NotePath) -> Option<Timestamp> {
        let seen = self.notes.get(path)?;
        let quiet = seen.since.checked_add(STILL).ok()?;
        Some(match seen.wanted.and_then(|wanted| wanted.checked_add(AT_MOST).ok()) {
            Some(latest) => quiet.min(latest),
            None => quiet,
        })
    }
}

/// Keeps how long each line of one note has read the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SteadyLines {
    since: BTreeMap<Vec<u8>, Timestamp>,
}

impl SteadyLines {
    /// Records the lines of the note at `now`; other lines are forgotten.
    pub fn observe<'a>(&mut self, lines: impl IntoIterator<Item = &'a [u8]>, now: Timestamp) {
        let mut before = std::mem::take(&mut self.since);
        for line in lines {
            let since = before.remove(line).map_or(now, |since| since.min(now));
            self.since.entry(line.to_vec()).or_insert(since);
        }
    }

    /// Whether the line read the same 5 s ago or longer, and ever since.
    pub fn is_steady(&self, line: &[u8], now: Timestamp) -> bool {
        self.steady_at(line).is_some_and(|at| at <= now)
    }

    /// When the line will have read the same for 5 s, without a change until then; none for one that isn't there.
    pub fn steady_at(&self, line: &[u8]) -> Option<Timestamp> {
        self.since.get(line)?.checked_add(STILL).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn quiet_is_five_seconds_without_a_change() {
        let note = NotePath::new("Reminders.md").unwrap();
        let mut quiet = QuietTracker::default();
        assert_eq!(quiet.ready_at(&note), None);
        quiet.observe(&note, blake3::hash(b"1"), at(0));
        assert_eq!(quiet.ready_at(&note), Some(at(5)));
        quiet.observe(&note, blake3::hash(b"2"), at(6));
        assert_eq!(quiet.ready_at(&note), Some(at(11)));
        quiet.observe(&note, blake3::hash(b"2"), at(11));
        assert_eq!(quiet.ready_at(&note), Some(at(11)));
    }

    #[test]
    fn a_wish_waits_a_minute_at_most() {
        let note = NotePath::new("Reminders.md").unwrap();
        let mut quiet = QuietTracker::default();
        quiet.observe(&note, blake3::hash(b"0"), at(0));
        quiet.start_waiting(&note, at(0));
        for second in (3_i32..60).step_by(3) {
            quiet.observe(&note, blake3::hash(&second.to_le_bytes()), at(second.into()));
            quiet.start_waiting(&note, at(second.into()));
            assert!(quiet.ready_at(&note) > Some(at(second.into())));
        }
        assert_eq!(quiet.ready_at(&note), Some(at(60)));
        quiet.record_own_write(&note, blake3::hash(b"ours"));
        assert_eq!(quiet.ready_at(&note), Some(at(62)));
    }

    #[test]
    fn lines_are_steady_after_two_looks() {
        let mut lines = SteadyLines::default();
        lines.observe([&b"a"[..], b"b"], at(0));
        lines.observe([&b"a"[..], b"b2"], at(5));
        assert!(lines.is_steady(b"a", at(5)));
        assert!(!lines.is_steady(b"b2", at(5)) && !lines.is_steady(b"b", at(5)));
        lines.observe([&b"b2"[..]], at(7));
        lines.observe([&b"a"[..], b"b2"], at(10));
        assert!(!lines.is_steady(b"a", at(10)) && lines.is_steady(b"b2", at(10)));
    }
}
