//! Turns changed files into a change of the index ([`Delta`]): a new segment with the new blocks, and the list of
//! deleted blocks. Commits changes, merges segments, and sweeps leftovers of a crash.
//!
//! A change is built without touching the committed index. So it can be committed or, if the index can't be written, be
//! added in memory for one answer. The commit is one SQLite transaction, made under `write.lock`. A merge changes no
//! answer: documents keep their texts, and deleted ones are dropped.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tantivy::directory::OwnedBytes;
use tantivy::fastfield::AliveBitSet;
use tantivy::{BitSet, Segment};

use crate::search::read::block::ParsedNote;
use crate::search::store::catalog;
use crate::search::store::segment::file;
use crate::search::store::segment::schema;
use crate::search::store::{
    Corpus, FileRow, LastCommit, NewRows, RowInputs, Seg, SegmentBuilder, SegmentDirectory, SegmentFiles,
    seal,
};
use crate::search::{IndexError, Result};

/// As many segments of about one size are merged into one.
const FAN: usize = 6;

/// Commits changes of `corpus` in one step, with their segments' files in the folder `root`; `now` is in seconds since
/// 1970. If `anew` has a fingerprint, the changes replace the whole index.
pub fn commit(
    conn: &Connection,
    root: &Path,
    corpus: &Corpus,
    deltas: &[Delta],
    now: i64,
    anew: Option<&str>,
) -> Result<()> {
    let seals = deltas.iter().map(|delta| delta.segment.as_ref().map(|new| seals_of(root, new)).transpose());
    let seals = seals.collect::<Result<Vec<_>>>()?;
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    let mut last = catalog::last_commit(&tx)?;
    if let Some(fingerprint) = anew {
        catalog::reset(&tx, fingerprint, last.generation)?;
        last = catalog::last_commit(&tx)?;
    }
    last.generation += 1;
    last.committed = now;
    for (delta, seals) in deltas.iter().zip(&seals) {
        put_delta(&tx, seals.as_deref(), corpus, delta)?;
    }
    catalog::set_last_commit(&tx, &last)?;
    fail::fail_point!("index-commit-end", |_| Err(IndexError::Interrupted));
    Ok(tx.commit()?)
}

fn put_delta(tx: &Connection, seals: Option<&str>, corpus: &Corpus, delta: &Delta) -> Result<()> {
    delta.segment.as_ref().zip(seals).map_or(Ok(()), |(new, seals)| put_new(tx, new, seals))?;
    for slots in corpus.slots_of(&delta.dying) {
        let (seg, start) = corpus.place(slots.start);
        catalog::put_dead(tx, seg.id, start, slots.end - slots.start)?;
    }
    fail::fail_point!("index-commit-middle", |_| Err(IndexError::Interrupted));
    for (path, file) in &delta.files {
        match file {
            Some(file) => catalog::put_file(tx, file)?,
            None => catalog::remove_file(tx, path)?,
        }
    }
    Ok(())
}

/// The seals of a new segment's files. Every byte is read, so this comes before the transaction.
fn seals_of(root: &Path, segment: &Segment) -> Result<String> {
    seal::of_files(root, &segment.id().uuid_string()).map_err(|error| IndexError::cache(root, error))
}

/// Lists a new segment, with the seals of its files.
fn put_new(tx: &Connection, segment: &Segment, seals: &str) -> Result<()> {
    catalog::put_segment(tx, &segment.id().uuid_string(), segment.meta().max_doc(), seals)
}

/// Segments worth merging into one now, with at most `most` living documents among them.
pub fn choose(corpus: &Corpus, most: u64) -> Option<Vec<usize>> {
    let living = |n: usize| corpus.segs[n].living();
    let level = |n: usize| living(n).max(64).ilog2() / 2;
    let mut all: Vec<usize> = (0..corpus.segs.len()).filter(|n| corpus.segs[*n].id != 0).collect();
    all.sort_by_key(|n| (living(*n), *n));
    let is_full = |at: &u32| all.iter().filter(|n| level(**n) == *at).count() >= FAN;
    // A full level takes the smaller ones with it, the smallest first, as far as they go.
    if let Some(full) = all.iter().map(|n| level(*n)).find(is_full) {
        let mut sum = 0;
        let fits = |n: &usize| {
            sum += living(*n);
            sum <= most
        };
        let of_level = all.iter().copied().filter(|n| level(*n) <= full);
        let mut chosen: Vec<usize> = of_level.take_while(fits).collect();
        if chosen.len() >= FAN {
            chosen.sort_unstable();
            return Some(chosen);
        }
    }
    // One that is mostly dead.
    let is_dead = |n: usize| living(n) * 2 <= u64::from(corpus.segs[n].reader.max_doc());
    all.into_iter().find(|n| is_dead(*n) && living(*n) <= most).map(|n| vec![n])
}

