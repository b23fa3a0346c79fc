//! Defines a rule: keywords, a pattern that runs only near one of them, and the part of a match that is the secret.
//!
//! A pattern is compiled when the first of its keywords is found, and runs on a window of bounded size around the
//! keyword. So a text without keywords costs one pass, whatever the number of rules.

use std::ops::Range;

use regex_lite::{Captures, Regex, RegexBuilder};

use super::FoundSecret;

/// The largest compiled pattern, in bytes.
const SIZE: usize = 1 << 20;
/// The longest window behind a keyword, in bytes.
const LONGEST: usize = 64 << 10;

/// One rule of a table.
pub(super) struct SecretRule {
    kind: &'static str,
    /// In small letters; each match holds one of them. Their case doesn't count.
    pub(super) keywords: &'static [&'static str],
    /// `{ON}` stands for the rest of a command up to an option, `{WORD}` for a word as a shell writes it.
    pattern: &'static str,
    /// The most bytes from the beginning of a match to its keyword.
    before: usize,
    /// The most bytes from the beginning of the keyword to the end of a match.
    after: usize,
    is_over_lines: bool,
    is_word: bool,
    take: MatchAction,
}

/// The action for a match.
enum MatchAction {
    /// The first group that matched is the secret, if this agrees.
    Group(fn(&str) -> bool),
    Own(fn(&str, &Captures<'_>, &mut Vec<FoundSecret>)),
}

impl SecretRule {
    /// A rule whose first group is the secret, within one line and 1 KB.
    pub(super) const fn new(
        kind: &'static str,
        keywords: &'static [&'static str],
        pattern: &'static str,
    ) -> Self {
        Self {
            kind,
            keywords,
            pattern,
            before: 64,
            after: 1024,
            is_over_lines: false,
            is_word: false,
            take: MatchAction::Group(|_| true),
        }
    }

    /// The same for matches that begin at most `before` bytes before the keyword and end at most `after` behind it.
    pub(super) const fn near(mut self, before: usize, after: usize) -> Self {
        (self.before, self.after) = (before, after);
        self
    }

    /// The same for keywords that begin a word.
    pub(super) const fn at_word_start(mut self) -> Self {
        self.is_word = true;
        self
    }

    /// The same for matches over several lines.
    pub(super) const fn multi_line(mut self) -> Self {
        self.is_over_lines = true;
        self
    }

    /// The same for secrets of which `holds` is true.
    pub(super) const fn filter(mut self, holds: fn(&str) -> bool) -> Self {
        self.take = MatchAction::Group(holds);
        self
    }

    /// The same with a function that adds the secrets of a match.
    pub(super) const fn with_finder(mut self, own: fn(&str, &Captures<'_>, &mut Vec<FoundSecret>)) -> Self {
        self.take = MatchAction::Own(own);
        self
    }

    /// Whether a keyword at this byte may begin a match.
    pub(super) fn may_begin(&self, text: &str, at: usize) -> bool {
        let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        !(self.is_word && text.as_bytes()[..at].last().is_some_and(is_inner))
    }

    /// Adds the secrets near the keywords at these bytes, which are in order.
    pub(super) fn find(&self, regex: &Regex, text: &str, keywords: &[usize], found: &mut Vec<FoundSecret>) {
        let mut done = 0;
        for &at in keywords {
            if at < done {
                continue;
            }
            let (before, mut after) = (found.len(), self.after);
            done = loop {
                let (start, end, is_whole) = self.window(text, at, after);
                let reached = self.search(regex, text, start..end, found);
                // A keyword in the second half of a window that was cut gets a window of its own.
                match is_whole {
                    true => break end,
                    false if reached < end || after >= LONGEST => break at + after / 2,
                    // The cut goes through a match.
                    false => after *= 4,
                }
                found.truncate(before);
            };
        }
    }

    /// Adds the secrets of a window, and says where the last match ends.
    fn search(&self, regex: &Regex, text: &str, window: Range<usize>, found: &mut Vec<FoundSecret>) -> usize {
        let (seen, mut from, mut reached) = (&text[..window.end], window.start, window.start);
        while from < window.end
            && let Some(groups) = regex.captures_at(seen, from)
            && let Some(whole) = groups.get(0)
        {
            self.take(text, &groups, found);
            reached = whole.end();
            from = if reached > from { reached } else { text.ceil_char_boundary(from + 1) };
        }
        reached
    }

    fn take(&self, text: &str, groups: &Captures<'_>, found: &mut Vec<FoundSecret>) {
        match self.take {
            MatchAction::Own(own) => own(text, groups, found),
            MatchAction::Group(holds) => {
                if let Some(secret) = groups.iter().skip(1).flatten().next()
                    && holds(secret.as_str())
                {
                    found.push(FoundSecret { range: secret.range(), kind: self.kind });
                }
            }
        }
    }

    /// The range in which a match round a keyword may stand, and whether that ends with the line or the text.
    fn window(&self, text: &str, at: usize, after: usize) -> (usize, usize, bool) {
        let start = text.floor_char_boundary(at.saturating_sub(self.before));
        let end = text.floor_char_boundary((at + after).min(text.len()));
        if self.is_over_lines {
            return (start, end, end == text.len());
        }
        let start =
            memchr::memrchr(b'\n', &text.as_bytes()[start..at]).map_or(start, |line| start + line + 1);
        match memchr::memchr(b'\n', &text.as_bytes()[at..end]) {
            // With the line's end, which some patterns ask for.
            Some(line) => (start, at + line + 1, true),
            None => (start, end, end == text.len()),
        }
    }

    /// The compiled pattern; `None` if it is invalid, which a test rules out.
    pub(super) fn compile(&self) -> Option<Regex> {
        let pattern = self.pattern.replace("{WORD}", WORD).replace("{ON}", ON);
        RegexBuilder::new(&pattern).size_limit(SIZE).build().ok()
    }

    #[cfg(test)]
    pub(super) fn is_valid(&self) -> bool {
        self.compile().is_some()
            && !self.keywords.is_empty()
            && self.keywords.iter().all(|word| *word == word.to_ascii_lowercase())
    }
}

/// A word as a shell writes it: in quotes or without; one of its groups is the value.
const WORD: &str = r#"(?:'([^'\n]+)'|"([^"\n]+)"|\\"([^"\\\n]+)\\"|([^\s"'|;&<>()`]+))"#;
/// The rest of a command up to an option.
const ON: &str = r"\b[^\n|]*?\s";
