//! Defines the errors of memory operations, with words for people and stable names for programs.
//!
//! Also computes a note's version, a hash. A reader gets the hash, and a writer may name it. The write is refused if
//! the note has another hash by then.

use jiff::civil::Date;

use super::scope::ScopeError;
use super::wording::WordsError;
use crate::format::commitment::CommitmentStatus;
use crate::vault::{EditError, NotePath, PathError, VaultError};

/// The result of a memory operation.
pub(crate) type Result<T, E = MemoryError> = std::result::Result<T, E>;

/// The most characters of a note that an error shows.
const MOST_CHARS: usize = 8_000;

/// A memory that an error shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMatch {
    /// Its first line, from 1.
    pub line: usize,
    /// Its text, on one line and cut.
    pub text: String,
}

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
    #[error("lines {0} to {1} are no range: lines count from 1, and the first can't be after the last")]
    BadLines(usize, usize),
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
    #[error("line {1} of `{0}` is no memory")]
    NoMemory(NotePath, usize),
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
    /// The note has changed since it was read.
    #[error("`{path}` was changed since it was read: its hash is {hash} now; nothing was written")]
    Newer {
        /// The note.
        path: NotePath,
        /// Its hash now.
        hash: String,
        /// Its present text; of a long note the beginning.
        text: String,
    },
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
    /// The named line changed between reading and writing.
    #[error("{0} was changed by someone just now; nothing was written")]
    Changed(String),
    /// At its place the text would not read back as it is meant, for this reason.
    #[error("`{0}` would not read back with it: {1}")]
    Unreadable(NotePath, String),
    /// It has bytes that an edit would not keep.
    #[error("line {1} of `{0}` has bytes that are no text in UTF-8")]
    NotText(NotePath, usize),
    /// The named line was written and deleted again.
    #[error(
        "{0} was written, but was not there any more when the note was read again: someone has removed it"
    )]
    Vanished(String),
    /// `memory.user_namespace` is unset.
    #[error("working memory is off: `memory.user_namespace` is not set in `vault-agent.toml`")]
    WorkingOff,
    /// No block has that id.
    #[error("no follow-up in `{0}` has the id `{1}`")]
    NoSuchFollowUp(NotePath, String),
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
    #[error("the follow-up `{0}` is {1} already")]
    NotPending(String, CommitmentStatus),
    /// It can't be sent there; where it can be.
    #[error("{0} is no place to deliver a follow-up: {1}")]
    BadPlace(String, &'static str),
    /// The link can't be written as one.
    #[error("`{0}` can't be linked to: a link has no brackets, bars or line breaks")]
    BadLink(String),
    /// No pin is, or begins with, this.
    #[error("nothing is pinned as `{0}`: see the list of pins for the exact words")]
    NoSuchPin(String),
    /// More than one pin is meant.
    #[error("`{0}` is the beginning of {1} pins: give more of it")]
    AmbiguousPin(String, usize),
    /// The note can't be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The note can't be written.
    #[error(transparent)]
    Edit(#[from] EditError),
}

impl MemoryError {
    /// A text was written into the note at `path` and was not there when it was read back. Hooks log errors, and no
    /// memories: its words stand in none.
    pub(super) fn vanished(path: &NotePath) -> Self {
        Self::Vanished(format!("the memory in `{path}`"))
    }

    /// The text for the note at `path` would stand in code or a comment.
    pub(super) fn unreadable(path: &NotePath) -> Self {
        Self::Unreadable(path.clone(), "a code block or a comment is left open above its place".to_owned())
    }

    /// A word for programs; one that has been published keeps its meaning.
    pub fn code(&self) -> &'static str {
        self.code_and_hint().0
    }

    /// The remedy, where it isn't plain from the message.
    pub fn hint(&self) -> Option<&'static str> {
        self.code_and_hint().1
    }

    fn code_and_hint(&self) -> (&'static str, Option<&'static str>) {
        let again = "read the note again: the person's version stands";
        let (code, hint) = match self {
            Self::Words(error) => error.code_and_hint(),
            Self::NotANote(_) => ("not_a_note", "name a note, such as `MEMORY.md` or `daily/2026-12-01.md`"),
            Self::BadLines(..) => {
                ("bad_lines", "give two numbers such as 3 and 7, or leave the lines out for the whole note")
            }
            Self::NoSuchLine { .. } => ("no_such_line", "the note may have changed: read it again"),
            Self::NoMemory(..) => {
                ("no_memory_there", "the note may have changed: read it again and give the line of a bullet")
            }
            Self::Other { .. } => {
                ("no_such_memory", "read the note again, and give the words of a bullet as they stand there")
            }
            Self::Several { .. } => ("ambiguous", "give the line of the one that is meant as well"),
            Self::Newer { .. } => ("changed_since_read", "look at what stands there now, and give its hash"),
            Self::TakenBefore { .. } => {
                ("removed_before", "to remove that one as well, give its words with `--text`")
            }
            Self::NotOurs(_) => {
                ("not_a_memory_note", "follow-ups are cancelled, and other notes are their owner's to change")
            }
            Self::NoSuchDay(_) => ("no_such_day", "the list of the days' notes shows which there are"),
            Self::Changed(_) => ("changed", again),
            Self::Vanished(_) => ("gone_after_writing", again),
            Self::Unreadable(..) => {
                ("would_not_read_back", "close the code block or the comment in the note first")
            }
            Self::NotText(..) => ("not_utf8", "edit it in the note: here those bytes would be lost"),
            Self::WorkingOff => ("working_memory_off", "set `user_namespace = \"user\"` under `[memory]`"),
            Self::Edit(error) if error.is_transient() => (edit_code(error), "try again in a minute"),
            Self::Scope(_) => return ("bad_scope", None),
            Self::UnknownShelf(_) => return ("unknown_scope", None),
            Self::Path(_) => return ("bad_path", None),
            Self::AmbiguousPin(..) => return ("ambiguous", None),
            Self::NoSuchFollowUp(..) => return ("no_such_id", None),
            Self::DisputedFollowUp { .. } => return ("id_not_unique", None),
            Self::NotPending(..) => return ("not_pending", None),
            Self::BadPlace(..) => return ("bad_commitment_scope", None),
            Self::BadLink(_) => return ("bad_link", None),
            Self::NoSuchPin(_) => return ("no_such_pin", None),
            Self::Vault(error) => return (vault_code(error), None),
            Self::Edit(error) => return (edit_code(error), None),
        };
        (code, Some(hint))
    }

    /// Whether the request itself is wrong, rather than the vault.
    pub fn is_usage(&self) -> bool {
        let ours = matches!(self, Self::Words(_) | Self::Scope(_) | Self::UnknownShelf(_) | Self::Path(_));
        ours || matches!(self, Self::BadLines(..) | Self::BadPlace(..) | Self::BadLink(_))
    }

    /// The memories that are nearest to the words, or all memories that have them.
    pub fn nearest(&self) -> &[NearMatch] {
        match self {
            Self::Other { near, .. } | Self::Several { there: near, .. } => near,
            _ => &[],
        }
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
        EditError::NoLease(_)
        | EditError::Write { .. }
        | EditError::Unfinished(..)
        | EditError::Journal { .. } => "unwritable",
    }
}

/// The hash of a note's bytes; a missing note has the hash of no bytes.
pub fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

/// Refuses bytes that aren't those of `expected`.
///
/// # Errors
/// They differ.
pub(super) fn check(path: &NotePath, bytes: &[u8], expected: Option<&str>) -> Result<()> {
    let hash = hash_of(bytes);
    if expected.is_none_or(|expected| expected.trim().eq_ignore_ascii_case(&hash)) {
        return Ok(());
    }
    let whole = String::from_utf8_lossy(bytes);
    let mut text: String = whole.chars().take(MOST_CHARS).collect();
    if text.len() < whole.len() {
        text.push_str("\n[…]\n");
    }
    Err(MemoryError::Newer { path: path.clone(), hash, text })
}
