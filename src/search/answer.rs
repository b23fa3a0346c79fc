//! Defines a search's input, [`Query`], and its output: an [`Answer`] with its [`Hit`]s and its freshness.

use serde::{Deserialize, Serialize};

use crate::search::read::{Kind, Role};

/// A search's input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// As a person typed it; see [`crate::search::query::syntax`].
    pub text: String,
    /// Only there: a folder or file, `logs`, `memory`, `daily`, `channel:ID` or `thread:ID`.
    pub scope: Option<String>,
    /// At most so many hits.
    pub limit: usize,
    /// Whether only what has a word as it was typed, or a form of one, is found: nothing by similar words or by
    /// meaning.
    #[serde(default)]
    pub exact: bool,
}

impl Query {
    /// A query without a scope, for ten hits.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), scope: None, limit: 10, exact: false }
    }

    /// The same query for at most `limit` hits.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

/// A search's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The query's text.
    pub query: String,
    /// Best first.
    pub hits: Vec<Hit>,
    /// The parts of the query that were not understood, for the person.
    pub notes: Vec<String>,
    /// The freshness of the answer.
    pub freshness: Freshness,
    /// The reranker that ordered the first hits, if one did: see [`crate::search::SearchClient::deep`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranked: Option<Reranked>,
}

/// The work of a reranker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reranked {
    /// Its provider and model.
    pub by: String,
    /// How many of the best hits it scored.
    pub hits: usize,
}

/// A found block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// Its note.
    pub path: String,
    /// First line, from 1.
    pub line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// Its kind.
    pub kind: Kind,
    /// The headings above it, joined by ` > `.
    pub section: Option<String>,
    /// When it was said or is dated.
    pub timestamp: Option<jiff::Timestamp>,
    /// BM25; only comparable within one answer.
    pub score: f64,
    /// The score of the reranker of a deep search; more is better, on the model's own scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// The part of its text that the query is about.
    pub snippet: String,
    /// All of its text.
    #[serde(skip)]
    pub text: String,
    /// Its speaker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The speaker's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The conversation that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// Its Obsidian block id, without `^`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_id: Option<String>,
    /// Its inline tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether it is pinned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Whether neither it nor its headings have a word of the query as it was typed, or a form of one: it was found by
    /// similar words or by meaning, and stands below all that have one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alike: bool,
}

/// The process that proved the answer's freshness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckedBy {
    /// A running daemon that follows the vault.
    Daemon,
    /// A look at every file just now.
    Scan,
    /// None: the vault could not be read.
    Nobody,
}

/// The freshness of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    /// The commit that was searched; goes up with every one.
    pub generation: u64,
    /// Whether every note was searched as it stands on disk.
    pub complete: bool,
    /// The source of that proof.
    pub checked_by: CheckedBy,
    /// Files that were newer than the index and were read directly.
    pub read_directly: usize,
    /// Of the blocks that were asked about, the percentage with a vector of the settings' model. None where that is the
    /// built-in one, whose vectors are always there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded_percent: Option<u8>,
    /// If nothing was found: the files that were not searched, because they are left out for their size or form.
    #[serde(default, skip_serializing_if = "is_none")]
    pub not_searched: usize,
    /// Warnings for a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Freshness {
    /// Of an answer from the whole index, with nothing read beside it.
    pub(in crate::search) fn new(generation: u64, checked_by: CheckedBy, warnings: Vec<String>) -> Self {
        let (complete, read_directly, embedded_percent, not_searched) = (true, 0, None, 0);
        Self { generation, complete, checked_by, read_directly, embedded_percent, not_searched, warnings }
    }

    /// Adds a note for each path that was not searched because it can't be read, with the reason; if there are very
    /// many, for some of them.
    pub(in crate::search) fn misses(&mut self, unread: Vec<(String, String)>) {
        self.complete &= unread.is_empty();
        let said = unread.into_iter().map(|(path, why)| format!("`{path}` was not searched: {why}"));
        for warning in said.take(10) {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }
}

/// Whether a count is 0, and so not worth a field.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_none(count: &usize) -> bool {
    *count == 0
}
