//! Gives a query one consistent state of the index ([`Snapshot`]). Before the answer leaves, [`Index::answer`] checks
//! the files that it was made from.
//!
//! A query comes in as a closure that takes a snapshot, and returns its result with the files that it used. The result
//! goes out with its freshness. If one of the files has changed without an event of the watcher, it is read and the
//! query runs again.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::search::follow::ChangedFile;
use crate::search::read::note::{self, Options};
use crate::search::read::{Block, Kind};
use crate::search::store::{Corpus, FileRow, Store, catalog};
use crate::search::{CheckedBy, Freshness, Index, IndexError};

/// Before it says that there is nothing, a process looks at every file itself, at most so often.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A consistent state of the index, fresh when it was taken.
#[derive(Debug)]
pub struct Snapshot<'a> {
    conn: Connection,
    /// The committed blocks; a merge may have removed files of theirs since.
    committed: Arc<Corpus>,
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

/// A note of a snapshot.
#[derive(Debug, Clone)]
pub struct Note {
    /// Its file.
    pub file: FileRow,
    corpus: Arc<Corpus>,
}

impl Note {
    /// All blocks in their order, without their texts.
    ///
    /// # Errors
    /// They are torn.
    pub fn blocks(&self) -> Result<Vec<Stored>, IndexError> {
        let Some(place) = self.file.place else { return Ok(Vec::new()) };
        let of = self.corpus.segs.iter().find(|seg| seg.id == place.segment);
        let Some((seg, note)) = of.and_then(|seg| Some((seg, seg.rows.note_of(place.start)?))) else {
            return Ok(Vec::new());
        };
        let slots = seg.first + place.start..;
        Ok(slots.zip(seg.blocks(note)?).map(|(slot, block)| Stored { slot, block }).collect())
    }
}

impl Index {
    /// Runs `work` on a fresh, consistent state of the index.
    ///
    /// # Errors
    /// As [`Index::search`], and what `work` says.
    pub fn snapshot<T>(
        &self,
        work: impl Fn(&Snapshot<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        self.healing(|store| work(&self.fresh_snapshot(store)?))
    }

    pub(in crate::search) fn fresh_snapshot(&self, store: &Store) -> Result<Snapshot<'_>, IndexError> {
        let (conn, committed, corpus, freshness) = self.fresh(store)?;
        Ok(Snapshot { conn, committed, corpus, options: &self.options, freshness })
    }

    /// `snapshot` with the suspects as they are on disk, nothing committed; what it has read directly is read again.
    fn look_again(
        &self,
        snapshot: &mut Snapshot<'_>,
        mut suspects: Vec<ChangedFile>,
    ) -> Result<(), IndexError> {
        // From the committed state on: a file that is looked at twice counts once.
        let memory = snapshot.memory().map(|file| &file.path);
        let read: Vec<String> = memory.chain(&snapshot.corpus.hidden).cloned().collect();
        suspects.extend(self.suspects_at(&snapshot.conn, &read, &mut Vec::new())?);
        suspects.sort_by(|a, b| a.path.cmp(&b.path));
        suspects.dedup_by(|a, b| a.path == b.path);
        snapshot.freshness.read_directly = 0;
        let committed = Arc::clone(&snapshot.committed);
        snapshot.corpus = self.look_through(committed, suspects, &mut snapshot.freshness)?;
        Ok(())
    }
}

impl Snapshot<'_> {
    /// The paths of all notes that have blocks, in order.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.corpus.notes().map(|note| note.row.path.to_string()).collect();
        notes.sort_unstable();
        notes
    }

    /// The note at `path`; none where there is none.
    ///
    /// # Errors
    /// SQLite's.
    pub fn note(&self, path: &str) -> Result<Option<Note>, IndexError> {
        let file = match self.memory().find(|file| file.path == path) {
            Some(file) => Some(file.clone()),
            None => catalog::file(&self.conn, path)?.filter(|_| !self.corpus.hidden.contains(path)),
        };
        Ok(file.map(|file| Note { file, corpus: Arc::clone(&self.corpus) }))
    }

    /// The text of a block.
    ///
    /// # Errors
    /// tantivy's.
    pub fn text(&self, slot: u32) -> Result<String, IndexError> {
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
    pub fn pins(&self) -> Result<Vec<(String, String)>, IndexError> {
        let blocks = self.note(&self.options.pinned)?.map_or_else(|| Ok(Vec::new()), |note| note.blocks())?;
        let pins = blocks.iter().map(|stored| &stored.block).filter(|block| block.kind == Kind::Pin);
        Ok(pins.flat_map(|block| &block.links).filter_map(|link| note::pin(link)).collect())
    }

    /// The database, for what recall keeps in `vectors`. Its transaction is the snapshot's: read only.
    pub fn database(&self) -> &Connection {
        &self.conn
    }
}

