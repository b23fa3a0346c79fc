//! Finds lines that look meant as reminders but can't be parsed, with their places. Pure.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::fields;
use crate::format::reminder::{ParsedLine, parse_line};
use crate::format::{Finding, ReminderId};
use crate::vault::NotePath;

/// A finding with its note, for `check` and a pass's report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedFinding {
    /// The note.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The fault.
    pub reason: String,
    /// A correct form.
    pub suggestion: String,
}

impl PlacedFinding {
    /// A finding in `path`.
    pub fn new(path: &NotePath, finding: &Finding) -> Self {
        Self {
            path: path.as_str().to_owned(),
            line: finding.line,
            column: finding.column,
            reason: finding.reason.clone(),
            suggestion: finding.suggestion.clone(),
        }
    }
}

/// A line with an id, in the bytes of its note.
#[derive(Debug, Clone, Copy)]
pub struct IdAt<'a> {
    /// The id.
    pub id: ReminderId,
    bytes: &'a [u8],
    start: usize,
}

impl<'a> IdAt<'a> {
    /// The line of `bytes` that begins at `start`.
    pub fn new(id: ReminderId, bytes: &'a [u8], start: usize) -> Self {
        Self { id, bytes, start }
    }

    /// The line's bytes without its terminator.
    pub fn text(&self) -> &'a [u8] {
        let rest = &self.bytes[self.start..];
        let line = memchr::memchr(b'\n', rest).map_or(rest, |end| &rest[..end]);
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Its fields: the same for lines that differ only in their order or the spaces between them, which are told once.
    fn meaning(&self) -> Option<String> {
        match parse_line(self.text()) {
            ParsedLine::Reminder(reminder) => Some(fields(&reminder)),
            _ => None,
        }
    }

    /// The line's number, from 1.
    pub fn line(&self) -> usize {
        Self::line_of(self.bytes, self.start)
    }

    /// The number, from 1, of the line that begins at `start`.
    pub fn line_of(bytes: &[u8], start: usize) -> usize {
        memchr::memchr_iter(b'\n', &bytes[..start]).count() + 1
    }
}

/// All findings about the reminders of a note, in the order of the lines: near misses, and ids that lines with
/// different content share.
pub fn findings<'a>(
    path: &NotePath,
    near_misses: &[Finding],
    ids: impl Iterator<Item = IdAt<'a>> + Clone,
) -> Vec<PlacedFinding> {
    let mut out: Vec<PlacedFinding> =
        near_misses.iter().map(|finding| PlacedFinding::new(path, finding)).collect();
    let shared = shared_ids(ids.clone().map(|at| at.id));
    if !shared.is_empty() {
        let mut first: HashMap<ReminderId, IdAt<'a>> = HashMap::new();
        for at in ids.filter(|at| shared.contains(&at.id)) {
            let first = first.entry(at.id).or_insert(at);
            if first.text() != at.text() && first.meaning() != at.meaning() {
                out.push(PlacedFinding::new(path, &dispute(first, &at)));
            }
        }
    }
    out.sort_by_key(|finding| (finding.line, finding.column));
    out
}

fn dispute(first: &IdAt<'_>, second: &IdAt<'_>) -> Finding {
    let id = second.id.as_str();
    let text = String::from_utf8_lossy(second.text());
    let column = text.rfind(id).map_or(1, |at| text[..at].chars().count() + 1);
    Finding {
        line: second.line(),
        column,
        reason: format!("the id `{id}` stands in line {} too, with other words; both fire", first.line()),
        suggestion: format!("delete ` id={id}` here; the line gets an id of its own"),
    }
}

/// The ids that occur more than once.
fn shared_ids(ids: impl Iterator<Item = ReminderId>) -> HashSet<ReminderId> {
    let mut seen = HashSet::new();
    ids.filter(|id| !seen.insert(*id)).collect()
}

/// Checks quickly whether all ids of a large note differ, for the pass that runs every minute.
#[derive(Debug, Clone, Default)]
pub struct IdHashes(Vec<u64>);

impl IdHashes {
    /// Adds an id.
    #[inline]
    pub fn push(&mut self, id: ReminderId) {
        let word = |from: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&id.as_str().as_bytes()[from..from + 8]);
            u64::from_le_bytes(word)
        };
        // The first and the last eight of the twelve characters, each spread over the whole word.
        let mixed = word(4).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ word(8).wrapping_mul(0xC2B2_AE3D_27D4_EB4F).rotate_left(32);
        self.0.push(mixed ^ (mixed >> 29));
    }

    /// Whether an id may occur twice. False is certain; true is wrong only if two 64-bit hashes collide.
    pub fn may_share(&self) -> bool {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.windows(2).any(|pair| pair[0] == pair[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn differing_lines_with_one_id_are_found() {
        let path = NotePath::new("Reminders.md").unwrap();
        let text = "\
- [ ] date=2026-12-01 time=09:30 recur=none msg=\"a\" id=rid_AAAAAAAAAAAA
- [ ] date=2026-12-01 time=09:30 recur=none msg=\"b\" id=rid_BBBBBBBBBBBB
- [ ] date=2026-12-01 time=09:30 recur=none msg=\"b\" id=rid_BBBBBBBBBBBB
- [ ] date=2026-12-01 time=09:31 recur=none msg=\"é\" id=rid_AAAAAAAAAAAA
- [ ] time=09:30 date=2026-12-01  recur=none msg=\"b\" id=rid_BBBBBBBBBBBB
";
        let file = crate::format::reminder::parse(text.as_bytes());
        let ids = file
            .reminders
            .iter()
            .map(|line| IdAt::new(line.reminder.id.unwrap(), text.as_bytes(), line.start));
        let found = findings(&path, &[], ids);
        insta::assert_snapshot!(serde_json::to_string(&found).unwrap(), @r#"[{"path":"Reminders.md","line":4,"column":56,"reason":"the id `rid_AAAAAAAAAAAA` stands in line 1 too, with other words; both fire","suggestion":"delete ` id=rid_AAAAAAAAAAAA` here; the line gets an id of its own"}]"#);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn shared_ids_are_those_that_occur_twice(numbers in prop::collection::vec(0u64..400, 0..200)) {
            let ids: Vec<ReminderId> =
                numbers.iter().map(|n| ReminderId::from_random((n << 50 | n << 7).to_be_bytes())).collect();
            let mut expected = HashSet::new();
            for (at, id) in ids.iter().enumerate() {
                if ids[..at].contains(id) {
                    expected.insert(*id);
                }
            }
            let mut hashes = IdHashes::default();
            ids.iter().for_each(|id| hashes.push(*id));
            prop_assert_eq!(hashes.may_share(), !expected.is_empty());
            prop_assert_eq!(shared_ids(ids.iter().copied()), expected);
        }
    }
}
