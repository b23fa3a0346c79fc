//! Defines the errors of the history, in words for people.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// An error of the history room.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// libgit2 refused.
    #[error("can't {doing} in `{}`: {}", dir.display(), source.message())]
    Git {
        /// The operation that failed, as a verb phrase.
        doing: String,
        /// The repository.
        dir: PathBuf,
        /// libgit2's own words.
        source: git2::Error,
    },
    /// The operating system refused.
    #[error("can't {doing} `{}`: {source}", path.display())]
    Io {
        /// The operation that failed, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's own words.
        source: std::io::Error,
    },
    /// Another process has held the history for too long.
    #[error("the history `{}` has been in use by another process for {} s; try again", .0.display(), .1)]
    Busy(PathBuf, u64),
    /// Another program's git has a file of the repository for too long.
    #[error(
        "another program has had `{}` for {} s; end the git that works in the history, or remove that file if none does",
        .0.display(), .1
    )]
    Locked(PathBuf, u64),
    /// There is no snapshot yet.
    #[error("there is no snapshot yet")]
    Empty,
    /// The time lies before everything that is known.
    #[error("`{asked}` is before the first snapshot, which was taken {first}")]
    BeforeFirst {
        /// The time that was asked for.
        asked: String,
        /// The first snapshot's time.
        first: String,
    },
    /// The time isn't there yet.
    #[error("`{0}` lies ahead; no snapshot says what will be: name a time that is past")]
    Ahead(String),
    /// Neither a revision nor a time.
    #[error(
        "`{0}` is neither a snapshot's id nor a time; try `yesterday 18:00`, `2 hours ago`, RFC 3339, or an id that `history` shows"
    )]
    UnknownPoint(String),
    /// A time that can be several.
    #[error(transparent)]
    When(#[from] crate::when::WhenError),
    /// Several snapshots begin so.
    #[error("`{0}` is the beginning of more than one snapshot's id; give more characters")]
    Ambiguous(String),
    /// The path isn't one inside the vault.
    #[error("`{path}` is not a path inside the vault: {reason}")]
    Outside {
        /// As given.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The path isn't in that snapshot.
    #[error("`{path}` is not in the snapshot {at}")]
    NotInSnapshot {
        /// As given.
        path: String,
        /// The snapshot's short id.
        at: String,
    },
    /// The snapshot isn't a write that an undo takes back.
    #[error("`{id}` ({subject}) is no write of the agent that could be undone")]
    NotUndoable {
        /// The snapshot's short id.
        id: String,
        /// The message.
        subject: String,
    },
    /// The snapshot was taken back before.
    #[error("`{id}` ({subject}) was undone already")]
    UndoneAlready {
        /// The snapshot's short id.
        id: String,
        /// The message.
        subject: String,
    },
    /// No write that stands was made for that turn.
    #[error("the turn `{0}` has changed nothing that could be undone")]
    NothingOfTurn(String),
    /// Another process restores or undoes at this moment.
    #[error("another process is restoring or undoing at this moment; try again when it is done")]
    UnderWay,
    /// An object's content is damaged or missing.
    #[error("the history is damaged: object {id} can't be read ({detail}); `git -C {} fsck` says more", dir.display())]
    Damaged {
        /// The repository.
        dir: PathBuf,
        /// The object.
        id: String,
        /// libgit2's own words.
        detail: String,
    },
    /// The vault's folder isn't there.
    #[error("the vault `{}` is not there (not mounted?); nothing was recorded", .0.display())]
    VaultGone(PathBuf),
    /// The vault room refused.
    #[error(transparent)]
    Vault(#[from] crate::vault::VaultError),
    /// The editing engine refused.
    #[error("can't write `{path}`: {reason}")]
    Edit {
        /// The note.
        path: String,
        /// The engine's words.
        reason: String,
    },
    /// A part of a note was not there.
    #[error("{0}")]
    NoPart(String),
    /// A setting is wrong.
    #[error("`[history] {key}`: `{value}` is no valid pattern: {reason}")]
    Pattern {
        /// `include` or `exclude`.
        key: &'static str,
        /// The pattern.
        value: String,
        /// Why.
        reason: String,
    },
    /// `[history] enabled = false`.
    #[error("snapshots are turned off (`[history] enabled = false`)")]
    Disabled,
    /// The user's own git could not do it.
    #[error("`git {command}` failed: {detail}")]
    Remote {
        /// The git command.
        command: String,
        /// The last lines that it printed.
        detail: String,
    },
    /// No git is installed, or it could not be started.
    #[error(
        "`git` could not be started: {0}; install git to use `[history] remote` (everything else works without it)"
    )]
    NoGit(std::io::Error),
}

/// The history room's result.
pub type Result<T, E = HistoryError> = std::result::Result<T, E>;

impl HistoryError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}
