//! Defines the errors of keeping a session. Each becomes a line in the log, and the host goes on.

use std::io;

use crate::vault::{EditError, PathError, VaultError};

/// A session can't be kept.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The transcript.
    #[error("the transcript can't be read: {0}")]
    Transcript(io::Error),
    /// There is none.
    #[error("there is no such transcript")]
    NotThere,
    /// The log.
    #[error("the session's log can't be read: {0}")]
    Log(io::Error),
    /// The lock.
    #[error("the session can't be locked: {0}")]
    Lock(io::Error),
    /// Another process is at the same session.
    #[error("another process is at this session")]
    Busy,
    /// The vault's folder of logs.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Reading in the vault.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// Writing in the vault.
    #[error(transparent)]
    Edit(#[from] EditError),
}
