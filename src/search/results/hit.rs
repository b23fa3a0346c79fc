//! Looks up ranked and pinned blocks ([`FoundBlock`]), and makes hits with excerpts of the returned blocks.

use std::collections::HashSet;

use crate::format::{invisible, one_line};
use crate::search::analyze::Analyzer;
use crate::search::query::syntax;
use crate::search::read::{Block, Kind, is_link_to, is_link_to_names, names_of_path, note::pin};
use crate::search::retrieve::{Filters, query_words};
use crate::search::store::FileRow;
use crate::search::{Hit, IndexError, Result, Snapshot, Stored};

/// A found block.
#[derive(Debug, Clone)]
pub struct FoundBlock {
    /// Its slot.
    pub slot: u32,
    /// BM25.
    pub score: f64,
    /// Its file.
    pub file: FileRow,
    /// Its data; `text` and `extra` are empty.
    pub block: Block,
    /// Whether it has none of the words as they were typed.
    pub is_alike: bool,
}

/// The block of a slot with this score, if the filters let it through.
pub(in crate::search) fn find_block(
    snapshot: &Snapshot<'_>,
    (slot, score): (u32, f64),
    filters: &Filters<'_>,
) -> Result<Option<FoundBlock>> {
    if !filters.may_pass(slot) {
        return Ok(None);
    }
    let (file, block) = snapshot.corpus.resolve(snapshot.database(), slot)?;
    Ok(filters.pass(slot, &block)?.then_some(FoundBlock { slot, score, file, block, is_alike: false }))
}

/// The blocks that pins link to, and pinned texts.
pub(in crate::search) fn pinned_blocks(
    snapshot: &Snapshot<'_>,
    maker: &HitMaker,
    filters: &Filters<'_>,
) -> Result<Vec<FoundBlock>> {
    let mut found = Vec::new();
    let mut add = |path: &str, linked: &str, blocks: Vec<Stored>| {
        let Some(file) = snapshot.file(path)? else { return Ok::<_, IndexError>(()) };
        for Stored { slot, block } in blocks {
            if maker.is_pinned(linked, &block) && filters.pass(slot, &block)? {
                found.push(FoundBlock { slot, score: 0.0, file: file.clone(), block, is_alike: false });
            }
        }
        Ok(())
    };
    add(&snapshot.options.pinned, "", snapshot.blocks(&snapshot.options.pinned)?)?;
    for note in snapshot.corpus.notes().filter(|_| !maker.pins.is_empty()) {
        let path = &note.row.path;
        let names = names_of_path(path);
        if maker.pins.iter().any(|(target, _)| is_link_to_names(target, names)) {
            add(path, path, snapshot.corpus.blocks_of(&note)?)?;
        }
    }
    Ok(found)
}

/// Makes hits of one query's blocks.
#[derive(Debug)]
pub struct HitMaker {
    analyzer: Analyzer,
    /// The query's words, as they are and stemmed: what a snippet is about.
    stems: HashSet<String>,
    /// Path without extension, block id.
    pins: Vec<(String, String)>,
}

impl HitMaker {
    /// For a query, where these blocks are pinned.
    pub(in crate::search) fn new(query: &str, pins: Vec<(String, String)>) -> Self {
        let mut analyzer = Analyzer::default();
        let mut stems = HashSet::new();
        for item in syntax::parse(query).items {
            for word in query_words(&mut analyzer, item.text()) {
                stems.insert(word.exact);
                stems.insert(word.stem);
            }
        }
        Self { analyzer, stems, pins }
    }

    /// Whether a block of the note at `path` is pinned: as a text in the file of pins that ends in no link to a block,
    /// or by such a link.
    pub fn is_pinned(&self, path: &str, block: &Block) -> bool {
        if block.kind == Kind::Pin && !block.links.iter().any(|link| pin(link).is_some()) {
            return true;
        }
        let Some(id) = &block.block_id else { return false };
        self.pins.iter().any(|(target, pinned)| pinned == id && is_link_to(target, path))
    }

    /// The hit of a found block of a snapshot, with its text.
    ///
    /// # Errors
    /// tantivy's.
    pub(in crate::search) fn hit(&mut self, snapshot: &Snapshot<'_>, found: FoundBlock) -> Result<Hit> {
        let FoundBlock { slot, score, file, block, is_alike: alike } = found;
        let text = snapshot.text(slot)?;
        let pinned = self.is_pinned(&file.path, &block);
        Ok(Hit {
            path: file.path,
            line: block.line,
            end_line: block.end_line,
            kind: block.kind,
            section: block.section.as_deref().map(visible),
            timestamp: block.time.and_then(|time| jiff::Timestamp::from_second(time).ok()),
            score: (score * 1e6).round() / 1e6,
            relevance: None,
            snippet: visible(&snippet(&mut self.analyzer, &text, &self.stems)),
            text,
            role: block.role,
            author: block.author.as_deref().map(visible),
            context_id: block.context_id.as_deref().map(str::to_owned),
            block_id: block.block_id,
            tags: block.tags,
            pinned,
            alike,
        })
    }
}

/// A text without invisible characters, as each answer shows it.
fn visible(text: &str) -> String {
    invisible::strip(text).into_owned()
}

/// Longer texts are cut, in bytes.
const MOST: usize = 280;

/// The stretch of `text` with the most of `stems` (stems and exact forms of the query's words), on one
/// line; `…` marks a cut.
fn snippet(analyzer: &mut Analyzer, text: &str, stems: &HashSet<String>) -> String {
    if text.len() <= MOST {
        return one_line(text);
    }
    let mut hits: Vec<usize> = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let mut found = false;
        analyzer.terms(word, &mut |_, exact, stem| {
            found = found || stems.contains(exact) || stem.is_some_and(|stem| stems.contains(stem));
        });
        if found {
            hits.push(at);
        }
        at += word.len();
    }
    let inside = |n: usize| hits[n..].partition_point(|hit| *hit < hits[n] + MOST);
    let best = (0..hits.len()).max_by_key(|n| (inside(*n), std::cmp::Reverse(*n))).map_or(0, |n| hits[n]);
    let mut start = text.floor_char_boundary(best.saturating_sub(40));
    if start > 0 {
        // Begin at a word.
        let word = text[start..best].find(char::is_whitespace).map_or(best, |space| start + space + 1);
        start = text.ceil_char_boundary(word);
    }
    let mut end = text.floor_char_boundary(start + MOST);
    if end < text.len()
        && let Some(space) = text[start..end].rfind(char::is_whitespace).filter(|space| *space > MOST / 2)
    {
        end = start + space;
    }
    let mut cut = one_line(&text[start..end]);
    if start > 0 {
        cut.insert(0, '…');
    }
    if end < text.len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_holds_what_was_asked() {
        let text = format!("{} the needle stands running here {}", "word ".repeat(200), "tail ".repeat(200));
        let stems = HashSet::from(["needl".to_owned(), "run".to_owned()]);
        let cut = snippet(&mut Analyzer::default(), &text, &stems);
        assert!(cut.contains("needle stands running") && cut.starts_with('…') && cut.ends_with('…'), "{cut}");
        assert_eq!(snippet(&mut Analyzer::default(), "a\n b", &stems), "a b");
        let wide = "字".repeat(400);
        assert!(snippet(&mut Analyzer::default(), &wide, &stems).ends_with('…'));
        // The square of this would take minutes.
        assert!(snippet(&mut Analyzer::default(), &"run on ".repeat(200_000), &stems).starts_with("run on"));
    }
}
