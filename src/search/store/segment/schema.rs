//! Defines the full-text schema: one document for each block, with three fields.
//!
//! - `rank`: the stems that ranking counts, without function words: of text, speaker's name, title and headings;
//! - `text`: the terms of the text that aren't in `rank`, such as function words and signs, and the terms of
//!   [`Block::extra`]; exact forms and stems, without counts;
//! - `filter`: `kind:…`, `tag:…`, `role:…`, `scope:…` as they are.
//!
//! So most words of a text are in one of the two fields only. The stored documents are the texts themselves
//! ([`stored`]).
//!
//! [`SegmentDirectory`] is tantivy's access to the files, without its waits for the disk. A segment's files are written
//! once and never changed. `index.sqlite` alone lists the files of the index, so tantivy's own list (`meta.json`) is
//! only in memory. No file is synced: after a crash of the machine, damaged files are made again from the notes.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::IndexSettings;
use tantivy::directory::error::{DeleteError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, FileHandle, MmapDirectory, RamDirectory, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::{Compressor, ZstdCompressor};

use crate::memory::Scope;
use crate::search::analyze::{Analyzer, Form, MARK, STEM, has_function_word, other_stem};
use crate::search::read::Block;
use crate::search::store::Postings;

/// The separator of a block's text and its extra words in the stored field.
pub const SEPARATOR: char = '\u{0}';

/// The words of a block that aren't in [`RANK`].
pub const TEXT: Field = Field::from_field_id(0);
/// The stems that ranking counts.
pub const RANK: Field = Field::from_field_id(1);
/// Exact filters.
pub const FILTER: Field = Field::from_field_id(2);

/// The schema, with [`TEXT`], [`RANK`] and [`FILTER`] in this order.
pub fn schema() -> Schema {
    use IndexRecordOption::{Basic, WithFreqs};
    let mut builder = Schema::builder();
    for (name, keeps) in [("text", Basic), ("rank", WithFreqs), ("filter", Basic)] {
        let indexing = TextFieldIndexing::default().set_tokenizer("raw").set_fieldnorms(false);
        let indexing = indexing.set_index_option(keeps);
        builder.add_text_field(name, TextOptions::default().set_indexing_options(indexing));
    }
    builder.build()
}

/// Writes the stored form of a block into `text`. Never empty: tantivy drops a store's last documents
/// where all of them are empty.
pub fn stored(block: &Block, text: &mut String) {
    text.clear();
    text.push_str(&block.text);
    if !block.extra.is_empty() || block.text.is_empty() {
        text.push(SEPARATOR);
        text.push_str(&block.extra);
    }
}

/// The filter of blocks that are marked with a scope of memories.
pub const MARKED: &str = "scope:";

/// The filters of blocks with the marks of these scopes: for each, first the scopes that it is nested in, then itself.
pub fn scope_filters<'s>(
    scopes: impl IntoIterator<Item = &'s Scope>,
) -> impl DoubleEndedIterator<Item = String> {
    let tags = scopes.into_iter().filter_map(Scope::tag).collect::<Vec<_>>();
    tags.into_iter().flat_map(|tag| {
        let tag = tag.trim_start_matches('#').to_lowercase();
        // The first part is the kind.
        let ends = tag.match_indices('/').map(|(at, _)| at).skip(1).chain([tag.len()]);
        ends.map(|end| format!("{MARKED}{}", &tag[..end])).collect::<Vec<_>>()
    })
}

/// The file of a segment's rows ([`crate::search::store::segment::rows`]).
pub fn rows_file(uuid: &str) -> PathBuf {
    PathBuf::from(format!("{}.rows", uuid.replace('-', "")))
}

/// tantivy's settings for every segment.
pub fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compress_dedicated_thread: false,
        // Small blocks are quick to take a text from.
        docstore_compression: Compressor::Zstd(ZstdCompressor { compression_level: Some(3) }),
        docstore_blocksize: 32_768,
        ..IndexSettings::default()
    }
}

/// Puts the numbers of a block's terms that aren't in [`RANK`] into `found`, by the `postings` of the field `text`.
pub fn find_text_terms(
    analyzer: &mut Analyzer,
    block: &Block,
    postings: &mut Postings,
    found: &mut Vec<u32>,
) {
    let Analyzer { splitter, stems } = analyzer;
    // Ranking leaves references out.
    for (text, is_ranked) in [(&block.text, !block.text.contains(MARK)), (&block.extra, false)] {
        splitter.split(text, &mut |form, term, is_same| {
            if is_ranked && is_same && !has_function_word(term) {
                return;
            }
            found.push(postings.id(term));
            if form == Form::Word
                && let Some(stem) = other_stem(stems, term)
            {
                found.push(postings.id(&format!("{STEM}{stem}")));
            }
        });
    }
}

/// A folder of segment files, with a list of its own in memory.
#[derive(Clone, Debug)]
pub struct SegmentDirectory {
    root: PathBuf,
    files: MmapDirectory,
    lists: RamDirectory,
}

impl SegmentDirectory {
    /// The folder at `root`, which must exist.
    pub fn open(root: &Path) -> Result<Self, OpenDirectoryError> {
        let (files, lists) = (MmapDirectory::open(root)?, RamDirectory::create());
        Ok(Self { root: root.to_owned(), files, lists })
    }
}

struct Unsynced(std::fs::File);

impl Write for Unsynced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Unsynced {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        Ok(())
    }
}

impl Directory for SegmentDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        fail::fail_point!("index-disk-full", |_| Err(OpenWriteError::wrap_io_error(
            io::ErrorKind::StorageFull.into(),
            path.to_owned()
        )));
        let file = std::fs::OpenOptions::new().write(true).create_new(true).open(self.root.join(path));
        match file {
            Ok(file) => Ok(BufWriter::with_capacity(1 << 16, Box::new(Unsynced(file)))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(OpenWriteError::FileAlreadyExists(path.to_owned()))
            }
            Err(error) => Err(OpenWriteError::wrap_io_error(error, path.to_owned())),
        }
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.lists.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.lists.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
