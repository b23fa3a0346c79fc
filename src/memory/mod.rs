//! Saves, reads, lists, pins, promotes and forgets memories in the vault's notes.
//!
//! [`MemoryNotes`] is the one implementation behind the command line, the MCP server, Discord and the hooks. A memory's
//! words come in; the lines of the note after the write go out.
//!
//! Each operation is one edit of one note through [`Editor`], which finds the lines by content. Only a promotion
//! ([`save`]) edits several notes. Each edit is one snapshot that names its author ([`Origin`]). The operation then
//! reads the note again, so "saved" is true. If a person's edit came first, the answer is an error with this reason.
//!
//! - [`save`]: saves a fact, a note of the day or a follow-up, and promotes a day's bullet to a fact;
//! - [`keep_fact`]: saves a learned fact, with a link to its source;
//! - [`edit`]: changes and forgets a memory;
//! - [`list`]: lists memories by kind; [`excerpt`]: reads a note; [`item`]: a bullet, as both return it;
//! - [`pins`], [`commitments`], [`working`]: pinned memories, follow-ups, working memory, each a note of its own;
//! - [`scope`]: a memory's scope, and the project of a folder;
//! - [`wording`]: checks, formats and compares texts; [`contradiction`]: finds contradictions between facts. Pure;
//! - [`error`]: errors, with stable names for programs, and the version (hash) of a note.
//!
//! "Scope" has two meanings here. [`MemoryKind`] is the *note*: long, daily or commitment. [`Scope`] is the *owner*,
//! such as a project or a person; its tag is at the bullet's end.
//!
//! Never here: notifications, and text from outside that becomes a heading, a reminder or a follow-up.

pub mod commitments;
pub mod contradiction;
mod edit;
mod error;
mod excerpt;
mod item;
pub mod keep_fact;
mod list;
pub mod pins;
mod save;
mod scope;
pub mod wording;
pub mod working;

use std::str::FromStr;

use jiff::civil::Date;

use crate::config::Settings;
use crate::format::daily;
use crate::format::lines::with_lf;
use crate::schedule::Zone;
use crate::vault::{EditError, EditRefusal, Editor, NotePath, Vault, VaultError};
use crate::words::words;

pub use crate::vault::Origin;

pub use self::commitments::FollowUpNotes;
pub use self::edit::{ForgottenMemory, MemoryRef};
pub(crate) use self::error::Result;
pub use self::error::{MemoryError, hash_of};
pub use self::item::is_section;
pub use self::list::{ListedDay, ListedMemory, ListedSection, day_notes};
pub use self::save::{DEFAULT_SECTION, NewMemory, SavedMemory};
pub use self::scope::{
    PROJECT_VARIABLE, SCOPE_VARIABLE, Scope, ScopeError, accessible, derive, is_visible, legacy_scope,
};
pub use self::wording::{MemoryFields, MemoryTier, Temporal, WordsError, normal};
pub use self::working::{read_profile, read_working, session_context};

/// The trailer of a write that took a memory out of a note: the line that was named.
pub const TOOK_LINE: &str = "Took-Line";

words! {
    /// The kind of note that a memory goes to: the `scope` argument of the tool `memory_save`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum MemoryKind, name {
        /// `MEMORY.md`: facts that last.
        Long = "long",
        /// The day's note.
        Daily = "daily",
        /// `COMMITMENTS.md`: follow-ups.
        Commitment = "commitment",
    }
}

impl FromStr for MemoryKind {
    type Err = MemoryError;

    fn from_str(text: &str) -> Result<Self> {
        Self::named(text).ok_or_else(|| MemoryError::UnknownShelf(crate::format::quote(text)))
    }
}

/// The memory notes of a vault.
#[derive(Debug, Clone, Copy)]
pub struct MemoryNotes<'a> {
    /// Reads the notes.
    pub vault: &'a Vault,
    /// Writes the notes.
    pub editor: &'a Editor,
    /// The paths of the notes, and the limits of working memory.
    pub settings: &'a Settings,
    /// The zone that decides about days.
    pub zone: &'a Zone,
}

impl MemoryNotes<'_> {
    /// The note of lasting facts.
    pub fn long_path(&self) -> NotePath {
        note(&self.settings.paths.memory)
    }

    /// The note of a day.
    pub fn daily_path(&self, date: Date) -> NotePath {
        note(&format!("{}/{}", self.settings.paths.daily, daily::file_name(date)))
    }

    /// The note of pins.
    pub fn pinned_path(&self) -> NotePath {
        note(&self.settings.paths.pinned)
    }

    /// The follow-ups.
    pub fn ledger(&self) -> FollowUpNotes<'_> {
        let path = note(&self.settings.paths.commitments);
        let Self { vault, editor, zone, settings } = *self;
        FollowUpNotes { vault, editor, path, zone, settings, was: None }
    }

    /// The day that a note of the day is about.
    fn date_of(&self, path: &NotePath) -> Option<Date> {
        let folder = path.parent()?;
        (folder.as_str() == self.settings.paths.daily).then(|| daily::date_of(path.file_name())).flatten()
    }

    /// A note's bytes to be read by lines; a missing note has none.
    fn bytes(&self, path: &NotePath) -> Result<Vec<u8>, VaultError> {
        Ok(with_lf(self.vault.read_or_empty(path)?).into_owned())
    }

    /// A note's bytes, of which some are to be changed.
    fn bytes_to_change(&self, path: &NotePath) -> Result<Vec<u8>> {
        let bytes = self.vault.read(path)?;
        EditRefusal::not_understood(path, &bytes)
            .map_or(Ok(bytes), |refusal| Err(EditError::from(refusal).into()))
    }
}

pub(crate) fn note(path: &str) -> NotePath {
    NotePath::new(path)
        .expect("the settings' paths are validated when they are read, and a day's name is plain")
}
