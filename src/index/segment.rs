//! Segments: writing one from blocks, opening one, reading a block's text back.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use tantivy::directory::RamDirectory;
use tantivy::index::SegmentId;
use tantivy::schema::Value;
use tantivy::{Directory, Index, SegmentReader, SingleSegmentIndexWriter, TantivyDocument};

use super::IndexError;
use super::block::{Block, Note};
use super::catalog::{FileRow, SegmentRow};
use super::directory::SegmentDirectory;
use super::pack;
use super::schema::{self, Counts, Fields, SEPARATOR};
use super::text::Analyzer;

/// The smallest arena that tantivy takes, in bytes.
const SMALL: usize = 15_000_000;

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
    /// The packed blocks.
    pub blocks: Vec<u8>,
}

/// A written segment.
#[derive(Debug, Clone)]
pub struct NewSegment {
    /// tantivy's index of this one segment.
    pub index: Index,
    /// Its name.
    pub uuid: String,
    /// Its documents.
    pub docs: u32,
}

/// Writes blocks into one segment.
pub struct SegmentBuilder {
    writer: SingleSegmentIndexWriter,
    fields: Fields,
    counts: Counts,
    docs: u32,
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
        let counts = Counts::default();
        let writer = Index::builder()
            .schema(fields.schema.clone())
            .settings(schema::settings())
            .tokenizers(schema::tokenizers(&counts))
            .single_segment_index_writer(directory, SMALL)?;
        Ok(Self { writer, fields, counts, docs: 0 })
    }

    /// Adds the blocks of a note.
    pub fn add(&mut self, path: &str, head: &str, tags: &str, note: &Note) -> Result<NewRun, IndexError> {
        let start = self.docs;
        // The path's half of the tie is the same for the whole note.
        let tie = schema::tie(path, 0);
        let mut section_head = String::new();
        let mut section: Option<&Arc<str>> = None;
        section_head.push_str(head);
        for block in &note.blocks {
            if block.section.as_ref() != section {
                section = block.section.as_ref();
                section_head = block_head(head, section.map(AsRef::as_ref));
            }
            let document = self.fields.document(
                block,
                &section_head,
                &filters(block, tags),
                tie | u64::from(block.line),
            );
            self.writer.add_document(document)?;
            self.docs += 1;
        }
        let (text_terms, head_terms) = self.counts.take();
        Ok(NewRun {
            start,
            count: self.docs - start,
            text_terms,
            head_terms,
            blocks: pack::pack(&note.blocks),
        })
    }

    /// Documents so far.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.writer.mem_usage()
    }

    /// Writes the segment's files.
    pub fn finish(self) -> Result<NewSegment, IndexError> {
        let index = self.writer.finalize()?;
        written(index)
    }
}

/// The one segment of a freshly written index.
pub fn written(index: Index) -> Result<NewSegment, IndexError> {
    let metas = index.searchable_segment_metas()?;
    let meta = metas.first().ok_or_else(|| IndexError::Torn("a written segment is missing".to_owned()))?;
    let (uuid, docs) = (meta.id().uuid_string(), meta.max_doc());
    Ok(NewSegment { index, uuid, docs })
}

/// The words of the `head` field: names of the note, then the headings above the block.
pub fn block_head(head: &str, section: Option<&str>) -> String {
    match section {
        Some(section) if !head.is_empty() => format!("{head}\n{section}"),
        // A log's or memory file's section stands in the text already.
        _ => head.to_owned(),
    }
}

/// The exact filters of a block; `tags` are the note's own, each followed by a space.
pub fn filters(block: &Block, tags: &str) -> Vec<String> {
    let mut filters = vec![format!("kind:{}", block.kind)];
    if let Some(role) = block.role {
        filters.push(format!("role:{}", role.as_str()));
    }
    let mut seen = HashSet::new();
    for tag in block.tags.iter().map(String::as_str).chain(tags.split(' ')).filter(|tag| !tag.is_empty()) {
        let tag = super::text::fold(tag);
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

/// Opens segments of the cache's folder.
#[derive(Debug, Clone)]
pub struct SegmentFiles {
    index: Index,
}

impl SegmentFiles {
    /// The folder `root`, which must exist.
    pub fn open(root: &Path) -> Result<Self, IndexError> {
        let directory = SegmentDirectory::open(root).map_err(tantivy::TantivyError::from)?;
        let index = Index::create(directory, Fields::new().schema, schema::settings())?;
        Ok(Self { index })
    }

    /// A handle of the segment, for merging.
    pub fn segment(&self, row: &SegmentRow) -> Result<tantivy::Segment, IndexError> {
        let id = SegmentId::from_uuid_string(&row.uuid)
            .map_err(|_| IndexError::Torn(format!("`{}` is no segment", row.uuid)))?;
        Ok(self.index.segment(self.index.new_segment_meta(id, row.docs)))
    }

    /// Opens the segment for reading.
    pub fn read(&self, row: &SegmentRow) -> Result<SegmentReader, IndexError> {
        Ok(SegmentReader::open(&self.segment(row)?)?)
    }
}

/// Opens a freshly written segment for reading.
pub fn read_new(segment: &NewSegment) -> Result<SegmentReader, IndexError> {
    let segments = segment.index.searchable_segments()?;
    let first =
        segments.first().ok_or_else(|| IndexError::Torn("a written segment is missing".to_owned()))?;
    Ok(SegmentReader::open(first)?)
}

/// Reads back what the `text` field stores.
pub struct Texts {
    store: tantivy::store::StoreReader,
    field: tantivy::schema::Field,
}

impl Texts {
    /// The texts of one segment.
    pub fn open(reader: &SegmentReader, fields: &Fields) -> Result<Self, IndexError> {
        let store = reader.get_store_reader(4).map_err(tantivy::TantivyError::from)?;
        Ok(Self { store, field: fields.text })
    }

    /// What is stored for document `doc`: its text and, behind [`SEPARATOR`], its extra words.
    pub fn stored(&self, doc: u32) -> Result<String, IndexError> {
        let document: TantivyDocument = self.store.get(doc)?;
        Ok(document.get_first(self.field).and_then(|value| value.as_str()).unwrap_or_default().to_owned())
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

/// Hands every different term that counts in document frequencies of one document to `emit`, as
/// tantivy's term bytes behind the field's number.
pub fn counted_terms(
    analyzer: &mut Analyzer,
    fields: &Fields,
    file: &FileRow,
    section: Option<&str>,
    stored: &str,
    emit: &mut dyn FnMut(&[u8]),
) {
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let head = block_head(&file.head, section);
    for (field, text, stems) in [(fields.text, stored, false), (fields.head, head.as_str(), true)] {
        schema::terms(analyzer, text, stems, &mut |term| {
            let mut key = Vec::with_capacity(term.len() + 1);
            key.push(field.field_id() as u8);
            key.extend_from_slice(term.as_bytes());
            if !seen.contains(&key) {
                emit(&key);
                seen.insert(key);
            }
        });
    }
}
