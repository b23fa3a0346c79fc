//! The full-text schema: one document a block.
//!
//! | field | holds |
//! |---|---|
//! | `text` | the block's text and what is searched besides ([`Block::extra`]), exact forms and stems; stored |
//! | `head` | the note's title and aliases and the headings above, stems alone |
//! | `filter` | `kind:…`, `tag:…`, `role:…`, `in:…` as they are |
//! | `time` | the block's instant, seconds since 1970, where it has one |
//! | `tie` | a hash of path and line: what orders equal scores |

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, STORED, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{RawTokenizer, Token, TokenStream, Tokenizer, TokenizerManager};
use tantivy::{IndexSettings, TantivyDocument, Term};

use super::block::Block;
use super::text::{Analyzer, STEM};

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
        let words = |tokenizer: &str| {
            let indexing = TextFieldIndexing::default()
                .set_tokenizer(tokenizer)
                .set_index_option(IndexRecordOption::WithFreqs);
            TextOptions::default().set_indexing_options(indexing)
        };
        let mut builder = Schema::builder();
        let text = builder.add_text_field("text", words("words") | STORED);
        let head = builder.add_text_field("head", words("stems"));
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

    /// The document of one block.
    pub fn document(&self, block: &Block, head: &str, filters: &[String], tie: u64) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_text(self.text, stored(block));
        if !head.is_empty() {
            document.add_text(self.head, head);
        }
        for filter in filters {
            document.add_text(self.filter, filter);
        }
        if let Some(time) = block.time {
            document.add_i64(self.time, time);
        }
        document.add_u64(self.tie, tie);
        document
    }
}

/// What the `text` field stores of a block.
pub fn stored(block: &Block) -> String {
    let mut text = String::with_capacity(block.text.len() + block.extra.len() + 1);
    text.push_str(&block.text);
    if !block.extra.is_empty() {
        text.push(SEPARATOR);
        text.push_str(&block.extra);
    }
    text
}

/// tantivy's settings for every segment.
pub fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compress_dedicated_thread: false,
        docstore_blocksize: 32_768,
        ..IndexSettings::default()
    }
}

/// How many terms a writer's documents have given so far, for the average lengths.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    text: Arc<AtomicU64>,
    head: Arc<AtomicU64>,
}

impl Counts {
    /// Terms of `text` and `head` since the last call.
    pub fn take(&self) -> (u64, u64) {
        (self.text.swap(0, Ordering::Relaxed), self.head.swap(0, Ordering::Relaxed))
    }
}

/// The tokenizers of the schema, counting into `counts`.
pub fn tokenizers(counts: &Counts) -> TokenizerManager {
    let manager = TokenizerManager::new();
    manager.register(
        "words",
        Words {
            analyzer: Analyzer::new(),
            stems: false,
            count: Arc::clone(&counts.text),
            last: String::new(),
            stream: Stream::default(),
        },
    );
    manager.register(
        "stems",
        Words {
            analyzer: Analyzer::new(),
            stems: true,
            count: Arc::clone(&counts.head),
            last: String::new(),
            stream: Stream::default(),
        },
    );
    manager.register("raw", RawTokenizer::default());
    // tantivy asks for one of this name for every field that isn't text.
    manager.register("default", RawTokenizer::default());
    manager
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

#[derive(Debug, Clone)]
struct Words {
    analyzer: Analyzer,
    stems: bool,
    count: Arc<AtomicU64>,
    last: String,
    stream: Stream,
}

/// The terms of one text, end to end, handed out one by one.
#[derive(Debug, Clone, Default)]
struct Stream {
    text: String,
    ends: Vec<usize>,
    next: usize,
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = &'a mut Stream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> &'a mut Stream {
        let stream = &mut self.stream;
        stream.next = 0;
        stream.token.position = usize::MAX;
        // Blocks of one section have one head.
        if self.stems && text == self.last {
            self.count.fetch_add(stream.ends.len() as u64, Ordering::Relaxed);
            return &mut self.stream;
        }
        if self.stems {
            text.clone_into(&mut self.last);
        }
        stream.text.clear();
        stream.ends.clear();
        let (all, ends) = (&mut stream.text, &mut stream.ends);
        terms(&mut self.analyzer, text, self.stems, &mut |term| {
            all.push_str(term);
            ends.push(all.len());
        });
        self.count.fetch_add(stream.ends.len() as u64, Ordering::Relaxed);
        &mut self.stream
    }
}

impl TokenStream for &mut Stream {
    fn advance(&mut self) -> bool {
        let Some(end) = self.ends.get(self.next) else { return false };
        let start = if self.next == 0 { 0 } else { self.ends[self.next - 1] };
        self.token.text.clear();
        self.token.text.push_str(&self.text[start..*end]);
        self.token.position = self.next;
        self.token.offset_from = start;
        self.token.offset_to = *end;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// Where documents of one file stand among equals: a hash of the path above the line's number.
pub fn tie(path: &str, line: u32) -> u64 {
    let hash = blake3::hash(path.as_bytes());
    let mut high = [0; 8];
    high[4..].copy_from_slice(&hash.as_bytes()[..4]);
    u64::from_be_bytes(high) << 32 | u64::from(line)
}
