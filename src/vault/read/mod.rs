//! Reads the vault: resolves the path of its folder once, reads notes by path, and lists all notes.
//!
//! A [`NotePath`](super::NotePath) comes in; bytes with their [`Stat`], or a [`WalkResult`], go out. Nothing is
//! written, and no link is followed to a place outside of the vault.
//!
//! - [`root`]: the folder, through which every file is opened; this file: a file's metadata ([`Stat`]);
//! - [`walk`]: lists every note once, by its real path; [`folder_names`]: the names in one folder;
//! - [`conflict`]: conflicting copies, merge markers and placeholders of sync tools. Pure.

pub mod conflict;
mod folder_names;
mod root;
mod walk;

use rustix::fs::FileType;

use super::{NotePath, VaultError};

pub use root::Vault;
pub(super) use root::{LocatedNote, names_same_file};
pub use walk::{SkipReason, SkippedPath, WalkEntry, WalkOptions, WalkResult};

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

impl Stat {
    /// Whether the times are so old that a later change must show in them: the coarsest clock of a file system in use
    /// has a grain of two seconds. `now` is in nanoseconds since 1970.
    pub fn has_settled(&self, now: i64) -> bool {
        // A time ahead of the clock is none that a change now could get.
        [self.ctime_ns, self.mtime_ns].iter().all(|at| now.abs_diff(*at) > 2_100_000_000)
    }
}

/// The metadata that the system gives of a file.
pub(crate) fn stat_of(stat: &rustix::fs::Stat) -> Stat {
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
        is_placeholder: is_dataless(stat),
    }
}

/// Whether a file has its content in the cloud only (macOS).
#[cfg(target_os = "macos")]
fn is_dataless(stat: &rustix::fs::Stat) -> bool {
    const SF_DATALESS: u32 = 0x4000_0000;
    stat.st_flags & SF_DATALESS != 0
}

#[cfg(not(target_os = "macos"))]
fn is_dataless(_: &rustix::fs::Stat) -> bool {
    false
}

fn check_kind(path: &NotePath, kind: FileType) -> Result<(), VaultError> {
    describe(kind).map_or(Ok(()), |what| Err(VaultError::NotAFile(path.clone(), what)))
}

/// The kind of a file, with its article; `None` for a regular file.
fn describe(kind: FileType) -> Option<&'static str> {
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
