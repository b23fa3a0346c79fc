//! Holds one state of the vault's blocks ([`Corpus`]): a commit of the index, or such a commit with newer files added.
//! A corpus consists of open segments and their living documents (those not deleted), with exact statistics. Each
//! question is answered from one corpus.
//!
//! tantivy's own counts include deleted documents until a merge; those of the corpus don't. So the scores depend on the
//! present vault alone, not on its history.
//!
//! Blocks are numbered by *slots*: the documents of all segments, one segment after the other. The blocks of a note
//! have consecutive slots in their order, so the neighbours of a turn are the adjacent slots. Deleted notes keep their
//! slots until their segment is merged. [`crate::search::store::blocks`] reads the data of a slot.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use rusqlite::Connection;

use crate::search::analyze::Authors;
use crate::search::read::Block;
use crate::search::read::block::ParsedNote;
use crate::search::store::{
    FileRow, LastCommit, NoteRow, RowInputs, Seg, SegmentBuilder, SegmentFiles, catalog,
};
use crate::search::{IndexError, Result};

/// Unpacked blocks of texts that stay in memory, of all segments together; 32 KB each.
const KEPT: usize = 128;

/// The segments and numbers that a question is answered from.
#[derive(Clone, Default)]
pub struct Corpus {
    /// The commit that it is of.
    pub commit: LastCommit,
    /// The files that this corpus sees otherwise than the catalog, by path; `None` for one that is gone.
    pub newer: BTreeMap<String, Option<FileRow>>,
    /// The segments; [`Corpus::add`] adds one.
    pub(in crate::search) segs: Vec<Seg>,
    /// The first slot of each segment.
    pub(super) firsts: Vec<u32>,
    pub(super) authors: Authors,
}

/// One note of the corpus.
#[derive(Debug, Clone)]
pub struct CorpusNote<'a> {
    /// Its number.
    pub number: u32,
    /// Its row in its segment.
    pub row: &'a NoteRow,
    /// Its slots.
    pub slots: Range<u32>,
}

/// A block of a corpus, without its text (see [`crate::search::Snapshot::text`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its slot.
    pub slot: u32,
    /// Its data; `text` and `extra` are empty.
    pub block: Block,
}

impl std::fmt::Debug for Corpus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Corpus").field("blocks", &self.len()).finish_non_exhaustive()
    }
}

impl Corpus {
    /// The committed index as the open transaction of `conn` sees it. Segments that are open in the corpus `before`
    /// aren't opened again, unless something wrote to their files.
    ///
    /// # Errors
    /// SQLite's and tantivy's; a segment isn't what was written.
    pub fn load(conn: &Connection, files: &SegmentFiles, before: Option<&Self>) -> Result<Self> {
        let mut corpus = Self { commit: catalog::last_commit(conn)?, ..Self::default() };
        let rows = catalog::segments(conn)?;
        let dead = catalog::dead(conn, &corpus.commit)?;
        for row in &rows {
            let known = before.and_then(|before| before.segs.iter().find(|seg| seg.uuid == row.uuid));
            let known = known.filter(|seg| files.is_untouched(seg));
            let open = || files.read(row, (KEPT / rows.len()).clamp(8, 48));
            let mut seg = Seg { id: row.id, alive: None, ..known.cloned().map_or_else(open, Ok)? };
            for (_, start, count) in dead.iter().filter(|(segment, ..)| *segment == row.id) {
                seg.bury(*start, *count);
            }
            corpus.add(seg);
        }
        Ok(corpus)
    }

    /// Adds a segment behind all others.
    pub fn add(&mut self, seg: Seg) {
        let first = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let file = u32::try_from(self.note_count()).unwrap_or(u32::MAX);
        let authors = seg.rows.authors().iter().map(|name| self.authors.of_key(name)).collect();
        self.firsts.push(first);
        self.segs.push(Seg { first, file, authors, ..seg });
    }

    /// Adds notes as one segment in memory, each in the place of its last version. For tests and benches; a
    /// [`crate::search::store::commit::Delta`] does that for the program.
    ///
    /// # Errors
    /// tantivy's.
    pub fn put(&mut self, notes: impl IntoIterator<Item = (String, ParsedNote)>) -> Result<()> {
        let mut builder = SegmentBuilder::new(None, &RowInputs::default())?;
        for (path, note) in notes {
            builder.add(&path, &note)?;
            let old: Vec<_> = self.slots_of(&[path]).collect();
            old.iter().for_each(|slots| self.bury(slots));
        }
        self.add(Seg::open(0, &builder.finish()?, 8)?);
        Ok(())
    }

