//! Searches messages and summaries, by a regular expression or by words that must all occur.
//!
//! Pure, except for the reader that the caller passes and the time that a search may take. Deleted messages and injected
//! memory aren't found; edited messages are found by their new words. Hits come newest first, each with a snippet of at
//! most [`SNIPPET`] characters and a citation: `[msg#^id]` or `[sum_…]`.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use regex_lite::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Serialize;

use super::store::Result;
use super::store::SummaryError;
use super::window::SummaryNote;
use crate::format::log::{EventKind, LogBlock, MessageChanges};
use crate::format::one_line;
use crate::turn::history;
use crate::words::words;

/// The number of hits by default.
pub const LIMIT: usize = 50;
/// The most hits.
pub const MOST: usize = 200;
/// Characters of a snippet.
pub const SNIPPET: usize = 200;
/// The most tokens of all hits together.
pub const MOST_TOKENS: u64 = 10_000;
/// The most bytes that a compiled pattern may have: the time of a search grows with them.
const PATTERN_BYTES: usize = 64 << 10;
/// The longest time of a search for a regular expression.
const MOST_TIME: Duration = Duration::from_secs(10);

words! {
    /// Which texts are searched.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum GrepScope, as_str {
        /// Logs.
        Messages = "messages",
        /// Summaries.
        Summaries = "summaries",
        /// Both.
        #[default]
        Both = "both",
    }
}

/// The query of a search.
#[derive(Debug, Clone)]
pub struct GrepQuery {
    /// All of them must match.
    patterns: Vec<Regex>,
    /// From when on a regular expression finds nothing more.
    end: Option<Instant>,
    /// The texts that are searched.
    pub scope: GrepScope,
    /// Nothing before this instant.
    pub since: Option<Timestamp>,
    /// Nothing from this instant on.
    pub before: Option<Timestamp>,
    /// The most hits.
    pub limit: usize,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Hit {
    /// `[msg#^id]` or `[sum_…]`.
    #[serde(rename = "ref")]
    pub cite: String,
    /// The note.
    pub path: String,
    /// The line at which the message, or the summary's text, begins.
    pub line: usize,
    /// The words around the first match, on one line.
    pub snippet: String,
    /// When it was said, or summarised.
    #[schemars(with = "String")]
    pub at: Timestamp,
}

/// The hits of a search, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Hits {
    /// Newest first.
    pub hits: Vec<Hit>,
    /// The number of further hits.
    pub more: usize,
}

impl GrepQuery {
    /// A regular expression, or words (those in quotes together) that must all occur, whatever their case.
    ///
    /// # Errors
    /// It is empty or no regular expression.
    pub fn new(text: &str, is_regex: bool) -> Result<Self> {
        let wrong = |why: &dyn std::fmt::Display| SummaryError::Pattern(text.to_owned(), why.to_string());
        let compile = |pattern: &str, fold: bool| {
            let mut builder = RegexBuilder::new(pattern);
            builder.case_insensitive(fold).size_limit(PATTERN_BYTES).build().map_err(|error| wrong(&error))
        };
        let words = words(text);
        if text.trim().is_empty() || (!is_regex && words.is_empty()) {
            return Err(SummaryError::Empty);
        }
        let patterns = if is_regex {
            vec![compile(text, false)?]
        } else {
            let all = words.iter().map(|word| compile(&regex_lite::escape(word), true));
            all.collect::<Result<_, _>>()?
        };
        let end = is_regex.then(|| Instant::now() + MOST_TIME);
        Ok(Self { patterns, end, scope: GrepScope::Both, since: None, before: None, limit: LIMIT })
    }

    /// Whether its time is over, so that it left texts out.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() > end)
    }

    /// The first match in a text that matches.
    fn find(&self, text: &str) -> Option<usize> {
        if self.is_over() {
            return None;
        }
        let found = self.patterns.iter().map(|pattern| Some(pattern.find(text)?.start()));
        found.collect::<Option<Vec<usize>>>()?.into_iter().min()
    }

    fn takes(&self, at: Timestamp) -> bool {
        self.since.is_none_or(|since| at >= since) && self.before.is_none_or(|before| at < before)
    }

    /// The hits among a log's messages.
    pub fn in_log(&self, path: &str, blocks: &[LogBlock]) -> Vec<Hit> {
        let changes = MessageChanges::of(blocks);
        let hit = |block: &LogBlock| {
            let event = &block.event;
            if matches!(event.kind, EventKind::System | EventKind::Recall) || !self.takes(event.at) {
                return None;
            }
            let text = changes.text(block)?;
            let text =
                if event.kind == EventKind::Agent { crate::format::log::split_facts(text).0 } else { text };
            let at = self.find(text)?;
            let cite = event.id.as_ref().map_or_else(|| "[msg]".to_owned(), |id| format!("[msg#^{id}]"));
            let snippet = snippet(text, at);
            Some(Hit { cite, path: path.to_owned(), line: block.line, snippet, at: event.at })
        };
        blocks.iter().filter_map(hit).collect()
    }

    /// Whether a summary matches.
    pub fn in_summary(&self, note: &SummaryNote) -> Option<Hit> {
        let summary = &note.summary;
        let at = self.find(&summary.text).filter(|_| self.takes(summary.at))?;
        let line = note.line + summary.text[..at].matches('\n').count();
        let cite = format!("[{}]", summary.id);
        Some(Hit { cite, path: note.path.clone(), line, snippet: snippet(&summary.text, at), at: summary.at })
    }

    /// The newest hits that fit into the limit and [`MOST_TOKENS`].
    pub fn best(&self, mut hits: Vec<Hit>) -> Hits {
        hits.sort_by(|one, other| other.at.cmp(&one.at).then_with(|| one.cite.cmp(&other.cite)));
        let (found, mut tokens) = (hits.len(), 0);
        let size = |hit: &Hit| history::estimate(&serde_json::to_string(hit).unwrap_or_default());
        let kept = hits.iter().take(self.limit.min(MOST)).take_while(|hit| {
            tokens += size(hit);
            tokens <= MOST_TOKENS
        });
        let kept = kept.count();
        hits.truncate(kept);
        Hits { hits, more: found - kept }
    }
}

