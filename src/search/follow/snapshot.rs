//! Takes a consistent snapshot of the index for a query ([`Snapshot`]). [`Index::answer`] checks the files that an
//! answer was made from.
//!
//! A query comes in as a closure, which gets a [`Snapshot`], and returns its result with the files that it used. The
//! result goes out with its freshness. If one of the files has changed without an event of the watcher, every file is
//! compared, and the query runs again on a newer snapshot.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::search::read::Kind;
use crate::search::read::note::{self, Options};
use crate::search::store::{Corpus, FileRow, Store, Stored, catalog};
use crate::search::{CheckedBy, Freshness, Index, Result};

/// Before it says that there is nothing, a process looks at every file itself, at most so often.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A consistent state of the index, fresh when it was taken.
#[derive(Debug)]
pub struct Snapshot<'a> {
    pub(super) conn: Connection,
    /// The blocks.
    pub(in crate::search) corpus: Arc<Corpus>,
    /// The settings that decide which files are indexed, and how.
    pub(in crate::search) options: &'a Options,
    /// Its freshness.
    pub freshness: Freshness,
}

impl Index {
    /// Runs `work` on a fresh, consistent state of the index.
    ///
    /// # Errors
    /// As [`Index::search`], and what `work` says.
    pub fn snapshot<T>(&self, work: impl Fn(&Snapshot<'_>) -> Result<T>) -> Result<T> {
        self.healing(|store| work(&self.fresh(store, &|_| true, true)?))
    }

    /// Runs `work` on a state of the index that equals the vault on disk, where `is_meant` holds of a path; the other files
    /// are as the index knew them. `work` also returns the files that its answer was made from. If one of them has
    /// changed, or if the list is empty, every file is looked at and `work` runs once more, so that a dead watcher can't
    /// make an answer stale. Without a list the answer is returned as it is.
    ///
    /// # Errors
    /// As [`Index::search`], and what `work` says.
    pub fn answer<T>(
        &self,
        is_meant: &dyn Fn(&str) -> bool,
        work: impl Fn(&Snapshot<'_>) -> Result<(T, Option<Vec<FileRow>>)>,
    ) -> Result<T> {
        match self.healing(|store| self.answer_in(store, is_meant, &work)) {
            Err(error) if error.is_full_or_read_only() => {
                let store = Store::in_memory(&self.root, &self.options.fingerprint(), error.to_string())?;
                self.answer_in(&store, is_meant, &work)
            }
            answer => answer,
        }
    }

    fn answer_in<T>(
        &self,
        store: &Store,
        is_meant: &dyn Fn(&str) -> bool,
        work: &impl Fn(&Snapshot<'_>) -> Result<(T, Option<Vec<FileRow>>)>,
    ) -> Result<T> {
        let snapshot = self.fresh(store, is_meant, true)?;
        let (answer, sources) = work(&snapshot)?;
        let sources = sources.filter(|_| snapshot.freshness.checked_by == CheckedBy::Daemon);
        let is_doubtful = sources.is_some_and(|files| match &files[..] {
            [] => self.may_look(),
            files => self.has_changed(files, &snapshot),
        });
        Ok(if is_doubtful { work(&self.fresh(store, is_meant, false)?)?.0 } else { answer })
    }

    /// Whether it is time to look at every file once more before an empty answer.
    fn may_look(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let due = looked.is_none_or(|at| at.elapsed() > LOOK_EVERY);
        if due {
            *looked = Some(Instant::now());
        }
        due
    }

    /// Whether one of these files changed without a report. One that isn't committed was read just now.
    fn has_changed(&self, files: &[FileRow], snapshot: &Snapshot<'_>) -> bool {
        let of_notes = files.chunk_by(|a, b| a.path == b.path).map(|of_note| &of_note[0]);
        let mut committed = of_notes.filter(|file| !snapshot.corpus.newer.contains_key(&file.path));
        committed.any(|file| match self.stat(&file.path) {
            Some(stat) => (stat.size, stat.mtime_ns) != (file.look.size, file.look.mtime),
            // A vault that isn't there says nothing about its files.
            None => self.vault.is_present(),
        })
    }
}

impl Snapshot<'_> {
    /// The paths of all notes that have blocks, in order.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.corpus.notes().map(|note| note.row.path.to_string()).collect();
        notes.sort_unstable();
        notes
    }

    /// The file at `path`; none where there is none.
    ///
    /// # Errors
    /// SQLite's.
    pub(in crate::search) fn file(&self, path: &str) -> Result<Option<FileRow>> {
        self.corpus.newer.get(path).map_or_else(|| catalog::file(&self.conn, path), |newer| Ok(newer.clone()))
    }

    /// All blocks of the note at `path` in their order, without their texts; none where there is no such note.
    ///
    /// # Errors
    /// They are torn.
    pub fn blocks(&self, path: &str) -> Result<Vec<Stored>> {
        let note = self.corpus.notes().find(|note| *note.row.path == *path);
        note.map_or_else(|| Ok(Vec::new()), |note| self.corpus.blocks_of(&note))
    }

    /// The text of a block.
    ///
    /// # Errors
    /// tantivy's.
    pub fn text(&self, slot: u32) -> Result<String> {
        Ok(self.corpus.text(slot)?.0)
    }

    /// Calls `each` with all files.
    ///
    /// # Errors
    /// SQLite's.
    pub(in crate::search) fn each_file(&self, mut each: impl FnMut(FileRow)) -> Result<()> {
        let newer = &self.corpus.newer;
        catalog::each_file(&self.conn, |file| {
            if !newer.contains_key(&file.path) {
                each(file);
            }
        })?;
        newer.values().flatten().cloned().for_each(each);
        Ok(())
    }

    /// The pinned blocks: path without extension, block id.
    ///
    /// # Errors
    /// SQLite's.
    pub fn pins(&self) -> Result<Vec<(String, String)>> {
        let blocks = self.blocks(&self.options.pinned)?;
        let pins = blocks.iter().map(|stored| &stored.block).filter(|block| block.kind == Kind::Pin);
        Ok(pins.flat_map(|block| &block.links).filter_map(|link| note::pin(link)).collect())
    }

    /// The database, for what recall keeps in `vectors`. Its transaction is the snapshot's: read only.
    pub fn database(&self) -> &Connection {
        &self.conn
    }
}