/// A file that an answer was made from, and its size and modification time as the index knows them; none for one that
/// was read just now.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AnswerSource {
    path: String,
    known: Option<(u64, i64)>,
}

impl Snapshot<'_> {
    /// The source of an answer with the block in `slot` of `file`.
    pub fn source(&self, slot: u32, file: &FileRow) -> AnswerSource {
        let is_committed = self.corpus.place(slot).0.id != 0;
        let known = is_committed.then_some((file.look.size, file.look.mtime));
        AnswerSource { path: file.path.clone(), known }
    }
}

impl Index {
    /// Runs `work` on a state of the index that equals the vault on disk. `work` also returns the files that its answer
    /// was made from ([`Snapshot::source`]). If one of them has changed, or if the list is empty, the files are scanned
    /// and `work` runs once more, so that a dead watcher can't make an answer stale. Without a list the answer is
    /// returned as it is.
    ///
    /// # Errors
    /// As [`Index::search`], and what `work` says.
    pub fn answer<T>(
        &self,
        work: impl Fn(&Snapshot<'_>) -> Result<(T, Option<Vec<AnswerSource>>), IndexError>,
    ) -> Result<(T, Freshness), IndexError> {
        match self.healing(|store| self.answer_in(store, &work)) {
            Err(error) if error.is_full_or_read_only() => {
                let store = Store::in_memory(&self.root, &self.options.fingerprint(), error.to_string())?;
                self.answer_in(&store, &work)
            }
            answer => answer,
        }
    }

    fn answer_in<T>(
        &self,
        store: &Store,
        work: &impl Fn(&Snapshot<'_>) -> Result<(T, Option<Vec<AnswerSource>>), IndexError>,
    ) -> Result<(T, Freshness), IndexError> {
        let mut snapshot = self.fresh_snapshot(store)?;
        // A file that was read since the question was asked is fresh enough, whatever has happened to it since.
        let mut looked: HashSet<String> = HashSet::new();
        for _ in 0..3 {
            let (answer, sources) = work(&snapshot)?;
            let Some(sources) = sources.filter(|_| snapshot.freshness.checked_by == CheckedBy::Daemon) else {
                return Ok((answer, snapshot.freshness));
            };
            let mut unread = Vec::new();
            let suspects = if sources.is_empty() && self.may_look() {
                snapshot.freshness.checked_by = CheckedBy::Scan;
                self.scan(&snapshot.conn, &mut unread)?
            } else {
                let mut stale = self.stale(sources);
                stale.retain(|path| looked.insert(path.clone()));
                self.suspects_at(&snapshot.conn, &stale, &mut unread)?
            };
            snapshot.freshness.misses(unread);
            if suspects.is_empty() {
                return Ok((answer, snapshot.freshness));
            }
            // A file that is other than the index knows: look at it, then once more.
            self.look_again(&mut snapshot, suspects)?;
        }
        let (answer, _) = work(&snapshot)?;
        snapshot.freshness.complete = false;
        Ok((answer, snapshot.freshness))
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

    /// Those of these files that changed without a report.
    fn stale(&self, sources: Vec<AnswerSource>) -> Vec<String> {
        let mut seen = HashSet::new();
        let is_stale = |source: &AnswerSource| {
            let Some(known) = source.known else { return false };
            // A vault that isn't there says nothing about its files.
            match self.stat(&source.path) {
                Some(stat) => (stat.size, stat.mtime_ns) != known,
                None => self.vault.is_present(),
            }
        };
        let stale = sources.into_iter().filter(|source| seen.insert(source.path.clone()) && is_stale(source));
        stale.map(|source| source.path).collect()
    }
}
