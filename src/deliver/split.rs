//! Cuts a long text into chunks that a chat service takes: pure.
//!
//! A cut falls at the end of a paragraph, else of a line, else of a word, else between two
//! characters that belong together on the screen (grapheme clusters). A fenced code block that a cut
//! goes through is closed before it and opened again after it, so each chunk reads right alone. No
//! character is lost but the white space at a cut.

use unicode_segmentation::UnicodeSegmentation;

/// Discord's limit on the content of one message, in UTF-16 units (the stricter way to count).
pub const DISCORD_LIMIT: usize = 2000;

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
        let room = limit - units(&opening);
        if units(rest) <= room {
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
pub fn units(text: &str) -> usize {
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
        let info = if units(self.info) <= limit / 8 { self.info } else { "" };
        format!("{}{info}\n", self.marker)
    }
}

/// The longest run of backticks that counts as a fence here; a longer one is text.
const LONGEST_FENCE: usize = 12;

/// What `line` does to the fence that is open before it.
fn after_line<'a>(line: &'a str, open: Option<Fence<'a>>) -> Option<Fence<'a>> {
    let trimmed = line.trim_start_matches(' ');
    let ticks = trimmed.bytes().take_while(|&byte| byte == b'`').count();
    if line.len() - trimmed.len() > 3 || !(3..=LONGEST_FENCE).contains(&ticks) {
        return open;
    }
    let (marker, info) = trimmed.split_at(ticks);
    match open {
        None if info.contains('`') => None,
        None => Some(Fence { marker, info: info.trim_end() }),
        Some(fence) if ticks >= fence.marker.len() && info.trim().is_empty() => None,
        Some(fence) => Some(fence),
    }
}

/// The fence that is open after all whole lines of `text`.
fn after_lines<'a>(text: &'a str, open: Option<Fence<'a>>) -> Option<Fence<'a>> {
    text.split('\n').fold(open, |fence, line| after_line(line, fence))
}

/// Takes one chunk's worth off `rest`: the piece, what remains, and the fence open at the cut.
fn take<'a>(rest: &'a str, room: usize, fence: Option<Fence<'a>>) -> (&'a str, &'a str, Option<Fence<'a>>) {
    let has_fence = fence.is_some() || rest.contains("```");
    let closing = if has_fence { LONGEST_FENCE + 1 } else { 0 };
    let room = room.saturating_sub(closing).max(1);
    let window = prefix(rest, room);
    let (cut, skip) = best_cut(window, rest, fence);
    let piece = &rest[..cut];
    (piece, &rest[cut + skip..], after_lines(piece, fence))
}

/// The longest prefix of whole graphemes within `room` units; at least one character.
fn prefix(text: &str, room: usize) -> &str {
    let mut used = 0;
    let mut end = 0;
    for (start, grapheme) in text.grapheme_indices(true) {
        used += units(grapheme);
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

/// Where to cut `window`, a prefix of `rest`, and how many bytes of white space to drop there.
fn best_cut(window: &str, rest: &str, fence: Option<Fence<'_>>) -> (usize, usize) {
    // The window may end exactly where a separator begins.
    let reach = |separator: &str| {
        let end = (window.len() + separator.len()).min(rest.len());
        let mut end = end;
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        rest[..end].rfind(separator).filter(|&at| at > 0 && at <= window.len())
    };
    let half = window.len() / 2;
    let paragraph = reach("\n\n").filter(|&at| after_lines(&rest[..at], fence).is_none());
    let line = reach("\n");
    let word = reach(" ");
    let choices = [(paragraph, true), (line, false), (word, false)];
    let chosen =
        choices.iter().find_map(|&(at, whole)| at.filter(|&at| at >= half).map(|at| (at, whole))).or_else(
            || choices.iter().filter_map(|&(at, whole)| at.map(|at| (at, whole))).max_by_key(|&(at, _)| at),
        );
    match chosen {
        Some((at, true)) => (at, rest[at..].len() - rest[at..].trim_start_matches('\n').len()),
        Some((at, false)) => (at, 1),
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
    fn astral_characters_count_twice() {
        let chunks = split(&"🦀".repeat(1500), DISCORD_LIMIT);
        assert_eq!(chunks.iter().map(|chunk| units(chunk)).collect::<Vec<_>>(), [2000, 1000]);
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
                prop_assert!(units(chunk) <= limit, "{} > {limit}: {chunk:?}", units(chunk));
                prop_assert!(!chunk.trim().is_empty());
            }
            for chunk in chunks.iter().take(chunks.len().saturating_sub(1)) {
                prop_assert!(after_lines(chunk, None).is_none(), "open fence in {chunk:?}");
            }
            let joined: Vec<String> = chunks.iter().map(|chunk| letters(chunk)).collect();
            if !text.contains('`') || !parts.iter().any(|part| part.contains('`') && !part.starts_with("\n```")) {
                prop_assert_eq!(joined.concat(), letters(&text));
            }
        }
    }
}
