//! Cuts a long text into chunks that a chat service accepts. Pure.
//!
//! A cut falls at the end of a paragraph, else of a line, else of a word, else between two grapheme clusters. A fenced
//! code block that is cut is closed before the cut and opened again after it, so that each chunk is complete by itself.
//! No character is lost but the white space at a cut.

use unicode_segmentation::UnicodeSegmentation;

/// The longest message for a notifier that names no limit of its own, in UTF-16 units.
pub const DEFAULT_LIMIT: usize = 2000;

/// The fewest units that a chunk can have: room for a fence's lines and a long grapheme.
const SMALLEST_LIMIT: usize = 64;

/// Splits `text` into chunks of at most `limit` UTF-16 units (limits under 64 count as 64). A text
/// that fits comes back whole, byte for byte; a blank one gives no chunk.
pub fn split(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(SMALLEST_LIMIT);
    let mut chunks = Vec::new();
    let mut rest = text;
    let mut fence: Option<Fence<'_>> = None;
    while !rest.trim().is_empty() {
        let opening = fence.map_or_else(String::new, |fence| fence.opening(limit));
        let room = limit - utf16_len(&opening);
        if utf16_len(rest) <= room {
            chunks.push(format!("{opening}{rest}"));
            break;
        }
        let (piece, after, open) = take(rest, room, fence);
        let mut chunk = format!("{opening}{piece}");
        if let Some(open) = open {
            if !chunk.ends_with('\n') {
                chunk.push('\n');
            }
            chunk.push_str(open.marker);
        }
        if !piece.trim().is_empty() {
            chunks.push(chunk);
        }
        (rest, fence) = (after, open);
    }
    chunks
}

/// The length of `text` in UTF-16 units.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// An open code fence: its backticks and the info string after them.
#[derive(Debug, Clone, Copy)]
struct Fence<'a> {
    marker: &'a str,
    info: &'a str,
}

impl Fence<'_> {
    /// The line that opens this block again; without its info string where that is absurdly long.
    fn opening(self, limit: usize) -> String {
        let info = if utf16_len(self.info) <= limit / 8 { self.info } else { "" };
        format!("{}{info}\n", self.marker)
    }
}

/// The longest run of backticks that counts as a fence here; a longer one is text.
const LONGEST_FENCE: usize = 12;

/// The next run of backticks that counts as a fence, as a range.
fn next_run(text: &str) -> Option<std::ops::Range<usize>> {
    let mut from = 0;
    while let Some(at) = text[from..].find('`').map(|at| from + at) {
        let ticks = text[at..].bytes().take_while(|&byte| byte == b'`').count();
        if (3..=LONGEST_FENCE).contains(&ticks) {
            return Some(at..at + ticks);
        }
        from = at + ticks;
    }
    None
}

/// The fence that is open after `text`, where `open` was before it and `rest` follows it.
///
/// A fence opens wherever three backticks stand, also within a line, because that is how Discord shows it; one within
/// a line only if it is closed anywhere, because Discord shows it as text otherwise. The next run that is as long
/// closes it.
fn after<'a>(text: &'a str, rest: &str, open: Option<Fence<'a>>) -> Option<Fence<'a>> {
    let (mut left, mut fence) = (text, open);
    let mut at_line_start = true;
    while let Some(run) = next_run(left) {
        let before = &left[..run.start];
        let starts_line = match before.rsplit_once('\n') {
            Some((_, line)) => line.trim().is_empty(),
            None => at_line_start && before.trim().is_empty(),
        };
        let marker = &left[run.clone()];
        left = &left[run.end..];
        at_line_start = false;
        fence = match fence {
            Some(open) if marker.len() >= open.marker.len() => None,
            Some(open) => Some(open),
            None => {
                let closed = next_run(left).or_else(|| next_run(rest)).is_some();
                (starts_line || closed).then(|| Fence { marker, info: info(left) })
            }
        };
    }
    fence
}

/// The info string after a fence's backticks: one word that ends its line.
fn info(after: &str) -> &str {
    let line = after.split('\n').next().unwrap_or_default();
    let ends = line.len() < after.len();
    let word = line.trim();
    if ends && !word.contains(char::is_whitespace) { word } else { "" }
}

/// Takes one chunk off `rest`: the piece, the remainder, and the fence that is open at the cut.
fn take<'a>(rest: &'a str, room: usize, fence: Option<Fence<'a>>) -> (&'a str, &'a str, Option<Fence<'a>>) {
    let has_fence = fence.is_some() || rest.contains("```");
    let closing = if has_fence { LONGEST_FENCE + 1 } else { 0 };
    let room = room.saturating_sub(closing).max(1);
    let window = prefix(rest, room);
    let (cut, skip) = best_cut(window, rest, fence);
    let piece = &rest[..cut];
    (piece, &rest[cut + skip..], after(piece, &rest[cut..], fence))
}

/// The longest prefix of whole graphemes within `room` units; at least one character.
fn prefix(text: &str, room: usize) -> &str {
    let mut used = 0;
    let mut end = 0;
    for (start, grapheme) in text.grapheme_indices(true) {
        used += utf16_len(grapheme);
        if used > room {
            break;
        }
        end = start + grapheme.len();
    }
    if end == 0 {
        // One grapheme longer than a message: cut it between characters.
        let mut used = 0;
        for (start, character) in text.char_indices() {
            used += character.len_utf16();
            if used > room && start > 0 {
                break;
            }
            end = start + character.len_utf8();
        }
    }
    &text[..end]
}

