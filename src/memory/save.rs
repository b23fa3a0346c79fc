//! Saves a fact (under a section), a note of the day, or a follow-up, unless it is saved already. Also promotes a
//! bullet of a day's note to a lasting fact, with a link to the day.
//!
//! A promotion makes two edits: first the fact is added to `MEMORY.md`, then the bullet is removed from the day.
//! Between the two edits, links in `Pinned.md` that point at the bullet are changed to point at the fact. History
//! records all these edits as one [`OPERATION`], and `undo` takes them back together. If a person changes the bullet
//! meanwhile, the bullet stays, and the answer says so.
//!
//! A crash between the edits leaves the text in both notes, never in none. Promoting again finds the fact under any
//! section and only removes the bullet. If the bullet is gone already, promoting it again by its words returns the
//! fact. A line number alone means the bullet that stands there now.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use serde::Serialize;

use crate::format::commitment::{self, Commitment};
use crate::format::memory;
use crate::memory::error::check;
use crate::memory::item::{self, MemoryItem, is_section};
use crate::memory::wording::{self, MemoryFields};
use crate::memory::{MemoryError, MemoryNotes, Origin, Result, Scope};
use crate::vault::{self, EditPlan, NotePath, OPERATION, Operation, VaultError};

/// The default section.
pub const DEFAULT_SECTION: &str = "Notes";

/// A memory to save.
#[derive(Debug, Clone, Default)]
pub struct NewMemory<'a> {
    /// The text to be remembered.
    pub text: &'a str,
    /// The section of `MEMORY.md`, without `##`; [`DEFAULT_SECTION`] where there is none. Not used for a day's note.
    pub section: Option<&'a str>,
    /// Its scope.
    pub scope: Scope,
    /// Its weight, by its own fields.
    pub fields: MemoryFields,
    /// The timestamp that stands in brackets before a lasting fact, as `2026-11-20 14:02`; now where there is none.
    pub timestamp: Option<&'a str>,
    /// The hash of the note as it was read; where the note is another by now, nothing is written.
    pub expected: Option<&'a str>,
}

impl<'a> NewMemory<'a> {
    /// A global memory of now, with no section and no fields.
    pub fn new(text: &'a str) -> Self {
        Self { text, ..Self::default() }
    }
}

