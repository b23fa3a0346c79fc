//! Finds and strips the parts of a note's text that Obsidian doesn't display: comments (`%% … %%` and `<!-- … -->`),
//! HTML tags, and the mark of a callout. A comment is a block of its own kind, not part of its paragraph or item.
//! Also marks the colon of lines such as `[anna]: yes`, so that Markdown doesn't take them for definitions of links.
//!
//! Pure. Comment marks in code are text; so is a `%%` without its end.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use pulldown_cmark::Options;

use crate::format::lines::{FencedCode, LineKind};

/// How notes are parsed: tables, tasks and links as Obsidian has them.
pub fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_WIKILINKS
}

/// The comments of `text[from..]` with their marks, in order, as byte ranges of `text`.
pub fn find(text: &str, from: usize) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    if memmem::find(&bytes[from..], b"%%").is_none() && memmem::find(&bytes[from..], b"<!--").is_none() {
        return Vec::new();
    }
    let last_close = memmem::rfind(bytes, b"-->").unwrap_or(0);
    let (mut found, mut code, mut at) = (Vec::new(), FencedCode::default(), from);
    while at < text.len() {
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(text.len(), |length| at + length + 1);
        let kind = code.line(bytes[at..end].trim_ascii_end());
        at = if kind == LineKind::Text { inside_line(text, at..end, last_close, &mut found) } else { end };
    }
    found
}

/// Finds the comments that begin in `text[line]`; the start of the line to go on with. `last_close` is the place of the
/// last `-->`.
fn inside_line(text: &str, line: Range<usize>, last_close: usize, found: &mut Vec<Range<usize>>) -> usize {
    let bytes = text.as_bytes();
    let Range { start, mut end } = line;
    let mut at = start;
    while at < end {
        let Some(next) = memchr::memchr3(b'`', b'%', b'<', &bytes[at..end]).map(|length| at + length) else {
            return end;
        };
        at = next + 1;
        let comment = match bytes[next] {
            b'`' => {
                let run = bytes[next..end].iter().take_while(|byte| **byte == b'`').count();
                at = code_end(&bytes[..end], next + run, run).unwrap_or(next + run);
                None
            }
            b'%' if bytes[at..end].first() == Some(&b'%') => {
                memmem::find(&bytes[next + 2..], b"%%").map(|length| next + 2 + length + 2)
            }
            b'<' if bytes[next..end].starts_with(b"<!--") => {
                // Behind the last one nothing is looked for: the rest may be long, and hold many.
                let rest = if next + 4 <= last_close { &bytes[next + 4..] } else { &[] };
                let close = memmem::find(rest, b"-->").map(|length| next + 4 + length + 3);
                // As in HTML, one that begins a line and isn't closed goes on to the end.
                close.or_else(|| text[start..next].trim().is_empty().then_some(text.len()))
            }
            _ => None,
        };
        if let Some(close) = comment {
            found.push(next..close);
            at = close;
            // It may have ended on another line.
            end = end
                .max(memchr::memchr(b'\n', &bytes[close..]).map_or(text.len(), |length| close + length + 1));
        }
    }
    end
}

/// Behind the run of `run` backticks that closes inline code.
fn code_end(line: &[u8], from: usize, run: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr(b'`', line.get(at..)?)?;
        let length = line[at..].iter().take_while(|byte| **byte == b'`').count();
        at += length;
        if length == run {
            return Some(at);
        }
    }
}

