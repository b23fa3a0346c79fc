//! Makes folders that are removed when their owner (a Rust value) is dropped.
//!
//! Each folder has a lock file, which its process keeps locked. A killed process leaves its folder behind, with a free
//! lock; [`sweep`] removes such folders.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use ulid::Ulid;

/// A folder, and the lock that is held while it is there.
#[derive(Debug)]
pub(super) struct LockedFolder {
    pub folder: PathBuf,
    lock: PathBuf,
    _held: File,
}

impl LockedFolder {
    /// A new folder below `base`.
    pub fn begin(base: &Path) -> io::Result<Self> {
        private(base)?;
        loop {
            let id = Ulid::generate().to_string();
            let (folder, lock) = (base.join(&id), base.join(format!("{id}.lock")));
            let held = File::create(&lock)?;
            flock(&held, FlockOperation::LockExclusive)?;
            // One that starts now may have removed the file before it was locked.
            if lock.exists() {
                private(&folder)?;
                return Ok(Self { folder, lock, _held: held });
            }
        }
    }
}

impl Drop for LockedFolder {
    fn drop(&mut self) {
        remove(&self.folder);
        let _ = fs::remove_file(&self.lock);
    }
}

/// Removes the folders whose lock is free.
pub(super) fn sweep(base: &Path) {
    let Ok(listed) = fs::read_dir(base) else { return };
    for path in listed.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "lock") {
            continue;
        }
        let free = File::open(&path)
            .and_then(|file| Ok(flock(&file, FlockOperation::NonBlockingLockExclusive).map(|()| file)?));
        if free.is_ok() {
            remove(&path.with_extension(""));
            let _ = fs::remove_file(&path);
        }
    }
}

/// Makes a folder that its owner alone may open.
pub(super) fn private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Removes a folder, even if a command took away rights in it. Links are not followed.
pub(super) fn remove(folder: &Path) {
    let first = fs::remove_dir_all(folder);
    if !matches!(&first, Err(error) if error.kind() == io::ErrorKind::PermissionDenied) {
        return;
    }
    let mut open = vec![folder.to_path_buf()];
    while let Some(dir) = open.pop() {
        let _ = fs::set_permissions(&dir, Permissions::from_mode(0o700));
        let listed = fs::read_dir(&dir).into_iter().flatten().flatten();
        let folders = listed.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        open.extend(folders.map(|entry| entry.path()));
    }
    if let Err(error) = fs::remove_dir_all(folder) {
        tracing::warn!("the folder `{}` can't be removed: {error}", folder.display());
    }
}
