//! One daemon a vault: a lock that the kernel takes back when its holder ends, however it ends.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;

use rustix::fs::FlockOperation;

/// The lock's file, in the state directory.
pub const FILE_NAME: &str = "lock";

/// The right to be this vault's daemon, for as long as the value lives.
#[derive(Debug)]
pub struct DaemonLock {
    _file: File,
}

/// Why the lock can't be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another daemon holds it.
    #[error("another daemon serves this vault already{}", .0.map(|pid| format!(" (process {pid})")).unwrap_or_default())]
    Held(Option<u32>),
    /// The file can't be used.
    #[error("can't use the lock `{path}`: {source}")]
    Io {
        /// The lock's file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl DaemonLock {
    /// Takes the lock in `state`, or says who has it.
    ///
    /// # Errors
    /// Another process holds it, or the file can't be opened.
    pub fn acquire(state: &Path) -> Result<Self, LockError> {
        let path = state.join(FILE_NAME);
        let wrap = |source: std::io::Error| LockError::Io { path: path.display().to_string(), source };
        let mut file = open(&path).map_err(wrap)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(LockError::Held(read_pid(&mut file))),
            Err(errno) => return Err(wrap(errno.into())),
        }
        file.set_len(0).and_then(|()| write!(file, "{}", std::process::id())).map_err(wrap)?;
        Ok(Self { _file: file })
    }

    /// The process that is this vault's daemon now, if one is; 0 where its number isn't readable.
    pub fn holder(state: &Path) -> Option<u32> {
        let mut file = File::open(state.join(FILE_NAME)).ok()?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
            Err(rustix::io::Errno::WOULDBLOCK) => Some(read_pid(&mut file).unwrap_or(0)),
            _ => None,
        }
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_daemon_hears_who_the_first_is() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(DaemonLock::holder(state.path()), None);
        let first = DaemonLock::acquire(state.path()).unwrap();
        assert_eq!(DaemonLock::holder(state.path()), Some(std::process::id()));
        let refused = DaemonLock::acquire(state.path()).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!("another daemon serves this vault already (process {})", std::process::id())
        );
        drop(first);
        assert_eq!(DaemonLock::holder(state.path()), None);
        DaemonLock::acquire(state.path()).unwrap();
    }
}
