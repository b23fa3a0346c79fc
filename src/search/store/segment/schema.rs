//! The full-text schema: one document a block.
//!
//! | field | holds |
//! |---|---|
//! | `text` | the block's text and what is searched besides ([`Block::extra`]), exact forms and stems |
//! | `head` | the note's title and aliases and the headings above, stems alone: at the last block of each section, the "frequency" being how many blocks it has |
//! | `filter` | `kind:…`, `tag:…`, `role:…` as they are |
//! | `time` | the block's instant, seconds since 1970, where it has one |
//! | `tie` | a hash of the path and the line, at the first block of each run: what orders equal scores |
//!
//! The stored documents are the texts themselves ([`stored`]).

use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
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
    /// The words of title and headings.
    pub head: Field,
    /// Exact filters.
    pub filter: Field,
    /// Seconds since 1970.
    pub time: Field,
    /// The order of equals.
    pub tie: Field,
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
            let indexing = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqs);
            TextOptions::default().set_indexing_options(indexing)
        };
        let mut builder = Schema::builder();
        let text = builder.add_text_field("text", words());
        let head = builder.add_text_field("head", words());
        let raw = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic);
        let filter = builder.add_text_field("filter", TextOptions::default().set_indexing_options(raw));
        let time = builder.add_i64_field("time", NumericOptions::default() | FAST);
        let tie = builder.add_u64_field("tie", NumericOptions::default() | FAST);
        Self { schema: builder.build(), text, head, filter, time, tie }
    }

    /// A term of the `text` or `head` field.
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

/// The terms that a text gives in the `text` field (`stems` false) or, each once, the `head` field.
pub fn terms(analyzer: &mut Analyzer, text: &str, stems: bool, emit: &mut dyn FnMut(&str)) {
    let mut marked = String::new();
    let mut seen: Vec<String> = Vec::new();
    analyzer.terms(text, &mut |_, term, stem| {
        if stems {
            // A heading that repeats the title says nothing more.
            let term = stem.unwrap_or(term);
            if !seen.iter().any(|known| known == term) {
                seen.push(term.to_owned());
                emit(term);
            }
            return;
        }
        emit(term);
        if let Some(stem) = stem {
            marked.clear();
            marked.push(STEM);
            marked.push_str(stem);
            emit(&marked);
        }
    });
}

/// Where a run of blocks stands among equals: a hash of the path above the first line's number.
pub fn tie(path: &str, line: u32) -> u64 {
    let hash = blake3::hash(path.as_bytes());
    let mut high = [0; 8];
    high[4..].copy_from_slice(&hash.as_bytes()[..4]);
    u64::from_be_bytes(high) << 32 | u64::from(line)
}
