//! Changes a memory that is named by its words, and forgets a memory that is named by its words or by its line.
//!
//! The words are searched in the newest bytes of the note. If no memory matches, or several different memories do,
//! nothing is written, and the error shows similar memories. A change keeps the time before the words, inline fields,
//! the scope, and the block id that links point to.

use serde::Serialize;

use super::save::{SavedMemory, saved};
use crate::format::{memory, one_line, shortened};
use crate::memory::error::{NearMatch, check};
use crate::memory::item::{self, MemoryItem};
use crate::memory::wording;
use crate::memory::{MemoryError, MemoryNotes, Origin, Result, Scope};
use crate::vault::{ChangeReason, EditPlan, NotePath};

/// The most similar memories that an error shows.
const MOST_NEAR: usize = 3;
/// The most characters of each.
const NEAR_CHARS: usize = 200;

/// A reference to a memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryRef<'a> {
    /// Its note: `MEMORY.md`, a day's note or the pins.
    pub path: &'a str,
    /// Its words, or its exact lines.
    pub text: &'a str,
    /// One of its lines, where several say the same.
    pub line: Option<usize>,
    /// Whether a memory that only reads the same, as [`wording::normal`] compares, isn't meant.
    pub exact: bool,
    /// The heading that it stands under, if only a memory there is meant; empty for none.
    pub section: Option<&'a str>,
    /// The hash of the note as it was read; where the note is another by now, nothing is written.
    pub expected: Option<&'a str>,
}

/// A memory that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgottenMemory {
    /// The note.
    pub path: NotePath,
    /// Its line, from 1.
    pub line: usize,
    /// The exact lines that were removed.
    pub text: String,
}

/// A memory whose words were changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EditedMemory {
    /// As it stands in the note now.
    #[serde(flatten)]
    pub saved: SavedMemory,
    /// The exact lines that stood there.
    pub was: String,
}

