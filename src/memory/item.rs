//! Parses the bullets of a memory note: the place, the words and the scope of each. Pure.

use std::ops::Range;

use jiff::civil::Time;
use unicode_normalization::UnicodeNormalization;

use super::wording;
use crate::format::lines::terminator_of;
use crate::format::{daily, memory};
use crate::memory::Scope;
use crate::vault::ChangeReason;

/// Whether two names mean one section: case and the form of accents (NFC, NFD) make no difference.
pub fn is_section(one: &str, other: &str) -> bool {
    one == other || one.nfc().flat_map(char::to_lowercase).eq(other.nfc().flat_map(char::to_lowercase))
}

/// One memory in a note's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemoryItem {
    pub line: usize,
    pub end_line: usize,
    pub range: Range<usize>,
    pub section: Option<String>,
    /// The timestamp in brackets, as written.
    pub stamp: Option<String>,
    /// The time of day at its start; only in a day's note.
    pub time: Option<Time>,
    /// Its text without marker, timestamp and time.
    pub text: String,
    /// The scopes that its tags mark; none is global.
    pub scopes: Vec<Scope>,
}

impl MemoryItem {
    /// Whether a line is one of its lines.
    pub fn holds(&self, line: usize) -> bool {
        (self.line..=self.end_line).contains(&line)
    }

    /// Its words, as [`wording::normal`] compares them.
    pub fn normal(&self) -> String {
        wording::normal(&self.text)
    }

    /// Its scope, for a use that takes only one: the scope of its last mark.
    pub fn scope(&self) -> Scope {
        self.scopes.last().cloned().unwrap_or(Scope::Global)
    }

    /// Whether this is it, word for word.
    pub fn is_same_item(&self, item: &Self) -> bool {
        item.text == self.text && item.stamp == self.stamp && item.time == self.time
    }

    /// Whether a text in the normal form `says` means it by its words: what the text names of fields and scopes is its
    /// own, too.
    pub fn is_meant_by(&self, text: &str, says: &str) -> bool {
        let agrees = || {
            let (fields, scopes) = (wording::fields(text), Scope::of_text(text));
            (fields.is_empty() || fields == wording::fields(&self.text))
                && (scopes.is_empty() || Scope::are_same(&scopes, &self.scopes))
        };
        !says.is_empty() && self.normal() == says && agrees()
    }

    /// Whether it stands in this section, or in any where none is named.
    pub fn is_in(&self, section: Option<&str>) -> bool {
        section.is_none_or(|section| self.section.as_ref().is_some_and(|own| is_section(section, own)))
    }

    /// Its lines as they stand in the note, without the last line's end.
    pub fn shown(&self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(&bytes[self.range.clone()]).trim_end_matches(['\n', '\r']).to_owned()
    }
}

/// The memories of a note; the bullets of a day's note may begin with a time.
pub(super) fn parse(bytes: &[u8], is_day: bool) -> Vec<MemoryItem> {
    let bullets = memory::parse(bytes).bullets.into_iter();
    let item = |bullet: memory::Bullet| MemoryItem {
        scopes: Scope::of_text(&bullet.text),
        line: bullet.line,
        end_line: bullet.end_line,
        range: bullet.range,
        section: bullet.section,
        stamp: bullet.timestamp,
        time: None,
        text: bullet.text,
    };
    if !is_day {
        return bullets.map(item).collect();
    }
    let timed = daily::parse(bytes).bullets;
    let timed =
        bullets.zip(timed).map(|(bullet, day)| MemoryItem { time: day.time, text: day.text, ..item(bullet) });
    timed.collect()
}

/// A bullet with the marker of another one, which reads `was`.
pub(super) fn with_marker_of(was: &str, bullet: &str) -> String {
    let marker = was.chars().next().filter(|marker| matches!(marker, '*' | '+')).unwrap_or('-');
    format!("{marker}{}", &bullet[1..])
}

/// The bytes with a bullet in the place of a memory; its lines end as the memory's do, or else the note's.
pub(super) fn with_bullet(bytes: &[u8], item: &MemoryItem, bullet: &str) -> Vec<u8> {
    let (before, rest) = bytes.split_at(item.range.start);
    let (own, rest) = rest.split_at(item.range.len());
    let last = [&b"\r\n"[..], b"\n"].into_iter().find(|end| own.ends_with(end)).unwrap_or_default();
    let end = terminator_of(if own.contains(&b'\n') { own } else { bytes });
    let bullet = bullet.trim_end_matches('\n').replace('\n', end);
    [before, bullet.as_bytes(), last, rest].concat()
}

/// The reason of a write that removes a memory, with the line that was named as a trailer.
pub(super) fn with_removed_lines(why: ChangeReason, item: &MemoryItem, line: usize) -> ChangeReason {
    // Asked for by its words the line may be any other: then it is where it stood.
    let line = if item.holds(line) { line } else { item.line };
    why.trailer(crate::memory::TOOK_LINE, line.to_string())
}
