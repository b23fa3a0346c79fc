//! What ranking needs beside hits: all blocks of a scope, their texts, and where terms stand.
//!
//! A [`Snapshot`] is one consistent state of the index. Blocks of one file come in the order of the file,
//! so a turn's neighbours are the blocks beside it, and a session is a file's blocks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::search::follow::scan;
use crate::search::follow::scan::Suspect;
use crate::search::read::block::Block;
use crate::search::store::cache::Store;
use crate::search::store::catalog::{FileRow, RunRow};
use crate::search::store::segment::schema::Fields;
use crate::search::store::view::{DocRef, View};
use crate::search::store::{catalog, view};
use crate::search::{Freshness, Index, IndexError};

/// A consistent state of the index, fresh when it was taken.
#[derive(Debug)]
pub struct Snapshot<'a> {
    store: &'a Store,
    conn: crate::search::store::cache::Pooled<'a>,
    view: Arc<View>,
    options: &'a crate::search::Options,
    /// How fresh it is.
    pub freshness: Freshness,
}

/// A block of a snapshot, without its text (see [`Snapshot::text`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Names its document in this snapshot.
    pub at: DocRef,
    /// Its file; the same number for all blocks of one file.
    pub file: i64,
    /// What is known of it; `text` and `extra` are empty.
    pub block: Block,
}

/// A note of a snapshot: where its blocks stand.
#[derive(Debug, Clone)]
pub struct Note {
    /// Its file.
    pub file: FileRow,
    /// The segment of each run, and the run.
    runs: Vec<(usize, RunRow)>,
}

impl Note {
    /// How many blocks it has.
    pub fn len(&self) -> usize {
        self.runs.iter().map(|(_, run)| run.count as usize).sum()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The block at place `at`, without its text; none where the note has fewer.
    ///
    /// # Errors
    /// The catalog is torn.
    pub fn block(&self, mut at: u32) -> Result<Option<Stored>, IndexError> {
        for (seg, run) in &self.runs {
            if at < run.count {
                let block = view::unpack_one(run, at)?;
                let at = DocRef { seg: *seg, doc: run.start + at };
                return Ok(Some(Stored { at, file: self.file.id, block }));
            }
            at -= run.count;
        }
        Ok(None)
    }

    /// All blocks in their order, without their texts.
    ///
    /// # Errors
    /// The catalog is torn.
    pub fn blocks(&self) -> Result<Vec<Stored>, IndexError> {
        let mut blocks = Vec::with_capacity(self.len());
        for (seg, run) in &self.runs {
            for (doc, block) in (run.start..).zip(view::unpack(run)?) {
                blocks.push(Stored { at: DocRef { seg: *seg, doc }, file: self.file.id, block });
            }
        }
        Ok(blocks)
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

    pub(in crate::search) fn fresh_snapshot<'a>(
        &'a self,
        store: &'a Store,
    ) -> Result<Snapshot<'a>, IndexError> {
        let (conn, view, freshness) = self.fresh(store)?;
        Ok(Snapshot { store, conn, view, options: &self.options, freshness })
    }

    /// `snapshot` with the suspects as they are on disk, nothing committed; what it has read directly is read again.
    pub(in crate::search) fn look_again(
        &self,
        store: &Store,
        snapshot: &mut Snapshot<'_>,
        mut suspects: Vec<Suspect>,
    ) -> Result<(), IndexError> {
        // From the committed state on: a file that is looked at twice counts once.
        let read = snapshot.read_directly()?;
        suspects.extend(scan::suspects_at(&snapshot.conn, &self.vault, &self.options, &read)?);
        suspects.sort_by(|a, b| a.path.cmp(&b.path));
        suspects.dedup_by(|a, b| a.path == b.path);
        snapshot.freshness.read_directly = 0;
        let committed = store.view(&snapshot.conn)?;
        snapshot.view = self.look_through(&snapshot.conn, committed, suspects, &mut snapshot.freshness)?;
        Ok(())
    }
}