/// A memory after its save, read back from the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SavedMemory {
    /// The note.
    pub path: NotePath,
    /// The first line, from 1.
    pub line: usize,
    /// The last line.
    pub end_line: usize,
    /// The exact lines, without the last line's end.
    pub text: String,
    /// A follow-up's id.
    pub id: Option<String>,
    /// The section that it stands in.
    pub section: Option<String>,
    /// Its scope.
    pub scope: Scope,
    /// Whether it stood there before, and nothing was written.
    pub existing: bool,
    /// Differences from the given text, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl MemoryNotes<'_> {
    /// Saves a lasting fact under a section of `MEMORY.md`. If it exists already, in the same scope and section (in any
    /// section, if none is given), it is returned and not written again.
    ///
    /// # Errors
    /// The text or the section can't be kept, or the note can't be written.
    pub fn save_fact(&self, memory: &NewMemory<'_>, now: Timestamp, origin: &Origin) -> Result<SavedMemory> {
        let text = memory.scope.escape_other_scopes(&wording::checked_of(memory.text, "", origin)?);
        let section = memory.section.map(wording::section).transpose()?;
        let marks = wording::marks(&text, &memory.fields, &memory.scope)?;
        let stamp = match memory.timestamp {
            Some(stamp) => wording::checked(stamp)?,
            None => self.zone.tz().to_datetime(now).strftime("%Y-%m-%d %H:%M").to_string(),
        };
        let bullet = wording::bullet(&format!("[{stamp}] "), &text, &marks);
        let why = origin.why(format!("saved: {}", wording::summary(&text)));
        let is_known = |item: &MemoryItem, wanted: &MemoryItem| {
            item.is_in(section.as_deref()) && wording::say_the_same(&item.text, &wanted.text)
        };
        let place = Some(section.as_deref().unwrap_or(DEFAULT_SECTION));
        let saved = self.add_bullet(&self.long_path(), &bullet, place, memory.expected, &why, is_known)?;
        Ok(SavedMemory { notes: wording::notes(memory.text, &text), ..saved })
    }

    /// Saves a note of the local day, with the time. If the same words were saved in the same minute, that note is
    /// returned and not written again.
    ///
    /// # Errors
    /// The text can't be kept, or the note can't be written.
    pub fn save_note(&self, memory: &NewMemory<'_>, now: Timestamp, origin: &Origin) -> Result<SavedMemory> {
        let text = memory.scope.escape_other_scopes(&wording::checked_of(memory.text, "", origin)?);
        let marks = wording::marks(&text, &memory.fields, &memory.scope)?;
        let local = self.zone.tz().to_datetime(now);
        let time = Time::constant(local.hour(), local.minute(), 0, 0);
        let bullet = wording::bullet(&format!("{} ", time.strftime("%H:%M")), &text, &marks);
        let why = origin.why(format!("noted: {}", wording::summary(&text)));
        let is_known = |item: &MemoryItem, wanted: &MemoryItem| {
            item.time == wanted.time && wording::say_the_same(&item.text, &wanted.text)
        };
        let path = self.daily_path(local.date());
        let saved = self.add_bullet(&path, &bullet, None, memory.expected, &why, is_known)?;
        Ok(SavedMemory { notes: wording::notes(memory.text, &text), ..saved })
    }

    /// Saves a follow-up with the next id of the local day. If one with the same words, due time and place is waiting
    /// already, it is returned and not written again.
    ///
    /// # Errors
    /// The text or its place can't be kept, or the note can't be written.
    pub fn save_commitment(
        &self,
        draft: &Commitment,
        expected: Option<&str>,
        now: Timestamp,
        origin: &Origin,
    ) -> Result<SavedMemory> {
        let ledger = self.ledger();
        let added = ledger.add(draft, expected, now, origin)?;
        let bytes = self.bytes(&ledger.path)?;
        let file = commitment::parse(&bytes);
        let id = &added.listed.id;
        let vanished = || MemoryError::Vanished(format!("the follow-up `{id}`"));
        let block = file.find(id).ok_or_else(vanished)?;
        let text = String::from_utf8_lossy(&bytes[block.range.clone()]).trim_end().to_owned();
        Ok(SavedMemory {
            line: block.line,
            end_line: block.line + text.lines().count().max(1) - 1,
            text,
            id: Some(added.listed.id),
            section: None,
            scope: Scope::Global,
            existing: added.existing,
            notes: wording::notes(&draft.text, &added.listed.text),
            path: ledger.path,
        })
    }

    /// Adds a bullet to a note unless it has one that `is_known`, and reads back the result.
    pub(super) fn add_bullet(
        &self,
        path: &NotePath,
        bullet: &str,
        place: Option<&str>,
        expected: Option<&str>,
        why: &vault::ChangeReason,
        is_known: impl Fn(&MemoryItem, &MemoryItem) -> bool,
    ) -> Result<SavedMemory> {
        let is_day = self.date_of(path).is_some();
        let unreadable = || MemoryError::unreadable(path);
        let mut parsed = item::parse(bullet.as_bytes(), is_day);
        let (Some(wanted), true) = (parsed.pop(), parsed.is_empty()) else { return Err(unreadable()) };
        let wanted = &wanted;
        // Worked out on the newest bytes, again on each attempt.
        let existing = self.editor.try_edit_with(path, why, |bytes| -> Result<_> {
            check(path, bytes, expected)?;
            let items = item::parse(bytes, is_day);
            if items.iter().any(|item| is_known(item, wanted)) {
                return Ok((EditPlan::NOTHING, true));
            }
            let operation = addition(bytes, place, bullet);
            let (after, _) = vault::apply(std::slice::from_ref(&operation), bytes);
            let read = item::parse(&after, is_day);
            let added = read.len() == items.len() + 1 && read.iter().any(|item| wanted.is_same_item(item));
            if added { Ok((EditPlan::Operations(vec![operation]), false)) } else { Err(unreadable()) }
        })?;
        fail::fail_point!("memory::put::written");
        self.read_back(path, wanted, existing, is_known)
    }

    /// Reads an addition back from the note on disk.
    fn read_back(
        &self,
        path: &NotePath,
        wanted: &MemoryItem,
        existing: bool,
        is_known: impl Fn(&MemoryItem, &MemoryItem) -> bool,
    ) -> Result<SavedMemory> {
        let bytes = self.bytes(path)?;
        let items = item::parse(&bytes, self.date_of(path).is_some());
        let exact = items.iter().find(|item| wanted.is_same_item(item) && is_known(item, wanted));
        let found = exact.or_else(|| items.iter().find(|item| is_known(item, wanted)));
        let item = found.ok_or_else(|| MemoryError::vanished(path))?;
        Ok(saved(path, item, &bytes, existing))
    }
}

/// A memory as an answer.
pub(super) fn saved(path: &NotePath, item: &MemoryItem, bytes: &[u8], existing: bool) -> SavedMemory {
    SavedMemory {
        path: path.clone(),
        line: item.line,
        end_line: item.end_line,
        text: item.shown(bytes),
        id: None,
        section: item.section.clone(),
        scope: item.scope(),
        existing,
        notes: Vec::new(),
    }
}

