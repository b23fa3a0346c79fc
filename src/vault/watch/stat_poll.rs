//! Compares the sizes and times of all files every three minutes, to report changes without an event.
//!
//! A write through a hard link outside of the vault, or into a file that is mapped into memory, gives no event. The
//! stat of each reported file is kept; a look that finds another one waits for events on their way, and then reports
//! the file. Pure: stats come in.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::vault::path::NotePath;

/// What is seen of a file without reading it: size, time of the last change in nanoseconds, file system, number.
pub(super) type FileStamp = (u64, i64, u64, u64);

/// What is remembered of the files: a hash of each path, and one of what was seen.
#[derive(Debug, Default)]
pub(super) struct StatPoll {
    known: HashMap<u64, u64>,
    /// What the last look found, until it is clear what of it was told.
    found: Option<Found>,
}

#[derive(Debug, Default)]
struct Found {
    files: HashMap<u64, u64>,
    changed: Vec<NotePath>,
    /// What was told since the look.
    told: HashSet<u64>,
}

/// What a look found that no event had told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MissedChanges {
    /// Files that changed or came.
    pub changed: Vec<NotePath>,
    /// How many files are gone.
    pub gone: usize,
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl StatPoll {
    /// The file is being told, and is this now; `None` where it is gone or no file.
    pub(super) fn told(&mut self, path: &NotePath, seen: Option<FileStamp>) {
        let key = hash(path);
        match seen {
            Some(seen) => drop(self.known.insert(key, hash(seen))),
            None => drop(self.known.remove(&key)),
        }
        if let Some(found) = &mut self.found {
            found.told.insert(key);
        }
    }

    /// All files as they are, where everything is told anew.
    pub(super) fn all<'a>(&mut self, files: impl Iterator<Item = (&'a NotePath, FileStamp)>) {
        self.known = files.map(|(path, seen)| (hash(path), hash(seen))).collect();
        self.found = None;
    }

    /// A look found these files.
    pub(super) fn look<'a>(&mut self, files: impl Iterator<Item = (&'a NotePath, FileStamp)>) {
        let mut found = Found::default();
        for (path, seen) in files {
            let (key, mark) = (hash(path), hash(seen));
            if self.known.get(&key) != Some(&mark) {
                found.changed.push(path.clone());
            }
            found.files.insert(key, mark);
        }
        self.found = Some(found);
    }

    /// Once the events that were on their way have come: what of the last look was not told and isn't `coming`, which is
    /// about to be told. `None` where there was no look since.
    pub(super) fn settle<'a>(&mut self, coming: impl Iterator<Item = &'a NotePath>) -> Option<MissedChanges> {
        let Found { files, changed, mut told } = self.found.take()?;
        told.extend(coming.map(hash));
        let mut unseen = MissedChanges::default();
        for path in changed.into_iter().filter(|path| !told.contains(&hash(path))) {
            self.known.insert(hash(&path), files[&hash(&path)]);
            unseen.changed.push(path);
        }
        let before = self.known.len();
        self.known.retain(|key, _| files.contains_key(key) || told.contains(key));
        unseen.gone = before - self.known.len();
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
        let mut looks = StatPoll::default();
        looks.all([(&a, old), (&b, old), (&c, old)].into_iter());
        looks.look([(&a, new), (&b, new), (&c, new)].into_iter());
        // The events of two were on their way, and one file came after the look.
        looks.told(&a, Some(new));
        looks.told(&d, Some(new));
        let unseen = looks.settle([&b].into_iter());
        assert_eq!(unseen, Some(MissedChanges { changed: vec![c.clone()], gone: 0 }));
        assert_eq!(looks.settle(none()), None);
        looks.told(&b, Some(new));
        // One went without a word, one was told to be gone.
        looks.told(&d, None);
        looks.look([(&a, new), (&b, new)].into_iter());
        assert_eq!(looks.settle(none()), Some(MissedChanges { changed: Vec::new(), gone: 1 }));
        looks.look([(&a, new), (&b, new)].into_iter());
        assert_eq!(looks.settle(none()), Some(MissedChanges::default()));
    }
}
