//! Turns changed files into a change of the index: a new segment with the new blocks, and the list of blocks that are
//! deleted.
//!
//! The change is built without touching the committed index, so the same change serves a commit, and an answer over an
//! index that can't be written.

use crate::search::IndexError;
use crate::search::read::block::ParsedNote;
use crate::search::store::catalog;
use crate::search::store::catalog::{FileRow, Place};
use crate::search::store::corpus::Corpus;
use crate::search::store::segment::file::{NewSegment, SegmentBuilder, Target};
use crate::search::store::segment::note_rows::RowInputs;
use crate::search::store::segment::reader::Seg;

/// The change of a file.
#[derive(Debug)]
pub enum Change {
    /// It is no longer there.
    Removed(FileRow),
    /// Its bytes are as known; only what the file system says of it changed.
    Touched(FileRow),
    /// It is new, or other than before.
    Content {
        /// As it will be known, with the place of its last blocks.
        file: FileRow,
        /// Whether the index knew nothing of it.
        is_new: bool,
        /// Its blocks.
        note: ParsedNote,
    },
}

/// A change of the index, ready to be committed or looked through.
#[derive(Debug, Default)]
pub struct Delta {
    /// Rows to write, each with its new place: of segment 0 in the new segment.
    pub files: Vec<FileRow>,
    /// Paths of files to forget.
    pub removed: Vec<String>,
    /// Paths of known files whose blocks are others now, or none.
    replaced: Vec<String>,
    /// How many of the files are new.
    added: u64,
    /// Places whose blocks die.
    pub dying: Vec<Place>,
    /// The segment of the new blocks.
    pub segment: Option<NewSegment>,
}

/// Gathers changes until they are a [`Delta`].
pub struct DeltaBuilder<'a> {
    target: &'a Target,
    basis: &'a RowInputs,
    delta: Delta,
    blocks: Option<SegmentBuilder>,
}

impl<'a> DeltaBuilder<'a> {
    /// None yet; new blocks go to `target`.
    pub fn new(target: &'a Target, basis: &'a RowInputs) -> Self {
        Self { target, basis, delta: Delta::default(), blocks: None }
    }

    /// Adds a file's change.
    pub fn add(&mut self, change: Change) -> Result<(), IndexError> {
        let delta = &mut self.delta;
        match change {
            Change::Removed(file) => {
                delta.dying.extend(file.place);
                delta.removed.push(file.path);
            }
            Change::Touched(file) => delta.files.push(file),
            Change::Content { mut file, is_new, note } => {
                delta.added += u64::from(is_new);
                if file.place.is_some() || !is_new && !note.blocks.is_empty() {
                    delta.replaced.push(file.path.clone());
                }
                delta.dying.extend(file.place.take());
                if !note.blocks.is_empty() {
                    let blocks = match &mut self.blocks {
                        Some(blocks) => blocks,
                        None => self.blocks.insert(SegmentBuilder::new(self.target, self.basis)?),
                    };
                    file.place = Some(blocks.add(&file.path, &note)?);
                }
                delta.files.push(file);
            }
        }
        Ok(())
    }

    /// Bytes of memory in use for new blocks, about.
    pub fn memory(&self) -> usize {
        self.blocks.as_ref().map_or(0, SegmentBuilder::memory)
    }

    /// Writes the new blocks.
    pub fn finish(self) -> Result<Delta, IndexError> {
        Ok(Delta { segment: self.blocks.map(SegmentBuilder::finish).transpose()?, ..self.delta })
    }
}

impl Delta {
    /// Works out the change that `changes` make to the index.
    pub fn build(changes: Vec<Change>, target: &Target, basis: &RowInputs) -> Result<Self, IndexError> {
        let mut builder = DeltaBuilder::new(target, basis);
        changes.into_iter().try_for_each(|change| builder.add(change))?;
        builder.finish()
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.removed.is_empty()
    }

    /// The numbers of the index after this change to `totals`.
    pub fn totals(&self, totals: catalog::Totals) -> catalog::Totals {
        let mut after = totals;
        after.docs -= self.dying.iter().map(|place| u64::from(place.count)).sum::<u64>();
        after.docs += self.segment.as_ref().map_or(0, |new| u64::from(new.segment.meta().max_doc()));
        after.files += self.added;
        after.files -= self.removed.len() as u64;
        after
    }

    /// `corpus` as it would be after the commit.
    pub fn overlay(&self, corpus: &Corpus) -> Result<Corpus, IndexError> {
        let mut after = corpus.clone();
        after.totals = self.totals(corpus.totals);
        for place in &self.dying {
            if let Some(seg) = after.segs.iter_mut().find(|seg| seg.id == place.segment) {
                seg.bury(place.start, place.count);
            }
        }
        after.hidden.extend(self.removed.iter().chain(&self.replaced).cloned());
        if let Some(segment) = &self.segment {
            let new = |file: &&FileRow| file.place.is_some_and(|place| place.segment == 0);
            let memory = self.files.iter().filter(new).cloned().collect();
            after.add(Seg { memory, ..Seg::open(0, &segment.segment, 8)? });
        }
        Ok(after)
    }
}
