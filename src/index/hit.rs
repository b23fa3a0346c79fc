//! From a found block to a [`Hit`]: the last step, for those alone that are given.

use std::collections::HashSet;

use super::block::Block;
use super::snippet;
use super::terms;
use super::text::Analyzer;
use super::{Hit, Role};

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
    /// For a query of these texts, where these blocks are pinned.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>, pins: Vec<(String, String)>) -> Self {
        let mut analyzer = Analyzer::new();
        let mut stems = HashSet::new();
        for text in texts {
            for word in terms::words(&mut analyzer, text) {
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

    /// The hit of a block of the note at `path`.
    pub fn hit(&mut self, path: String, block: Block, score: f64) -> Hit {
        let pinned = block.block_id.as_ref().is_some_and(|id| is_pinned(&self.pins, &path, id));
        Hit {
            path,
            line: block.line,
            end_line: block.end_line,
            kind: block.kind.as_str(),
            section: block.section.as_deref().map(str::to_owned),
            timestamp: block.time.and_then(|time| jiff::Timestamp::from_second(time).ok()),
            score: (score * 1e6).round() / 1e6,
            snippet: snippet::snippet(&mut self.analyzer, &block.text, &self.stems),
            text: block.text,
            role: block.role.map(Role::as_str),
            author: block.author.as_deref().map(str::to_owned),
            context_id: block.context_id.as_deref().map(str::to_owned),
            block_id: block.block_id,
            tags: block.tags,
            pinned,
        }
    }
}

/// Whether a block is pinned: by its path, or by the note's name alone, as Obsidian shortens links.
pub fn is_pinned(pins: &HashSet<(String, String)>, path: &str, block_id: &str) -> bool {
    if pins.is_empty() {
        return false;
    }
    let path = path.strip_suffix(".md").unwrap_or(path);
    let name = path.rsplit('/').next().unwrap_or(path);
    let id = block_id.to_owned();
    pins.contains(&(path.to_owned(), id.clone())) || pins.contains(&(name.to_owned(), id))
}
