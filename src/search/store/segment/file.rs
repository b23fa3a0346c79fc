//! Writes a segment from blocks.
//!
//! The segment's files are tantivy's, written with tantivy's own serializers from terms gathered in [`Postings`]. So
//! tantivy reads and merges them like any other segment. The words of a section's headings are indexed once for up to
//! 32 blocks of the section, which tantivy's own writer can't do. The segment has one more file, `NAME.rows`: for each
//! block it holds the data that ranking needs.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use tantivy::columnar::ColumnarWriter;
use tantivy::directory::{RamDirectory, TerminatingWrite};
use tantivy::fieldnorm::FieldNormsSerializer;
use tantivy::index::SegmentComponent;
use tantivy::postings::{FieldSerializer, InvertedIndexSerializer};
use tantivy::store::StoreWriter;
use tantivy::{Directory, Index, Segment, SegmentReader};

use crate::memory::Scope;
use crate::search::analyze::{Analyzer, text};
use crate::search::read::block::ParsedNote;
use crate::search::read::{Block, Kind};
use crate::search::store::segment::{pack, schema};
use crate::search::store::{
    FILTER, Gathered, NewRows, NewTerms, Postings, RANK, RowInputs, SegmentDirectory, TEXT, decode,
};
use crate::search::{IndexError, Result};

/// Writes blocks into one segment.
pub struct SegmentBuilder {
    segment: Segment,
    analyzer: Analyzer,
    text: Postings,
    filter: Postings,
    ranked: Gathered,
    /// The filter of each kind.
    kinds: [u32; Kind::ALL.len()],
    /// The terms of one block, or of its section's headings.
    found: Vec<u32>,
    texts: StoreWriter,
    stored: String,
    docs: u32,
}

impl SegmentBuilder {
    /// An empty segment in the folder `root` of the cache, or in memory for an answer that can't be committed. `basis`
    /// makes its rows.
    pub fn new(root: Option<&Path>, basis: &RowInputs) -> tantivy::Result<Self> {
        let directory: Box<dyn Directory> = match root {
            Some(root) => Box::new(SegmentDirectory::open(root)?),
            None => Box::new(RamDirectory::create()),
        };
        let settings = schema::settings();
        let segment = Index::create(directory, schema::schema(), settings.clone())?.new_segment();
        let file = segment.open_write(SegmentComponent::Store)?;
        let (compression, size) = (settings.docstore_compression, settings.docstore_blocksize);
        let texts = StoreWriter::new(file, compression, size, false)?;
        let mut filter = Postings::default();
        let kinds = Kind::ALL.map(|kind| filter.id(&format!("kind:{kind}")));
        let ranked = Gathered::new(basis.clone());
        let (analyzer, text, found, stored, docs) = Default::default();
        Ok(Self { segment, analyzer, text, filter, ranked, kinds, found, texts, stored, docs })
    }

    /// Adds the blocks of a note behind all others.
    pub fn add(&mut self, path: &str, note: &ParsedNote) -> tantivy::Result<()> {
        self.ranked.note(path, &note.head(), &note.blocks, &pack::pack(&note.blocks));
        note.blocks.iter().try_for_each(|block| self.block(block, &note.tags))
    }

    fn block(&mut self, block: &Block, tags: &[String]) -> tantivy::Result<()> {
        let doc = self.docs;
        self.docs += 1;
        schema::stored(block, &mut self.stored);
        self.texts.store_bytes(self.stored.as_bytes())?;
        let Self { analyzer, text, found, .. } = self;
        found.clear();
        schema::find_text_terms(analyzer, block, text, found);
        text.add(doc, found);
        let mut filters = vec![self.kinds[block.kind as usize]];
        filters.extend(block.role.map(|role| self.filter.id(&format!("role:{}", role.as_str()))));
        filters.extend(tag_filters(block, tags).iter().map(|tag| self.filter.id(tag)));
        let scopes = Scope::of_tags(block.tags.iter().map(String::as_str));
        if !scopes.is_empty() {
            filters.push(self.filter.id(schema::MARKED));
            filters.extend(schema::scope_filters(&scopes).map(|scope| self.filter.id(&scope)));
        }
        self.filter.add(doc, &mut filters);
        Ok(())
    }

    /// Writes the segment's files.
    pub fn finish(self) -> tantivy::Result<Segment> {
        let Self { segment, text, filter, ranked, texts, docs, .. } = self;
        let segment = segment.with_max_doc(docs);
        texts.close()?;
        // Lengths, times and order stand in the rows.
        FieldNormsSerializer::from_write(segment.open_write(SegmentComponent::FieldNorms)?)?.close()?;
        let mut inverted = InvertedIndexSerializer::open(&segment)?;
        let Gathered { rows, postings: stems, .. } = ranked;
        let mut of_stems = NewTerms::default();
        stems.sorted().into_iter().for_each(|(term, _)| of_stems.push(term.as_bytes()));
        for (field, postings) in [(TEXT, text), (FILTER, filter), (RANK, stems)] {
            let mut written = inverted.new_field(field, 0, None)?;
            write(&postings, &mut written, field == RANK)?;
            written.close()?;
        }
        inverted.close()?;
        let mut file = segment.open_write(SegmentComponent::FastFields)?;
        // No columns.
        ColumnarWriter::default().serialize(docs, None, &mut file)?;
        file.terminate()?;
        write_rows(&segment, &rows, &of_stems)?;
        Ok(segment)
    }
}

/// Writes all terms in order, with how often they stand where the field keeps it.
fn write(postings: &Postings, field: &mut FieldSerializer<'_>, keeps_times: bool) -> io::Result<()> {
    for (term, list) in postings.sorted() {
        field.new_term(term.as_bytes(), list.docs, keeps_times)?;
        decode(&list.packed, |doc, times| field.write_doc(doc, times, &[]));
        field.close_term()?;
    }
    Ok(())
}

/// Writes the rows of a segment beside it.
fn write_rows(segment: &Segment, rows: &NewRows, terms: &NewTerms) -> tantivy::Result<()> {
    let path = schema::rows_file(&segment.id().uuid_string());
    let mut file = segment.index().directory().open_write(&path)?;
    rows.write(terms, &mut file)?;
    Ok(file.terminate()?)
}

/// The one segment of a freshly merged index, with its `rows`.
pub fn written(index: &Index, rows: &NewRows) -> Result<Segment> {
    let segment = index.searchable_segments()?.into_iter().next();
    let segment = segment.ok_or_else(|| IndexError::Torn("a written segment is missing".to_owned()))?;
    let terms = SegmentReader::open(&segment)?.inverted_index(RANK)?;
    let mut all = terms.terms().stream().map_err(tantivy::TantivyError::from)?;
    let mut of_stems = NewTerms::default();
    while all.advance() {
        of_stems.push(all.key());
    }
    write_rows(&segment, rows, &of_stems)?;
    Ok(segment)
}

/// The exact filters that a block's tags give; `tags` are the note's own.
fn tag_filters(block: &Block, tags: &[String]) -> BTreeSet<String> {
    let mut filters = BTreeSet::new();
    for tag in block.tags.iter().chain(tags).filter(|tag| !tag.is_empty()) {
        let tag = text::fold(tag);
        let ends = tag.match_indices('/').map(|(at, _)| at).chain([tag.len()]);
        filters.extend(ends.map(|end| format!("tag:{}", &tag[..end])));
    }
    filters
}

#[cfg(test)]
mod tests;
