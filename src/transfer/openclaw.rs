//! An OpenClaw workspace: `MEMORY.md`, the days in `memory/`, and `USER.md`.
//!
//! `MEMORY.md` is free Markdown there; each of its items and paragraphs becomes a memory, in the section
//! that its headings name. A day's note comes as it is, where the vault has none of that day. Other
//! notes of `memory/` are kept whole in the folder of imports. What tells that program how to behave
//! (`AGENTS.md`, `SOUL.md`, …) is no memory and stays where it is.

use std::path::Path;

use jiff::civil::Date;

use super::{Batch, Item, TransferError, chunks, outside};
use crate::format::daily;
use crate::vault::NotePath;

/// The section of memories that stand under no heading.
const NO_HEADING: &str = "OpenClaw";

/// What the workspace at `root` holds; notes without a place of their own go to the folder `into`.
///
/// # Errors
/// `root` is no folder, or has too much in it.
pub fn read(root: &Path, into: &NotePath) -> Result<Batch, TransferError> {
    let mut batch = Batch::default();
    for relative in outside::notes(root, &mut batch)? {
        let Some(place) = Place::of(&relative) else {
            continue;
        };
        if let Some(text) = outside::read_note(root, &relative, &mut batch) {
            take(&relative, &place, text, into, &mut batch);
        }
    }
    Ok(batch)
}

/// Whether the names of a folder are those of a workspace.
pub(super) fn is_one(root: &Path) -> bool {
    let has = |name: &str| root.join(name).is_file();
    let has_days = || {
        let entries = std::fs::read_dir(root.join("memory")).into_iter().flatten().flatten();
        entries
            .take(1000)
            .any(|entry| entry.file_name().to_str().is_some_and(|name| daily::date_of(name).is_some()))
    };
    has("MEMORY.md") || has("memory.md") || (has("AGENTS.md") && has("SOUL.md")) || has_days()
}

/// What a note of a workspace is.
enum Place {
    Memory,
    Day(Date),
    User,
    Note,
}

impl Place {
    /// By its path; `None` for what isn't taken.
    fn of(relative: &str) -> Option<Self> {
        match relative {
            "MEMORY.md" | "memory.md" => Some(Self::Memory),
            "USER.md" => Some(Self::User),
            _ => {
                let name = relative.strip_prefix("memory/")?;
                Some(daily::date_of(name).map_or(Self::Note, Self::Day))
            }
        }
    }
}

fn take(relative: &str, place: &Place, text: String, into: &NotePath, batch: &mut Batch) {
    if text.trim().is_empty() {
        return;
    }
    match place {
        Place::Memory => {
            for chunk in chunks::chunks(&text) {
                let section = Some(chunk.section().unwrap_or_else(|| NO_HEADING.to_owned()));
                let item = Item::Memory { section, timestamp: None, text: chunk.text };
                batch.add(item, format!("{relative} line {}", chunk.line));
            }
        }
        Place::Day(date) => batch.add(Item::Day { date: *date, text }, relative),
        Place::User => batch.add(Item::Profile { text }, relative),
        Place::Note => match into.join(relative) {
            Ok(path) => batch.add(Item::Note { path, text }, relative),
            Err(error) => batch.skip(relative, error.to_string()),
        },
    }
}
