//! Defines the errors of memory operations: words for people, stable names for programs.

use jiff::civil::Date;

use super::note_hash::StaleRead;
use super::scope::ScopeError;
use super::text::wording::WordsError;
use crate::format::commitment::Status;
use crate::vault::{EditError, NotePath, PathError, VaultError};

/// A memory that an error shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMatch {
    /// Its first line, from 1.
    pub line: usize,
    /// Its text, on one line and cut.
    pub text: String,
}

/// The result of a memory operation.
pub(crate) type Result<T, E = MemoryError> = std::result::Result<T, E>;

/// A memory was not kept, found or changed. Unless the variant says otherwise the notes are as they were.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The text can't be kept.
    #[error(transparent)]
    Words(#[from] WordsError),
    /// The scope is none.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// The shelf is none.
    #[error("{0} is no kind of memory: write `long`, `daily` or `commitment`")]
    UnknownShelf(String),
    /// The path is none, or leaves the vault.
    #[error(transparent)]
    Path(#[from] PathError),
    /// It is a file of the vault, but no note.
    #[error("`{0}` is no note: only Markdown files that Obsidian shows are read")]
    NotANote(NotePath),
    /// Lines that are none.
    #[error("lines {from} to {to} are no range: lines count from 1, and the first can't be after the last")]
    BadLines {
        /// The first.
        from: usize,
        /// The last.
        to: usize,
    },
    /// The note is shorter.
    #[error("`{path}` has {total} lines; there is no line {line}")]
    NoSuchLine {
        /// The note.
        path: NotePath,
        /// The given line.
        line: usize,
        /// How many there are.
        total: usize,
    },
    /// No bullet stands there.
    #[error("line {line} of `{path}` is no memory")]
    NoMemory {
        /// The note.
        path: NotePath,
        /// The given line.
        line: usize,
    },
    /// The note isn't one that memories are removed from.
    #[error("`{0}` is not a note of memories; the agent doesn't change it")]
    NotOurs(NotePath),
    /// There is no note of that day.
    #[error("there is no note of {0}")]
    NoSuchDay(Date),
    /// No bullet matches.
    #[error("no memory in `{path}` says {shown}")]
    Other {
        /// The note.
        path: NotePath,
        /// The given words, cut.
        shown: String,
        /// Near ones.
        near: Vec<NearMatch>,
    },
    /// Several bullets match.
    #[error("{} memories in `{path}` say {shown}", there.len())]
    Several {
        /// The note.
        path: NotePath,
        /// The given words, cut.
        shown: String,
        /// Those that say it.
        there: Vec<NearMatch>,
    },
    /// The note isn't as it was read.
    #[error(transparent)]
    Newer(#[from] StaleRead),
    /// The line was taken out a moment ago, and another memory has moved up to its place.
    #[error("line {line} of `{path}` was removed just now ({shown}); another memory stands there now")]
    TakenBefore {
        /// The note.
        path: NotePath,
        /// The line.
        line: usize,
        /// Its words, cut.
        shown: String,
    },
    /// The bullet changed between reading and writing.
    #[error("the memory in line {line} of `{path}` was changed by someone just now; nothing was removed")]
    Changed {
        /// The note.
        path: NotePath,
        /// Its line.
        line: usize,
    },
    /// At its place the text would not read back as a memory.
    #[error(
        "the memory would not read back from `{path}`: a code block or a comment is left open above its place"
    )]
    Unreadable {
        /// The note.
        path: NotePath,
    },
    /// It was written and deleted again.
    #[error(
        "`{path}` was written, but {shown} was not there any more when it was read again: someone has removed it"
    )]
    Vanished {
        /// The note.
        path: NotePath,
        /// The written words, cut.
        shown: String,
    },
    /// `memory.user_namespace` is unset.
    #[error("working memory is off: `memory.user_namespace` is not set in `vault-agent.toml`")]
    WorkingOff,
    /// No block has that id.
    #[error("no follow-up in `{path}` has the id `{id}`")]
    NoSuchFollowUp {
        /// The note.
        path: NotePath,
        /// The given id.
        id: String,
    },
    /// Several blocks have that id.
    #[error(
        "the id `{id}` stands in more than one block of `{path}` (lines {lines:?}); give one of them another"
    )]
    DisputedFollowUp {
        /// The note.
        path: NotePath,
        /// The id.
        id: String,
        /// The lines at which the blocks begin.
        lines: Vec<usize>,
    },
    /// It isn't waiting any more.
    #[error("the follow-up `{id}` is {status} already")]
    NotPending {
        /// The id.
        id: String,
        /// Its status.
        status: Status,
    },
    /// It can't be sent there.
    #[error(
        "{0} is no place to tell a follow-up: write `channel:ID`, `thread:ID` or `user:ID` with the number that Discord shows"
    )]
    BadPlace(String),
    /// It was deleted again.
    #[error(
        "the follow-up `{0}` was written, but was not there any more when the note was read again: someone has removed it"
    )]
    FollowUpVanished(String),
    /// The block would not read back as it is meant.
    #[error("`{path}` would not read back with this follow-up: {reason}")]
    FollowUpUnreadable {
        /// The note.
        path: NotePath,
        /// Why.
        reason: String,
    },
    /// The block changed between reading and writing.
    #[error("the follow-up `{0}` was changed in the meantime; nothing was written")]
    FollowUpChanged(String),
    /// The link can't be written as one.
    #[error("`{0}` can't be linked to: a link has no brackets, bars or line breaks")]
    BadLink(String),
    /// No pin is, or begins with, this.
    #[error("nothing is pinned as `{0}`: see the list of pins for the exact words")]
    NoSuchPin(String),
    /// More than one pin is meant.
    #[error("`{text}` is the beginning of {count} pins: give more of it")]
    AmbiguousPin {
        /// The given text.
        text: String,
        /// How many pins begin with it.
        count: usize,
    },
    /// The pin was changed meanwhile.
    #[error("the pin `{0}` was changed by someone just now: look again")]
    PinChanged(String),
    /// The pin was deleted again.
    #[error(
        "the pin `{0}` was written, but was not there any more when the note was read again: someone has removed it"
    )]
    PinVanished(String),
    /// The note can't be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The note can't be written.
    #[error(transparent)]
    Edit(#[from] EditError),
}

