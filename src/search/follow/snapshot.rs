//! Gives queries one consistent state of the index ([`Snapshot`]): all blocks of a scope, their texts, and the
//! positions of terms.
//!
//! Blocks of one file come in the order of the file, so a turn's neighbours are the adjacent blocks, and a session is a
//! file's blocks.

use std::sync::Arc;

use crate::search::follow::scan;
use crate::search::follow::scan::ChangedFile;
use crate::search::read::block::Block;
use crate::search::read::note;
use crate::search::store::cache::Store;
use crate::search::store::catalog;
use crate::search::store::catalog::FileRow;
use crate::search::store::segment::schema::Fields;
use crate::search::store::view::{DocRef, Seg, View};
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
    /// Its data; `text` and `extra` are empty.
    pub block: Block,
}

/// A note of a snapshot.
#[derive(Debug, Clone)]
pub struct Note {
    /// Its file.
    pub file: FileRow,
    /// Its segment, and that one's place; none without blocks.
    seg: Option<(usize, Arc<Seg>)>,
}

impl Note {
    /// All blocks in their order, without their texts.
    ///
    /// # Errors
    /// They are torn.
    pub fn blocks(&self) -> Result<Vec<Stored>, IndexError> {
        let (Some(place), Some((at, seg))) = (self.file.place, &self.seg) else { return Ok(Vec::new()) };
        let Some(note) = seg.rows.note_of(place.start) else { return Ok(Vec::new()) };
        let stored = |(doc, block)| Stored { at: DocRef { seg: *at, doc }, block };
        Ok((place.start..).zip(seg.blocks(note)?).map(stored).collect())
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
        mut suspects: Vec<ChangedFile>,
    ) -> Result<(), IndexError> {
        // From the committed state on: a file that is looked at twice counts once.
        let memory = snapshot.view.segs.iter().flat_map(|seg| &seg.memory).map(|file| &file.path);
        let read: Vec<String> = memory.chain(&snapshot.view.hidden).cloned().collect();
        suspects.extend(scan::suspects_at(&snapshot.conn, &self.vault, &self.options, &read)?);
        suspects.sort_by(|a, b| a.path.cmp(&b.path));
        suspects.dedup_by(|a, b| a.path == b.path);
        snapshot.freshness.read_directly = 0;
        let committed = store.view(&snapshot.conn)?;
        snapshot.view = self.look_through(committed, suspects, &mut snapshot.freshness)?;
        Ok(())
    }
}

impl Snapshot<'_> {
    /// The paths of all notes that have blocks, in order.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.view.notes().map(|note| note.path.to_string()).collect();
        notes.sort_unstable();
        notes
    }

    /// The note at `path`; none where there is none.
    ///
    /// # Errors
    /// SQLite's.
    pub fn note(&self, path: &str) -> Result<Option<Note>, IndexError> {
        for (at, seg) in self.view.segs.iter().enumerate() {
            if let Some(file) = seg.memory.iter().find(|file| file.path == path) {
                return Ok(Some(Note { file: file.clone(), seg: Some((at, Arc::clone(seg))) }));
            }
        }
        let file = catalog::file(&self.conn, path)?.filter(|file| !self.view.hidden.contains(&file.path));
        let Some(file) = file else { return Ok(None) };
        let of = |seg: &Arc<Seg>| file.place.is_some_and(|place| place.segment == seg.id);
        let at = self.view.segs.iter().position(of);
        let seg = at.map(|at| (at, Arc::clone(&self.view.segs[at])));
        Ok(Some(Note { file, seg }))
    }

    /// The text of a block.
    ///
    /// # Errors
    /// tantivy's.
    pub fn text(&self, at: DocRef) -> Result<String, IndexError> {
        Ok(self.view.text(at)?.0)
    }

    pub(in crate::search) fn view(&self) -> &Arc<View> {
        &self.view
    }

    pub(crate) fn options(&self) -> &crate::search::Options {
        self.options
    }

    pub(in crate::search) fn fields(&self) -> &Fields {
        &self.store.fields
    }

    /// The pinned blocks: path without extension, block id.
    ///
    /// # Errors
    /// SQLite's.
    pub fn pins(&self) -> Result<Vec<(String, String)>, IndexError> {
        let blocks = self.note(&self.options.pinned)?.map_or_else(|| Ok(Vec::new()), |note| note.blocks())?;
        Ok(blocks.iter().flat_map(|stored| &stored.block.links).filter_map(|link| note::pin(link)).collect())
    }

    /// The database, for what recall keeps in `vectors`. Its transaction is the snapshot's: read only.
    pub fn database(&self) -> &rusqlite::Connection {
        &self.conn
    }
}
