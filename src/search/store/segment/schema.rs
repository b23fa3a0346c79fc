//! The full-text schema: one document a block.
//!
//! | field | holds |
//! |---|---|
//! | `text` | the block's text and what is searched besides ([`Block::extra`]), exact forms and stems |
//! | `filter` | `kind:…`, `tag:…`, `role:…` as they are |
//! | `rank` | the stems that ranking counts, without function words: of the text, who speaks, title and headings |
//!
//! The stored documents are the texts themselves ([`stored`]).

use std::path::PathBuf;

use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{IndexSettings, Term};

use crate::search::analyze::text::{Analyzer, STEM};
use crate::search::read::block::Block;

/// What stands between a block's text and its extra words in the stored field.
pub const SEPARATOR: char = '\u{0}';

/// The fields of the schema.
#[derive(Debug, Clone)]
pub struct Fields {
    /// The schema itself.
    pub schema: Schema,
    /// The block's words.
    pub text: Field,
    /// Exact filters.
    pub filter: Field,
    /// The stems that ranking counts.
    pub rank: Field,
}

impl Default for Fields {
    fn default() -> Self {
        Self::new()
    }
}

impl Fields {
    /// The schema.
    pub fn new() -> Self {
        let words = || {
            let indexing = TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_fieldnorms(false)
                .set_index_option(IndexRecordOption::WithFreqs);
            TextOptions::default().set_indexing_options(indexing)
        };
        let mut builder = Schema::builder();
        let text = builder.add_text_field("text", words());
        let rank = builder.add_text_field("rank", words());
        let raw = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic);
        let filter = builder.add_text_field("filter", TextOptions::default().set_indexing_options(raw));
        Self { schema: builder.build(), text, filter, rank }
    }

    /// A term of the `text` field.
    pub fn term(field: Field, text: &str, stem: bool) -> Term {
        if stem {
            Term::from_field_text(field, &format!("{STEM}{text}"))
        } else {
            Term::from_field_text(field, text)
        }
    }
}

/// What is stored of a block, put into `text`. Never nothing: tantivy drops a store's last documents
/// where all of them are empty.
pub fn stored(block: &Block, text: &mut String) {
    text.clear();
    text.push_str(&block.text);
    if !block.extra.is_empty() || block.text.is_empty() {
        text.push(SEPARATOR);
        text.push_str(&block.extra);
    }
}

/// The file of a segment's rows ([`crate::search::store::corpus::rows`]).
pub fn rows_file(uuid: &str) -> PathBuf {
    PathBuf::from(format!("{}.rows", uuid.replace('-', "")))
}

/// tantivy's settings for every segment.
pub fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compress_dedicated_thread: false,
        // Nearly as fast as lz4, in three quarters of its bytes; small blocks are quick to take a text from.
        docstore_compression: Compressor::Zstd(ZstdCompressor { compression_level: Some(1) }),
        docstore_blocksize: 16_384,
        ..IndexSettings::default()
    }
}

/// The terms that a text gives in the `text` field.
pub fn terms(analyzer: &mut Analyzer, text: &str, emit: &mut dyn FnMut(&str)) {
    let mut marked = String::new();
    analyzer.terms(text, &mut |_, term, stem| {
        emit(term);
        if let Some(stem) = stem {
            marked.clear();
            marked.push(STEM);
            marked.push_str(stem);
            emit(&marked);
        }
    });
}
