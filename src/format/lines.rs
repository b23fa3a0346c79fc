//! Splits a file into lines, and marks the live ones: those outside frontmatter, code and comments.
//!
//! A file is bytes. A line ends with LF or CRLF; the last line may have no terminator. A CR without LF is part of the
//! text. A byte order mark at the start belongs to no line. A file always equals its byte order mark, if any, followed
//! by each line's text and terminator in order.
//!
//! A line is *live* if it starts outside frontmatter, fenced code and comments. Only live lines can be a reminder, a
//! commitment or a memory. The exact rules, as in `grammar/README.md`:
//!
//! - Frontmatter runs from a first line that is `---` to the next line that is `---`. Without that second line there is
//!   no frontmatter. (`COMMITMENTS.md` is read with [`LiveLines::without_frontmatter`].)
//! - A fence opens with at least three backticks (no backtick after them) or tildes. It ends at a line with at least as
//!   many of the same character, or at the end of its list item, its block quote or the file. A fence line isn't live
//!   either, unless it begins a list item. See [`FencedCode`].
//! - A comment runs from `<!--` to `-->` or from `%%` to `%%`, or else to the end of the file. Markers in code spans
//!   don't count. Nor do markers between the first and the last double quote of a task line: `msg="50%% off"` opens
//!   nothing.
//!
//! Also reports a file that can't be split (UTF-16, or lines that end with CR alone), and computes the line that closes
//! an open fence or comment. Time is linear in the number of bytes.

use std::borrow::Cow;

use memchr::{memchr, memmem};

use super::Finding;

mod fenced_code;

pub use fenced_code::{FencedCode, LineKind};

/// The UTF-8 byte order mark.
pub const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The line's number, from 1.
    pub number: usize,
    /// The byte offset of its first byte in the file.
    pub start: usize,
    /// Its bytes without the terminator.
    pub text: &'a [u8],
    /// `\n`, `\r\n`, or nothing at the end of a file.
    pub terminator: &'a [u8],
}

impl Line<'_> {
    /// The byte offset after the line and its terminator.
    pub fn end(&self) -> usize {
        self.start + self.text.len() + self.terminator.len()
    }
}

/// All lines of a file, in order.
pub fn lines(bytes: &[u8]) -> Lines<'_> {
    Lines { bytes, at: bom_len(bytes), number: 0 }
}

/// The length of the file's byte order mark: 3 or 0.
pub fn bom_len(bytes: &[u8]) -> usize {
    if bytes.starts_with(BOM) { BOM.len() } else { 0 }
}

/// The finding about a file none of whose lines can be understood: UTF-16 text, as Windows PowerShell's `>` writes it,
/// or lines that end with CR alone, as old Macs wrote them.
pub fn not_understood(bytes: &[u8]) -> Option<Finding> {
    let is_utf16 = match bytes {
        // A mark alone may be any two bytes; in UTF-16 every other byte of ASCII is zero, so some are in any note.
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => {
            let front = &bytes[..bytes.len().min(256)];
            front.iter().filter(|byte| **byte == 0).count() * 8 >= front.len()
        }
        // Without a mark: every other byte of ASCII is zero.
        [a, b, c, d, ..] => {
            let zeros = [a, b, c, d].map(|byte| *byte == 0);
            zeros == [false, true, false, true] || zeros == [true, false, true, false]
        }
        _ => false,
    };
    let reason = "the file is UTF-16 text, as Windows PowerShell's `>` writes it";
    if is_utf16 {
        return Some(Finding::new(1, 1, reason, "save it as UTF-8"));
    }
    let reason = "the file ends its lines with CR alone, as old Macs did";
    ends_in_cr(bytes).then(|| Finding::new(1, 1, reason, "save it with LF at the end of each line"))
}

/// Whether a file has lines that end with CR, and none that ends with LF.
fn ends_in_cr(bytes: &[u8]) -> bool {
    let inner = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    memchr(b'\n', bytes).is_none() && memchr(b'\r', inner).is_some()
}

