//! Lists the facts of `MEMORY.md` by section, and the bullets of daily notes by day.

use jiff::civil::Date;
use serde::Serialize;

use super::error::MemoryError;
use super::item::{self, MemoryItem};
use super::scope::{Scope, belongs};
use crate::format::lines::with_lf;
use crate::format::{daily, memory};
use crate::memory::{MemoryNotes, Result};
use crate::vault::{NotePath, Vault, VaultError};

/// A memory in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedMemory {
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// The timestamp in brackets, or a day's note's time, as written.
    pub timestamp: Option<String>,
    /// Its text, without marker, timestamp and time; continuation lines joined by line breaks.
    pub text: String,
    /// Its scope.
    pub scope: Scope,
    /// The heading that it stands under; a list by sections says it for all.
    #[serde(skip)]
    pub section: Option<String>,
}

/// A section of `MEMORY.md`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedSection {
    /// Its heading; `None` for the text above the first.
    pub section: Option<String>,
    /// The heading's line, from 1; none where there is no heading.
    pub line: Option<usize>,
    /// Its memories.
    pub memories: Vec<ListedMemory>,
}

/// A note of a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedDay {
    /// The day.
    pub date: Date,
    /// Its note.
    pub path: NotePath,
    /// Its memories.
    pub memories: Vec<ListedMemory>,
}

impl MemoryNotes<'_> {
    /// The sections of `MEMORY.md` in order, with their memories; with `scopes`, only memories of one of them, and no
    /// empty section.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn list_long(&self, scopes: Option<&[Scope]>) -> Result<Vec<ListedSection>> {
        let bytes = self.bytes(&self.long_path())?;
        let file = memory::parse(&bytes);
        let mut items = item::parse(&bytes, false);
        items.retain(|item| is_wanted(item, scopes));
        let sections = file.sections.iter();
        let empty = sections.map(|section| (Some(section.name.clone()), Some(section.line)));
        let empty = std::iter::once((None, None)).chain(empty);
        let mut all: Vec<ListedSection> =
            empty.map(|(section, line)| ListedSection { section, line, memories: Vec::new() }).collect();
        for item in &items {
            let place = |section: &memory::MemorySection| section.range.contains(&item.range.start);
            let at = file.sections.iter().position(place).map_or(0, |at| at + 1);
            all[at].memories.push(listed(item));
        }
        all.retain(|listed| !listed.memories.is_empty() || listed.section.is_some() && scopes.is_none());
        Ok(all)
    }

    /// The days' notes with their memories, newest first; with `date`, that day's alone; with `scopes`, only memories
    /// of one of them, and no day without such memories.
    ///
    /// # Errors
    /// A note can't be read, or there is none of `date`.
    pub fn list_daily(&self, date: Option<Date>, scopes: Option<&[Scope]>) -> Result<Vec<ListedDay>> {
        let days = match date {
            Some(date) => vec![(date, self.daily_path(date))],
            None => self.days()?,
        };
        let mut out = Vec::with_capacity(days.len());
        for (day, path) in days {
            let bytes = match self.vault.read(&path) {
                Err(VaultError::NotFound(_)) if date.is_some() => return Err(MemoryError::NoSuchDay(day)),
                Err(VaultError::NotFound(_)) => continue,
                bytes => bytes?,
            };
            let items = item::parse(&with_lf(bytes), true);
            let memories: Vec<ListedMemory> =
                items.iter().filter(|item| is_wanted(item, scopes)).map(listed).collect();
            if scopes.is_none() || date.is_some() || !memories.is_empty() {
                out.push(ListedDay { date: day, path, memories });
            }
        }
        Ok(out)
    }

    /// The days that have a note, newest first. No note is opened.
    ///
    /// # Errors
    /// The folder can't be listed.
    pub fn days(&self) -> Result<Vec<(Date, NotePath)>> {
        Ok(day_notes(self.vault, &crate::memory::note(&self.settings.paths.daily))?)
    }
}

/// The notes of days directly in `folder`, the newest first.
///
/// # Errors
/// The folder can't be listed.
pub fn day_notes(vault: &Vault, folder: &NotePath) -> Result<Vec<(Date, NotePath)>, VaultError> {
    let paths = vault.notes_below(folder.clone())?.into_iter().map(|entry| entry.path);
    let here = paths.filter(|path| path.parent().as_ref() == Some(folder));
    let mut days: Vec<_> = here.filter_map(|path| Some((daily::date_of(path.file_name())?, path))).collect();
    days.sort_by(|one, other| other.cmp(one));
    Ok(days)
}

fn is_wanted(item: &MemoryItem, scopes: Option<&[Scope]>) -> bool {
    scopes.is_none_or(|scopes| belongs(&item.scopes, scopes))
}

fn listed(item: &MemoryItem) -> ListedMemory {
    ListedMemory {
        line: item.line,
        end_line: item.end_line,
        timestamp: item.stamp.clone().or_else(|| item.time.map(|time| time.strftime("%H:%M").to_string())),
        text: item.text.clone(),
        scope: item.scope(),
        section: item.section.clone(),
    }
}
