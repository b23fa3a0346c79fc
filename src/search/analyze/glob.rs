//! Path patterns as people write them: `*` within a name, `**` across folders, `?` one character; a
//! pattern without any of these is a folder, a file or a part of a path. Case and accents don't count.

use crate::search::analyze::text::fold;

/// A pattern for paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    glob: bool,
}

impl Pattern {
    /// The pattern `text`.
    pub fn new(text: &str) -> Self {
        let text = fold(text.trim_start_matches("./").trim_start_matches('/'));
        let glob = text.contains(['*', '?']);
        Self { text, glob }
    }

    /// Whether `path` fits.
    pub fn matches(&self, path: &str) -> bool {
        let path = fold(path);
        if !self.glob {
            return path.contains(&self.text);
        }
        // A pattern without a folder means names anywhere.
        fits(self.text.as_bytes(), path.as_bytes())
            || !self.text.contains('/')
                && path.rsplit('/').next().is_some_and(|name| fits(self.text.as_bytes(), name.as_bytes()))
    }

    /// Whether `path` fits as a setting's pattern: a plain pattern means that file or folder exactly.
    pub fn covers(&self, path: &str) -> bool {
        if self.glob {
            return self.matches(path);
        }
        let path = fold(path);
        path.strip_prefix(self.text.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Matches greedily with one point of return for each kind of star.
fn fits(mut pattern: &[u8], mut text: &[u8]) -> bool {
    let mut back: Option<(&[u8], &[u8])> = None;
    let mut outer: Option<(&[u8], &[u8])> = None;
    loop {
        if let Some(rest) = pattern.strip_prefix(b"**") {
            let rest = rest.strip_prefix(b"/").unwrap_or(rest);
            outer = Some((rest, text));
            back = None;
            pattern = rest;
            continue;
        }
        if let Some(rest) = pattern.strip_prefix(b"*") {
            back = Some((rest, text));
            pattern = rest;
            continue;
        }
        match (pattern.first(), text.first()) {
            (None, None) => return true,
            (Some(b'?'), Some(c)) if *c != b'/' => {
                pattern = &pattern[1..];
                text = &text[1..];
                // One character may be several bytes.
                while text.first().is_some_and(|b| b & 0xc0 == 0x80) {
                    text = &text[1..];
                }
                continue;
            }
            (Some(p), Some(c)) if p == c && *p != b'?' => {
                pattern = &pattern[1..];
                text = &text[1..];
                continue;
            }
            _ => {}
        }
        match back {
            Some((rest, from)) if from.first().is_some_and(|c| *c != b'/') => {
                back = Some((rest, &from[1..]));
                pattern = rest;
                text = &from[1..];
            }
            _ => match outer {
                Some((rest, from)) if !from.is_empty() => {
                    outer = Some((rest, &from[1..]));
                    back = None;
                    pattern = rest;
                    text = &from[1..];
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_and_plain_parts() {
        let fits = |pattern: &str, path: &str| Pattern::new(pattern).matches(path);
        assert!(fits("*.md", "a/b/c.md") && fits("a/*.md", "a/c.md") && !fits("a/*.md", "a/b/c.md"));
        assert!(fits("a/**/c.md", "a/b/x/c.md") && fits("**/c.md", "c.md") && fits("a/**", "a/b/c"));
        assert!(fits("?.md", "é.md") && !fits("?.md", "ab.md"));
        assert!(fits("Notes", "my notes/x.md") && !fits("notes", "x.md"));
        assert!(fits("a*b*c", "aXbYbZc") && !fits("a*b", "a/b"));
        let covers = |pattern: &str, path: &str| Pattern::new(pattern).covers(path);
        assert!(
            covers("archive/", "archive/x.md") && covers("a.md", "a.md") && !covers("arch", "archive/x.md")
        );
    }
}
