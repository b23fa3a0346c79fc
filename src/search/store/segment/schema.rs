//! Defines the full-text schema: one document a block.
//!
//! | field | holds |
//! |---|---|
//! | `rank` | the stems that ranking counts, without function words: of text, speaker's name, title and headings |
//! | `text` | the terms of the text that aren't in `rank` (function words, parts of compounds, forms without accents) and those of what is searched besides ([`Block::extra`]): exact forms and stems, without counts |
//! | `filter` | `kind:…`, `tag:…`, `role:…`, `scope:…` as they are |
//!
//! So each word is posted once. The stored documents are the texts themselves ([`stored`]).

use std::path::PathBuf;

use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{IndexSettings, Term};

use crate::memory::Scope;
use crate::search::analyze::references::MARK;
use crate::search::analyze::stems::has_function_word;
use crate::search::analyze::text::{Analyzer, Form, STEM, is_split_alike};
use crate::search::read::block::Block;
use crate::search::store::postings::Postings;

/// The separator of a block's text and its extra words in the stored field.
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
        let mut builder = Schema::builder();
        let mut field = |name: &str, keeps: IndexRecordOption| {
            let indexing = TextFieldIndexing::default().set_tokenizer("raw").set_fieldnorms(false);
            let indexing = indexing.set_index_option(keeps);
            builder.add_text_field(name, TextOptions::default().set_indexing_options(indexing))
        };
        let text = field("text", IndexRecordOption::Basic);
        let rank = field("rank", IndexRecordOption::WithFreqs);
        let filter = field("filter", IndexRecordOption::Basic);
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

/// The filters of blocks with the marks of these scopes, each behind those of the scopes that it is nested in.
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

/// The file of a segment's rows ([`crate::search::store::corpus::rows`]).
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

/// Gathers the terms of the `text` field.
#[derive(Debug, Default)]
pub struct TextTerms {
    /// Their postings.
    pub postings: Postings,
    marked: String,
}

impl TextTerms {
    /// Puts the numbers of a block's terms that ranking hasn't into `found`.
    pub fn find(&mut self, analyzer: &mut Analyzer, block: &Block, found: &mut Vec<u32>) {
        // Ranking leaves references out.
        let is_ranked = is_split_alike(&block.text) && !block.text.contains(MARK);
        self.of_text(analyzer, &block.text, is_ranked, found);
        self.of_text(analyzer, &block.extra, false, found);
    }

    fn of_text(&mut self, analyzer: &mut Analyzer, text: &str, is_ranked: bool, found: &mut Vec<u32>) {
        let Self { postings, marked } = self;
        let (splitter, stems) = analyzer.parts();
        splitter.split(text, &mut |form, term, is_same| {
            if is_ranked && is_same && !has_function_word(term) {
                return;
            }
            found.push(postings.id(term));
            if let Some(stem) = stems.get(term).filter(|_| form == Form::Word) {
                marked.clear();
                marked.push(STEM);
                marked.push_str(stem);
                found.push(postings.id(marked));
            }
        });
    }
}