impl MemoryNotes<'_> {
    /// Removes the memory at line `line` of `MEMORY.md`, a day's note or the pins. With `expect`, removes the memory
    /// with these words (or these exact lines), on whichever line it is, and no other.
    ///
    /// # Errors
    /// The note is another, no memory holds that line or says that, or the note can't be written.
    pub fn forget(
        &self,
        path: &str,
        line: usize,
        expect: Option<&str>,
        origin: &Origin,
    ) -> Result<ForgottenMemory> {
        let path = self.note_of_memories(path)?;
        let bytes = self.bytes_to_change(&path)?;
        let item = self.item_meant(&path, &bytes, line, expect)?;
        let text = item.shown(&bytes);
        let why = origin.why(format!("forgot: {}", wording::summary(&item.text)));
        let why = item::with_removed_lines(why, &item, line);
        if self.take_out(&path, &item, &bytes, &why)? {
            Ok(ForgottenMemory { path, line: item.line, text })
        } else {
            Err(MemoryError::Changed(format!("the memory in line {} of `{path}`", item.line)))
        }
    }

    /// Removes the memory with these words. Identical memories in its section count as one, and all of them are
    /// removed.
    ///
    /// # Errors
    /// The note is none of memories or not as it was read, no memory or several are meant, or it can't be written.
    pub fn forget_by_words(&self, meant: &MemoryRef<'_>, origin: &Origin) -> Result<ForgottenMemory> {
        let path = self.note_of_memories(meant.path)?;
        let bytes = self.bytes_to_change(&path)?;
        let item = self.find_one(&path, &bytes, meant)?;
        let why = origin.why(format!("forgot: {}", wording::summary(&item.text)));
        let (text, line) = self.editor.try_edit_with(&path, &why, |now| -> Result<_> {
            let item = self.find_one(&path, now, meant)?;
            let text = item.shown(now);
            Ok((EditPlan::Bytes(without(now, &item, &text, self.is_day(&path))), (text, item.line)))
        })?;
        Ok(ForgottenMemory { path, line, text })
    }

    /// Replaces the words of the memory with these words by `new`. Returns the memory as it stands in the note
    /// afterwards.
    ///
    /// # Errors
    /// As [`MemoryNotes::forget_by_words`], or the new text can't be kept.
    pub fn edit(&self, meant: &MemoryRef<'_>, given: &str, origin: &Origin) -> Result<EditedMemory> {
        let path = self.note_of_memories(meant.path)?;
        let new = wording::checked_of(given, meant.text, origin)?;
        let bytes = self.bytes_to_change(&path)?;
        let item = self.find_one(&path, &bytes, meant)?;
        let why = origin.why(format!("edited: {}", wording::summary(&item.text)));
        let (wanted, was) = self.editor.try_edit_with(&path, &why, |now| -> Result<_> {
            let item = self.find_one(&path, now, meant)?;
            let (after, wanted, was) = self.changed(&path, now, &item, &new)?;
            Ok((EditPlan::Bytes(after), (wanted, was)))
        })?;
        let bytes = self.bytes(&path)?;
        let items = item::parse(&bytes, self.is_day(&path));
        let same = |item: &&MemoryItem| item.text == wanted.text && item.section == wanted.section;
        let there = items.iter().filter(same).min_by_key(|item| item.line.abs_diff(wanted.line));
        let item = there.ok_or_else(|| MemoryError::vanished(&path))?;
        let existing = item.shown(&bytes) == was;
        let notes = wording::notes(given, &item.text);
        Ok(EditedMemory { saved: SavedMemory { notes, ..saved(&path, item, &bytes, existing) }, was })
    }

    /// A note that holds memories.
    pub(super) fn note_of_memories(&self, path: &str) -> Result<NotePath> {
        let path = self.note_named(path)?;
        let ours = path == self.long_path() || path == self.pinned_path() || self.is_day(&path);
        if ours { Ok(path) } else { Err(MemoryError::NotOurs(path)) }
    }

    fn is_day(&self, path: &NotePath) -> bool {
        self.date_of(path).is_some()
    }

    /// The only memory in these bytes that a reference matches.
    pub(super) fn find_one(
        &self,
        path: &NotePath,
        bytes: &[u8],
        meant: &MemoryRef<'_>,
    ) -> Result<MemoryItem> {
        check(path, bytes, meant.expected)?;
        let items = item::parse(bytes, self.is_day(path));
        let text = meant.text.trim();
        let exactly = |item: &MemoryItem| item.shown(bytes).trim() == text || item.text.trim() == text;
        let says = wording::normal(text);
        let own = |item: &MemoryItem| {
            meant.section.is_none_or(|section| item.section.as_deref().unwrap_or_default() == section)
        };
        let here = || items.iter().filter(|item| own(item));
        let mut found: Vec<&MemoryItem> = here().filter(|item| exactly(item)).collect();
        if found.is_empty() && !meant.exact {
            found = here().filter(|item| item.is_meant_by(text, &says)).collect();
        }
        let is_named = |item: &&MemoryItem| meant.line.is_some_and(|line| item.holds(line));
        if let Some(item) = found.iter().copied().find(is_named) {
            found = vec![item];
        }
        let shown = || crate::format::quote(&wording::summary(text));
        match found.as_slice() {
            [] => {
                Err(MemoryError::Other { path: path.clone(), shown: shown(), near: nearest(&items, &says) })
            }
            [first, rest @ ..] => {
                let same = |other: &&MemoryItem| {
                    other.section == first.section && other.shown(bytes) == first.shown(bytes)
                };
                if rest.iter().all(same) {
                    return Ok((*first).clone());
                }
                let there = found.iter().take(2 * MOST_NEAR).map(|item| near_match(item)).collect();
                Err(MemoryError::Several { path: path.clone(), shown: shown(), there })
            }
        }
    }

    /// The memory that a call means: with `expect`, the memory with these words (or exact lines), of several the one
    /// that holds the line; without it, the memory at the line.
    pub(super) fn item_meant(
        &self,
        path: &NotePath,
        bytes: &[u8],
        line: usize,
        expect: Option<&str>,
    ) -> Result<MemoryItem> {
        match expect {
            Some(text) => {
                self.find_one(path, bytes, &MemoryRef { text, line: Some(line), ..MemoryRef::default() })
            }
            None => self.item_at(path, bytes, line),
        }
    }

    /// The words of the memory at a line of these bytes of the note, if there is one.
    pub fn words_in(&self, path: &NotePath, bytes: &[u8], line: usize) -> Option<String> {
        self.item_at(path, bytes, line).ok().map(|item| item.text)
    }

    /// The memory that holds a line.
    pub(super) fn item_at(&self, path: &NotePath, bytes: &[u8], line: usize) -> Result<MemoryItem> {
        let items = item::parse(bytes, self.is_day(path));
        let found = items.into_iter().find(|item| item.holds(line));
        found.ok_or_else(|| {
            let total = crate::format::lines(bytes).count();
            let path = path.clone();
            if line == 0 || line > total {
                MemoryError::NoSuchLine { path, line, total }
            } else {
                MemoryError::NoMemory(path, line)
            }
        })
    }

    /// Removes the memory `item` of `bytes` from any place in its section. Returns whether it was still there.
    /// Identical memories in the section count as one, and all of them are removed.
    pub(super) fn take_out(
        &self,
        path: &NotePath,
        item: &MemoryItem,
        bytes: &[u8],
        why: &ChangeReason,
    ) -> Result<bool> {
        let (is_day, meant) = (self.is_day(path), item.shown(bytes));
        let mut there = false;
        self.editor.edit_with(path, why, |now| {
            let kept = without(now, item, &meant, is_day);
            there = kept.len() < now.len();
            if there { EditPlan::Bytes(kept) } else { EditPlan::NOTHING }
        })?;
        Ok(there)
    }

    /// The note with another text in the place of a memory's, how that then reads, and the lines that stood there.
    fn changed(
        &self,
        path: &NotePath,
        now: &[u8],
        item: &MemoryItem,
        new: &str,
    ) -> Result<(Vec<u8>, MemoryItem, String)> {
        if std::str::from_utf8(&now[item.range.clone()]).is_err() {
            return Err(MemoryError::NotText(path.clone(), item.line));
        }
        let was = item.shown(now);
        let bullet = rewritten(item, &was, new)?;
        let after = item::with_bullet(now, item, &bullet);
        let is_day = self.is_day(path);
        let (before, read) = (item::parse(now, is_day).len(), item::parse(&after, is_day));
        let end = after.len() - (now.len() - item.range.end);
        let wanted = read.iter().find(|found| found.range == (item.range.start..end)).cloned();
        match wanted.filter(|wanted| read.len() == before && Scope::are_same(&wanted.scopes, &item.scopes)) {
            Some(wanted) => Ok((after, wanted, was)),
            None => Err(MemoryError::unreadable(path)),
        }
    }
}