impl Snapshot<'_> {
    /// The same state on a connection of its own, for another thread; none where the index has gone on since.
    ///
    /// # Errors
    /// SQLite's.
    pub fn fork(&self) -> Result<Option<Self>, IndexError> {
        let conn = self.store.conn()?;
        conn.execute_batch("BEGIN")?;
        let is_same = catalog::totals(&conn)? == catalog::totals(&self.conn)?;
        let (view, freshness) = (Arc::clone(&self.view), self.freshness.clone());
        Ok(is_same.then_some(Self { store: self.store, conn, view, options: self.options, freshness }))
    }

    /// The paths of all notes, in order, each with the number of its blocks.
    ///
    /// # Errors
    /// SQLite's.
    pub fn notes(&self) -> Result<Vec<(String, u32)>, IndexError> {
        let mut notes: BTreeMap<String, u32> = BTreeMap::new();
        let counts = catalog::block_counts(&self.conn)?;
        for (id, path) in catalog::paths(&self.conn, "")? {
            if !self.view.hidden.contains(&id) {
                notes.insert(path, counts.get(&id).copied().unwrap_or(0));
            }
        }
        for memory in self.view.segs.iter().flat_map(|seg| &seg.memory) {
            *notes.entry(memory.file.path.clone()).or_default() += memory.run.count;
        }
        Ok(notes.into_iter().collect())
    }

    fn places(&self) -> HashMap<i64, usize> {
        self.view.segs.iter().enumerate().map(|(n, seg)| (seg.id, n)).collect()
    }

    /// The note at `path`; none where there is none.
    ///
    /// # Errors
    /// SQLite's.
    pub fn note(&self, path: &str) -> Result<Option<Note>, IndexError> {
        let id = catalog::file(&self.conn, path)?.map(|row| row.id);
        let id = id.filter(|id| !self.view.hidden.contains(id));
        let mut in_memory = Vec::new();
        for (n, seg) in self.view.segs.iter().enumerate() {
            let here = seg.memory.iter().enumerate().filter(|(_, memory)| memory.file.path == path);
            in_memory.extend(here.map(|(m, _)| (n, m)));
        }
        self.note_at(&self.places(), id, in_memory)
    }

    fn note_at(
        &self,
        places: &HashMap<i64, usize>,
        id: Option<i64>,
        in_memory: Vec<(usize, usize)>,
    ) -> Result<Option<Note>, IndexError> {
        let (mut runs, mut file) = (Vec::new(), None);
        if let Some(id) = id {
            let known = catalog::runs_of(&self.conn, id)?.into_iter();
            runs.extend(known.filter_map(|run| Some((*places.get(&run.segment)?, run))));
            file = Some(catalog::file_by_id(&self.conn, id)?);
        }
        for (n, m) in in_memory {
            let memory = &self.view.segs[n].memory[m];
            // Files in memory have no number of their own unless they replace a known one.
            let new = if memory.file.id == 0 {
                -1 - i64::try_from(n << 32 | m).unwrap_or(0)
            } else {
                memory.file.id
            };
            runs.push((n, memory.run.clone()));
            file = Some(FileRow { id: id.unwrap_or(new), ..memory.file.clone() });
        }
        Ok(file.map(|file| Note { file, runs }))
    }

    /// Calls `each` with every file that the index knows, skipped ones included.
    pub fn each_file(&self, mut each: impl FnMut(&FileRow)) -> Result<(), IndexError> {
        let memory = || self.view.segs.iter().flat_map(|seg| &seg.memory).map(|memory| &memory.file);
        let newer: HashSet<&str> = memory().map(|file| file.path.as_str()).collect();
        catalog::each_file(&self.conn, |row| {
            if !self.view.hidden.contains(&row.id) && !newer.contains(row.path.as_str()) {
                each(&row);
            }
        })?;
        memory().for_each(each);
        Ok(())
    }

    /// The files that this state has other than the index's last commit.
    ///
    /// # Errors
    /// SQLite's.
    pub fn read_directly(&self) -> Result<Vec<String>, IndexError> {
        let memory = self.view.segs.iter().flat_map(|seg| &seg.memory).map(|memory| memory.file.path.clone());
        let mut paths: Vec<String> = memory.collect();
        for id in &self.view.hidden {
            paths.push(catalog::file_by_id(&self.conn, *id)?.path);
        }
        Ok(paths)
    }

    /// The text of a block.
    ///
    /// # Errors
    /// tantivy's.
    pub fn text(&self, at: DocRef) -> Result<String, IndexError> {
        Ok(self.view.text(at)?.0)
    }

    pub(in crate::search) fn view(&self) -> &View {
        &self.view
    }

    pub(crate) fn options(&self) -> &crate::search::Options {
        self.options
    }

    pub(in crate::search) fn fields(&self) -> &Fields {
        &self.store.fields
    }

    /// The pinned blocks: path without extension, block id.
    pub fn pins(&self) -> Result<Vec<(String, String)>, IndexError> {
        catalog::pins(&self.conn)
    }

    /// The database, for what recall keeps in `vectors`. Its transaction is the snapshot's: read only.
    pub fn database(&self) -> &rusqlite::Connection {
        &self.conn
    }
}
