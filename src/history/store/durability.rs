//! Makes files and directory entries durable, and holds the failpoints at which a test may end the process.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::history::error::{HistoryError, Result};

/// Makes a renamed or created name durable; a file system that can't is left alone.
pub(crate) fn sync_dir(dir: &Path) {
    if let Ok(dir) = File::open(dir) {
        let _ = dir.sync_all();
    }
}

/// Waits until files that were created in `dir` are on the disk, with their names; those that are gone are left out.
/// Linux syncs the file system instead of more than a few files.
pub(crate) fn sync_files(dir: &Path, files: &[PathBuf]) -> Result<()> {
    /// The most files that are synced one by one.
    #[cfg(target_os = "linux")]
    const MAX_SINGLE_SYNCS: usize = 32;
    #[cfg(target_os = "linux")]
    if files.len() > MAX_SINGLE_SYNCS {
        let synced = File::open(dir).and_then(|dir| Ok(rustix::fs::syncfs(dir)?));
        return synced.map_err(HistoryError::io("sync", dir));
    }
    let mut folders = BTreeSet::from([dir]);
    for path in files {
        match File::open(path).and_then(|file| file.sync_all()) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            synced => synced.map_err(HistoryError::io("sync", path))?,
        }
        folders.extend(path.parent());
    }
    folders.into_iter().for_each(sync_dir);
    Ok(())
}

/// A place where a test may end the process.
pub(crate) fn failpoint(name: &'static str) {
    fail::eval(name, |_| std::process::abort());
}
