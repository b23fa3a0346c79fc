//! What every query needs of a segment beside its postings: times, ties, and which documents are comments.

use std::sync::OnceLock;

use tantivy::columnar::Column;
use tantivy::schema::IndexRecordOption;
use tantivy::{BitSet, DocSet, SegmentReader, TERMINATED, Term};

use crate::search::IndexError;
use crate::search::store::segment::schema::Fields;

/// What every query needs of a segment, read when the first one does.
#[derive(Debug, Default)]
pub struct Kept {
    columns: OnceLock<Columns>,
    comments: OnceLock<Option<BitSet>>,
}

impl Kept {
    /// The segment's times and ties.
    pub fn columns(&self, reader: &SegmentReader) -> Result<&Columns, IndexError> {
        if self.columns.get().is_none() {
            let _ = self.columns.set(Columns::open(reader)?);
        }
        self.columns.get().ok_or_else(|| IndexError::Torn("a segment has no columns".to_owned()))
    }

    /// The comments of the segment, if it has any.
    pub fn comments(&self, reader: &SegmentReader, fields: &Fields) -> Result<Option<&BitSet>, IndexError> {
        if self.comments.get().is_none() {
            let _ = self.comments.set(comments(reader, fields)?);
        }
        Ok(self.comments.get().and_then(Option::as_ref))
    }
}

fn comments(reader: &SegmentReader, fields: &Fields) -> Result<Option<BitSet>, IndexError> {
    let term = Term::from_field_text(fields.filter, "kind:comment");
    let inverted = reader.inverted_index(fields.filter)?;
    let postings = inverted.read_postings(&term, IndexRecordOption::Basic);
    let Some(mut postings) = postings.map_err(tantivy::TantivyError::from)? else { return Ok(None) };
    let mut comments = BitSet::with_max_value(reader.max_doc());
    while postings.doc() != TERMINATED {
        comments.insert(postings.doc());
        postings.advance();
    }
    Ok(Some(comments))
}

/// A segment's times and ties.
#[derive(Debug)]
pub struct Columns {
    times: Option<Column<i64>>,
    ties: Option<Column<u64>>,
}

impl Columns {
    /// Those of a segment.
    pub fn open(reader: &SegmentReader) -> Result<Self, IndexError> {
        let fast = reader.fast_fields();
        Ok(Self { times: fast.column_opt::<i64>("time")?, ties: fast.column_opt::<u64>("tie")? })
    }

    /// When a document is dated; [`i64::MIN`] without a date.
    pub fn time(&self, doc: u32) -> i64 {
        self.times.as_ref().and_then(|times| times.first(doc)).unwrap_or(i64::MIN)
    }

    /// The tie of the run that a document belongs to: the last that stands at or before it.
    pub fn tie(&self, doc: u32) -> u64 {
        let Some(ties) = &self.ties else { return u64::MAX };
        let rows = ties.index.docid_range_to_rowids(0..doc + 1);
        rows.end.checked_sub(1).map_or(u64::MAX, |row| ties.values.get_val(row))
    }
}
