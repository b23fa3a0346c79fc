//! Finds Obsidian's inline tags in a text: `#word` and `#nested/word`.

use std::collections::HashSet;
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

/// Whether a character can stand in a tag. An accent may stand as a character of its own behind its letter.
pub fn is_tag_char(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c) || is_sign(c) || matches!(c, '-' | '_' | '/')
}

/// Whether `c` is an arrow, a shape or an emoji, which counts as a character of a word in tags and in phrases.
pub fn is_sign(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}') && !c.is_alphanumeric()
}

/// The most bytes of a tag; a longer run of characters is none.
const MOST: usize = 200;

/// The inline tags of `text` outside the byte ranges `code`, which are in order, without `#`, each once.
pub fn tags(text: &str, code: &[Range<usize>]) -> Vec<String> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    for at in memchr::memchr_iter(b'#', text.as_bytes()) {
        let open =
            text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | ',' | ';'));
        let in_code = code.get(code.partition_point(|range| range.end <= at));
        if !open || in_code.is_some_and(|range| range.start <= at) {
            continue;
        }
        let behind = &text[at + 1..];
        let tag = &behind[..behind.find(|c| !is_tag_char(c)).unwrap_or(behind.len())];
        let tag = tag.trim_end_matches('/');
        if tag.len() <= MOST && tag.chars().any(|c| !c.is_ascii_digit()) && known.insert(tag) {
            found.push(tag.to_owned());
        }
    }
    found
}

/// The code spans of a text: a run of backticks up to the next run of the same length.
pub fn code_spans(text: &str) -> Vec<Range<usize>> {
    let run = |at: usize| text.as_bytes()[at..].iter().take_while(|b| **b == b'`').count();
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'`', &text.as_bytes()[at..]).map(|found| at + found) {
        let length = run(open);
        let mut from = open + length;
        let close = std::iter::from_fn(|| {
            let found = from + memchr::memchr(b'`', &text.as_bytes()[from..])?;
            let length = run(found);
            from = found + length;
            Some((found, length))
        })
        .take(1_000)
        .find(|(_, other)| *other == length);
        at = match close {
            Some((found, length)) => {
                spans.push(open..found + length);
                found + length
            }
            None => open + length,
        };
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_words_behind_a_lone_hash() {
        assert_eq!(tags("#a text #b/c-d, (#e) x#no ## #1 #1a #über", &[]), ["a", "b/c-d", "e", "1a", "über"]);
        assert_eq!(tags("#gru\u{308}n/blau #हिंदी", &[]), ["gru\u{308}n/blau", "हिंदी"]);
        assert_eq!(tags("#🎉 #❤\u{fe0f}/x #ideas💡.", &[]), ["🎉", "❤\u{fe0f}/x", "ideas💡"]);
        assert_eq!(tags("`#a` #b", std::slice::from_ref(&(0..4))), ["b"]);
    }

    #[test]
    fn code_hides_its_tags() {
        let text = "see `#a` and ``x ` #b`` and #c but ` #d";
        assert_eq!(tags(text, &code_spans(text)), ["c", "d"]);
    }
}