/// `text` with spaces in the comments' places, so that every other byte stays where it is.
pub fn blank<'a>(text: &'a str, comments: &[Range<usize>]) -> Cow<'a, str> {
    if comments.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut blanked = String::with_capacity(text.len());
    let mut at = 0;
    for comment in comments {
        blanked.push_str(&text[at..comment.start]);
        blanked.extend(text[comment.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        at = comment.end;
    }
    blanked.push_str(&text[at..]);
    Cow::Owned(blanked)
}

/// Stands for the colon of a line such as `[anna]: yes`, which a person wrote as a line, and Markdown takes for the
/// definition of a link. As long as a colon.
pub const COLON: &str = "\u{1}";

/// `text` with [`COLON`] in each line that reads like the definition of a link whose target is no path and no address.
pub fn mark_colons(text: Cow<'_, str>, from: usize) -> Cow<'_, str> {
    if memmem::find(&text.as_bytes()[from..], b"]:").is_none() {
        return text;
    }
    let (mut marked, mut kept, mut end) = (String::with_capacity(text.len()), 0, from);
    let is_marker = |c: char| c.is_ascii_digit() || " \t>-*+.)".contains(c);
    for line in text[from..].split_inclusive('\n') {
        let start = end;
        end += line.len();
        let Some((name, _)) = line.split_once("]:") else { continue };
        let colon = start + name.len() + 1;
        // The target may stand on the next line.
        let target = text[colon + 1..].trim_start().lines().next().unwrap_or_default();
        let name = name.trim_start_matches(is_marker);
        if name.starts_with('[') && !name.starts_with("[^") && !is_target(target.trim()) {
            marked.push_str(&text[kept..colon]);
            marked.push_str(COLON);
            kept = colon + 1;
        }
    }
    marked.push_str(&text[kept..]);
    Cow::Owned(marked)
}

/// The range in `text` of the words of the comment at `range`, without its marks.
pub fn words(text: &str, range: &Range<usize>) -> Range<usize> {
    let comment = &text[range.clone()];
    let inner = match comment.strip_prefix("<!--") {
        Some(rest) => rest.strip_suffix("-->").unwrap_or(rest),
        None => &comment[2..comment.len() - 2],
    };
    let start = range.start + if comment.starts_with('<') { 4 } else { 2 };
    let from = start + inner.len() - inner.trim_start().len();
    from..from + inner.trim().len()
}

/// A callout's text without its `[!name]` mark.
pub(super) fn callout_text(text: &str) -> &str {
    let marked = text.trim_start().strip_prefix("[!").and_then(|rest| rest.split_once(']'));
    marked.map_or(text, |(_, rest)| rest.trim_start_matches(['+', '-']).trim_start())
}

/// Appends the visible text of HTML, of which each line has its place; where each stretch of the text begins, in `out`
/// and in the note, to `places`.
pub(super) fn strip_html(pieces: &[(usize, String)], out: &mut String, places: &mut Vec<(usize, usize)>) {
    let (mut html, mut begins) = (String::new(), Vec::new());
    for (start, piece) in pieces {
        begins.push((html.len(), *start));
        html.push_str(piece);
    }
    let place = |rest: &str| {
        let at = html.len() - rest.len();
        let (from, start) = begins[begins.partition_point(|(from, _)| *from <= at).max(1) - 1];
        start + at - from
    };
    let mut rest = html.as_str();
    while let Some(open) = rest.find('<') {
        places.push((out.len(), place(rest)));
        push_words(&rest[..open], out);
        rest = &rest[open..];
        // A lone `<` is text, and so is a tag without its end.
        let is_tag = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        let end = if rest.starts_with("<!--") { "-->" } else { ">" };
        match rest.find(end) {
            Some(close) if is_tag => rest = &rest[close + end.len()..],
            None if end == "-->" => return,
            None if is_tag => break,
            _ => {
                out.push('<');
                rest = &rest[1..];
                continue;
            }
        }
        if !out.is_empty() && !out.ends_with([' ', '\n']) {
            out.push(' ');
        }
    }
    places.push((out.len(), place(rest)));
    push_words(rest, out);
}

fn push_words(words: &str, out: &mut String) {
    out.push_str(if out.ends_with([' ', '\n']) { words.trim_start_matches(' ') } else { words });
}

/// Whether what a link is defined as is a path or an address: `ch01.html#x`, `https://…`, and no word or time.
pub(super) fn is_target(text: &str) -> bool {
    let has_scheme = text.split_once(':').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric())
    });
    let has_extension = text.rsplit_once('.').is_some_and(|(_, end)| {
        (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    text.contains(['/', '#']) || has_scheme || has_extension
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> Vec<&str> {
        find(text, 0).iter().map(|range| &text[words(text, range)]).collect()
    }

    #[test]
    fn both_kinds_are_found_over_lines() {
        assert_eq!(show("a %%b%% c <!-- d -->\n%%\ne\n\nf\n%% g %%h%%"), ["b", "d", "e\n\nf", "h"]);
        assert_eq!(show("x\n<!-- open\nto the end"), ["open\nto the end"]);
        assert_eq!(show("<!-- a --><!-- b\n--> <!--c-->"), ["a", "b", "c"]);
        assert_eq!(show("%%%%<!---->"), ["", ""]);
    }

    #[test]
    fn code_and_lone_marks_are_text() {
        assert!(show("100 %% sure\n").is_empty());
        assert!(show("a <!-- b\n").is_empty());
        assert!(
            show("`%% a %%` ``<!-- ` -->``\n```py\n%%time\n%%\n```\n~~~~\n<!-- x -->\n~~~\n~~~~\n")
                .is_empty()
        );
        assert_eq!(show("` %%a%%"), ["a"]);
    }

    #[test]
    fn blanking_keeps_every_other_byte() {
        let text = "é %%ü\nb%% c";
        let blanked = blank(text, &find(text, 0));
        assert_eq!((blanked.len(), &*blanked), (text.len(), "é     \n    c"));
    }
}
