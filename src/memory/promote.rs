//! Promoting: a bullet of a day's note becomes a lasting fact, with a link to the day that it came from.
//!
//! Two notes change, so there are two edits: first the fact is added to `MEMORY.md`, then the bullet is taken out of the
//! day. A crash between the two leaves the bullet in both, never in none; promoting it again finds the fact there (same
//! words, link to the same day) and only takes the bullet out. A person who changes the bullet between the two keeps
//! it, and is told.

use jiff::civil::Date;
use serde::Serialize;

use super::item::{self, Item};
use super::save::{Place, Wanted, is_section};
use super::{DEFAULT_SECTION, MemoryError, MemoryNotes, Origin, Saved, words};
use crate::format::reminder::{DateText, TimeText};
use crate::vault::{NotePath, VaultError};

/// A bullet that is a lasting fact now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Promoted {
    /// The fact as it stands in `MEMORY.md`.
    #[serde(flatten)]
    pub saved: Saved,
    /// The day's note that it came from.
    pub from: NotePath,
    /// The bullet's exact lines there.
    pub was: String,
    /// Whether the bullet was taken out of the day's note; if not, someone has changed it and it stays.
    pub removed: bool,
}

impl MemoryNotes<'_> {
    /// Moves the bullet that holds line `line` of a day's note under a section of `MEMORY.md`, with its fields, scope and
    /// time and a link to the day.
    ///
    /// # Errors
    /// There is no such day, no bullet in that line, or a note can't be written.
    pub fn promote(
        &self,
        date: Date,
        line: usize,
        section: Option<&str>,
        origin: &Origin,
    ) -> Result<Promoted, MemoryError> {
        let section = section.map(words::section).transpose()?;
        let from = self.daily_path(date);
        let bytes = match self.vault.read(&from) {
            Err(VaultError::NotFound(_)) => return Err(MemoryError::NoSuchDay(date)),
            bytes => bytes?,
        };
        let item = self.item_at(&from, &bytes, line)?;
        let text = words::checked(&item.text)?;
        let link = format!("[[{}]]", from.as_str().strip_suffix(".md").unwrap_or(from.as_str()));
        let stamp = match item.time {
            Some(time) => format!("{} {}", DateText(date), TimeText(time)),
            None => DateText(date).to_string(),
        };
        let linked = if text.contains(&link) { String::new() } else { link.clone() };
        let bullet = words::bullet(&format!("[{stamp}] "), &text, &linked);
        let why = origin
            .why(format!("promoted: {}", words::summary(&text)))
            .trailer("Promoted-From", from.as_str());
        let is_known = |known: &Item, wanted: &Wanted| {
            let same_section = match (&section, &known.section) {
                (Some(section), Some(other)) => is_section(section, other),
                (section, _) => section.is_none(),
            };
            same_section && known.text.contains(&link) && known.normal() == wanted.says
        };
        let place = Place::Section(section.as_deref().unwrap_or(DEFAULT_SECTION));
        let saved = self.put(&self.long_path(), &bullet, &place, &why, is_known)?;
        fail::fail_point!("memory::promote::between");
        let was = item.shown(&bytes);
        let removed = self.take_out(&from, &item, &bytes, &why)?;
        Ok(Promoted { saved, from, was, removed })
    }

    /// The memory that holds a line.
    pub(super) fn item_at(&self, path: &NotePath, bytes: &[u8], line: usize) -> Result<Item, MemoryError> {
        let items = item::parse(bytes, self.date_of(path).is_some());
        let found = items.into_iter().find(|item| (item.line..=item.end_line).contains(&line));
        found.ok_or_else(|| {
            let total = crate::format::lines(bytes).count();
            let path = path.clone();
            if line == 0 || line > total {
                MemoryError::NoSuchLine { path, line, total }
            } else {
                MemoryError::NoMemory { path, line }
            }
        })
    }
}
