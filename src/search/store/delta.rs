//! Turns changed files into a change of the index: a new segment with the new blocks, and the list of blocks that are
//! deleted.
//!
//! The change is built without touching the committed index, so the same change serves a commit, and an answer over an
//! index that can't be written.

use std::sync::Arc;

use crate::search::IndexError;
use crate::search::read::block::Note;
use crate::search::store::catalog;
use crate::search::store::catalog::{FileRow, Place};
use crate::search::store::corpus::grow::Basis;
use crate::search::store::segment::file;
use crate::search::store::segment::file::{NewSegment, SegmentBuilder, Target, Texts};
use crate::search::store::view::{Seg, View};

/// What became of a file.
#[derive(Debug)]
pub enum Change {
    /// It is no longer there.
    Removed(FileRow),
    /// Its bytes are as known; only what the file system says of it changed.
    Touched(FileRow),
    /// It is new, or other than before.
    Content {
        /// As it will be known, with the place of its last blocks; `id` 0 if it is new.
        file: FileRow,
        /// Its blocks.
        note: Note,
    },
}

/// A change of the index, ready to be committed or looked through.
#[derive(Debug, Default)]
pub struct Delta {
    /// Rows to write, each with its new place: of segment 0 in the new segment.
    pub files: Vec<FileRow>,
    /// Files to forget.
    pub removed: Vec<FileRow>,
    /// Places whose blocks die, by their file's number.
    pub hidden: Vec<(i64, Place)>,
    /// Where the new blocks are.
    pub segment: Option<NewSegment>,
}

impl Delta {
    /// Works out the change that `changes` make to the index.
    pub fn build(changes: Vec<Change>, target: &Target, basis: &Basis) -> Result<Self, IndexError> {
        let mut delta = Self::default();
        let mut builder: Option<SegmentBuilder> = None;
        for change in changes {
            match change {
                Change::Removed(file) => {
                    delta.hidden.extend(file.place.map(|place| (file.id, place)));
                    delta.removed.push(file);
                }
                Change::Touched(file) => delta.files.push(file),
                Change::Content { mut file, note } => {
                    delta.hidden.extend(file.place.take().map(|place| (file.id, place)));
                    if !note.blocks.is_empty() {
                        let builder = match &mut builder {
                            Some(builder) => builder,
                            None => builder.insert(SegmentBuilder::new(target, basis)?),
                        };
                        file.place = Some(builder.add(&file.path, &file.head, &file.tags, &note)?);
                    }
                    delta.files.push(file);
                }
            }
        }
        delta.segment = builder.map(SegmentBuilder::finish).transpose()?;
        Ok(delta)
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.removed.is_empty()
    }

    /// The numbers of the index after this change to `totals`.
    pub fn totals(&self, totals: catalog::Totals) -> catalog::Totals {
        let mut after = totals;
        for (_, place) in &self.hidden {
            after.docs -= u64::from(place.count);
        }
        for file in &self.files {
            after.files += u64::from(file.id == 0);
            let new = file.place.filter(|place| place.segment == 0);
            after.docs += u64::from(new.unwrap_or_default().count);
        }
        after.files -= self.removed.len() as u64;
        after
    }

    /// `view` as it would be after the commit.
    pub fn overlay(&self, view: &View) -> Result<View, IndexError> {
        let mut after = view.clone();
        after.totals = self.totals(view.totals);
        for (_, place) in &self.hidden {
            let Some(seg) = after.segs.iter_mut().find(|seg| seg.id == place.segment) else { continue };
            let seg = Arc::make_mut(seg);
            let max = seg.reader.max_doc();
            let alive = seg.alive.get_or_insert_with(|| tantivy::BitSet::with_max_value_and_full(max));
            (place.start..place.start + place.count).for_each(|doc| alive.remove(doc));
        }
        after.hidden.extend(self.removed.iter().map(|file| file.id));
        after.hidden.extend(self.hidden.iter().map(|(file, _)| *file));
        if let Some(segment) = &self.segment {
            let new = |file: &&FileRow| file.place.is_some_and(|place| place.segment == 0);
            let memory = self.files.iter().filter(new).cloned();
            let (reader, rows) = file::read_new(segment)?;
            let texts = Arc::new(Texts::open(&reader, 8)?);
            let (alive, memory, comments) = (None, memory.collect(), Arc::default());
            after.segs.push(Arc::new(Seg {
                id: 0,
                reader,
                texts,
                comments,
                rows: Arc::new(rows),
                alive,
                memory,
            }));
        }
        Ok(after)
    }
}