/// A file's bytes for reading by lines. If its lines end with CR alone, each CR is replaced by LF, so that all offsets
/// stay.
pub fn with_lf<'a>(bytes: impl Into<Cow<'a, [u8]>>) -> Cow<'a, [u8]> {
    let mut bytes = bytes.into();
    if ends_in_cr(&bytes) {
        bytes.to_mut().iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
    }
    bytes
}

/// The line terminator that a file uses, by its first line: for lines that are added to it.
pub fn terminator_of(bytes: &[u8]) -> &'static str {
    match memchr(b'\n', bytes) {
        Some(at) if at > 0 && bytes[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

/// Iterator over [`lines`].
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    /// Lines from the byte offset `at` on, of which the first is called `number`.
    pub fn from_offset(bytes: &'a [u8], at: usize, number: usize) -> Lines<'a> {
        Lines { bytes, at: at.min(bytes.len()), number: number.saturating_sub(1) }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    #[inline]
    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        self.number += 1;
        let (text, terminator) = match memchr(b'\n', rest) {
            None => (rest, &rest[rest.len()..]),
            Some(lf) => {
                let cut = if lf > 0 && rest[lf - 1] == b'\r' { lf - 1 } else { lf };
                (&rest[..cut], &rest[cut..=lf])
            }
        };
        self.at = start + text.len() + terminator.len();
        Some(Line { number: self.number, start, text, terminator })
    }
}

/// The state in which the next line starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineContext {
    Text,
    /// Up to this byte offset (exclusive) the file is frontmatter.
    Frontmatter(usize),
    HtmlComment,
    ObsidianComment,
}

/// Iterator over the lines that start outside frontmatter, fenced code, `<!-- -->` and `%% %%`.
#[derive(Debug, Clone)]
pub struct LiveLines<'a> {
    lines: Lines<'a>,
    inside: LineContext,
    code: FencedCode,
}

impl<'a> LiveLines<'a> {
    /// The live lines of a file.
    pub fn new(bytes: &'a [u8]) -> LiveLines<'a> {
        let mut live = LiveLines::without_frontmatter(bytes);
        if let Some(end) = frontmatter_end(bytes) {
            live.inside = LineContext::Frontmatter(end);
        }
        live
    }

    /// The live lines of a file in which a `---` at the top isn't frontmatter.
    pub fn without_frontmatter(bytes: &'a [u8]) -> LiveLines<'a> {
        LiveLines { lines: lines(bytes), inside: LineContext::Text, code: FencedCode::default() }
    }

    /// The next line of the file, and whether it is live.
    pub fn next_any(&mut self) -> Option<(Line<'a>, bool)> {
        let line = self.lines.next()?;
        let live = self.step(&line);
        Some((line, live))
    }

    /// All lines from here on, each with whether it is live.
    pub fn with_liveness(mut self) -> impl Iterator<Item = (Line<'a>, bool)> {
        std::iter::from_fn(move || self.next_any())
    }

    /// Takes the line into account, and says whether it is live.
    fn step(&mut self, line: &Line<'a>) -> bool {
        if let LineContext::Frontmatter(end) = self.inside {
            if line.start < end {
                return false;
            }
            self.inside = LineContext::Text;
        }
        match self.inside {
            LineContext::HtmlComment | LineContext::ObsidianComment => {
                let closer: &[u8] = if self.inside == LineContext::HtmlComment { b"-->" } else { b"%%" };
                if let Some(at) = memmem::find(line.text, closer) {
                    self.inside = comment_left_open(line.text, at + closer.len());
                }
                false
            }
            LineContext::Text | LineContext::Frontmatter(_) => {
                let kind = self.code.line(line.text);
                if kind == LineKind::Text {
                    self.inside = comment_left_open(line.text, 0);
                }
                kind != LineKind::Code
            }
        }
    }
}

impl<'a> Iterator for LiveLines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        std::iter::from_fn(|| self.next_any()).find(|(_, live)| *live).map(|(line, _)| line)
    }
}

