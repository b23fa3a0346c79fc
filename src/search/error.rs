//! Defines the errors of the index, in words for people.

use std::path::{Path, PathBuf};

use crate::embed::ModelError;
use crate::vault::VaultError;

/// What an operation on the index gives.
pub type Result<T, E = IndexError> = std::result::Result<T, E>;

/// The error of an operation on the index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The cache directory can't be used.
    #[error("can't use the cache `{path}`: {source}; free space or permissions there, or set `VAULT_AGENT_CACHE_DIR`", path = path.display())]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The cache could not be opened for writing, for this reason.
    #[error("{0}")]
    Unwritable(String),
    /// SQLite failed.
    #[error("the index's database failed: {0}; `vault-agent reindex` rebuilds it")]
    Database(#[from] rusqlite::Error),
    /// tantivy failed.
    #[error("the index's full text failed: {0}; `vault-agent reindex` rebuilds it")]
    FullText(tantivy::TantivyError),
    /// A stored row or file isn't what was written.
    #[error("the index is damaged ({0}); `vault-agent reindex` rebuilds it")]
    Torn(String),
    /// The vault can't be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The settings' model can't be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No such place.
    #[error("there is no scope, folder or note `{scope}`; there are {there}")]
    Scope {
        /// As it was asked for.
        scope: String,
        /// Its present content.
        there: String,
    },
    /// The vault is there but empty, and the index isn't.
    #[error("the vault `{root}` has no notes, but the index knows {known}; is its disk mounted? the index was left as it is (`vault-agent reindex` empties it on purpose)", root = root.display())]
    VaultEmpty {
        /// The vault's folder.
        root: PathBuf,
        /// How many files the index knows.
        known: u64,
    },
    /// Another process is writing the index.
    #[error("another process is writing the index; try again when it has finished")]
    Busy,
    /// The person stopped it.
    #[error("stopped; the index is as it was before, run `vault-agent reindex` again to start over")]
    Interrupted,
}

impl From<tantivy::TantivyError> for IndexError {
    /// A disk that can't be written is the cache's error: making the index anew doesn't mend it.
    fn from(error: tantivy::TantivyError) -> Self {
        use tantivy::TantivyError::{IoError, OpenWriteError};
        use tantivy::directory::error::OpenWriteError::IoError as OpenIoError;
        let source = |error: &std::io::Error| std::io::Error::new(error.kind(), error.to_string());
        match error {
            OpenWriteError(OpenIoError { io_error, filepath }) => {
                Self::Cache { path: filepath, source: source(&io_error) }
            }
            IoError(error) if is_disk(error.kind()) => {
                Self::Cache { path: PathBuf::from("tantivy"), source: source(&error) }
            }
            error => Self::FullText(error),
        }
    }
}

fn is_disk(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(kind, PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
}

impl IndexError {
    /// An error of the cache at `path`.
    pub fn cache(path: &Path, source: std::io::Error) -> Self {
        Self::Cache { path: path.to_owned(), source }
    }

    /// The same with the whole path of what failed in the cache at `root`.
    pub fn in_cache(self, root: &Path) -> Self {
        match self {
            Self::Cache { path, source } => Self::Cache { path: root.join(path), source },
            error => error,
        }
    }

    /// Whether the cache itself is damaged, so that building it anew helps.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, TypeMismatch, Unknown};
        match self {
            Self::Torn(_) | Self::FullText(_) => !self.is_full_or_read_only(),
            Self::Database(rusqlite::Error::SqliteFailure(error, _)) => {
                matches!(error.code, DatabaseCorrupt | NotADatabase | TypeMismatch | Unknown)
            }
            Self::Database(
                rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::Utf8Error(..)
                | rusqlite::Error::QueryReturnedNoRows
                | rusqlite::Error::IntegralValueOutOfRange(..),
            ) => true,
            _ => false,
        }
    }

    /// The damage, in few words.
    pub fn damage(&self) -> String {
        match self {
            Self::Torn(what) => what.clone(),
            error => error.to_string(),
        }
    }

    /// Whether the cache's disk is what fails: full, read-only or not ours.
    pub fn is_full_or_read_only(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
        match self {
            Self::Cache { .. } | Self::Unwritable(_) => true,
            Self::Database(rusqlite::Error::SqliteFailure(error, _)) => {
                matches!(error.code, CannotOpen | DiskFull | PermissionDenied | ReadOnly | SystemIoFailure)
            }
            Self::FullText(tantivy::TantivyError::OpenWriteError(_)) => true,
            _ => false,
        }
    }
}