/// The operation that adds a bullet to these bytes: under this section, or the one that is called so but for case; it
/// is made where there is none. Without a section at the end.
pub(super) fn addition(bytes: &[u8], section: Option<&str>, bullet: &str) -> Operation {
    let text = bullet.as_bytes().to_vec();
    let Some(name) = section else { return Operation::Append { text } };
    let sections = memory::parse(bytes).sections;
    let named = sections.iter().find(|section| section.name == name);
    let named = named.or_else(|| sections.iter().find(|section| is_section(name, &section.name)));
    let heading = named.map_or_else(|| name.to_owned(), |section| section.name.clone());
    Operation::AppendToSection { heading, text }
}

/// A bullet that was made a lasting fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromotedMemory {
    /// The fact as it stands in `MEMORY.md`.
    #[serde(flatten)]
    pub saved: SavedMemory,
    /// The day's note that it came from.
    pub from: NotePath,
    /// The bullet's exact lines there.
    pub was: String,
    /// Whether the bullet was removed from the day's note. If not, it was changed meanwhile, and stays.
    pub removed: bool,
}

impl MemoryNotes<'_> {
    /// Moves the bullet that holds line `line` of a day's note under a section of `MEMORY.md`, with its fields, scope
    /// and time and a link to the day. With `expect`, moves the bullet with these words, on whichever line it is. If it
    /// was promoted already, the fact in `MEMORY.md` is returned.
    ///
    /// # Errors
    /// There is no such day or bullet, or a note can't be written.
    pub fn promote(
        &self,
        date: Date,
        line: usize,
        expect: Option<&str>,
        section: Option<&str>,
        origin: &Origin,
    ) -> Result<PromotedMemory> {
        let section = section.map(wording::section).transpose()?;
        let from = self.daily_path(date);
        let bytes = match self.bytes_to_change(&from) {
            Err(MemoryError::Vault(VaultError::NotFound(_))) => return Err(MemoryError::NoSuchDay(date)),
            bytes => bytes?,
        };
        let link = format!("[[{}]]", from.as_str().strip_suffix(".md").unwrap_or(from.as_str()));
        let item = match (self.item_meant(&from, &bytes, line, expect), expect) {
            (Err(error), Some(expect)) => return self.promoted_before(from, expect, &link)?.ok_or(error),
            (item, _) => item?,
        };
        if std::str::from_utf8(&bytes[item.range.clone()]).is_err() {
            let why = format!("line {} of `{from}` has bytes that are no UTF-8", item.line);
            return Err(MemoryError::Unreadable(self.long_path(), why));
        }
        let text = wording::readable(&item.text)?;
        let stamp = match item.time {
            Some(time) => format!("{date} {}", time.strftime("%H:%M")),
            None => date.to_string(),
        };
        let linked = if text.contains(&link) { String::new() } else { link.clone() };
        let bullet = wording::bullet(&format!("[{stamp}] "), &text, &linked);
        let why = origin
            .why(format!("promoted: {}", wording::summary(&text)))
            .trailer("Promoted-From", from.as_str())
            .trailer(OPERATION, format!("promote-{:016x}", getrandom::u64().unwrap_or_default()));
        // In any section: a call that was killed may have named another one.
        let is_known = |known: &MemoryItem, wanted: &MemoryItem| wanted.is_same_item(known);
        let place = Some(section.as_deref().unwrap_or(DEFAULT_SECTION));
        // A bullet that can't be removed would be doubled.
        self.editor.check_writable(&from)?;
        let mut saved = self.add_bullet(&self.long_path(), &bullet, place, None, &why, is_known)?;
        fail::fail_point!("memory::promote::between");
        if let (_, Some(id)) = memory::split_block_id(&item.text)
            && let Err(error) = self.move_pins(id, [&from, &saved.path], &why)
        {
            saved.notes.push(format!("a pin of it still links to `{from}`: {error}"));
        }
        let was = item.shown(&bytes);
        let removed = self.take_out(&from, &item, &bytes, &item::with_removed_lines(why, &item, line))?;
        Ok(PromotedMemory { saved, from, was, removed })
    }

    /// The fact that a bullet which says `expect` became when it was promoted before.
    fn promoted_before(&self, from: NotePath, expect: &str, link: &str) -> Result<Option<PromotedMemory>> {
        let (path, bytes) = (self.long_path(), self.bytes(&self.long_path())?);
        let (body, _) = memory::split_block_id(expect.trim());
        let says = [body.to_owned(), format!("{body} {link}")].map(|text| (wording::normal(&text), text));
        let is_it = |item: &MemoryItem| says.iter().any(|(says, text)| item.is_meant_by(text, says));
        let found =
            item::parse(&bytes, false).into_iter().find(|item| item.text.contains(link) && is_it(item));
        let was = expect.trim().to_owned();
        Ok(found.map(|item| PromotedMemory {
            saved: saved(&path, &item, &bytes, true),
            from,
            was,
            removed: true,
        }))
    }
}
