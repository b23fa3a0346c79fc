//! Holds the snapshot of the index that a query is answered from: open segments, their living documents, and exact
//! statistics.
//!
//! tantivy's own counts hold dead documents until a merge; ours don't. So the same vault gives the same scores whatever
//! its history: the number of documents, their lengths and each term's document frequency are those of the living
//! alone.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{BitSet, DocSet, SegmentReader, TERMINATED, Term};

use crate::search::IndexError;
use crate::search::read::block::Block;
use crate::search::store::catalog;
use crate::search::store::catalog::{FileRow, SegmentRow, Totals};
use crate::search::store::corpus::rows::{NoteRow, Rows};
use crate::search::store::segment::file::{SegmentFiles, Texts};
use crate::search::store::segment::pack;

/// Unpacked blocks of texts that stay in memory, of all segments together; 32 KB each.
const KEPT: usize = 128;

/// One open segment.
#[derive(Debug, Clone)]
pub struct Seg {
    /// Its number in the catalog; 0 for one in memory.
    pub id: i64,
    /// tantivy's reader.
    pub reader: SegmentReader,
    /// Its blocks' texts.
    pub texts: Arc<Texts>,
    /// The ranking's data on its blocks.
    pub rows: Arc<Rows>,
    /// The living documents, `None` if all are.
    pub alive: Option<BitSet>,
    /// The files of a segment that the catalog doesn't know.
    pub memory: Vec<FileRow>,
}

impl Seg {
    /// Calls `each` with the documents of a term, dead ones among them, ascending, and with its count in each.
    ///
    /// # Errors
    /// tantivy's.
    pub fn each(&self, term: &Term, mut each: impl FnMut(u32, u32)) -> Result<(), IndexError> {
        let inverted = self.reader.inverted_index(term.field())?;
        let found = inverted.read_postings(term, IndexRecordOption::WithFreqs);
        let Some(mut postings) = found.map_err(tantivy::TantivyError::from)? else { return Ok(()) };
        while postings.doc() != TERMINATED {
            each(postings.doc(), postings.term_freq());
            postings.advance();
        }
        Ok(())
    }

    /// The blocks of the note at this place among its rows, without texts.
    ///
    /// # Errors
    /// They are torn.
    pub fn blocks(&self, note: usize) -> Result<Vec<Block>, IndexError> {
        let torn = |_| IndexError::Torn(format!("the blocks of note {note} of segment {}", self.id));
        pack::unpack(self.rows.packed(note)).map_err(torn)
    }

    /// How many of its documents live.
    pub fn living(&self) -> u64 {
        self.alive.as_ref().map_or(u64::from(self.reader.max_doc()), |alive| alive.len() as u64)
    }

    /// Whether document `doc` lives.
    pub fn is_alive(&self, doc: u32) -> bool {
        self.alive.as_ref().is_none_or(|alive| alive.contains(doc))
    }
}

/// The segments and numbers that a query is answered from.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Numbers of the living.
    pub totals: Totals,
    /// The segments.
    pub segs: Vec<Arc<Seg>>,
    /// Paths of the files that this view sees otherwise than the catalog, or not at all any more.
    pub hidden: HashSet<String>,
}

/// A block's place: what [`View::resolve`] makes a block of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocRef {
    /// Place of the segment in [`View::segs`].
    pub seg: usize,
    /// Document in it.
    pub doc: u32,
}

/// Open readers by segment, kept from one view to the next.
#[derive(Debug, Default)]
pub struct Readers(Mutex<HashMap<String, Opened>>);

type Opened = (SegmentReader, Arc<Texts>, Arc<Rows>);

impl Readers {
    fn get(&self, files: &SegmentFiles, row: &SegmentRow, kept: usize) -> Result<Opened, IndexError> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(&row.uuid) {
            return Ok(known.clone());
        }
        let (reader, rows) = files.read(row)?;
        let texts = Arc::new(Texts::open(&reader, kept)?);
        let opened = (reader, texts, Arc::new(rows));
        open.insert(row.uuid.clone(), Opened::clone(&opened));
        Ok(opened)
    }

    fn keep_only(&self, rows: &[SegmentRow]) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|uuid, _| rows.iter().any(|row| row.uuid == *uuid));
    }
}

impl View {
    /// The committed index as the open transaction of `conn` sees it.
    pub fn load(conn: &Connection, files: &SegmentFiles, readers: &Readers) -> Result<Self, IndexError> {
        let totals = catalog::totals(conn)?;
        let rows = catalog::segments(conn)?;
        let mut dead = catalog::dead(conn)?;
        readers.keep_only(&rows);
        let mut segs = Vec::with_capacity(rows.len());
        for row in &rows {
            let (reader, texts, rows) = readers.get(files, row, (KEPT / rows.len()).clamp(8, 48))?;
            let alive = dead.remove(&row.id).map(|ranges| {
                let mut alive = BitSet::with_max_value_and_full(row.docs);
                for doc in ranges.into_iter().flat_map(|(start, count)| start..start.saturating_add(count)) {
                    alive.remove(doc.min(row.docs.saturating_sub(1)));
                }
                alive
            });
            segs.push(Arc::new(Seg { id: row.id, reader, texts, rows, alive, memory: Vec::new() }));
        }
        Ok(Self { totals, segs, hidden: HashSet::new() })
    }

    /// The mean length of a living document, as ranking counts it.
    pub fn mean_length(&self) -> f64 {
        let terms: u64 = self.notes().map(|note| u64::from(note.terms)).sum();
        (terms as f64 / self.totals.docs.max(1) as f64).max(1.0)
    }

    /// The block of a document without its text, and its file.
    pub fn resolve(&self, conn: &Connection, at: DocRef) -> Result<(FileRow, Block), IndexError> {
        let seg = &self.segs[at.seg];
        let torn = || IndexError::Torn(format!("document {} of segment {} is of no note", at.doc, seg.id));
        let note = seg.rows.note_of(at.doc).ok_or_else(torn)?;
        let row = &seg.rows.notes()[note];
        let file = match seg.id {
            0 => seg.memory.iter().find(|file| *file.path == *row.path).cloned(),
            _ => catalog::file(conn, &row.path)?,
        };
        let block = seg.blocks(note)?.into_iter().nth((at.doc - row.start) as usize);
        Ok((file.ok_or_else(torn)?, block.ok_or_else(torn)?))
    }

    /// The living notes.
    pub fn notes(&self) -> impl Iterator<Item = &NoteRow> {
        let living = |seg: &'_ Arc<Seg>, note: &NoteRow| seg.is_alive(note.start);
        self.segs.iter().flat_map(move |seg| seg.rows.notes().iter().filter(move |note| living(seg, note)))
    }

    /// A document's number among those of all segments.
    pub fn number(&self, at: DocRef) -> u32 {
        self.segs[..at.seg].iter().map(|seg| seg.reader.max_doc()).sum::<u32>() + at.doc
    }

    /// The text of a document, and its extra words.
    pub fn text(&self, at: DocRef) -> Result<(String, String), IndexError> {
        self.segs[at.seg].texts.text(at.doc)
    }
}
