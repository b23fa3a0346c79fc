//! From changed files to a change of the index: a new segment with the new blocks, and the runs that die. Built without touching the committed index, so the same change
//! serves a commit and an answer over an index that can't be written.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::Connection;

use crate::search::IndexError;
use crate::search::read::block::Note;
use crate::search::store::catalog;
use crate::search::store::catalog::{FileRow, RunRow};
use crate::search::store::segment::file;
use crate::search::store::segment::file::{NewRun, NewSegment, SegmentBuilder, Target, Texts};
use crate::search::store::view::{MemoryRun, Seg, View};

/// What became of a file.
#[derive(Debug)]
pub enum Change {
    /// It is no longer there.
    Removed(FileRow),
    /// Its bytes are as known; only what the file system says of it changed.
    Touched(FileRow),
    /// It is new, or other than before.
    Content {
        /// As it will be known; `id` 0 if it is new.
        file: FileRow,
        /// Its blocks; of an append, the new ones alone.
        note: Note,
        /// Whether the blocks known so far stay.
        append: bool,
        /// The blocks that it pins.
        pins: Vec<(String, String)>,
    },
}

/// A row to write: the file, its new run, the blocks that it pins.
pub type NewFile = (FileRow, Option<NewRun>, Vec<(String, String)>);

/// A change of the index, ready to be committed or looked through.
#[derive(Debug, Default)]
pub struct Delta {
    /// Rows to write, with their new run and pins.
    pub files: Vec<NewFile>,
    /// Files to forget.
    pub removed: Vec<FileRow>,
    /// Runs that die.
    pub hidden: Vec<RunRow>,
    /// Where the new blocks are.
    pub segment: Option<NewSegment>,
}

impl Delta {
    /// Works out the change that `changes` make to the index as `conn` sees it.
    pub fn build(conn: &Connection, changes: Vec<Change>, target: &Target) -> Result<Self, IndexError> {
        let mut delta = Self::default();
        let mut builder: Option<SegmentBuilder> = None;
        for change in changes {
            match change {
                Change::Removed(file) => {
                    delta.hidden.extend(catalog::runs_of(conn, file.id)?);
                    delta.removed.push(file);
                }
                Change::Touched(file) => delta.files.push((file, None, Vec::new())),
                Change::Content { file, note, append, pins } => {
                    if file.id != 0 && !append {
                        delta.hidden.extend(catalog::runs_of(conn, file.id)?);
                    }
                    let run = if note.blocks.is_empty() {
                        None
                    } else {
                        let builder = match &mut builder {
                            Some(builder) => builder,
                            None => builder.insert(SegmentBuilder::new(target)?),
                        };
                        Some(builder.add(&file.path, &file.head, &file.tags, &note)?)
                    };
                    delta.files.push((file, run, pins));
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
        for run in &self.hidden {
            after.docs -= u64::from(run.count);
            after.text_terms -= run.text_terms;
            after.head_terms -= run.head_terms;
            after.sections -= run.sections;
        }
        for (file, run, _) in &self.files {
            after.files += u64::from(file.id == 0);
            if let Some(run) = run {
                after.docs += u64::from(run.count);
                after.text_terms += run.text_terms;
                after.head_terms += run.head_terms;
                after.sections += run.sections;
            }
        }
        after.files -= self.removed.len() as u64;
        after
    }

    /// `view` as it would be after the commit.
    pub fn overlay(&self, view: &View) -> Result<View, IndexError> {
        let mut after = view.clone();
        after.totals = self.totals(view.totals);
        let mut dead: HashMap<i64, Vec<&RunRow>> = HashMap::new();
        for run in &self.hidden {
            dead.entry(run.segment).or_default().push(run);
        }
        let touched: HashSet<i64> = dead.keys().copied().collect();
        for seg in after.segs.iter_mut().filter(|seg| touched.contains(&seg.id)) {
            let max = seg.reader.max_doc();
            let mut alive =
                seg.alive.clone().unwrap_or_else(|| tantivy::BitSet::with_max_value_and_full(max));
            for run in dead.remove(&seg.id).unwrap_or_default() {
                for doc in run.start..run.start + run.count {
                    alive.remove(doc);
                }
            }
            *seg = Arc::new(Seg { alive: Some(alive), memory: Vec::new(), ..Seg::clone(seg) });
        }
        after.hidden.extend(self.removed.iter().map(|file| file.id));
        after.hidden.extend(self.hidden.iter().map(|run| run.file));
        if let Some(segment) = &self.segment {
            let memory = self.files.iter().filter_map(|(file, run, _)| {
                let run = run.as_ref()?;
                Some(MemoryRun { file: file.clone(), run: run.row(file.id, 0) })
            });
            let reader = file::read_new(segment)?;
            let texts = Arc::new(Texts::open(&reader, 8)?);
            let (alive, memory, kept) = (None, memory.collect(), Arc::default());
            after.segs.push(Arc::new(Seg { id: 0, reader, texts, kept, alive, memory }));
        }
        Ok(after)
    }
}
