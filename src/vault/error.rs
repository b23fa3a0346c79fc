//! Defines the errors of the vault and its files, in words for people.

use std::{io, path::PathBuf, time::Duration};

use super::path::NotePath;

/// A note can't be opened, read or listed.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The vault's folder isn't there: unmounted, moved or never made.
    #[error("the vault `{}` is not there; is its disk mounted?", .0.display())]
    Gone(PathBuf),
    /// The given vault is no folder.
    #[error("`{}` is not a folder, so it can't be a vault", .0.display())]
    NotAFolder(PathBuf),
    /// No such note.
    #[error("`{0}` is not in the vault")]
    NotFound(NotePath),
    /// The file is larger than the vault reads.
    #[error("`{path}` has {size} bytes; notes are read up to {limit}")]
    TooLarge {
        /// Which note.
        path: NotePath,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Something else bears the note's name.
    #[error("`{0}` is {1}, where a file should be; move it out of the way")]
    NotAFile(NotePath, &'static str),
    /// A symbolic link on the way leads out of the vault.
    #[error("`{0}` leads out of the vault through a symbolic link, which is never followed")]
    Escapes(NotePath),
    /// Symbolic links on the way point at each other.
    #[error("`{0}` is a loop of symbolic links")]
    Loop(NotePath),
    /// A cloud service has not downloaded the file.
    #[error("`{0}` is in the cloud and not on this disk; open it once to download it")]
    Placeholder(NotePath),
    /// The operating system said no.
    #[error("`{0}` can't be used: {1}")]
    Io(NotePath, io::Error),
    /// The operating system said no to the vault's folder itself.
    #[error("the vault `{}`: {}", .0.display(), .1)]
    Root(PathBuf, io::Error),
}

impl VaultError {
    /// Whether it says that there is no such note.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound(_))
    }

    /// Whether something else, or nothing, is in the place of the note or of its folder.
    pub fn is_replaced(&self) -> bool {
        matches!(self, Self::NotFound(_) | Self::NotAFile(..) | Self::Escapes(_) | Self::Loop(_))
    }

    pub(super) fn io(path: &NotePath, source: io::Error) -> Self {
        if source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            return Self::Loop(path.clone());
        }
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound(path.clone()),
            io::ErrorKind::IsADirectory => Self::NotAFile(path.clone(), "a folder"),
            _ => Self::Io(path.clone(), source),
        }
    }
}

/// The reason why a note is left alone until a person has checked it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditRefusal {
    /// The file is empty, and was not when it was last seen (or was never seen).
    #[error(
        "`{0}` is empty, which may be a save or a sync that went wrong; nothing is written to it until it has stood so for a minute"
    )]
    Empty(NotePath),
    /// The file has lost more than half of its length.
    #[error(
        "`{path}` shrank from {before} bytes to {now}; nothing is written to it until it has stood so for a minute"
    )]
    Shrunk {
        /// Which note.
        path: NotePath,
        /// Its last known length in bytes.
        before: u64,
        /// Its length in bytes.
        now: u64,
    },
    /// A merge has left its marks.
    #[error("`{0}` line {1} begins a merge conflict; choose between its two sides and remove the markers")]
    ConflictMarkers(NotePath, usize),
    /// It is UTF-16 text, or its lines end with CR alone: a line of ours in it would make nonsense of both. With the
    /// reason and the remedy.
    #[error("`{0}`: {1}; nothing is written to it until you {2}")]
    NotUnderstood(NotePath, String, String),
    /// A sync tool has put a second version beside it.
    #[error("`{copy}` is a conflicting copy of `{path}`; `vault-agent conflicts merge` merges the two")]
    ConflictCopy {
        /// Which note.
        path: NotePath,
        /// The copy.
        copy: NotePath,
    },
}

impl EditRefusal {
    /// The refusal of a note with these bytes, if none of its lines can be understood.
    pub fn not_understood(path: &NotePath, bytes: &[u8]) -> Option<Self> {
        let found = crate::format::lines::not_understood(bytes)?;
        Some(Self::NotUnderstood(path.clone(), found.reason, found.suggestion))
    }
}

/// The result of an edit.
pub(crate) type Result<T, E = EditError> = std::result::Result<T, E>;

/// An edit was not made; but for [`EditError::Unfinished`] the file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The file can't be opened or read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The file needs a person first.
    #[error(transparent)]
    Refused(#[from] EditRefusal),
    /// Another program had the file open all the time.
    #[error("`{}` was open in another program for {}.{:01} s; try again", .0, .1.as_secs(), .1.subsec_millis() / 100)]
    Busy(NotePath, Duration),
    /// Only the lease was allowed, and there is none for this file.
    #[error(
        "`{0}` can't be leased here (its file system or its owner doesn't allow it); set `[edit] strategy = \"auto\"`"
    )]
    NoLease(NotePath),
    /// A file that was to be created exists.
    #[error("`{0}` exists already; nothing was written")]
    Exists(NotePath),
    /// The file can't be written.
    #[error("`{path}` could not be written ({step}): {source}; it is as it was")]
    Write {
        /// Which note.
        path: NotePath,
        /// The failed step.
        step: &'static str,
        /// The operating system's error.
        source: io::Error,
    },
    /// A write failed, and could not be taken back.
    #[error(
        "`{0}` may be written in part: {1}; the edit is in the journal, and the next command finishes it"
    )]
    Unfinished(NotePath, io::Error),
    /// The edit journal can't be used.
    #[error("the edit journal `{}`: {}; nothing was written", .0.display(), .1)]
    Journal(PathBuf, io::Error),
}

impl EditError {
    /// The operating system refused a step of writing a note.
    pub(super) fn write(path: &NotePath, step: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Write { path: path.clone(), step, source }
    }

    /// Whether a later try may succeed without a change by a person.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. } | Self::Refused(EditRefusal::Empty { .. } | EditRefusal::Shrunk { .. })
        )
    }
}
