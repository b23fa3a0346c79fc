//! Promotes a bullet of a day's note to a lasting fact, with a link to the day.
//!
//! Two notes change, so there are two edits: first the fact is added to `MEMORY.md`, then the bullet is taken out of
//! the day. History records the two as one [`OPERATION`], and `undo` takes them back together. A crash between the two
//! leaves the bullet in both, never in none; promoting it again finds the fact there (same words, link to the same day)
//! and only takes the bullet out. If a person changes the bullet between the two, it stays, and the answer says so.
//!
//! A bullet named by its words is found wherever it is now. A bullet that was already promoted returns the fact.

use jiff::civil::Date;
use serde::Serialize;

use super::edit::with_removed_lines;
use super::save::{BulletToAdd, DEFAULT_SECTION, InsertAt, SavedMemory, is_section, saved};
use crate::format::memory;
use crate::memory::text::item::{self, MemoryItem};
use crate::memory::text::wording;
use crate::memory::{MemoryError, MemoryNotes, Origin, Result};
use crate::vault::{NotePath, OPERATION, VaultError};

/// A bullet that is a lasting fact now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromotedMemory {
    /// The fact as it stands in `MEMORY.md`.
    #[serde(flatten)]
    pub saved: SavedMemory,
    /// The day's note that it came from.
    pub from: NotePath,
    /// The bullet's exact lines there.
    pub was: String,
    /// Whether the bullet is out of the day's note; if not, someone has changed it and it stays.
    pub removed: bool,
}

impl MemoryNotes<'_> {
    /// Moves the bullet that holds line `line` of a day's note under a section of `MEMORY.md`, with its fields, scope and
    /// time and a link to the day. With `expect`, the bullet that says that, wherever it stands; one that was promoted
    /// already is answered as it stands in `MEMORY.md`.
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
        let bytes = match self.vault.read(&from) {
            Err(VaultError::NotFound(_)) => return Err(MemoryError::NoSuchDay(date)),
            bytes => bytes?,
        };
        let link = format!("[[{}]]", from.as_str().strip_suffix(".md").unwrap_or(from.as_str()));
        let item = match (self.item_meant(&from, &bytes, line, expect), expect) {
            (Err(error), Some(expect)) => return self.promoted_before(from, expect, &link)?.ok_or(error),
            (item, _) => item?,
        };
        let text = wording::checked(&item.text)?;
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
        let is_known = |known: &MemoryItem, wanted: &BulletToAdd| {
            let same_section = match (&section, &known.section) {
                (Some(section), Some(other)) => is_section(section, other),
                (section, _) => section.is_none(),
            };
            same_section && known.text.contains(&link) && known.normal() == wanted.says
        };
        let place = InsertAt::Section(section.as_deref().unwrap_or(DEFAULT_SECTION));
        let saved = self.add_bullet(&self.long_path(), &bullet, &place, None, &why, is_known)?;
        fail::fail_point!("memory::promote::between");
        let was = item.shown(&bytes);
        let removed = self.take_out(&from, &item, &bytes, &with_removed_lines(why, &item, line))?;
        Ok(PromotedMemory { saved, from, was, removed })
    }

    /// The fact that a bullet which says `expect` became when it was promoted before.
    fn promoted_before(&self, from: NotePath, expect: &str, link: &str) -> Result<Option<PromotedMemory>> {
        let (path, bytes) = (self.long_path(), self.bytes(&self.long_path())?);
        let (body, _) = memory::split_block_id(expect.trim());
        let says = [wording::normal(body), wording::normal(&format!("{body} {link}"))];
        let found = item::parse(&bytes, false)
            .into_iter()
            .find(|item| item.text.contains(link) && says.contains(&item.normal()));
        let was = expect.trim().to_owned();
        Ok(found.map(|item| PromotedMemory {
            saved: saved(&path, &item, &bytes, true),
            from,
            was,
            removed: true,
        }))
    }
}
