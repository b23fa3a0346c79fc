//! Reads a note, or some of its lines: at most [`MOST_EXCERPT`] bytes at once.

use serde::Serialize;

use super::error::{MemoryError, hash_of};
use crate::format::lines::{self, Lines};
use crate::memory::{MemoryNotes, Result};
use crate::vault::{NotePath, VaultError};

/// The most bytes of one answer; longer notes are read in ranges.
pub const MOST_EXCERPT: usize = 128 * 1024;
/// Larger files are no notes for reading.
const MOST_NOTE: u64 = 32 * 1024 * 1024;

/// Lines of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// The note.
    pub path: NotePath,
    /// The first line that is given, from 1.
    pub line: usize,
    /// The last line that is given; before `line` where the note is empty.
    pub end_line: usize,
    /// How many lines the note has.
    pub total_lines: usize,
    /// The lines as they are in the note; bytes that aren't UTF-8 are shown as `�`.
    pub text: String,
    /// The hash of the whole note, which a change may give as `expected`.
    pub hash: String,
    /// Whether lines that were asked for, or the end of the last one, are left out because the answer is full.
    pub truncated: bool,
}

impl MemoryNotes<'_> {
    /// The lines `from` to `to` (both included, from 1) of any note in the vault, or all of them, with the path behind
    /// symbolic links. A path without `.md` is resolved as in a link. At most [`MOST_EXCERPT`] bytes are given at once.
    ///
    /// # Errors
    /// The path is none, leaves the vault or names no note; the range is none or begins after the end.
    pub fn get(&self, path: &str, lines: Option<(usize, usize)>) -> Result<Excerpt> {
        if let Some((from, to)) = lines.filter(|(from, to)| *from == 0 || from > to) {
            return Err(MemoryError::BadLines(from, to));
        }
        let path = self.note_named(path)?;
        let bytes = self.vault.clone().with_limit(MOST_NOTE.min(self.vault.limit())).read(&path)?;
        let path = self.vault.resolved(&path).unwrap_or(path);
        excerpt(path, &lines::with_lf(bytes), lines)
    }

    /// The note of a path as people and links write it.
    ///
    /// # Errors
    /// It is none, leaves the vault or names no note; it leads to a hidden file.
    pub fn note_named(&self, path: &str) -> Result<NotePath> {
        let named = self.vault.with_names_on_disk(NotePath::new(path)?);
        let is_note = |path: &NotePath| path.extension().is_some_and(|it| it.eq_ignore_ascii_case("md"));
        let path = if is_note(&named) || self.vault.exists(&named) {
            named
        } else {
            let link = self.vault.with_names_on_disk(NotePath::new(&format!("{named}.md"))?);
            if self.vault.stat(&link)?.is_none() {
                return Err(VaultError::NotFound(named).into());
            }
            link
        };
        if self.vault.is_hidden(&path) || !is_note(&path) {
            return Err(MemoryError::NotANote(path));
        }
        Ok(path)
    }
}

fn excerpt(path: NotePath, bytes: &[u8], range: Option<(usize, usize)>) -> Result<Excerpt> {
    let total_lines = lines::lines(bytes).count();
    let (from, to) = range.unwrap_or((1, usize::MAX));
    if range.is_some() && from > total_lines {
        return Err(MemoryError::NoSuchLine { path, line: from, total: total_lines });
    }
    let wanted = Lines::skip(lines::lines(bytes), from - 1).take((to - from).saturating_add(1));
    let mut kept = Vec::new();
    let mut end_line = from - 1;
    let mut truncated = false;
    for line in wanted {
        let room = MOST_EXCERPT - kept.len();
        if line.end() - line.start <= room {
            kept.extend_from_slice(line.text);
            kept.extend_from_slice(line.terminator);
            end_line = line.number;
            continue;
        }
        truncated = true;
        // Of a line that alone is too long, the beginning.
        if kept.is_empty() {
            let cut = (0..=room).rev().find(|at| line.text.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80));
            kept.extend_from_slice(&line.text[..cut.unwrap_or(room).min(line.text.len())]);
            end_line = line.number;
        }
        break;
    }
    let text = String::from_utf8_lossy(&kept).into_owned();
    Ok(Excerpt { path, line: from, end_line, total_lines, text, hash: hash_of(bytes), truncated })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, range: Option<(usize, usize)>) -> Result<(String, usize, usize, bool)> {
        let path = NotePath::new("a.md").unwrap();
        excerpt(path, text.as_bytes(), range).map(|it| (it.text, it.end_line, it.total_lines, it.truncated))
    }

    #[test]
    fn ranges_are_whole_lines() {
        let text = "a\r\nb\n\nd";
        assert_eq!(cut(text, None).unwrap(), (text.to_owned(), 4, 4, false));
        assert_eq!(cut(text, Some((2, 3))).unwrap(), ("b\n\n".to_owned(), 3, 4, false));
        assert_eq!(cut(text, Some((4, 900))).unwrap(), ("d".to_owned(), 4, 4, false));
        assert_eq!(cut("", None).unwrap(), (String::new(), 0, 0, false));
        assert!(matches!(cut(text, Some((5, 5))), Err(MemoryError::NoSuchLine { total: 4, .. })));
    }

    #[test]
    fn an_answer_is_bounded() {
        let long = "é".repeat(MOST_EXCERPT);
        let (text, end, _, truncated) = cut(&long, None).unwrap();
        assert!(truncated && end == 1 && text.len() <= MOST_EXCERPT && !text.contains('\u{fffd}'));
        let many = "0123456789abcde\n".repeat(MOST_EXCERPT / 16 + 5);
        let (text, end, total, truncated) = cut(&many, None).unwrap();
        assert!(truncated && text.len() == MOST_EXCERPT);
        assert_eq!((end, total), (MOST_EXCERPT / 16, MOST_EXCERPT / 16 + 5));
        assert_eq!(cut(&many, Some((end + 1, usize::MAX))).unwrap().1, total);
    }
}