/// Finds the best cut of `window`, a prefix of `rest`, and the bytes of white space to drop there.
fn best_cut(window: &str, rest: &str, fence: Option<Fence<'_>>) -> (usize, usize) {
    // The window may end exactly where a separator begins.
    let reach = |separator: &str| {
        let end = rest.floor_char_boundary((window.len() + separator.len()).min(rest.len()));
        rest[..end].rfind(separator).filter(|&at| at > 0 && at <= window.len())
    };
    let half = window.len() / 2;
    let paragraph = reach("\n\n").filter(|&at| after(&rest[..at], &rest[at..], fence).is_none());
    let line = reach("\n");
    let word = reach(" ");
    let choices = [(paragraph, true), (line, false), (word, false)].into_iter();
    let choices: Vec<(usize, bool)> = choices.filter_map(|(at, whole)| Some((at?, whole))).collect();
    let chosen = choices.iter().find(|(at, _)| *at >= half);
    let chosen = chosen.or_else(|| choices.iter().max_by_key(|(at, _)| *at));
    match chosen {
        Some(&(at, true)) => (at, rest[at..].len() - rest[at..].trim_start_matches('\n').len()),
        Some(&(at, false)) => (at, 1),
        None => (window.len(), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_text_is_one_chunk_as_it_is() {
        assert_eq!(split("  hello \n", 2000), ["  hello \n"]);
        assert!(split(" \n\n ", 2000).is_empty());
    }

    #[test]
    fn cuts_at_paragraph_then_line_then_word() {
        let paragraph = "word ".repeat(9) + "end.";
        let text = format!("{paragraph}\n\n{paragraph}");
        assert_eq!(split(&text, 64), [paragraph.clone(), paragraph.clone()]);
        let line = "a".repeat(40);
        assert_eq!(split(&format!("{line}\n{line}"), 64), [line.clone(), line.clone()]);
        assert_eq!(split(&format!("{line} {line}"), 64), [line.clone(), line]);
        assert_eq!(split(&"b".repeat(100), 64), ["b".repeat(64), "b".repeat(36)]);
    }

    #[test]
    fn a_fence_is_closed_and_opened_again() {
        let code: String = (0..8).map(|n| format!("let line_{n} = {n};\n")).collect();
        let text = format!("Look:\n```rust\n{code}```\ndone");
        let chunks = split(&text, 90);
        insta::assert_snapshot!(chunks.join("\n=====\n"), @r"
        Look:
        ```rust
        let line_0 = 0;
        let line_1 = 1;
        let line_2 = 2;
        let line_3 = 3;
        ```
        =====
        ```rust
        let line_4 = 4;
        let line_5 = 5;
        let line_6 = 6;
        let line_7 = 7;
        ```
        done
        ");
    }

    #[test]
    fn a_fence_that_opens_within_a_line_is_closed_too() {
        let code: String = (0..6).map(|n| format!("let line_{n} = {n};\n")).collect();
        let text = format!("Look: ```rust\n{code}``` and done, with words after it");
        let chunks = split(&text, 90);
        insta::assert_snapshot!(chunks.join("\n=====\n"), @r"
        Look: ```rust
        let line_0 = 0;
        let line_1 = 1;
        let line_2 = 2;
        let line_3 = 3;
        ```
        =====
        ```rust
        let line_4 = 4;
        let line_5 = 5;
        ``` and done, with words after it
        ");
        for chunk in &chunks {
            assert_eq!(chunk.matches("```").count() % 2, 0, "{chunk}");
        }
        // Nothing closes these: Discord shows them as they stand.
        let words = "word ".repeat(30);
        let chunks = split(&format!("three ``` in a line {words}"), 90);
        assert_eq!(chunks.concat().matches("```").count(), 1, "{chunks:?}");
    }

    #[test]
    fn astral_characters_count_twice() {
        let chunks = split(&"🦀".repeat(1500), DEFAULT_LIMIT);
        assert_eq!(chunks.iter().map(|chunk| utf16_len(chunk)).collect::<Vec<_>>(), [2000, 1000]);
    }

    fn letters(text: &str) -> String {
        text.lines()
            .filter(|line| !line.trim_start().starts_with("```"))
            .collect::<String>()
            .split_whitespace()
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn every_chunk_fits_and_nothing_is_lost(
            parts in prop::collection::vec(prop_oneof![
                4 => "[a-zé🦀 ]{0,90}", 1 => Just("\n".to_owned()), 1 => Just("\n\n".to_owned()),
                1 => Just("\n```rust\n".to_owned()), 1 => Just("\n```\n".to_owned()), 1 => "\\PC{0,40}",
            ], 0..40),
            limit in 64usize..300,
        ) {
            let text = parts.concat();
            let chunks = split(&text, limit);
            for chunk in &chunks {
                prop_assert!(utf16_len(chunk) <= limit, "{} > {limit}: {chunk:?}", utf16_len(chunk));
                prop_assert!(!chunk.trim().is_empty());
            }
            for chunk in chunks.iter().take(chunks.len().saturating_sub(1)) {
                prop_assert!(after(chunk, "", None).is_none(), "open fence in {chunk:?}");
            }
            let joined: Vec<String> = chunks.iter().map(|chunk| letters(chunk)).collect();
            if !text.contains('`') || !parts.iter().any(|part| part.contains('`') && !part.starts_with("\n```")) {
                prop_assert_eq!(joined.concat(), letters(&text));
            }
        }
    }
}
