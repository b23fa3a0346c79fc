//! Takes locks between processes: files in the cache that one process holds at a time.
//!
//! The kernel releases a lock when its process ends, in any way.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::search::IndexError;

/// A held lock; let go when dropped.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "held, not read")] File);

impl Lock {
    /// Takes the lock if nobody has it.
    pub fn try_take(path: &Path) -> Result<Option<Self>, IndexError> {
        take(path, FlockOperation::NonBlockingLockExclusive)
    }

    /// Takes the lock, waiting for whoever has it.
    pub fn take(path: &Path) -> Result<Self, IndexError> {
        take(path, FlockOperation::LockExclusive)?.ok_or(IndexError::Busy)
    }

    /// Whether somebody has it.
    pub fn is_held(path: &Path) -> bool {
        let Ok(file) = File::open(path) else { return false };
        flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
    }
}

fn take(path: &Path, operation: FlockOperation) -> Result<Option<Lock>, IndexError> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(|error| IndexError::cache(path, error))?;
    loop {
        match flock(&file, operation) {
            Ok(()) => return Ok(Some(Lock(file))),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => return Err(IndexError::cache(path, error.into())),
        }
    }
}
