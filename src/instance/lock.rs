//! Takes the locks that allow one daemon for each vault; the kernel releases them when their holder ends.
//!
//! The lock in the state directory holds the daemon's process id. A second lock, on the vault's own folder and without
//! a file in it, keeps out a daemon with another state directory, which would send everything again. Some file systems
//! don't support the second lock. Neither lock works across machines: there `[schedule] host` or `[machines]` decides.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

/// The lock's file, in the state directory.
pub const FILE_NAME: &str = "lock";

/// The remedy for a daemon with another state directory.
pub const ONE_STATE: &str = "two would deliver everything twice: stop the other one, or use its state directory \
     (`VAULT_AGENT_STATE_DIR`, `XDG_STATE_HOME`); if that was deleted, restart it";

/// The right to be this vault's daemon, for as long as the value lives.
#[derive(Debug)]
pub struct DaemonLock {
    _file: File,
    _vault: Option<File>,
}

/// The reason why the lock can't be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another daemon holds it.
    #[error("another daemon serves this vault already{}", .0.map(|pid| format!(" (process {pid})")).unwrap_or_default())]
    Held(Option<u32>),
    /// A daemon with another state directory serves the vault.
    #[error("another daemon serves this vault already, with another state directory{}", process(*.0))]
    Elsewhere(u32),
    /// The file can't be used.
    #[error("can't use the lock `{path}`: {source}")]
    Io {
        /// The lock's file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}

fn process(pid: u32) -> String {
    if pid == 0 { String::new() } else { format!(" (process {pid})") }
}

impl DaemonLock {
    /// Takes the locks in `state` and of the vault at `root`, or names their holder.
    ///
    /// # Errors
    /// Another process holds one, or the file can't be opened.
    pub fn acquire(state: &Path, root: &Path) -> Result<Self, LockError> {
        let path = state.join(FILE_NAME);
        let wrap = |source: std::io::Error| LockError::Io { path: path.display().to_string(), source };
        let mut file = open(&path).map_err(wrap)?;
        match lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LockError::Held(read_pid(&mut file))),
            Err(TryLockError::Error(error)) => return Err(wrap(error)),
        }
        let vault = lock_folder(root).map_err(LockError::Elsewhere)?;
        file.set_len(0).and_then(|()| write!(file, "{}", std::process::id())).map_err(wrap)?;
        Ok(Self { _file: file, _vault: vault })
    }

    /// The process, if any, that serves the vault at `root` with another state directory than `state`, or with one that
    /// was deleted. Its number is 0 if it isn't known.
    pub fn other_daemon(state: &Path, root: &Path) -> Option<LockError> {
        if Self::holder(state).is_some() {
            return None;
        }
        let folder = File::open(root).ok()?;
        is_locked(&folder).then(|| LockError::Elsewhere(folder_holder(&folder).unwrap_or(0)))
    }

    /// The process that is this vault's daemon now, if any; 0 if its number isn't readable.
    pub fn holder(state: &Path) -> Option<u32> {
        let mut file = File::open(state.join(FILE_NAME)).ok()?;
        is_locked(&file).then(|| read_pid(&mut file).unwrap_or(0))
    }
}

/// Whether another process has an exclusive lock on a file or folder.
fn is_locked(file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// The lock on the vault's folder; none where the file system has no such locks. If it is held, the process that has
/// it.
fn lock_folder(root: &Path) -> Result<Option<File>, u32> {
    let Ok(folder) = File::open(root) else { return Ok(None) };
    match lock(&folder) {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Err(folder_holder(&folder).unwrap_or(0)),
        Err(TryLockError::Error(error)) => {
            tracing::debug!(%error, "the vault's folder can't be locked");
            Ok(None)
        }
    }
}

/// Locks a file or folder, unless a process keeps it locked: one that only checks the lock holds it for an instant.
fn lock(file: &File) -> Result<(), TryLockError> {
    for _ in 0..20 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            done => return done,
        }
    }
    file.try_lock()
}

/// The process with an exclusive lock on the folder, by Linux's list of all locks.
fn folder_holder(folder: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let inode = format!(":{}", folder.metadata().ok()?.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", pid, place, ..] = words[..] else { return None };
        place.ends_with(&inode).then(|| pid.parse().ok())?
    })
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
        let root = tempfile::tempdir().unwrap();
        let acquire = |state: &tempfile::TempDir| DaemonLock::acquire(state.path(), root.path());
        let first = acquire(&state).unwrap();
        assert_eq!(DaemonLock::holder(state.path()), Some(std::process::id()));
        let refused = acquire(&state).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!("another daemon serves this vault already (process {})", std::process::id())
        );
        // Under another state directory.
        let other = tempfile::tempdir().unwrap();
        assert!(DaemonLock::other_daemon(state.path(), root.path()).is_none());
        assert!(DaemonLock::other_daemon(other.path(), root.path()).is_some());
        let refused = acquire(&other).unwrap_err().to_string();
        assert!(refused.contains("with another state directory"), "{refused}");
        assert_eq!(DaemonLock::holder(other.path()), None);
        drop(first);
        assert_eq!(DaemonLock::holder(state.path()), None);
        // While others look whether there is one.
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    DaemonLock::holder(state.path());
                }
            });
            let refused: Vec<_> = (0..50).filter_map(|_| acquire(&state).err()).collect();
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(refused.is_empty(), "{refused:?}");
        });
        assert!(DaemonLock::other_daemon(other.path(), root.path()).is_none());
        acquire(&other).unwrap();
    }
}
