//! Segments: writing one from blocks, opening one, reading a block's text back.
//!
//! A segment's files are tantivy's, written with tantivy's own serializers from terms gathered in
//! [`Postings`], so tantivy reads and merges them as any other. A section's heading words stand there
//! once, whatever the number of its blocks, which no document of tantivy's can say.
//!
//! `reading` opens what was written.

mod reading;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use tantivy::columnar::{ColumnType, ColumnarWriter};
use tantivy::directory::{RamDirectory, TerminatingWrite, WritePtr};
use tantivy::fieldnorm::{FieldNormReader, FieldNormsSerializer};
use tantivy::index::SegmentComponent;
use tantivy::postings::{FieldSerializer, InvertedIndexSerializer};
use tantivy::store::StoreWriter;
use tantivy::{Directory, Index, Segment};

use crate::search::IndexError;
use crate::search::analyze::text;
use crate::search::analyze::text::Analyzer;
use crate::search::read::block::{Block, Kind, Note};
use crate::search::store::catalog::RunRow;
use crate::search::store::postings::{Postings, decode};
use crate::search::store::seal;
use crate::search::store::segment::directory::SegmentDirectory;
use crate::search::store::segment::schema::Fields;
use crate::search::store::segment::{pack, schema};
pub use reading::{SegmentFiles, Texts, read_new};

/// Where a new segment goes.
#[derive(Debug, Clone)]
pub enum Target {
    /// To the cache.
    Disk(std::path::PathBuf),
    /// To memory, for an answer that can't be committed.
    Memory,
}

/// A stretch of a note's blocks in a segment that is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// The first document's number.
    pub start: u32,
    /// How many.
    pub count: u32,
    /// Terms in `text`.
    pub text_terms: u64,
    /// Terms in `head`.
    pub head_terms: u64,
    /// Sections with terms in `head`.
    pub sections: u64,
    /// The packed blocks.
    pub blocks: Vec<u8>,
}

impl NewRun {
    /// The row of the catalog that says where it stands: in `segment`, of `file`.
    pub fn row(&self, file: i64, segment: i64) -> RunRow {
        let Self { start, count, text_terms, head_terms, sections, .. } = *self;
        RunRow {
            id: 0,
            file,
            segment,
            start,
            count,
            text_terms,
            head_terms,
            sections,
            blocks: self.blocks.clone(),
        }
    }
}

/// A written segment.
#[derive(Debug, Clone)]
pub struct NewSegment {
    /// Its files.
    pub segment: Segment,
    /// Its name.
    pub uuid: String,
    /// Its documents.
    pub docs: u32,
    /// The seals of its files; empty in memory.
    pub seals: String,
}

/// Writes blocks into one segment.
pub struct SegmentBuilder {
    segment: Segment,
    fields: Fields,
    analyzer: Analyzer,
    text: Postings,
    head: Postings,
    filter: Postings,
    /// The filter of each kind.
    kinds: [u32; Kind::ALL.len()],
    /// The terms of one block, or of its section's headings.
    found: Vec<u32>,
    /// Terms in all of `text`, and in all of `head`.
    terms: [u64; 2],
    /// The lengths of each document's `text` and `head`, as tantivy keeps them.
    norms: [Vec<u8>; 2],
    columns: ColumnarWriter,
    texts: StoreWriter,
    stored: String,
    docs: u32,
    root: Option<PathBuf>,
}

