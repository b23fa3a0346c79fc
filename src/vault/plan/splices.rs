//! Replaces places in a note's bytes (splices), as an operation asks for. Pure.

use std::ops::Range;

use super::lines as text;
use super::outcome::DropReason;
use crate::format::lines::{Line, bom_len};
use crate::format::memory;

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

pub(super) fn line_splices(
    bytes: &[u8],
    target: &[u8],
    with: Option<&[u8]>,
) -> Result<Vec<Splice>, DropReason> {
    let splices: Vec<Splice> =
        text::live_lines_equal_to(bytes, target).iter().map(|line| line_splice(line, with)).collect();
    if splices.is_empty() { Err(DropReason::Gone) } else { Ok(splices) }
}

/// The position of `passage` as whole lines: once, beginning on a live line or at the file's start.
pub(super) fn find_range(bytes: &[u8], passage: &[u8]) -> Result<Range<usize>, DropReason> {
    if passage.is_empty() {
        return Err(DropReason::NotUnique);
    }
    let finder = memchr::memmem::Finder::new(passage);
    let mut from = 0;
    // Matches may overlap, so each search begins one byte after the last match.
    let matches = std::iter::from_fn(|| {
        let found = from + finder.find(bytes.get(from..)?)?;
        from = found + 1;
        Some(found)
    });
    let candidates: Vec<usize> = matches
        .filter(|&start| {
            let end = start + passage.len();
            text::begins_line(bytes, start)
                && (passage.ends_with(b"\n") || end == bytes.len() || text::terminator_at(bytes, end) > 0)
        })
        .collect();
    let live = text::Liveness::of(bytes);
    // The start of a file is in no comment or code block; Obsidian's frontmatter may be a commitment all the same.
    let body = bom_len(bytes);
    let mut found = candidates.into_iter().filter(|&start| start == body || live.is_live(start));
    match (found.next(), found.next()) {
        (Some(start), None) => Ok(start..start + passage.len()),
        (Some(_), Some(_)) => Err(DropReason::NotUnique),
        (None, _) => Err(DropReason::Gone),
    }
}

/// Text that follows `at`, which is the end of the file or of a line's terminator.
pub(super) fn append(bytes: &[u8], at: usize, added: &[u8]) -> Splice {
    let newline = text::newline_of(bytes);
    let mut with = Vec::with_capacity(added.len() + 4);
    if !bytes[..at].is_empty() && !bytes[..at].ends_with(b"\n") {
        with.extend_from_slice(newline);
    }
    with.extend_from_slice(&text::with_newlines(added, newline));
    if !added.is_empty() && !added.ends_with(b"\n") {
        with.extend_from_slice(newline);
    }
    Splice { at: at..at, with }
}

pub(super) fn append_to_section(bytes: &[u8], heading: &str, added: &[u8]) -> Splice {
    let mut last = None;
    for (line, live) in text::flagged_lines(bytes) {
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
    let mut section = Vec::new();
    if !bytes.is_empty() && !text::ends_in_blank_line(bytes) {
        section.push(b'\n');
    }
    section.extend_from_slice(format!("## {}\n", heading.trim()).as_bytes());
    section.extend_from_slice(added);
    append(bytes, bytes.len(), &section)
}
