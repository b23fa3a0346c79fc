//! Detects changes without an event (network drives, hard links): compares the stats of all files with the last known
//! stats. The watcher polls every three minutes, or less often if a poll is slow.
//!
//! A write through a hard link outside of the vault, or into a file that is mapped into memory, causes no event. The
//! last stat of each file is kept. If a poll finds another stat, the watcher's event may still be on its way: the file
//! is reported only if no event comes first. Pure: stats come in.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::vault::path::NotePath;

/// The stat of a file: size, time of the last change in nanoseconds, file system, number.
pub(super) type FileStamp = (u64, i64, u64, u64);

/// The known state of the files: a hash of each path, and one of its stat.
#[derive(Debug, Default)]
pub(super) struct StatPoll {
    known: HashMap<u64, u64>,
    /// The changes that the last poll found, until it is clear which of them had an event.
    found: Option<PollState>,
}

#[derive(Debug, Default)]
struct PollState {
    files: HashMap<u64, u64>,
    changed: Vec<NotePath>,
    /// The files that were reported since the poll.
    reported: HashSet<u64>,
}

/// Changes that a poll found and no event had reported.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MissedChanges {
    /// Files that changed or came.
    pub changed: Vec<NotePath>,
    /// The number of vanished files.
    pub vanished: usize,
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl StatPoll {
    /// Records that the file is being reported with this stat; `None` if it is missing or no file.
    pub(super) fn reported(&mut self, path: &NotePath, seen: Option<FileStamp>) {
        let key = hash(path);
        match seen {
            Some(seen) => drop(self.known.insert(key, hash(seen))),
            None => drop(self.known.remove(&key)),
        }
        if let Some(found) = &mut self.found {
            found.reported.insert(key);
        }
    }

    /// Records the stats of all files, at a rescan.
    pub(super) fn all<'a>(&mut self, files: impl Iterator<Item = (&'a NotePath, FileStamp)>) {
        self.known = files.map(|(path, seen)| (hash(path), hash(seen))).collect();
        self.found = None;
    }

    /// Records the stats that a poll found.
    pub(super) fn compare<'a>(&mut self, files: impl Iterator<Item = (&'a NotePath, FileStamp)>) {
        let mut found = PollState::default();
        for (path, seen) in files {
            let (key, mark) = (hash(path), hash(seen));
            if self.known.get(&key) != Some(&mark) {
                found.changed.push(path.clone());
            }
            found.files.insert(key, mark);
        }
        self.found = Some(found);
    }

    /// The changes of the last poll that no event has reported, and that aren't `coming` (about to be reported). To be
    /// called after the poll, when pending events have arrived. `None` if there was no poll since the last call.
    pub(super) fn missed_changes<'a>(
        &mut self,
        coming: impl Iterator<Item = &'a NotePath>,
    ) -> Option<MissedChanges> {
        let PollState { files, changed, mut reported } = self.found.take()?;
        reported.extend(coming.map(hash));
        let mut unseen = MissedChanges::default();
        for path in changed.into_iter().filter(|path| !reported.contains(&hash(path))) {
            self.known.insert(hash(&path), files[&hash(&path)]);
            unseen.changed.push(path);
        }
        let before = self.known.len();
        self.known.retain(|key, _| files.contains_key(key) || reported.contains(key));
        unseen.vanished = before - self.known.len();
        Some(unseen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> NotePath {
        NotePath::new(name).unwrap()
    }

    #[test]
    fn what_no_event_told_is_found_once() {
        let (a, b, c, d) = (path("a.md"), path("b.md"), path("c.md"), path("d.md"));
        let (old, new) = ((1, 1, 1, 1), (1, 2, 1, 1));
        let none = || std::iter::empty();
        let mut stat_poll = StatPoll::default();
        stat_poll.all([(&a, old), (&b, old), (&c, old)].into_iter());
        stat_poll.compare([(&a, new), (&b, new), (&c, new)].into_iter());
        // The events of two were on their way, and one file came after the look.
        stat_poll.reported(&a, Some(new));
        stat_poll.reported(&d, Some(new));
        let unseen = stat_poll.missed_changes([&b].into_iter());
        assert_eq!(unseen, Some(MissedChanges { changed: vec![c.clone()], vanished: 0 }));
        assert_eq!(stat_poll.missed_changes(none()), None);
        stat_poll.reported(&b, Some(new));
        // One vanished without an event, one was reported as vanished.
        stat_poll.reported(&d, None);
        stat_poll.compare([(&a, new), (&b, new)].into_iter());
        assert_eq!(
            stat_poll.missed_changes(none()),
            Some(MissedChanges { changed: Vec::new(), vanished: 1 })
        );
        stat_poll.compare([(&a, new), (&b, new)].into_iter());
        assert_eq!(stat_poll.missed_changes(none()), Some(MissedChanges::default()));
    }
}
