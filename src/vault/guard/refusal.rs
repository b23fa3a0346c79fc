//! Decides whether an edit of a note is refused until a person has checked the note.
//!
//! The editor records the length of each note that it wrote, across processes, in `edits/known.json` of the state
//! directory. Without that file only the rule about shrinking notes has less to compare with.

use std::{
    collections::BTreeMap,
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

use jiff::{SignedDuration, Timestamp};
use rustix::fs::Dir;
use serde::{Deserialize, Serialize};

use crate::config::json_file;
use crate::vault::error::EditRefusal;
use crate::vault::path::NotePath;
use crate::vault::read::{Stat, conflict, stat_of};

/// How long a file must have stood empty or shrunk to be believed.
const BELIEVED_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// So many notes are remembered.
const REMEMBERED: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownLength {
    len: u64,
    seen: Timestamp,
    /// The length that it shrank to, and since when.
    shrunk: Option<(u64, Timestamp)>,
}

/// The recorded lengths of notes.
#[derive(Debug)]
pub(in crate::vault) struct KnownLengths {
    file: PathBuf,
    /// Which version of the file was read or written last; another process may have replaced it.
    version: Option<(u64, i64)>,
    notes: BTreeMap<NotePath, KnownLength>,
}

impl KnownLengths {
    pub(in crate::vault) fn load(edits: &Path) -> Self {
        let file = edits.join("known.json");
        let mut this = Self { file, version: None, notes: BTreeMap::new() };
        this.refresh();
        this
    }

    fn version_on_disk(&self) -> Option<(u64, i64)> {
        let metadata = std::fs::metadata(&self.file).ok()?;
        Some((metadata.ino(), metadata.mtime_nsec()))
    }

    /// Reads the lengths that other processes have written.
    fn refresh(&mut self) {
        let version = self.version_on_disk();
        if version.is_some() && version != self.version {
            self.notes = std::fs::read(&self.file)
                .ok()
                .and_then(|bytes| serde_json::from_slice(&bytes).ok())
                .unwrap_or_default();
            self.version = version;
        }
    }

    /// A note has this length and is as it should be.
    pub(in crate::vault) fn accept(&mut self, path: &NotePath, len: u64, now: Timestamp) {
        self.refresh();
        let known = self.notes.get(path);
        // Small changes are not worth a write; only half of the length matters.
        let close =
            known.is_some_and(|known| known.shrunk.is_none() && known.len.abs_diff(len) <= known.len / 8);
        self.notes.insert(path.clone(), KnownLength { len, seen: now, shrunk: None });
        if !close {
            self.save();
        }
    }

    /// Whether the note had content when it was last seen.
    pub(in crate::vault) fn knows(&self, path: &NotePath) -> bool {
        self.notes.get(path).is_some_and(|known| known.len > 0)
    }

    pub(in crate::vault) fn forget(&mut self, path: &NotePath) {
        if self.notes.remove(path).is_some() {
            self.save();
        }
    }

    /// Refuses a file that is suddenly empty or less than half its length, until it has been so for a minute.
    pub(in crate::vault) fn check(
        &mut self,
        path: &NotePath,
        stat: &Stat,
        now: Timestamp,
    ) -> Result<(), EditRefusal> {
        self.refresh();
        let len = stat.size;
        let Some(known) = self.notes.get_mut(path) else {
            let mtime = Timestamp::from_nanosecond(i128::from(stat.mtime_ns)).unwrap_or(Timestamp::MAX);
            let settled = now.duration_since(mtime) >= BELIEVED_AFTER;
            if len > 0 || settled {
                return Ok(());
            }
            return Err(EditRefusal::Empty(path.clone()));
        };
        let before = known.len;
        let lost = len == 0 && before > 0 || len < before.div_ceil(2);
        if !lost {
            if known.shrunk.take().is_some() {
                self.save();
            }
            return Ok(());
        }
        let since = match known.shrunk {
            Some((to, since)) if to == len => since.min(now),
            _ => now,
        };
        if now.duration_since(since) >= BELIEVED_AFTER {
            return Ok(());
        }
        if known.shrunk.replace((len, since)) != Some((len, since)) {
            self.save();
        }
        Err(if len == 0 {
            EditRefusal::Empty(path.clone())
        } else {
            EditRefusal::Shrunk { path: path.clone(), before, now: len }
        })
    }

    fn save(&mut self) {
        while self.notes.len() > REMEMBERED {
            let oldest = self.notes.iter().min_by_key(|(_, known)| known.seen).map(|(path, _)| path.clone());
            if let Some(oldest) = oldest {
                self.notes.remove(&oldest);
            }
        }
        let saved = json_file::save(&self.file, &self.notes);
        self.version = self.version_on_disk();
        if let Err(error) = saved {
            tracing::warn!(%error, "the lengths of the notes could not be remembered");
        }
    }
}

/// The conflicting copies in each folder, read again only when the folder has changed.
#[derive(Debug, Default)]
pub(in crate::vault) struct ConflictCopies {
    folders: BTreeMap<(u64, u64), (i64, BTreeMap<String, String>)>,
}

impl ConflictCopies {
    /// Refuses a note that has a conflicting copy beside it in the open folder `dir`.
    pub(in crate::vault) fn check(&mut self, path: &NotePath, dir: &OwnedFd) -> Result<(), EditRefusal> {
        let Ok(stat) = rustix::fs::fstat(dir).map(|stat| stat_of(&stat)) else { return Ok(()) };
        let (read_at, copies) =
            self.folders.entry((stat.dev, stat.inode)).or_insert((i64::MIN, BTreeMap::new()));
        if *read_at != stat.mtime_ns {
            *copies = conflict_copies(dir);
            // A folder's time is coarse: one that has just changed may change again within the same tick.
            let is_old = std::time::SystemTime::UNIX_EPOCH
                + std::time::Duration::from_nanos(u64::try_from(stat.mtime_ns).unwrap_or(0))
                + std::time::Duration::from_secs(2)
                < std::time::SystemTime::now();
            *read_at = if is_old { stat.mtime_ns } else { i64::MIN };
        }
        let Some(copy) = copies.get(path.file_name()) else { return Ok(()) };
        let copy = NotePath::child(path.parent().as_ref(), copy).unwrap_or_else(|| path.clone());
        Err(EditRefusal::ConflictCopy { path: path.clone(), copy })
    }
}

/// Each file in the folder that has a conflicting copy, with the copy.
fn conflict_copies(dir: &OwnedFd) -> BTreeMap<String, String> {
    let Ok(items) = Dir::read_from(dir) else { return BTreeMap::new() };
    items
        .flatten()
        .filter_map(|item| item.file_name().to_str().ok().map(ToOwned::to_owned))
        .filter_map(|name| conflict::original_of(&name).map(|original| (original, name)))
        .collect()
}
