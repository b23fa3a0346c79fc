//! A snapshot of the index that a query is answered from: open segments, which of their documents
//! live, and exact statistics.
//!
//! tantivy's own counts hold dead documents until a merge; ours don't. So the same vault gives the same
//! scores whatever its history: the number of documents, their lengths and each term's document
//! frequency are those of the living alone. Where a segment has dead documents, a frequency is counted by going through
//! the term's postings.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{BitSet, DocSet, SegmentReader, TERMINATED, Term};

use crate::search::IndexError;
use crate::search::read::block::Block;
use crate::search::store::catalog;
use crate::search::store::catalog::{FileRow, RunRow, SegmentRow, Totals};
use crate::search::store::columns::Kept;
use crate::search::store::segment::file::{SegmentFiles, Texts};
use crate::search::store::segment::pack;
use crate::search::store::segment::schema::Fields;

/// Unpacked blocks of texts that stay in memory, of all segments together; 16 KB each.
const KEPT: usize = 256;

/// One open segment.
#[derive(Clone)]
pub struct Seg {
    /// Its number in the catalog; 0 for one in memory.
    pub id: i64,
    /// tantivy's reader.
    pub reader: SegmentReader,
    /// Its blocks' texts.
    pub texts: Arc<Texts>,
    /// What scoring needs of it each time.
    pub kept: Arc<Kept>,
    /// The living documents, `None` if all are.
    pub alive: Option<BitSet>,
    /// The runs of a segment that the catalog doesn't know.
    pub memory: Vec<MemoryRun>,
}

impl std::fmt::Debug for Seg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seg")
            .field("id", &self.id)
            .field("docs", &self.reader.max_doc())
            .finish_non_exhaustive()
    }
}

/// A run of a segment in memory, with its file.
#[derive(Debug, Clone)]
pub struct MemoryRun {
    /// The file.
    pub file: FileRow,
    /// Its run.
    pub run: RunRow,
}

impl Seg {
    /// Calls `each` with the documents of a term, dead ones among them, ascending, and how often it stands in each.
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

    /// Whether document `doc` lives.
    pub fn is_alive(&self, doc: u32) -> bool {
        self.alive.as_ref().is_none_or(|alive| alive.contains(doc))
    }
}

/// What a query is answered from.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Numbers of the living.
    pub totals: Totals,
    /// The segments.
    pub segs: Vec<Arc<Seg>>,
    /// Files that this view sees anew or not at any more, though the catalog has them.
    pub hidden: std::collections::HashSet<i64>,
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

type Opened = (SegmentReader, Arc<Texts>, Arc<Kept>);

impl Readers {
    fn get(&self, files: &SegmentFiles, row: &SegmentRow, kept: usize) -> Result<Opened, IndexError> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(&row.uuid) {
            return Ok(known.clone());
        }
        let reader = files.read(row)?;
        let texts = Arc::new(Texts::open(&reader, kept)?);
        let opened = (reader, texts, Arc::default());
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
            let (reader, texts, kept) = readers.get(files, row, (KEPT / rows.len()).clamp(8, 96))?;
            let alive = dead.remove(&row.id).map(|ranges| {
                let mut alive = BitSet::with_max_value_and_full(row.docs);
                for doc in ranges.into_iter().flat_map(|(start, count)| start..start.saturating_add(count)) {
                    alive.remove(doc.min(row.docs.saturating_sub(1)));
                }
                alive
            });
            segs.push(Arc::new(Seg { id: row.id, reader, texts, kept, alive, memory: Vec::new() }));
        }
        Ok(Self { totals, segs, hidden: std::collections::HashSet::new() })
    }

    /// How many living documents (of `head`: sections) hold `term`.
    pub fn doc_freq(&self, term: &Term) -> Result<u64, IndexError> {
        let mut living = 0;
        for seg in &self.segs {
            if seg.alive.is_none() {
                let inverted = seg.reader.inverted_index(term.field())?;
                living += u64::from(inverted.doc_freq(term).map_err(tantivy::TantivyError::from)?);
            } else {
                seg.each(term, |doc, _| living += u64::from(seg.is_alive(doc)))?;
            }
        }
        Ok(living)
    }

    /// The mean number of terms of a living document's `text`, or of a section's `head`.
    pub fn mean_length(&self, fields: &Fields, field: Field) -> f64 {
        let Totals { docs, text_terms, head_terms, sections, .. } = self.totals;
        let (terms, all) = if field == fields.head { (head_terms, sections) } else { (text_terms, docs) };
        (terms as f64 / all.max(1) as f64).max(1.0)
    }

    /// The run and the file that a document belongs to.
    pub fn run(&self, conn: &Connection, at: DocRef) -> Result<(FileRow, RunRow), IndexError> {
        let seg = &self.segs[at.seg];
        if seg.id == 0 {
            let next = seg.memory.partition_point(|memory| memory.run.start <= at.doc);
            let found = next.checked_sub(1).and_then(|n| seg.memory.get(n));
            let found =
                found.ok_or_else(|| IndexError::Torn("a document in memory has no run".to_owned()))?;
            return Ok((found.file.clone(), found.run.clone()));
        }
        let run = catalog::run_at(conn, seg.id, at.doc)?;
        Ok((catalog::file_by_id(conn, run.file)?, run))
    }

    /// The block of a document without its text, and its file.
    pub fn resolve(&self, conn: &Connection, at: DocRef) -> Result<(FileRow, Block), IndexError> {
        let (file, run) = self.run(conn, at)?;
        let block = unpack_one(&run, at.doc - run.start)?;
        Ok((file, block))
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

/// One block of a run, without its text.
pub fn unpack_one(run: &RunRow, at: u32) -> Result<Block, IndexError> {
    unpack(run)?.into_iter().nth(at as usize).ok_or_else(|| torn(run))
}

/// The blocks of a run, without texts.
pub fn unpack(run: &RunRow) -> Result<Vec<Block>, IndexError> {
    pack::unpack(&run.blocks).map_err(|_| torn(run))
}

fn torn(run: &RunRow) -> IndexError {
    IndexError::Torn(format!("the blocks of run {}", run.id))
}
