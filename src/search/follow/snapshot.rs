//! Takes a consistent snapshot of the index for a query ([`Snapshot`]). [`Index::answer`] checks the files that an
//! answer was made from.
//!
//! A query comes in as a closure, which gets a [`Snapshot`], and returns its result with the files that it used. The
//! result goes out with its freshness. If one of the files has changed without an event of the watcher, every file is
//! compared, and the query runs again on a newer snapshot.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::search::read::note::{self, Options};
use crate::search::read::{Block, Kind};
use crate::search::store::{Corpus, FileRow, Store, catalog};
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

/// A block of a snapshot, without its text (see [`Snapshot::text`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its slot in this snapshot.
    pub slot: u32,
    /// Its data; `text` and `extra` are empty.
    pub block: Block,
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
    ) -> Result<(T, Freshness)> {
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
    ) -> Result<(T, Freshness)> {
        let snapshot = self.fresh(store, is_meant, true)?;
        let (answer, sources) = work(&snapshot)?;
        let sources = sources.filter(|_| snapshot.freshness.checked_by == CheckedBy::Daemon);
        let doubts =
            |files: Vec<FileRow>| if files.is_empty() { self.may_look() } else { self.is_stale(files) };
        if !sources.is_some_and(doubts) {
            return Ok((answer, snapshot.freshness));
        }
        let again = self.fresh(store, is_meant, false)?;
        let is_same = Arc::ptr_eq(&snapshot.corpus, &again.corpus);
        Ok((if is_same { answer } else { work(&again)?.0 }, again.freshness))
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
    fn is_stale(&self, mut files: Vec<FileRow>) -> bool {
        files.retain(|file| file.place.is_some_and(|place| place.segment != 0));
        files.dedup_by(|a, b| a.path == b.path);
        files.iter().any(|file| match self.stat(&file.path) {
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
        match self.memory().find(|file| file.path == path) {
            Some(file) => Ok(Some(file.clone())),
            None => Ok(catalog::file(&self.conn, path)?.filter(|_| !self.corpus.hidden.contains(path))),
        }
    }

    /// All blocks of the note at `path` in their order, without their texts; none where there is no such note.
    ///
    /// # Errors
    /// SQLite's; they are torn.
    pub fn blocks(&self, path: &str) -> Result<Vec<Stored>> {
        self.file(path)?.map_or_else(|| Ok(Vec::new()), |file| self.blocks_of(&file))
    }

    /// All blocks of a file in their order, without their texts.
    ///
    /// # Errors
    /// They are torn.
    pub(in crate::search) fn blocks_of(&self, file: &FileRow) -> Result<Vec<Stored>> {
        let Some(place) = file.place else { return Ok(Vec::new()) };
        let of = self.corpus.segs.iter().find(|seg| seg.id == place.segment);
        let Some((seg, note)) = of.and_then(|seg| Some((seg, seg.rows.note_of(place.start)?))) else {
            return Ok(Vec::new());
        };
        let slots = seg.first + place.start..;
        Ok(slots.zip(seg.blocks(note)?).map(|(slot, block)| Stored { slot, block }).collect())
    }

    /// The text of a block.
    ///
    /// # Errors
    /// tantivy's.
    pub fn text(&self, slot: u32) -> Result<String> {
        Ok(self.corpus.text(slot)?.0)
    }

    /// The files that were read directly, because they aren't committed.
    pub(in crate::search) fn memory(&self) -> impl Iterator<Item = &FileRow> {
        self.corpus.segs.iter().flat_map(|seg| &seg.memory)
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
