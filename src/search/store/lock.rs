//! Takes locks between processes: files in the cache that one process holds at a time.
//!
//! The kernel releases a lock when its process ends, in any way.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::search::IndexError;

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
    pub fn try_take(path: &Path) -> Result<Option<Self>, IndexError> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(IndexError::cache(path, error)),
        }
    }

    /// Takes the lock, waiting for its holder.
    pub fn take(path: &Path) -> Result<Self, IndexError> {
        let file = open(path)?;
        file.lock().map_err(|error| IndexError::cache(path, error))?;
        Ok(Self(file))
    }

    /// Whether the lock is held.
    pub fn is_held(path: &Path) -> bool {
        File::open(path).is_ok_and(|file| {
            let tried = file.try_lock_shared();
            let _ = file.unlock();
            matches!(tried, Err(TryLockError::WouldBlock))
        })
    }
}

fn open(path: &Path) -> Result<File, IndexError> {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    file.map_err(|error| IndexError::cache(path, error))
}