impl SegmentBuilder {
    /// An empty segment at `target`.
    pub fn new(target: &Target) -> Result<Self, IndexError> {
        let directory: Box<dyn Directory> = match target {
            Target::Disk(root) => {
                Box::new(SegmentDirectory::open(root).map_err(tantivy::TantivyError::from)?)
            }
            Target::Memory => Box::new(RamDirectory::create()),
        };
        let fields = Fields::new();
        let settings = schema::settings();
        let segment = Index::create(directory, fields.schema.clone(), settings.clone())?.new_segment();
        let file = segment.open_write(SegmentComponent::Store).map_err(tantivy::TantivyError::from)?;
        let texts = StoreWriter::new(file, settings.docstore_compression, settings.docstore_blocksize, false)
            .map_err(tantivy::TantivyError::from)?;
        let mut filter = Postings::default();
        let kinds = Kind::ALL.map(|kind| filter.id(&format!("kind:{kind}")));
        let mut columns = ColumnarWriter::default();
        columns.record_column_type("time", ColumnType::I64, false);
        columns.record_column_type("tie", ColumnType::U64, false);
        Ok(Self {
            segment,
            fields,
            analyzer: Analyzer::new(),
            text: Postings::default(),
            head: Postings::default(),
            filter,
            kinds,
            found: Vec::new(),
            terms: [0; 2],
            norms: [Vec::new(), Vec::new()],
            columns,
            texts,
            stored: String::new(),
            docs: 0,
            root: if let Target::Disk(root) = target { Some(root.clone()) } else { None },
        })
    }

    /// Adds the blocks of a note.
    pub fn add(&mut self, path: &str, head: &str, tags: &str, note: &Note) -> Result<NewRun, IndexError> {
        let (start, [text_terms, head_terms], mut sections) = (self.docs, self.terms, 0);
        if let Some(first) = note.blocks.first() {
            self.columns.record_numerical(start, "tie", schema::tie(path, first.line));
        }
        for section in sections_of(&note.blocks) {
            for block in section {
                self.block(block, tags)?;
            }
            sections += u64::from(self.heading(head, section) > 0);
        }
        Ok(NewRun {
            start,
            count: self.docs - start,
            text_terms: self.terms[0] - text_terms,
            head_terms: self.terms[1] - head_terms,
            sections,
            blocks: pack::pack(&note.blocks),
        })
    }

    fn block(&mut self, block: &Block, tags: &str) -> Result<(), IndexError> {
        let doc = self.docs;
        self.docs += 1;
        schema::stored(block, &mut self.stored);
        self.texts.store_bytes(self.stored.as_bytes()).map_err(tantivy::TantivyError::from)?;
        let Self { analyzer, text, found, .. } = self;
        found.clear();
        schema::terms(analyzer, &self.stored, false, &mut |term| found.push(text.id(term)));
        text.add(doc, found);
        self.terms[0] += found.len() as u64;
        self.norms[0].push(FieldNormReader::fieldnorm_to_id(found.len() as u32));
        self.norms[1].push(0);
        let mut filters = vec![self.kinds[block.kind as usize]];
        filters.extend(block.role.map(|role| self.filter.id(&format!("role:{}", role.as_str()))));
        filters.extend(tag_filters(block, tags).iter().map(|tag| self.filter.id(tag)));
        self.filter.add(doc, &mut filters);
        if let Some(time) = block.time {
            self.columns.record_numerical(doc, "time", time);
        }
        Ok(())
    }

    /// The heading words of the section whose blocks were the last; how many.
    fn heading(&mut self, head: &str, section: &[Block]) -> u32 {
        let (last, blocks) = (self.docs - 1, section.len() as u32);
        let words = block_head(head, section[0].section.as_deref());
        let Self { analyzer, head: postings, found, .. } = self;
        found.clear();
        schema::terms(analyzer, &words, true, &mut |term| found.push(postings.id(term)));
        found.iter().for_each(|term| postings.push(*term, last, blocks));
        let terms = found.len() as u32;
        self.norms[1][last as usize] = FieldNormReader::fieldnorm_to_id(terms);
        self.terms[1] += u64::from(terms);
        terms
    }

