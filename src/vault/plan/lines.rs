//! Finds lines by their content, for the operations of a plan.

use std::borrow::Cow;

use memchr::memmem;

use crate::format::lines::{Line, Lines, LiveLines, bom_len, lines};

/// The length of the line terminator at `at`, 0 where there is none.
pub(super) fn terminator_at(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..) {
        Some([b'\n', ..]) => 1,
        Some([b'\r', b'\n', ..]) => 2,
        _ => 0,
    }
}

/// The line end of this file: `\r
/// ` if its first and its last line have it, else `
/// `.
pub(super) fn newline_of(bytes: &[u8]) -> &'static [u8] {
    let crlf = |at: Option<usize>| at.is_some_and(|at| at > 0 && bytes[at - 1] == b'\r');
    if crlf(memchr::memchr(b'\n', bytes)) && crlf(memchr::memrchr(b'\n', bytes)) { b"\r\n" } else { b"\n" }
}

/// `text` with its lines ended as `newline` says; text with a `\r` of its own stays as it is.
pub(super) fn with_newlines<'a>(text: &'a [u8], newline: &[u8]) -> Cow<'a, [u8]> {
    if newline == b"\n" || text.contains(&b'\r') || !text.contains(&b'\n') {
        return Cow::Borrowed(text);
    }
    let mut changed = Vec::with_capacity(text.len() + 16);
    for line in lines(text) {
        changed.extend_from_slice(line.text);
        if !line.terminator.is_empty() {
            changed.extend_from_slice(newline);
        }
    }
    Cow::Owned(changed)
}

/// Whether the file's last line is blank, so that appended text is a paragraph of its own.
pub(super) fn ends_in_blank_line(bytes: &[u8]) -> bool {
    lines(bytes).last().is_none_or(|line| line.text.trim_ascii().is_empty() && !line.terminator.is_empty())
}

/// All lines, each with whether it is live.
pub(super) fn flagged_lines(bytes: &[u8]) -> impl Iterator<Item = (Line<'_>, bool)> {
    let mut lines = LiveLines::new(bytes);
    std::iter::from_fn(move || lines.next_any())
}

/// Whether `at` is where a line begins.
pub(super) fn begins_line(bytes: &[u8], at: usize) -> bool {
    at == bom_len(bytes) || at > 0 && bytes[at - 1] == b'\n'
}

/// The live lines whose text is `target`. It searches the line ends first and compares only lines of the right length:
/// the lines of a file resemble each other, which makes a search for the bytes slow.
pub(super) fn live_lines_equal_to<'a>(bytes: &'a [u8], target: &[u8]) -> Vec<Line<'a>> {
    let mut found: Vec<Line<'a>> = Vec::new();
    let body = bom_len(bytes);
    let mut start = body;
    // The position where the last other line differed from the target: most likely the next one does too.
    let mut probe = 0;
    for end in memchr::memchr_iter(b'\n', &bytes[body..]).map(|at| at + body).chain([bytes.len()]) {
        let fits = end - start == target.len() || end - start == target.len() + 1;
        if fits && target.get(probe).is_none_or(|byte| bytes[start + probe] == *byte) {
            if bytes[start..].starts_with(target) {
                found.extend(Lines::from_offset(bytes, start, 0).next().filter(|line| line.text == target));
            } else {
                probe = bytes[start..].iter().zip(target).take_while(|(have, want)| have == want).count();
            }
        }
        start = end + 1;
    }
    if let Some(last) = found.last() {
        // The text behind the last candidate doesn't matter, unless it ends the frontmatter.
        let end = if starts_frontmatter(bytes) { bytes.len() } else { last.end() };
        let live = Liveness::of(&bytes[..end]);
        found.retain(|line| live.is_live(line.start));
    }
    found
}

/// Which lines of a text are live.
pub(super) enum Liveness {
    /// All: nothing in the text could make a line anything else.
    All,
    /// The starts of those that aren't.
    Dead(std::collections::HashSet<usize>),
}

impl Liveness {
    pub(super) fn of(bytes: &[u8]) -> Self {
        if !starts_frontmatter(bytes) && !has_marks(bytes) {
            return Self::All;
        }
        Self::Dead(flagged_lines(bytes).filter(|(_, live)| !live).map(|(line, _)| line.start).collect())
    }

    /// Whether the line that begins at `start` is live.
    pub(super) fn is_live(&self, start: usize) -> bool {
        match self {
            Self::All => true,
            Self::Dead(dead) => !dead.contains(&start),
        }
    }
}

/// Whether anything in the text could open a fence or a comment. Two searches of the memory.
fn has_marks(bytes: &[u8]) -> bool {
    let is_mark = |at: usize| match bytes[at] {
        b'%' => bytes[at..].starts_with(b"%%"),
        mark => bytes[at..].starts_with(&[mark; 3]),
    };
    memchr::memchr3_iter(b'`', b'~', b'%', bytes).any(is_mark) || memmem::find(bytes, b"<!--").is_some()
}

fn starts_frontmatter(bytes: &[u8]) -> bool {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).starts_with(b"---")
}
