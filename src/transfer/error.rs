//! Defines the errors of import and export that come before anything is read or written.

use std::{io, path::PathBuf};

use crate::vault::VaultError;

/// Why an import or an export was refused; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// There is nothing at the path.
    #[error("`{}` is not there", .0.display())]
    Missing(PathBuf),
    /// A folder where a file is needed, or the other way round, or a device.
    #[error("`{}` is not {}", .0.display(), .1)]
    WrongType(PathBuf, &'static str),
    /// The file is larger than is read.
    #[error("`{}` has {size} bytes; at most {limit} are read", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// More files, or deeper folders, than a workspace has.
    #[error("`{}` has too much in it ({}); name the workspace itself", .0.display(), .1)]
    TooMuch(PathBuf, &'static str),
    /// It isn't what it was said or thought to be.
    #[error("`{}` can't be understood: {}", .0.display(), .1)]
    NotUnderstood(PathBuf, String),
    /// Nothing says which program it is from.
    #[error("can't tell what `{}` is from", .0.display())]
    UnknownKind(PathBuf),
    /// The source is the vault itself, or in it.
    #[error("`{}` lies in the vault, so its notes are there already", .0.display())]
    InVault(PathBuf),
    /// The operating system said no.
    #[error("`{}`: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
    /// A note of the vault can't be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl TransferError {
    /// Whether the command was wrong, and not the machine.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Io { .. } | Self::Vault(_))
    }

    /// A remedy, where one is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::UnknownKind(_) => Some("say it with `--from openclaw`, `basic-memory` or `jsonl`"),
            Self::NotUnderstood { .. } => Some("nothing was written; look at the beginning of the file"),
            Self::InVault(_) => Some("name a workspace or project outside the vault"),
            _ => None,
        }
    }
}
