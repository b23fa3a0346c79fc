//! Takes locks between processes: files in the cache that one process holds at a time.
//!
//! The kernel releases a lock when its process ends, in any way.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::search::{IndexError, Result};

/// Removes what stands at `path`: a file, or a folder that came in its place.
pub(super) fn remove(path: &Path) -> Result<()> {
    let is_folder = path.symlink_metadata().is_ok_and(|stat| stat.is_dir());
    match if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) } {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(IndexError::cache(path, error)),
        _ => Ok(()),
    }
}

/// A held lock; released when dropped.
#[derive(Debug)]
pub struct Lock(File);

impl Drop for Lock {
    /// Closing the file isn't enough: a process that was forked meanwhile has it open until it runs its program.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Lock {
    /// Takes the lock if it is free.
    pub fn try_take(path: &Path) -> Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(IndexError::cache(path, error)),
        }
    }

    /// Takes the lock, waiting for its holder.
    pub fn take(path: &Path) -> Result<Self> {
        let file = open(path)?;
        file.lock().map_err(|error| IndexError::cache(path, error))?;
        Ok(Self(file))
    }

    /// Whether the lock is held.
    pub fn is_held(path: &Path) -> bool {
        let is_held = |file: File| {
            let tried = file.try_lock_shared();
            let _ = file.unlock();
            matches!(tried, Err(TryLockError::WouldBlock))
        };
        path.is_file() && File::open(path).is_ok_and(is_held)
    }
}

/// The lock's file, which takes the place of anything else there: a pipe would be waited for.
fn open(path: &Path) -> Result<File> {
    if path.exists() && !path.is_file() {
        remove(path)?;
    }
    let file = File::options().create(true).truncate(false).write(true).open(path);
    file.map_err(|error| IndexError::cache(path, error))
}
