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

use tantivy::IndexSettings;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::{Compressor, ZstdCompressor};

use crate::memory::Scope;
use crate::search::analyze::references::MARK;
use crate::search::analyze::stems::has_function_word;
use crate::search::analyze::text::{Analyzer, Form, STEM, is_split_alike, other_stem};
use crate::search::read::block::Block;
use crate::search::store::segment::postings::Postings;

/// The separator of a block's text and its extra words in the stored field.
pub const SEPARATOR: char = '\u{0}';

/// The block's words that ranking hasn't.
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
        let Analyzer { splitter, stems } = analyzer;
        splitter.split(text, &mut |form, term, is_same| {
            if is_ranked && is_same && !has_function_word(term) {
                return;
            }
            found.push(postings.id(term));
            if form == Form::Word
                && let Some(stem) = other_stem(stems, term)
            {
                marked.clear();
                marked.push(STEM);
                marked.push_str(stem);
                found.push(postings.id(marked));
            }
        });
    }
}
