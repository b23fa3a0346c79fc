//! Matches the path patterns of queries (`path:`) against paths. Case and accents are ignored.
//!
//! In a pattern `*` stands for any text within a name, `**` for any folders, `?` for one character. A pattern without
//! these signs matches a path that contains it.

use globset::{GlobBuilder, GlobMatcher};
use regex_lite::Regex;

use crate::config::{matched_by_character, with_literal_brackets};
use crate::search::analyze::fold;

/// A pattern for paths.
pub struct Pattern {
    text: String,
    /// For ASCII paths, and for others; none for a plain one.
    glob: Option<(GlobMatcher, Regex)>,
}

impl Pattern {
    /// The pattern `text`.
    pub fn new(text: &str) -> Self {
        let text = fold(text.trim_start_matches("./").trim_start_matches('/'));
        let glob = text.contains(['*', '?']).then(|| glob(&text)).flatten();
        Self { text, glob }
    }

    /// Whether `path` fits.
    pub fn matches(&self, path: &str) -> bool {
        let path = fold(path);
        match &self.glob {
            None => path.contains(&self.text),
            Some((by_byte, _)) if path.is_ascii() => by_byte.is_match(&path),
            Some((_, by_character)) => by_character.is_match(&path),
        }
    }
}

/// Brackets and braces are what notes' names have, and stand for themselves.
fn glob(text: &str) -> Option<(GlobMatcher, Regex)> {
    // A pattern without a folder means names anywhere.
    let at_any_depth = if text.contains('/') || text.starts_with("**") { "" } else { "**/" };
    let escaped = format!("{at_any_depth}{}", with_literal_brackets(text));
    let glob = GlobBuilder::new(&escaped).literal_separator(true).backslash_escape(false).build().ok()?;
    Some((glob.compile_matcher(), matched_by_character([&glob]).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_and_plain_parts() {
        let fits = |pattern: &str, path: &str| Pattern::new(pattern).matches(path);
        assert!(fits("*.md", "a/b/c.md") && fits("a/*.md", "a/c.md") && !fits("a/*.md", "a/b/c.md"));
        assert!(fits("a/**/c.md", "a/b/x/c.md") && fits("**/c.md", "c.md") && fits("a/**", "a/b/c"));
        assert!(fits("?.md", "é.md") && fits("?.md", "日.md") && !fits("?.md", "ab.md"));
        assert!(fits("Notes", "my notes/x.md") && !fits("notes", "x.md"));
        assert!(fits("a*b*c", "aXbYbZc") && !fits("a*b", "a/b"));
        assert!(
            fits("[draft] *.md", "a/[Draft] x.md") && fits("{a}?\\*", "{a}b\\c") && !fits("[ab]*", "a.md")
        );
        assert!(fits("**", "a/b") && fits("a**", "a/b") == fits("a*", "a/b") && !fits("*.md", "a.md/b"));
    }
}