    /// Documents so far.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        [&self.text, &self.head, &self.filter].into_iter().map(Postings::memory).sum::<usize>()
            + self.norms.iter().map(Vec::len).sum::<usize>()
            + self.columns.mem_usage()
            + self.texts.mem_usage()
    }

    /// Writes the segment's files.
    pub fn finish(self) -> Result<NewSegment, IndexError> {
        let Self {
            segment, fields, text, head, terms, filter, norms, mut columns, texts, docs, root, ..
        } = self;
        let segment = segment.with_max_doc(docs);
        let failed = |error: io::Error| IndexError::from(tantivy::TantivyError::from(error));
        texts.close().map_err(failed)?;
        let mut lengths = FieldNormsSerializer::from_write(open(&segment, SegmentComponent::FieldNorms)?)
            .map_err(failed)?;
        for (field, norms) in [fields.text, fields.head].into_iter().zip(&norms) {
            lengths.serialize_field(field, norms).map_err(failed)?;
        }
        lengths.close().map_err(failed)?;
        let mut inverted = InvertedIndexSerializer::open(&segment)?;
        for (field, postings, terms) in
            [(fields.text, text, terms[0]), (fields.head, head, terms[1]), (fields.filter, filter, 0)]
        {
            let mut written = inverted.new_field(field, terms, None).map_err(failed)?;
            write(&postings, &mut written, field != fields.filter).map_err(failed)?;
            written.close().map_err(failed)?;
        }
        inverted.close().map_err(failed)?;
        let mut file = open(&segment, SegmentComponent::FastFields)?;
        columns.serialize(docs, None, &mut file).map_err(failed)?;
        file.terminate().map_err(failed)?;
        let uuid = segment.id().uuid_string();
        let seals = root.as_ref().map(|root| seals(&uuid, root)).transpose()?.unwrap_or_default();
        Ok(NewSegment { segment, uuid, docs, seals })
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

fn open(segment: &Segment, component: SegmentComponent) -> Result<WritePtr, IndexError> {
    Ok(segment.open_write(component).map_err(tantivy::TantivyError::from)?)
}

/// The one segment of a freshly merged index.
pub fn written(index: &Index, root: &Path) -> Result<NewSegment, IndexError> {
    let segment = index.searchable_segments()?.into_iter().next();
    let segment = segment.ok_or_else(|| IndexError::Torn("a written segment is missing".to_owned()))?;
    let (uuid, docs) = (segment.id().uuid_string(), segment.meta().max_doc());
    let seals = self::seals(&uuid, root)?;
    Ok(NewSegment { segment, uuid, docs, seals })
}

fn seals(uuid: &str, root: &Path) -> Result<String, IndexError> {
    let sealed = std::fs::read_dir(root).and_then(|entries| {
        let names = entries.flatten().map(|entry| entry.file_name());
        let own: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(uuid)).collect();
        seal::of_files(root, own.iter().map(Path::new))
    });
    sealed.map_err(|error| IndexError::cache(root, error))
}

/// The sections of a note: neighbouring blocks under the same headings.
pub fn sections_of(blocks: &[Block]) -> impl Iterator<Item = &[Block]> {
    blocks.chunk_by(|a, b| a.section == b.section)
}

/// The words of the `head` field: names of the note, then the headings above the block.
pub fn block_head(head: &str, section: Option<&str>) -> String {
    match section {
        Some(section) if !head.is_empty() => format!("{head}\n{section}"),
        // A log's or memory file's section stands in the text already.
        _ => head.to_owned(),
    }
}

/// The exact filters that a block's tags give; `tags` are the note's own, each followed by a space.
fn tag_filters(block: &Block, tags: &str) -> Vec<String> {
    let mut filters = Vec::new();
    if block.tags.is_empty() && tags.is_empty() {
        return filters;
    }
    let mut seen = HashSet::new();
    for tag in block.tags.iter().map(String::as_str).chain(tags.split(' ')).filter(|tag| !tag.is_empty()) {
        let tag = text::fold(tag);
        let mut ends: Vec<usize> = tag.match_indices('/').map(|(at, _)| at).collect();
        ends.push(tag.len());
        for end in ends {
            if seen.insert(tag[..end].to_owned()) {
                filters.push(format!("tag:{}", &tag[..end]));
            }
        }
    }
    filters
}

#[cfg(test)]
mod tests;