/// The bullet of `item`, whose lines are `was`, with the words `new`.
fn rewritten(item: &MemoryItem, was: &str, new: &str) -> Result<String> {
    let lead = match (&item.stamp, item.time) {
        (Some(stamp), _) => format!("[{stamp}] "),
        (None, Some(time)) => format!("{} ", time.strftime("%H:%M")),
        (None, None) => String::new(),
    };
    // Whole lines stand for the words in them.
    let new = new.strip_prefix("- ").unwrap_or(new);
    let new = new.strip_prefix(lead.as_str()).unwrap_or(new);
    let mut text = item.scope().escape_other_scopes(&wording::readable(new)?).to_string();
    let is_task = |text: &str| text.starts_with('[') && text.chars().nth(2) == Some(']');
    if lead.is_empty() && is_task(&text) && !is_task(&item.text) {
        // A memory becomes no task.
        text.insert(0, '\\');
    }
    let (old, id) = memory::split_block_id(&item.text);
    if let Some(id) = id.filter(|_| memory::split_block_id(&text).1.is_none()) {
        text = format!("{} ^{id}", text.trim_end());
    }
    let given = memory::fields(&text);
    let kept =
        memory::fields(old).into_iter().filter(|(key, _)| !given.iter().any(|(known, _)| known == key));
    let mut marks: Vec<String> = kept.map(|(key, value)| format!("[{key}:: {value}]")).collect();
    let own = Scope::of_text(&text);
    marks.extend(item.scopes.iter().filter(|scope| !own.contains(scope)).filter_map(Scope::tag));
    let bullet = wording::bullet(&lead, &text, &marks.join(" "));
    Ok(item::with_marker_of(was, &bullet))
}

/// The bytes without a memory that reads `meant` and those of its section that are the same.
fn without(now: &[u8], item: &MemoryItem, meant: &str, is_day: bool) -> Vec<u8> {
    let mut kept = Vec::with_capacity(now.len());
    let mut from = 0;
    for found in item::parse(now, is_day) {
        if found.section == item.section && found.shown(now) == meant {
            kept.extend_from_slice(&now[from..found.range.start]);
            from = found.range.end;
        }
    }
    kept.extend_from_slice(&now[from..]);
    kept
}

/// The memories with the most words of `says`, best first.
fn nearest(items: &[MemoryItem], says: &str) -> Vec<NearMatch> {
    let wanted: Vec<String> = word_list(says);
    let share = |item: &&MemoryItem| {
        let there = word_list(&item.normal());
        let common = wanted.iter().filter(|word| there.contains(word)).count();
        1000 * 2 * common / (wanted.len() + there.len()).max(1)
    };
    let mut found: Vec<(usize, &MemoryItem)> =
        items.iter().map(|item| (share(&item), item)).filter(|(share, _)| *share > 0).collect();
    found.sort_by_key(|(share, item)| (std::cmp::Reverse(*share), item.line));
    found.into_iter().take(MOST_NEAR).map(|(_, item)| near_match(item)).collect()
}

fn word_list(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(500)
        .map(str::to_lowercase)
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn near_match(item: &MemoryItem) -> NearMatch {
    NearMatch { line: item.line, text: shortened(&one_line(&item.text), NEAR_CHARS).into_owned() }
}