    /// How many blocks, dead ones included; one more than the largest slot.
    pub fn len(&self) -> usize {
        self.segs.last().map_or(0, |last| last.slots().end as usize)
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many notes, dead versions included; one more than the largest number of a note.
    pub(in crate::search) fn note_count(&self) -> usize {
        self.segs.last().map_or(0, |last| last.file as usize + last.rows.notes().len())
    }

    /// The note with this number.
    pub(in crate::search) fn note(&self, number: u32) -> CorpusNote<'_> {
        let seg = self.seg_of_note(number);
        seg.note(number, &seg.rows.notes()[(number - seg.file) as usize])
    }

    fn seg_of_note(&self, number: u32) -> &Seg {
        &self.segs[self.segs.partition_point(|seg| seg.file <= number).saturating_sub(1)]
    }

    /// The living notes.
    pub fn notes(&self) -> impl Iterator<Item = CorpusNote<'_>> {
        self.segs.iter().flat_map(|seg| {
            let notes = (seg.file..).zip(seg.rows.notes()).filter(move |(_, row)| seg.is_alive(row.start));
            notes.map(move |(number, row)| seg.note(number, row))
        })
    }

    /// The slots of the notes at some paths.
    pub(super) fn slots_of(&self, paths: &[String]) -> impl Iterator<Item = Range<u32>> {
        let paths: HashSet<&str> = paths.iter().map(String::as_str).collect();
        self.notes().filter(move |note| paths.contains(&*note.row.path)).map(|note| note.slots)
    }

    /// Lets the blocks of a note die.
    pub(super) fn bury(&mut self, slots: &Range<u32>) {
        if let Some(seg) = self.segs.iter_mut().find(|seg| seg.slots().contains(&slots.start)) {
            seg.bury(slots.start - seg.first, slots.end - slots.start);
        }
    }

    /// The blocks of a note in their order, with their slots, without their texts.
    ///
    /// # Errors
    /// They are torn.
    pub(in crate::search) fn blocks_of(&self, note: &CorpusNote<'_>) -> Result<Vec<Stored>> {
        let seg = self.seg_of_note(note.number);
        let blocks = seg.blocks((note.number - seg.file) as usize)?;
        Ok(note.slots.clone().zip(blocks).map(|(slot, block)| Stored { slot, block }).collect())
    }

    /// The speakers of a note, by number.
    pub(in crate::search) fn speakers(&self, note: u32) -> impl Iterator<Item = u32> {
        let (seg, row) = (self.seg_of_note(note), self.note(note).row);
        row.authors.iter().filter_map(move |id| seg.authors.get(*id as usize).copied())
    }

    /// How many blocks live.
    pub(in crate::search) fn docs(&self) -> u64 {
        self.segs.iter().map(Seg::living).sum()
    }

    /// The mean length of a living document, as ranking counts it.
    pub fn mean_length(&self) -> f32 {
        let terms: u64 = self.notes().map(|note| u64::from(note.row.terms)).sum();
        (terms as f64 / self.docs().max(1) as f64).max(1.0) as f32
    }

    /// The block of a slot, without its text, and its file.
    ///
    /// # Errors
    /// SQLite's; the rows of the segment are torn.
    pub fn resolve(&self, conn: &Connection, slot: u32) -> Result<(FileRow, Block)> {
        let (seg, doc) = self.place(slot);
        let torn = || IndexError::Torn(format!("document {doc} of segment {} is of no note", seg.id));
        let note = seg.rows.note_of(doc).ok_or_else(torn)?;
        let row = &seg.rows.notes()[note];
        let file = match seg.id {
            0 => self.newer.get(&*row.path).cloned().flatten(),
            _ => catalog::file(conn, &row.path)?,
        };
        let block = seg.blocks(note)?.into_iter().nth((doc - row.start) as usize);
        Ok((file.ok_or_else(torn)?, block.ok_or_else(torn)?))
    }

    /// The text of a block, and its extra words.
    ///
    /// # Errors
    /// tantivy's; it is torn.
    pub fn text(&self, slot: u32) -> Result<(String, String)> {
        let (seg, doc) = self.place(slot);
        seg.text(doc)
    }

    /// A slot's segment, and its document there.
    #[inline(always)]
    pub(in crate::search) fn place(&self, slot: u32) -> (&Seg, u32) {
        let at = self.firsts.partition_point(|first| *first <= slot).saturating_sub(1);
        (&self.segs[at], slot - self.firsts[at])
    }
}

impl Seg {
    fn note<'s>(&'s self, number: u32, row: &'s NoteRow) -> CorpusNote<'s> {
        let start = self.first + row.start;
        CorpusNote { number, row, slots: start..start + row.count }
    }
}
