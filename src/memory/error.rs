//! Defines the errors of memory operations: words for people, stable names for programs.

use jiff::civil::Date;

use super::commitments::CommitmentError;
use super::note_hash::StaleRead;
use super::pins::PinError;
use super::scope::ScopeError;
use super::text::wording::WordsError;
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
    /// A follow-up's error.
    #[error(transparent)]
    Commitment(#[from] CommitmentError),
    /// A pin's error.
    #[error(transparent)]
    Pin(#[from] PinError),
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
            Self::Words(error) | Self::Commitment(CommitmentError::Words(error)) => error.code(),
            Self::Pin(PinError::Words(error)) => error.code(),
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
            Self::Several { .. } => "ambiguous",
            Self::Newer(_) | Self::Commitment(CommitmentError::Newer(_)) => "changed_since_read",
            Self::TakenBefore { .. } => "removed_before",
            Self::Changed { .. } => "changed",
            Self::Unreadable { .. } | Self::Commitment(CommitmentError::Unreadable { .. }) => {
                "would_not_read_back"
            }
            Self::Vanished { .. }
            | Self::Commitment(CommitmentError::Vanished(_))
            | Self::Pin(PinError::Vanished(_)) => "gone_after_writing",
            Self::WorkingOff => "working_memory_off",
            Self::Commitment(CommitmentError::NoSuchId { .. }) => "no_such_id",
            Self::Commitment(CommitmentError::Disputed { .. }) => "id_not_unique",
            Self::Commitment(CommitmentError::NotPending { .. }) => "not_pending",
            Self::Commitment(CommitmentError::Place(_)) => "bad_commitment_scope",
            Self::Commitment(CommitmentError::Changed(_)) | Self::Pin(PinError::Changed(_)) => "changed",
            Self::Pin(PinError::Empty) => "empty",
            Self::Pin(PinError::Link(_)) => "bad_link",
            Self::Pin(PinError::NoSuchPin(_)) => "no_such_pin",
            Self::Pin(PinError::Ambiguous { .. }) => "ambiguous",
            Self::Vault(error)
            | Self::Commitment(CommitmentError::Vault(error))
            | Self::Pin(PinError::Read(error)) => vault_code(error),
            Self::Edit(error)
            | Self::Commitment(CommitmentError::Edit(error))
            | Self::Pin(PinError::Write(error)) => edit_code(error),
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
                | Self::Commitment(CommitmentError::Words(_) | CommitmentError::Place(_))
                | Self::Pin(PinError::Words(_) | PinError::Empty | PinError::Link(_))
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
            Self::Newer(newer) | Self::Commitment(CommitmentError::Newer(newer)) => Some(newer),
            _ => None,
        }
    }

    /// A remedy, where there is more to say than the message does.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Words(error)
            | Self::Commitment(CommitmentError::Words(error))
            | Self::Pin(PinError::Words(error)) => error.hint(),
            Self::NotANote(_) => "name a note, such as `MEMORY.md` or `daily/2026-12-01.md`",
            Self::BadLines { .. } => {
                "give two numbers such as 3 and 7, or leave the lines out for the whole note"
            }
            Self::NoSuchLine { .. } => "the note may have changed: read it again",
            Self::NoMemory { .. } => "the note may have changed: read it again and give the line of a bullet",
            Self::Other { .. } => "read the note again, and give the words of a bullet as they stand there",
            Self::Several { .. } => "give the line of the one that is meant as well",
            Self::Newer(_) | Self::Commitment(CommitmentError::Newer(_)) => {
                "look at what stands there now, and give its hash"
            }
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