/// The words of a search; those between quotes stay together.
fn words(text: &str) -> Vec<String> {
    let parts = text.split('"').enumerate();
    let words = parts.flat_map(|(at, part)| {
        let whole = at % 2 == 1;
        let split: Vec<&str> = if whole { vec![part.trim()] } else { part.split_whitespace().collect() };
        split.into_iter().map(str::to_owned).collect::<Vec<_>>()
    });
    words.filter(|word| !word.is_empty()).collect()
}

/// The words around a place of a text, on one line.
fn snippet(text: &str, at: usize) -> String {
    let before = text[..at].chars().rev().take(SNIPPET / 4).collect::<Vec<_>>();
    let room = SNIPPET - 2 - before.len();
    let mut chars = text[at..].chars();
    let after: String = chars.by_ref().take(room).collect();
    let head = if text[..at].chars().count() > before.len() { "…" } else { "" };
    let tail = if chars.next().is_some() { "…" } else { "" };
    let before: String = before.into_iter().rev().collect();
    one_line(&format!("{head}{before}{after}{tail}").replace(char::is_control, " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::log;

    const LOG: &str = "---\nsurface: discord-channel\ncontext_id: \"7\"\n---\n
> [!user] 2026-11-22T09:00:00Z Alice
> The mast is 12 metres, says Bob.

^A1

> [!recall]- 2026-11-22T09:00:00Z
> the mast

^A2

> [!user] 2026-11-22T09:01:00Z Alice
> A mast to forget

^A3

> [!system] 2026-11-22T09:02:00Z
> deleted [[logs/x#^A3]]

^A4
";

    fn found(query: &GrepQuery) -> Vec<String> {
        let hits = query.best(query.in_log("logs/x.md", &log::parse(LOG.as_bytes()).blocks));
        hits.hits.into_iter().map(|hit| format!("{} {} {}", hit.cite, hit.line, hit.snippet)).collect()
    }

    #[test]
    fn words_and_patterns_find_what_stands_there_now() {
        let one = ["[msg#^A1] 6 The mast is 12 metres, says Bob."];
        assert_eq!(found(&GrepQuery::new("MAST bob", false).unwrap()), one);
        assert_eq!(found(&GrepQuery::new("\"12 metres\"", false).unwrap()), one);
        assert_eq!(found(&GrepQuery::new(r"\d+ met", true).unwrap()), one);
        assert_eq!(found(&GrepQuery::new("MAST", true).unwrap()), [""; 0]);
        assert_eq!(found(&GrepQuery::new("metres mast 13", false).unwrap()), [""; 0]);
        let mut late = GrepQuery::new("mast", false).unwrap();
        late.since = Some("2026-11-22T09:00:01Z".parse().unwrap());
        assert_eq!(found(&late), [""; 0]);
        let slow = GrepQuery::new("mast", true).unwrap();
        assert_eq!((found(&slow).len(), slow.is_over()), (1, false));
        let slow = GrepQuery { end: Instant::now().checked_sub(MOST_TIME), ..slow };
        assert_eq!((found(&slow).len(), slow.is_over()), (0, true));
        for wrong in ["(", "(.|a){0,2000}Q"] {
            let error = GrepQuery::new(wrong, true).unwrap_err().to_string();
            assert!(error.contains("is no regular expression"), "{error}");
        }
        for empty in ["", " ", " \"\" "] {
            assert_eq!(
                GrepQuery::new(empty, false).unwrap_err().to_string(),
                "there is nothing to search for"
            );
        }
    }

    #[test]
    fn output_is_bounded() {
        let query = GrepQuery { limit: 500, ..GrepQuery::new("x", false).unwrap() };
        let hit = |n: i64| Hit {
            cite: format!("[msg#^{n}]"),
            path: "logs/x.md".into(),
            line: 1,
            snippet: "x".repeat(SNIPPET),
            at: Timestamp::from_second(n).unwrap(),
        };
        let hits = query.best((0..300).map(hit).collect());
        assert!(hits.hits.len() <= 200 && hits.hits.len() + hits.more == 300);
        assert_eq!(hits.hits[0].cite, "[msg#^299]");
        let none =
            GrepQuery { limit: 0, ..GrepQuery::new("x", false).unwrap() }.best((0..3).map(hit).collect());
        assert_eq!((none.hits.len(), none.more), (0, 3));
        assert!(history::estimate(&serde_json::to_string(&hits).unwrap()) <= MOST_TOKENS + 50);
        let snippet = snippet(&format!("{}mast{}", "a ".repeat(300), "ä\n".repeat(300)), 600);
        assert!(snippet.chars().count() <= SNIPPET && snippet.starts_with('…') && snippet.ends_with('…'));
    }
}
