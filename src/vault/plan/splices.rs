//! Defines a splice, which replaces a range of a note's bytes. Makes splices for a line, the end of a note and a
//! section, and applies them. Also defines the outcome of an operation. Pure.

use crate::format::lines::{Line, LiveLines, lines};
use crate::format::memory;
use crate::vault::prelude::*;

/// The reason why an operation was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
pub enum DropReason {
    /// No line like it is there any more.
    #[error("it is not there any more")]
    Gone,
    /// It is there, but has changed.
    #[error("it has been changed in the meantime")]
    Changed,
}

/// The outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OpOutcome {
    /// Done.
    Done,
    /// Not done; the bytes are untouched by it.
    Dropped(DropReason),
}

impl OpOutcome {
    /// Whether it was done.
    pub fn is_done(self) -> bool {
        self == Self::Done
    }
}

/// One replacement of bytes.
pub(super) struct Splice {
    pub at: Range<usize>,
    pub with: Vec<u8>,
}

pub(super) fn splice(bytes: &[u8], splices: &[Splice]) -> Vec<u8> {
    let added: usize = splices.iter().map(|splice| splice.with.len()).sum();
    let mut after = Vec::with_capacity(bytes.len() + added);
    let mut from = 0;
    for splice in splices {
        after.extend_from_slice(&bytes[from..splice.at.start]);
        after.extend_from_slice(&splice.with);
        from = splice.at.end;
    }
    after.extend_from_slice(&bytes[from..]);
    after
}

pub(super) fn line_splice(line: &Line<'_>, with: Option<&[u8]>) -> Splice {
    match with {
        Some(with) => Splice { at: line.start..line.start + line.text.len(), with: with.to_vec() },
        None => Splice { at: line.start..line.end(), with: Vec::new() },
    }
}

/// Text that follows `at`, which is the end of the file or of a line's terminator.
pub(super) fn append(bytes: &[u8], at: usize, added: &[u8]) -> Splice {
    let newline = newline_of(bytes);
    let mut with = Vec::with_capacity(added.len() + 4);
    if !bytes[..at].is_empty() && !bytes[..at].ends_with(b"\n") {
        with.extend_from_slice(newline);
    }
    with.extend_from_slice(&with_newlines(added, newline));
    if !added.is_empty() && !added.ends_with(b"\n") {
        with.extend_from_slice(newline);
    }
    Splice { at: at..at, with }
}

pub(super) fn append_to_section(bytes: &[u8], heading: &str, added: &[u8]) -> Splice {
    let mut last = None;
    for (line, live) in LiveLines::new(bytes).with_liveness() {
        let end = line.end();
        match (last, memory::heading(line.text).filter(|_| live)) {
            (None, Some((2, name))) if name == heading.trim() => last = Some(end),
            (Some(_), Some((1 | 2, _))) => break,
            (Some(_), _) if !line.text.trim_ascii().is_empty() => last = Some(end),
            _ => {}
        }
    }
    if let Some(last) = last {
        return append(bytes, last, added);
    }
    let gap = if ends_in_blank_line(bytes) { "" } else { "\n" };
    let head = format!("{gap}## {}\n", heading.trim());
    append(bytes, bytes.len(), &[head.as_bytes(), added].concat())
}

/// The line end of this file: `\r\n` if its first and its last line have it, else `\n`.
fn newline_of(bytes: &[u8]) -> &'static [u8] {
    let crlf = |at: Option<usize>| at.is_some_and(|at| at > 0 && bytes[at - 1] == b'\r');
    if crlf(memchr::memchr(b'\n', bytes)) && crlf(memchr::memrchr(b'\n', bytes)) { b"\r\n" } else { b"\n" }
}

/// `text` with its lines ended as `newline` says; text with a `\r` of its own stays as it is.
fn with_newlines<'a>(text: &'a [u8], newline: &[u8]) -> Cow<'a, [u8]> {
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
fn ends_in_blank_line(bytes: &[u8]) -> bool {
    lines(bytes).last().is_none_or(|line| line.text.trim_ascii().is_empty() && !line.terminator.is_empty())
}
