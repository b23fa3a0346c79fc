//! Defines the items of an import, and the places of what could not be used.

use jiff::civil::{Date, Time};
use serde::Serialize;

use crate::format::{commitment::Commitment, reminder::Reminder};
use crate::memory::Scope;
use crate::vault::NotePath;

/// One thing to be written into the vault, if it isn't there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportItem {
    /// A bullet of the memory note.
    Memory {
        /// The section that it stands in.
        section: Option<String>,
        /// The timestamp in brackets before it.
        timestamp: Option<String>,
        /// Its text.
        text: String,
    },
    /// A bullet of a day's note.
    Daily {
        /// The day.
        date: Date,
        /// The section that it stands in.
        section: Option<String>,
        /// The local time of day.
        time: Option<Time>,
        /// Its text.
        text: String,
    },
    /// A whole note of a day: as it is where the day has none yet, else what the day lacks of it.
    Day {
        /// The day.
        date: Date,
        /// The note's text.
        text: String,
    },
    /// A reminder.
    Reminder(Reminder),
    /// A follow-up.
    Commitment(Commitment),
    /// A pinned memory, with the link that it ends in.
    Pin {
        /// Its text.
        text: String,
    },
    /// A whole note, kept as it is, where there is none.
    Note {
        /// Its place in the vault.
        path: NotePath,
        /// Its text.
        text: String,
    },
    /// The user's profile, where the vault has none yet.
    Profile {
        /// The note's text.
        text: String,
    },
    /// How the assistant speaks, where the vault doesn't say so yet.
    Persona {
        /// The note's text.
        text: String,
    },
    /// A scheduled prompt, where there is none of its name.
    Routine {
        /// Its name, without `.md`.
        name: &'static str,
        /// The note's text.
        text: String,
    },
}

/// An item and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundItem {
    /// The item.
    pub item: ImportItem,
    /// The place: `MEMORY.md line 3`, `entry 4 (line 12)`.
    pub place: String,
}

/// Something that could not be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportProblem {
    /// Its place.
    pub place: String,
    /// The reason.
    pub reason: String,
}

/// The contents of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportBatch {
    /// Usable items, in order.
    pub found: Vec<FoundItem>,
    /// Items that can't be used.
    pub skipped: Vec<ImportProblem>,
    /// Remarks about the rest.
    pub remarks: Vec<ImportProblem>,
}

impl ImportBatch {
    /// The batch with `#project/x` and the like as plain text: in another program they marked no scope of a memory.
    pub(super) fn without_scopes(mut self) -> Self {
        for found in &mut self.found {
            if let ImportItem::Memory { text, .. } | ImportItem::Day { text, .. } = &mut found.item {
                *text = Scope::Global.alone_in(text);
            }
        }
        self
    }

    pub(super) fn add(&mut self, item: ImportItem, place: impl Into<String>) {
        self.found.push(FoundItem { item, place: place.into() });
    }

    pub(super) fn skip(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push(ImportProblem { place: place.into(), reason: reason.into() });
    }

    pub(super) fn remark(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.remarks.push(ImportProblem { place: place.into(), reason: reason.into() });
    }
}
