//! Builds the ranking's corpus: from the segments of a view, or from passages in memory.

use std::sync::Arc;

use tantivy::SegmentReader;

use crate::embed::StaticModel;
use crate::search::IndexError;
use crate::search::store::corpus::blocks::{Corpus, TermFields};
use crate::search::store::corpus::note_rows::{Passage, RowInputs};
use crate::search::store::corpus::rows::Rows;
use crate::search::store::segment::file::{SegmentBuilder, Target, read_new};
use crate::search::store::segment::schema::Fields;
use crate::search::store::view::View;

impl Corpus {
    /// Of all blocks of a view, whose vectors are `table`'s: its parts are the view's segments.
    ///
    /// # Errors
    /// tantivy's.
    pub(in crate::search) fn of(view: &View, table: StaticModel) -> Result<Self, IndexError> {
        let mut corpus = Self::with(table);
        for seg in &view.segs {
            corpus.add_segment(&seg.reader, Arc::clone(&seg.rows), |doc| seg.is_alive(doc))?;
        }
        Ok(corpus)
    }

    fn add_segment(
        &mut self,
        reader: &SegmentReader,
        rows: Arc<Rows>,
        lives: impl Fn(u32) -> bool,
    ) -> Result<(), IndexError> {
        let Fields { rank, text, .. } = Fields::new();
        let terms = TermFields {
            rank: (reader.inverted_index(rank)?, rank),
            text: (reader.inverted_index(text)?, text),
        };
        self.add(rows, terms, lives);
        Ok(())
    }

    /// Takes notes in, each by its path in place of its last version, as one part in memory.
    ///
    /// # Errors
    /// tantivy's.
    pub fn put<'a>(
        &mut self,
        notes: impl IntoIterator<Item = (String, Vec<Passage<'a>>)>,
    ) -> Result<(), IndexError> {
        let basis = RowInputs { table: self.table.clone(), ..RowInputs::default() };
        let mut builder = SegmentBuilder::new(&Target::Memory, &basis)?;
        for (path, passages) in notes {
            self.forget(&path);
            builder.add_passages(&path, &passages);
        }
        let (reader, rows) = read_new(&builder.finish()?)?;
        self.add_segment(&reader, Arc::new(rows), |_| true)
    }
}
