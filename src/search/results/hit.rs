//! Makes a [`Hit`] of a found block: the last step, for the returned ones alone.

use std::collections::HashSet;

use crate::search::analyze::text::Analyzer;
use crate::search::query::syntax;
use crate::search::read::block::{Block, Kind};
use crate::search::results::snippet;
use crate::search::retrieve::query_words;
use crate::search::{Hit, Role};

/// Makes hits of one query's blocks.
pub struct HitMaker {
    analyzer: Analyzer,
    /// The query's words, as they are and stemmed: what a snippet is about.
    stems: HashSet<String>,
    /// Path without extension, block id.
    pins: HashSet<(String, String)>,
}

impl std::fmt::Debug for HitMaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HitMaker").field("stems", &self.stems).finish_non_exhaustive()
    }
}

impl HitMaker {
    /// For a query, where these blocks are pinned.
    pub(in crate::search) fn new(query: &str, pins: Vec<(String, String)>) -> Self {
        let mut analyzer = Analyzer::new();
        let mut stems = HashSet::new();
        for item in syntax::parse(query).items {
            for word in query_words::words(&mut analyzer, item.text()) {
                stems.insert(word.exact);
                stems.insert(word.stem);
            }
        }
        Self { analyzer, stems, pins: pins.into_iter().collect() }
    }

    /// The pinned blocks: path without extension, block id.
    pub fn pins(&self) -> &HashSet<(String, String)> {
        &self.pins
    }

    /// Whether a block of the note at `path` is pinned: as a text in the file of pins, or by a link with its path, or with
    /// the note's name alone, as Obsidian shortens links.
    pub fn is_pinned(&self, path: &str, block: &Block) -> bool {
        if block.kind == Kind::Pin && block.links.is_empty() {
            return true;
        }
        let Some(id) = block.block_id.as_ref().filter(|_| !self.pins.is_empty()) else { return false };
        let path = path.strip_suffix(".md").unwrap_or(path);
        let name = path.rsplit('/').next().unwrap_or(path);
        self.pins.contains(&(path.to_owned(), id.clone()))
            || self.pins.contains(&(name.to_owned(), id.clone()))
    }

    /// The hit of a block of the note at `path`.
    pub(in crate::search) fn hit(&mut self, path: String, block: Block, score: f64) -> Hit {
        let pinned = self.is_pinned(&path, &block);
        Hit {
            path,
            line: block.line,
            end_line: block.end_line,
            kind: block.kind.as_str(),
            section: block.section.as_deref().map(str::to_owned),
            timestamp: block.time.and_then(|time| jiff::Timestamp::from_second(time).ok()),
            score: (score * 1e6).round() / 1e6,
            relevance: None,
            snippet: snippet::snippet(&mut self.analyzer, &block.text, &self.stems),
            text: block.text,
            role: block.role.map(Role::as_str),
            author: block.author.as_deref().map(str::to_owned),
            context_id: block.context_id.as_deref().map(str::to_owned),
            block_id: block.block_id,
            tags: block.tags,
            pinned,
            alike: false,
        }
    }
}
