//! Imports memories, reminders, follow-ups and whole notes into the vault, from other programs and from exports of
//! vault-agent. Exports the vault's memories, daily notes, reminders, follow-ups and pins.
//!
//! For an import, a reader for each kind of source turns files outside the vault into an [`ImportBatch`] of items, with
//! the places of unusable parts. [`merge`] adds missing items to a note's text, and [`Importer`] writes the result
//! through [`vault::Editor`]. No line of a note is changed, nothing is added twice, and no note is replaced. For an
//! export, [`VaultContents`] holds the notes' contents, and pure functions write them: [`markdown::document`],
//! [`records::lines_of`], [`calendar::calendar`] and [`okf::bundle`].
//!
//! Other programs' files are read with bounds ([`bounded_read`]), and never written here.
//!
//! - `source`: detects the program that a file is from; `bounded_read`: reads it with bounds;
//! - `memory_json`, `openclaw`, `records`: one reader for each source; `chunks`: pieces of a text; [`ImportBatch`]: the
//!   readers' result;
//! - `merge`, `import`: write items into notes; `follow`: copies a folder again after each change;
//! - `contents`: reads the notes; `markdown`, `records`, `okf`, `calendar`: one file for each export format.
//!
//! [`vault::Editor`]: crate::vault::Editor

pub mod bounded_read;
pub mod calendar;
mod chunks;
mod contents;
pub mod follow;
mod import;
pub mod markdown;
pub mod memory_json;
pub mod merge;
pub mod okf;
pub mod openclaw;
pub mod records;
mod source;

use std::io;
use std::path::PathBuf;

use jiff::civil::{Date, Time};
use serde::Serialize;

pub use contents::VaultContents;
pub use import::{ImportReport, Importer};
pub use source::{ImportSourceKind, is_export, read};

use crate::format::commitment::Commitment;
use crate::format::reminder::Reminder;
use crate::memory::Scope;
use crate::vault::{NotePath, VaultError};

/// The reason why an import or an export was refused; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// There is nothing at the path.
    #[error("`{}` is not there", .0.display())]
    Missing(PathBuf),
    /// A folder where a file is needed, or the other way round, or a device.
    #[error("`{}` is not {}", .0.display(), .1)]
    WrongType(PathBuf, &'static str),
    /// The file is larger than is read.
    #[error("`{}` has {size} bytes; at most {limit} are read", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// More files than a workspace has.
    #[error("`{}` has too many files in it; name the workspace itself", .0.display())]
    TooMuch(PathBuf),
    /// It isn't what it was said or thought to be.
    #[error("`{}` can't be understood: {}", .0.display(), .1)]
    NotUnderstood(PathBuf, String),
    /// Nothing says which program it is from.
    #[error("can't tell what `{}` is from", .0.display())]
    UnknownKind(PathBuf),
    /// The source is the vault itself, in it, or around it.
    #[error("`{}` and the vault lie in one another, so notes of it are there already", .0.display())]
    InVault(PathBuf),
    /// The operating system said no.
    #[error("`{}`: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
    /// A note of the vault can't be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

type Result<T, E = TransferError> = std::result::Result<T, E>;

impl TransferError {
    /// Whether the command was wrong, and not the machine.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Io { .. } | Self::Vault(_))
    }

    /// A remedy, where one is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::UnknownKind(_) => {
                Some("say it with `--from openclaw`, `basic-memory`, `mcp-memory` or `jsonl`")
            }
            Self::NotUnderstood { .. } => Some("nothing was written; look at the beginning of the file"),
            Self::InVault(_) => Some("name a workspace or project outside the vault"),
            _ => None,
        }
    }
}

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
    /// The place: `MEMORY.md line 3`, `entry 4`.
    pub place: String,
}

/// Something that could not be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{place}: {reason}")]
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
    fn without_scopes(mut self) -> Self {
        for found in &mut self.found {
            if let ImportItem::Memory { text, .. } | ImportItem::Day { text, .. } = &mut found.item {
                *text = Scope::Global.escape_other_scopes(text);
            }
        }
        self
    }

    fn add(&mut self, item: ImportItem, place: impl Into<String>) {
        self.found.push(FoundItem { item, place: place.into() });
    }

    fn skip(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push(ImportProblem { place: place.into(), reason: reason.into() });
    }

    /// A note that is kept whole, where its path is one.
    fn add_note<E: ToString>(&mut self, path: Result<NotePath, E>, place: &str, text: String) {
        match path {
            Ok(path) => self.add(ImportItem::Note { path, text }, place),
            Err(error) => self.skip(place, error.to_string()),
        }
    }

    fn remark(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        self.remarks.push(ImportProblem { place: place.into(), reason: reason.into() });
    }
}
