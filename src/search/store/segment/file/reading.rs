//! Opens segments, and reads the texts of their blocks.
//!
//! A row of the catalog comes in. A reader goes out, if the files are as they were sealed.

use std::path::{Path, PathBuf};

use tantivy::index::SegmentId;
use tantivy::store::StoreReader;
use tantivy::{Directory, Index, SegmentReader};

use super::NewSegment;
use crate::search::IndexError;
use crate::search::store::catalog::SegmentRow;
use crate::search::store::corpus::rows::Rows;
use crate::search::store::seal;
use crate::search::store::segment::directory::SegmentDirectory;
use crate::search::store::segment::schema;
use crate::search::store::segment::schema::{Fields, SEPARATOR};

/// Opens segments of the cache's folder.
#[derive(Debug, Clone)]
pub struct SegmentFiles {
    index: Index,
    root: PathBuf,
}

impl SegmentFiles {
    /// The folder `root`, which must exist.
    pub fn open(root: &Path) -> Result<Self, IndexError> {
        let directory = SegmentDirectory::open(root).map_err(tantivy::TantivyError::from)?;
        let index = Index::create(directory, Fields::new().schema, schema::settings())?;
        Ok(Self { index, root: root.to_owned() })
    }

    /// A handle of the segment, for merging.
    pub fn segment(&self, row: &SegmentRow) -> Result<tantivy::Segment, IndexError> {
        let id = SegmentId::from_uuid_string(&row.uuid)
            .map_err(|_| IndexError::Torn(format!("`{}` is no segment", row.uuid)))?;
        Ok(self.index.segment(self.index.new_segment_meta(id, row.docs)))
    }

    /// Opens the segment for reading, if its files are what they were.
    pub fn read(&self, row: &SegmentRow) -> Result<(SegmentReader, Rows), IndexError> {
        seal::check_files(&self.root, &row.seals, false)?;
        let segment = self.segment(row)?;
        let reader = SegmentReader::open(&segment)?;
        let rows = rows_of(&reader, &segment)?;
        Ok((reader, rows))
    }
}

/// The rows of a segment.
///
/// # Errors
/// They can't be read, or are none.
pub fn rows_of(reader: &SegmentReader, segment: &tantivy::Segment) -> Result<Rows, IndexError> {
    let file = segment.index().directory().open_read(&schema::rows_file(&segment.id().uuid_string()));
    let bytes =
        file.map_err(tantivy::TantivyError::from)?.read_bytes().map_err(tantivy::TantivyError::from)?;
    let rows = Rows::new(bytes).filter(|rows| rows.len() == reader.max_doc() as usize);
    rows.ok_or_else(|| IndexError::Torn(format!("the rows of segment {}", segment.id().short_uuid_string())))
}

/// Opens a freshly written segment for reading.
pub fn read_new(new: &NewSegment) -> Result<(SegmentReader, Rows), IndexError> {
    let reader = SegmentReader::open(&new.segment)?;
    let rows = rows_of(&reader, &new.segment)?;
    Ok((reader, rows))
}

/// Reads back the texts of a segment's blocks.
pub struct Texts(StoreReader);

impl std::fmt::Debug for Texts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Texts").finish_non_exhaustive()
    }
}

impl Texts {
    /// The texts of one segment, `kept` unpacked blocks of them staying in memory.
    pub fn open(reader: &SegmentReader, kept: usize) -> Result<Self, IndexError> {
        Ok(Self(reader.get_store_reader(kept).map_err(tantivy::TantivyError::from)?))
    }

    /// The stored text of document `doc`: its own and, behind [`SEPARATOR`], its extra words.
    pub fn stored(&self, doc: u32) -> Result<String, IndexError> {
        let bytes = self.0.get_document_bytes(doc)?;
        let text = std::str::from_utf8(&bytes);
        Ok(text.map_err(|_| IndexError::Torn(format!("the text of document {doc}")))?.to_owned())
    }

    /// The text of document `doc`, and its extra words.
    pub fn text(&self, doc: u32) -> Result<(String, String), IndexError> {
        let mut stored = self.stored(doc)?;
        let Some(at) = stored.find(SEPARATOR) else { return Ok((stored, String::new())) };
        let extra = stored[at + 1..].to_owned();
        stored.truncate(at);
        Ok((stored, extra))
    }
}