/// Merges the segments at the places `chosen` of `corpus` into one, and commits that; the write lock is held, and
/// `corpus` is the last commit's.
pub fn merge(conn: &Connection, corpus: &Corpus, files: &SegmentFiles, chosen: &[usize]) -> Result<()> {
    let (root, mut segments, mut filters) = (&files.root, Vec::new(), Vec::new());
    let mut copied = NewRows::default();
    let old = || chosen.iter().map(|n| &corpus.segs[*n]);
    for seg in old() {
        copied.copy(&seg.rows, |doc| seg.is_alive(doc));
        if seg.living() > 0 {
            segments.push(files.segment(&seg.uuid, seg.reader.max_doc())?);
            filters.push(seg.alive.as_ref().map(alive_set).transpose()?);
        }
    }
    let next = copied.metas.len();
    let new = if next > 0 {
        let directory = SegmentDirectory::open(root).map_err(tantivy::TantivyError::from)?;
        let directory: Box<dyn tantivy::Directory> = Box::new(directory);
        let index =
            tantivy::indexer::merge_filtered_segments(&segments, schema::settings(), filters, directory)?;
        Some(file::written(&index, &copied)?)
    } else {
        None
    };
    if new.as_ref().is_some_and(|new| new.meta().max_doc() as usize != next) {
        return Err(IndexError::Torn(format!("a merge of {next} documents gave another number")));
    }
    fail::fail_point!("index-merge-written", |_| Err(IndexError::Interrupted));
    let new = new.map(|new| Ok::<_, IndexError>((seals_of(root, &new)?, new))).transpose()?;
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    new.map_or(Ok(()), |(seals, new)| put_new(&tx, &new, &seals))?;
    old().try_for_each(|seg| catalog::remove_segment(&tx, seg.id))?;
    let last = catalog::last_commit(&tx)?;
    catalog::set_last_commit(&tx, &LastCommit { generation: last.generation + 1, ..last })?;
    fail::fail_point!("index-merge-end", |_| Err(IndexError::Interrupted));
    tx.commit()?;
    // The merge stands; what is left over goes with the next one.
    if let Err(error) = sweep(conn, root) {
        tracing::debug!(%error, "the files of merged segments are not removed yet");
    }
    Ok(())
}

/// Removes the files that no listed segment owns. Readers that have them open keep them. No process may be writing
/// segments meanwhile.
pub fn sweep(conn: &Connection, root: &Path) -> Result<()> {
    let listed: HashSet<String> =
        catalog::segments(conn)?.into_iter().map(|row| row.uuid.replace('-', "")).collect();
    for entry in std::fs::read_dir(root).map_err(|error| IndexError::cache(root, error))?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !listed.contains(name.split('.').next().unwrap_or_default()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}

fn alive_set(alive: &BitSet) -> Result<AliveBitSet> {
    let mut bytes = Vec::new();
    tantivy::fastfield::write_alive_bitset(alive, &mut bytes).map_err(tantivy::TantivyError::from)?;
    Ok(AliveBitSet::open(OwnedBytes::new(bytes)))
}

/// The change of a file.
#[derive(Debug)]
pub enum Change {
    /// It is no longer there.
    Removed(FileRow),
    /// Its bytes are as known; only what the file system says of it changed.
    Touched(FileRow),
    /// It is new, or other than before.
    Content {
        /// As it will be known.
        file: FileRow,
        /// Its blocks.
        note: ParsedNote,
    },
}

/// A change of the index, ready to be committed, or to be laid over a corpus without a commit.
#[derive(Debug, Default)]
pub struct Delta {
    /// Changed files by path; `None` for one that is gone.
    pub files: Vec<(String, Option<FileRow>)>,
    /// Paths of the notes whose blocks die.
    dying: Vec<String>,
    /// The segment of the new blocks.
    pub segment: Option<Segment>,
}

/// Gathers changes until they are a [`Delta`].
pub struct DeltaBuilder<'a> {
    root: Option<&'a Path>,
    basis: &'a RowInputs,
    delta: Delta,
    blocks: Option<SegmentBuilder>,
    /// The length of the files whose blocks it has.
    pub bytes: u64,
}

impl<'a> DeltaBuilder<'a> {
    /// A builder without changes; new blocks go to the folder `root`, or to memory.
    pub fn new(root: Option<&'a Path>, basis: &'a RowInputs) -> Self {
        Self { root, basis, delta: Delta::default(), blocks: None, bytes: 0 }
    }

    /// Adds a file's change.
    pub fn add(&mut self, change: Change) -> Result<()> {
        let delta = &mut self.delta;
        match change {
            Change::Removed(file) => {
                delta.dying.push(file.path.clone());
                delta.files.push((file.path, None));
            }
            Change::Touched(file) => delta.files.push((file.path.clone(), Some(file))),
            Change::Content { file, note } => {
                delta.dying.push(file.path.clone());
                if !note.blocks.is_empty() {
                    let blocks = match &mut self.blocks {
                        Some(blocks) => blocks,
                        None => self.blocks.insert(SegmentBuilder::new(self.root, self.basis)?),
                    };
                    blocks.add(&file.path, &note)?;
                    self.bytes += file.look.size;
                }
                delta.files.push((file.path.clone(), Some(file)));
            }
        }
        Ok(())
    }

    /// Writes the new blocks.
    pub fn finish(self) -> Result<Delta> {
        Ok(Delta { segment: self.blocks.map(SegmentBuilder::finish).transpose()?, ..self.delta })
    }
}

impl Delta {
    /// Computes the change that `changes` make to the index.
    pub fn build(changes: Vec<Change>, root: Option<&Path>, basis: &RowInputs) -> Result<Self> {
        let mut builder = DeltaBuilder::new(root, basis);
        changes.into_iter().try_for_each(|change| builder.add(change))?;
        builder.finish()
    }

    /// `corpus` as it would be after the commit.
    pub fn overlay(self, corpus: &Corpus) -> Result<Corpus> {
        let mut after = corpus.clone();
        corpus.slots_of(&self.dying).for_each(|slots| after.bury(&slots));
        after.newer.extend(self.files);
        if let Some(segment) = &self.segment {
            after.add(Seg::open(0, segment, 8)?);
        }
        Ok(after)
    }
}
