//! Reads a note's metadata, and detects files that are no notes.

use rustix::fs::FileType;

use crate::vault::error::VaultError;
use crate::vault::path::NotePath;

/// The metadata of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// Length in bytes.
    pub size: u64,
    /// Last change of its content, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of anything about it, in nanoseconds since 1970; it can't be set back.
    pub ctime_ns: i64,
    /// Its number on its file system.
    pub inode: u64,
    /// The file system.
    pub dev: u64,
    /// Type and permissions, as in `stat(2)`.
    pub mode: u32,
    /// Whether a cloud service holds its content and this disk doesn't.
    pub is_placeholder: bool,
}

pub(in crate::vault) fn stat_of(stat: &rustix::fs::Stat) -> Stat {
    // The C types of these fields differ between systems.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    Stat {
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mtime_ns: (stat.st_mtime as i64)
            .saturating_mul(1_000_000_000)
            .saturating_add(stat.st_mtime_nsec as i64),
        ctime_ns: (stat.st_ctime as i64)
            .saturating_mul(1_000_000_000)
            .saturating_add(stat.st_ctime_nsec as i64),
        inode: stat.st_ino as u64,
        dev: stat.st_dev as u64,
        mode: stat.st_mode as u32,
        is_placeholder: false,
    }
}

pub(super) fn check_kind(path: &NotePath, kind: FileType) -> Result<(), VaultError> {
    match describe(kind) {
        None => Ok(()),
        Some(what) => Err(VaultError::NotAFile(path.clone(), what)),
    }
}

/// The kind of a file, with its article; `None` for a regular file.
pub(super) fn describe(kind: FileType) -> Option<&'static str> {
    match kind {
        FileType::RegularFile => None,
        FileType::Directory => Some("a folder"),
        FileType::Symlink => Some("a symbolic link"),
        FileType::Fifo => Some("a pipe"),
        FileType::Socket => Some("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("a device"),
        FileType::Unknown => Some("something that is no file"),
    }
}
