//! Defines the errors of the history, in words for people. A caller chooses its reaction, such as a hint or an HTTP
//! status, by the kind of the error.

use std::io;

use thiserror::Error;

use crate::history::prelude::*;
use crate::vault::{EditError, NotePath, VaultError};

/// An error of the history room.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// There is no snapshot yet.
    #[error("there is no snapshot yet")]
    Empty,
    /// The typed text is no snapshot and no time, or more than one.
    #[error("{0}")]
    UnknownPoint(String),
    /// A time before the first snapshot, or one that isn't there yet.
    #[error("{0}")]
    BeyondHistory(String),
    /// A time that can be several.
    #[error(transparent)]
    When(#[from] crate::when::WhenError),
    /// The path isn't one inside the vault; why not.
    #[error("`{0}` is not a path inside the vault: {1}")]
    Outside(String, String),
    /// The path isn't in the snapshot with this short id.
    #[error("`{0}` is not in the snapshot {1}")]
    NotInSnapshot(String, String),
    /// The note is another by now than the one that was to be replaced.
    #[error("`{0}` was changed meanwhile; nothing was restored")]
    Changed(NotePath),
    /// A part of a note was not there.
    #[error("{0}")]
    NoPart(String),
    /// The named snapshot is no write of the agent, or was undone already.
    #[error("{0}")]
    NotUndoable(String),
    /// Another process restores or undoes at this moment.
    #[error("another process is restoring or undoing at this moment; try again when it is done")]
    UnderWay,
    /// The vault room refused.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The editing engine refused.
    #[error("can't write `{0}`: {1}")]
    Edit(NotePath, EditError),
    /// `[history] enabled = false`.
    #[error("snapshots are turned off (`[history] enabled = false`)")]
    Disabled,
    /// The operating system, libgit2 or another process refused.
    #[error("{0}")]
    Failed(String),
}

/// The result for a file; `None` if there is no such file, also because a file stands in its folder's place.
pub(crate) fn if_there<T>(said: io::Result<T>) -> io::Result<Option<T>> {
    match said {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        said => said.map(Some),
    }
}

/// The history room's result.
pub type Result<T, E = HistoryError> = std::result::Result<T, E>;

impl HistoryError {
    /// An error of the operating system at a file or folder; `doing` names the action as a verb.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Failed(format!("can't {doing} `{}`: {error}", path.display()))
    }

    /// An error of libgit2 in a repository; `doing` names the action as a verb phrase.
    pub(crate) fn git(doing: impl Into<String>, dir: &Path) -> impl FnOnce(git2::Error) -> Self {
        let (doing, dir) = (doing.into(), dir.to_owned());
        move |error| Self::Failed(format!("can't {doing} in `{}`: {}", dir.display(), error.message()))
    }

    /// An object's content is damaged or missing.
    pub(crate) fn damaged(dir: &Path, id: Oid, detail: &str) -> Self {
        let dir = dir.display();
        let words = format!("object {id} can't be read ({detail}); `git -C {dir} fsck` says more");
        Self::Failed(format!("the history is damaged: {words}"))
    }
}
