//! Opens a segment for reading ([`Seg`]), if its files are unchanged since they were sealed, and reads its postings,
//! rows and texts.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::index::SegmentId;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::store::StoreReader;
use tantivy::{BitSet, Directory, DocSet, Index, SegmentReader, TERMINATED, TantivyError, Term};

use crate::search::read::Block;
use crate::search::store::segment::{pack, schema};
use crate::search::store::{RANK, Rows, SEPARATOR, Seal, SegmentDirectory, SegmentRow, TEXT, seal};
use crate::search::{IndexError, Result};

/// Opens segments of the cache's folder.
#[derive(Debug, Clone)]
pub struct SegmentFiles {
    index: Index,
    /// The folder.
    pub root: PathBuf,
}

impl SegmentFiles {
    /// The folder `root`, which must exist.
    pub fn open(root: &Path) -> Result<Self> {
        let directory = SegmentDirectory::open(root).map_err(TantivyError::from)?;
        let index = Index::create(directory, schema::schema(), schema::settings())?;
        Ok(Self { index, root: root.to_owned() })
    }

    /// A handle of the segment, for merging.
    pub fn segment(&self, uuid: &str, docs: u32) -> Result<tantivy::Segment> {
        let id = SegmentId::from_uuid_string(uuid);
        let id = id.map_err(|_| IndexError::Torn(format!("`{uuid}` is no segment")))?;
        Ok(self.index.segment(self.index.new_segment_meta(id, docs)))
    }

    /// Opens the segment for reading, if its files are as sealed; `kept` unpacked blocks of its texts stay in memory.
    pub fn read(&self, row: &SegmentRow, kept: usize) -> Result<Seg> {
        let seals = seal::check_files(&self.root, &row.seals, false)?;
        Ok(Seg { seals: seals.into(), ..Seg::open(row.id, &self.segment(&row.uuid, row.docs)?, kept)? })
    }

    /// Whether nothing has written to the files of `seg` since it was opened. They are mapped, so a change in place would
    /// be seen by a query, and a read behind a new end would end the process.
    pub fn is_untouched(&self, seg: &Seg) -> bool {
        seg.seals.iter().all(|(name, seal)| seal.is_untouched(&self.root.join(name)))
    }
}

/// One open segment.
#[derive(Clone)]
pub struct Seg {
    /// Its number in the catalog; 0 for one in memory.
    pub id: i64,
    /// tantivy's name for it.
    pub uuid: String,
    /// tantivy's reader.
    pub reader: SegmentReader,
    /// The ranking's data on its blocks.
    pub rows: Arc<Rows>,
    /// The living documents, `None` if all are.
    pub alive: Option<BitSet>,
    /// The seals of its files as it was opened; none of a segment in memory.
    pub seals: Arc<[(String, Seal)]>,
    /// Its place in a corpus: the slot of its first document,
    pub first: u32,
    /// the number of its first note,
    pub file: u32,
    /// and the number of each of its speakers.
    pub authors: Vec<u32>,
    pub(in crate::search::store) texts: Arc<StoreReader>,
}

impl Seg {
    /// Opens a segment, all of whose documents live; `kept` unpacked blocks of its texts stay in memory.
    pub fn open(id: i64, segment: &tantivy::Segment, kept: usize) -> Result<Self> {
        let uuid = segment.id().uuid_string();
        let reader = SegmentReader::open(segment)?;
        // A damaged dictionary is told here, and isn't taken for one without the word.
        reader.inverted_index(TEXT)?;
        reader.inverted_index(RANK)?;
        let file = segment.index().directory().open_read(&schema::rows_file(&uuid));
        let bytes = file.map_err(TantivyError::from)?.read_bytes().map_err(TantivyError::from)?;
        let rows = Rows::new(bytes).filter(|rows| rows.len() == reader.max_doc() as usize);
        let rows = rows.ok_or_else(|| IndexError::Torn(format!("the rows of segment {uuid}")))?;
        let texts = Arc::new(reader.get_store_reader(kept).map_err(TantivyError::from)?);
        let (rows, seals, authors) = (Arc::new(rows), Arc::default(), Vec::new());
        Ok(Self { id, uuid, reader, rows, alive: None, seals, first: 0, file: 0, authors, texts })
    }

    /// The slots of its documents.
    pub fn slots(&self) -> Range<u32> {
        self.first..self.first + self.reader.max_doc()
    }

    /// Calls `each` with the documents of a term, dead ones among them, ascending, and with its count in each.
    ///
    /// # Errors
    /// tantivy's.
    pub fn each(&self, field: Field, term: &str, mut each: impl FnMut(u32, u32)) -> Result<()> {
        let inverted = self.reader.inverted_index(field)?;
        let term = Term::from_field_text(field, term);
        let found = inverted.read_postings(&term, IndexRecordOption::WithFreqs);
        let Some(mut postings) = found.map_err(TantivyError::from)? else { return Ok(()) };
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
    pub fn blocks(&self, note: usize) -> Result<Vec<Block>> {
        let torn = || IndexError::Torn(format!("the blocks of note {note} of segment {}", self.id));
        pack::unpack(self.rows.packed(note)).ok_or_else(torn)
    }

    /// The text of document `doc`, and its extra words.
    ///
    /// # Errors
    /// tantivy's; it is torn.
    pub fn text(&self, doc: u32) -> Result<(String, String)> {
        let bytes = self.texts.get_document_bytes(doc)?;
        let stored = std::str::from_utf8(&bytes);
        let stored = stored.map_err(|_| IndexError::Torn(format!("the text of document {doc}")))?;
        let (text, extra) = stored.split_once(SEPARATOR).unwrap_or((stored, ""));
        Ok((text.to_owned(), extra.to_owned()))
    }

    /// Marks documents as dead.
    pub fn bury(&mut self, start: u32, count: u32) {
        let max = self.reader.max_doc();
        let alive = self.alive.get_or_insert_with(|| BitSet::with_max_value_and_full(max));
        (start..start.saturating_add(count).min(max)).for_each(|doc| alive.remove(doc));
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
