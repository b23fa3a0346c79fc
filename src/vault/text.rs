//! Lines by content: what the plan needs to find its targets, at the speed of memory.

use std::borrow::Cow;

use memchr::memmem;

/// A line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Byte offset of its first byte.
    pub start: usize,
    /// Without the terminator.
    pub text: &'a [u8],
    /// `\n`, `\r\n` or nothing.
    pub terminator: &'a [u8],
}

/// All lines of `bytes`.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        (at < bytes.len()).then(|| {
            let line = line_at(bytes, at);
            at += line.text.len() + line.terminator.len();
            line
        })
    })
}

/// The line that begins at `start`.
pub(super) fn line_at(bytes: &[u8], start: usize) -> Line<'_> {
    let rest = &bytes[start..];
    let (text, terminator) = match memchr::memchr(b'\n', rest) {
        Some(end) if end > 0 && rest[end - 1] == b'\r' => (&rest[..end - 1], &rest[end - 1..=end]),
        Some(end) => (&rest[..end], &rest[end..=end]),
        None => (rest, &rest[rest.len()..]),
    };
    Line { start, text, terminator }
}

/// The length of the line terminator at `at`, 0 where there is none.
pub(super) fn terminator_at(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..) {
        Some([b'\n', ..]) => 1,
        Some([b'\r', b'\n', ..]) => 2,
        _ => 0,
    }
}

/// What ends the lines of this file: `\r\n` where its first and its last line say so, else `\n`.
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

/// The level and the words of an ATX heading.
pub(super) fn heading(line: &[u8]) -> Option<(usize, &[u8])> {
    let level = line.iter().take_while(|byte| **byte == b'#').count();
    let rest = &line[level..];
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest[0] == b' ' || rest[0] == b'\t');
    is_heading.then(|| (level, rest.trim_ascii()))
}

/// Whether the file's last line is blank, so that what follows stands apart.
pub(super) fn ends_in_blank_line(bytes: &[u8]) -> bool {
    lines(bytes).last().is_none_or(|line| line.text.trim_ascii().is_empty() && !line.terminator.is_empty())
}

/// The lines outside frontmatter, fenced code and comments.
pub(super) fn live_lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    flagged_lines(bytes).filter(|(_, live)| *live).map(|(line, _)| line)
}

/// All lines, each with whether it is live.
pub(super) fn flagged_lines(bytes: &[u8]) -> impl Iterator<Item = (Line<'_>, bool)> {
    let mut scan = Scan::new(bytes);
    lines(bytes).map(move |line| {
        let live = scan.next_is_live(&line);
        (line, live)
    })
}

/// The live lines whose text is `target`. Searches for the bytes first, so that a large file costs
/// little more than one look at its memory.
pub(super) fn live_lines_equal_to<'a>(bytes: &'a [u8], target: &[u8]) -> Vec<Line<'a>> {
    if target.is_empty() {
        return live_lines(bytes).filter(|line| line.text.is_empty()).collect();
    }
    let mut found = Vec::new();
    for start in memmem::find_iter(bytes, target) {
        if (start == 0 || bytes[start - 1] == b'\n') && line_at(bytes, start).text == target {
            found.push(line_at(bytes, start));
        }
    }
    if let Some(last) = found.last() {
        let live = Liveness::of(&bytes[..last.start + target.len()]);
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
        const MARKS: [&[u8]; 4] = [b"```", b"~~~", b"<!--", b"%%"];
        if !starts_frontmatter(bytes) && MARKS.iter().all(|mark| memmem::find(bytes, mark).is_none()) {
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

fn starts_frontmatter(bytes: &[u8]) -> bool {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).starts_with(b"---")
}

enum Region {
    Live,
    Frontmatter,
    Fence(u8, usize),
    Html,
    Percent,
}

struct Scan {
    region: Region,
}

impl Scan {
    fn new(bytes: &[u8]) -> Self {
        let is_rule = |line: &[u8]| line.trim_ascii_end() == b"---";
        let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let opens = starts_frontmatter(bytes)
            && is_rule(line_at(body, 0).text)
            && lines(body).skip(1).any(|line| is_rule(line.text) || line.text.trim_ascii_end() == b"...");
        Self { region: if opens { Region::Frontmatter } else { Region::Live } }
    }

    fn next_is_live(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        match self.region {
            Region::Frontmatter => {
                let text = text.trim_ascii_end();
                if line.start > 0 && (text == b"---" || text == b"...") {
                    self.region = Region::Live;
                }
                false
            }
            Region::Fence(mark, count) => {
                let body = text.trim_ascii();
                if body.len() >= count && body.iter().all(|byte| *byte == mark) {
                    self.region = Region::Live;
                }
                false
            }
            Region::Html => {
                if memmem::find(text, b"-->").is_some() {
                    self.region = Region::Live;
                }
                false
            }
            Region::Percent => {
                if memmem::find(text, b"%%").is_some() {
                    self.region = Region::Live;
                }
                false
            }
            Region::Live => self.enter(text),
        }
    }

    fn enter(&mut self, text: &[u8]) -> bool {
        let body = text.trim_ascii_start();
        for mark in *b"`~" {
            let count = body.iter().take_while(|byte| **byte == mark).count();
            if count >= 3 && text.len() - body.len() <= 3 {
                self.region = Region::Fence(mark, count);
                return false;
            }
        }
        if let Some(rest) = body.strip_prefix(b"<!--") {
            if memmem::find(rest, b"-->").is_none() {
                self.region = Region::Html;
            }
            return false;
        }
        if let Some(rest) = body.strip_prefix(b"%%") {
            if memmem::find(rest, b"%%").is_none() {
                self.region = Region::Percent;
            }
            return false;
        }
        true
    }
}