impl MemoryError {
    /// A stable name for programs, in snake case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Words(error) => error.code(),
            Self::Scope(_) => "bad_scope",
            Self::UnknownShelf(_) => "unknown_scope",
            Self::Path(_) => "bad_path",
            Self::NotANote(_) => "not_a_note",
            Self::BadLines { .. } => "bad_lines",
            Self::NoSuchLine { .. } => "no_such_line",
            Self::NoMemory { .. } => "no_memory_there",
            Self::NotOurs(_) => "not_a_memory_note",
            Self::NoSuchDay(_) => "no_such_day",
            Self::Other { .. } => "no_such_memory",
            Self::Several { .. } | Self::AmbiguousPin { .. } => "ambiguous",
            Self::Newer(_) => "changed_since_read",
            Self::TakenBefore { .. } => "removed_before",
            Self::Changed { .. } | Self::FollowUpChanged(_) | Self::PinChanged(_) => "changed",
            Self::Unreadable { .. } | Self::FollowUpUnreadable { .. } => "would_not_read_back",
            Self::Vanished { .. } | Self::FollowUpVanished(_) | Self::PinVanished(_) => "gone_after_writing",
            Self::WorkingOff => "working_memory_off",
            Self::NoSuchFollowUp { .. } => "no_such_id",
            Self::DisputedFollowUp { .. } => "id_not_unique",
            Self::NotPending { .. } => "not_pending",
            Self::BadPlace(_) => "bad_commitment_scope",
            Self::BadLink(_) => "bad_link",
            Self::NoSuchPin(_) => "no_such_pin",
            Self::Vault(error) => vault_code(error),
            Self::Edit(error) => edit_code(error),
        }
    }

    /// Whether the request itself is wrong, whatever the vault holds.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Words(_)
                | Self::Scope(_)
                | Self::UnknownShelf(_)
                | Self::Path(_)
                | Self::BadLines { .. }
                | Self::BadPlace(_)
                | Self::BadLink(_)
        )
    }

    /// The memories that it is about, or that are similar to the request.
    pub fn nearest(&self) -> &[NearMatch] {
        match self {
            Self::Other { near, .. } | Self::Several { there: near, .. } => near,
            _ => &[],
        }
    }

    /// The note as it stands now, where it isn't as it was read.
    pub fn newer(&self) -> Option<&StaleRead> {
        match self {
            Self::Newer(newer) => Some(newer),
            _ => None,
        }
    }

    /// A remedy, where there is more to say than the message does.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Words(error) => error.hint(),
            Self::NotANote(_) => "name a note, such as `MEMORY.md` or `daily/2026-12-01.md`",
            Self::BadLines { .. } => {
                "give two numbers such as 3 and 7, or leave the lines out for the whole note"
            }
            Self::NoSuchLine { .. } => "the note may have changed: read it again",
            Self::NoMemory { .. } => "the note may have changed: read it again and give the line of a bullet",
            Self::Other { .. } => "read the note again, and give the words of a bullet as they stand there",
            Self::Several { .. } => "give the line of the one that is meant as well",
            Self::Newer(_) => "look at what stands there now, and give its hash",
            Self::TakenBefore { .. } => "to remove that one as well, give its words with `--text`",
            Self::NotOurs(_) => "follow-ups are cancelled, and other notes are their owner's to change",
            Self::NoSuchDay(_) => "the list of the days' notes shows which there are",
            Self::Changed { .. } | Self::Vanished { .. } => {
                "read the note again: what stands there now is the person's will"
            }
            Self::Unreadable { .. } => "close the code block or the comment in the note first",
            Self::WorkingOff => "set `user_namespace = \"user\"` under `[memory]`",
            Self::Edit(error) if error.is_transient() => "try again in a minute",
            _ => return None,
        })
    }
}

fn vault_code(error: &VaultError) -> &'static str {
    match error {
        VaultError::NotFound(_) => "no_such_note",
        VaultError::TooLarge { .. } => "note_too_large",
        VaultError::Escapes(_) | VaultError::Loop(_) => "bad_path",
        VaultError::NotAFile { .. } | VaultError::NotAFolder(_) => "not_a_note",
        VaultError::Placeholder(_) => "note_in_the_cloud",
        VaultError::Gone(_) | VaultError::Io { .. } | VaultError::Root { .. } => "unreadable",
    }
}

fn edit_code(error: &EditError) -> &'static str {
    match error {
        EditError::Vault(error) => vault_code(error),
        EditError::Refused(_) => "waits_for_a_person",
        EditError::Busy { .. } => "note_busy",
        EditError::Exists(_) => "exists",
        EditError::NoLease(_) | EditError::Write { .. } | EditError::Journal { .. } => "unwritable",
    }
}
