//! Defines the errors of a hook. Each becomes a line in the log, and the host goes on.

use std::io;

use super::host::input::InputError;
use super::host::timeout::NoAnswer;
use crate::config::ConfigError;
use crate::vault::{EditError, PathError, VaultError};

/// Why a hook has nothing to say.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// The host's message.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No vault is known.
    #[error("{0}")]
    NoVault(String),
    /// The vault or its settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The memory notes.
    #[error(transparent)]
    Memory(#[from] crate::memory::MemoryError),
    /// The transcript.
    #[error("the transcript can't be read: {0}")]
    Transcript(#[from] io::Error),
    /// The session's log.
    #[error("the session is not kept: {0}")]
    Archive(#[from] ArchiveError),
    /// Recall.
    #[error(transparent)]
    Recall(#[from] crate::search::RecallError),
    /// The index.
    #[error(transparent)]
    Index(#[from] crate::search::IndexError),
    /// Time ran out, or the work ended without a word.
    #[error(transparent)]
    NoAnswer(#[from] NoAnswer),
}

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