/// The line that closes what a text leaves open, be it a fence or a comment, so that what comes after it in a
/// file stays live. It stands in the list items and block quotes in which the text ends.
pub fn closing_line(text: &[u8]) -> Option<String> {
    // Behind a line end, as it will stand: a byte order mark is only one at the start of a file.
    let text = [b"\n", text].concat();
    let mut live = LiveLines::without_frontmatter(&text);
    while live.next_any().is_some() {}
    let closer = match live.inside {
        LineContext::Text | LineContext::Frontmatter(_) => live.code.closer()?,
        LineContext::HtmlComment => "-->".to_owned(),
        LineContext::ObsidianComment => "%%".to_owned(),
    };
    Some(live.code.prefix() + &closer)
}

/// The offset after the frontmatter's closing line, if the file starts with frontmatter.
pub fn frontmatter_end(bytes: &[u8]) -> Option<usize> {
    let mut all = lines(bytes);
    if !is_rule(all.next()?.text) {
        return None;
    }
    all.find(|line| is_rule(line.text)).map(|line| line.end())
}

/// Whether a line is `---`, perhaps with blanks after it.
pub(crate) fn is_rule(text: &[u8]) -> bool {
    text.strip_prefix(b"---").is_some_and(|rest| rest.iter().all(|b| matches!(b, b' ' | b'\t')))
}

/// The state after this line, if its text from `from` on is no part of a comment that began before.
fn comment_left_open(text: &[u8], from: usize) -> LineContext {
    let quoted = quoted_part(text);
    let mut no_closer = [false; 9];
    let mut at = from;
    while let Some(found) = memchr::memchr3(b'<', b'%', b'`', &text[at..]) {
        at += found;
        let rest = &text[at..];
        if rest[0] == b'`' {
            let run = rest.iter().take_while(|b| **b == b'`').count();
            at += code_span(rest, run, &mut no_closer);
        } else if quoted.contains(&at) {
            at += 1;
        } else if rest.starts_with(b"<!--") {
            match memmem::find(&rest[2..], b"-->") {
                Some(close) => at += 2 + close + 3,
                None => return LineContext::HtmlComment,
            }
        } else if rest.starts_with(b"%%") {
            match memmem::find(&rest[2..], b"%%") {
                Some(close) => at += 2 + close + 2,
                None => return LineContext::ObsidianComment,
            }
        } else {
            at += 1;
        }
    }
    LineContext::Text
}

/// The length of the code span that starts with a run of `run` backticks, or of the run where nothing closes
/// it. `no_closer` remembers the lengths that nothing closes any more, which keeps this linear.
fn code_span(rest: &[u8], run: usize, no_closer: &mut [bool; 9]) -> usize {
    if run >= no_closer.len() || no_closer[run] {
        return run;
    }
    let mut at = run;
    while let Some(found) = memchr(b'`', &rest[at..]) {
        at += found;
        let next = rest[at..].iter().take_while(|b| **b == b'`').count();
        at += next;
        if next == run {
            return at;
        }
    }
    no_closer[run] = true;
    run
}

/// In a task line, the range between its first and last double quote; empty in any other line.
fn quoted_part(text: &[u8]) -> std::ops::Range<usize> {
    let body = text.trim_ascii_start();
    let task = matches!(body.first(), Some(b'-' | b'*' | b'+'))
        && body[1..].trim_ascii_start().first() == Some(&b'[');
    match (memchr(b'"', text), memchr::memrchr(b'"', text)) {
        (Some(first), Some(last)) if task => first..last,
        _ => 0..0,
    }
}

/// The first and the last line of `3`, `3-7` or `3-`. Whether there are such lines isn't checked.
pub fn parse_range(text: &str) -> Option<(usize, usize)> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let to = if to.is_empty() { usize::MAX } else { to.trim().parse().ok()? };
    Some((from.trim().parse().ok()?, to))
}

#[cfg(test)]
mod tests;
