//! Replaces a cache that can't be used: a damaged one is rebuilt, one of another version is wiped.
//!
//! The cache's folder comes in, and the fault. An empty index goes out; a database that is whole keeps its vectors and
//! its numbers.

use std::path::Path;

use super::verify::quick_check;
use super::{Mode, Store};
use crate::search::IndexError;
use crate::search::store::catalog;
use crate::search::store::lock::Lock;
use crate::search::store::seal::{DATABASE, Found, Sealed};
use crate::search::store::segment::reader::SegmentFiles;

impl Store {
    /// All tables anew, with this generation; the write lock is held.
    pub(super) fn begin(&self, generation: u64) -> Result<(), IndexError> {
        {
            let conn = self.conn()?;
            conn.execute_batch("BEGIN IMMEDIATE")?;
            catalog::reset(&conn, &self.fingerprint)?;
            catalog::set_totals(&conn, &catalog::Totals { generation, ..catalog::Totals::default() })?;
            conn.execute_batch("COMMIT")?;
        }
        self.drop_earlier();
        self.checkpoint()
    }

    /// Removes the files of earlier versions.
    fn drop_earlier(&self) {
        for entry in std::fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name == "recall.bin" || name.starts_with("recall-") && name.ends_with(".layer") {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Makes a damaged cache anew: empty, to be filled from the notes. A database that is whole keeps its vectors.
///
/// # Errors
/// The disk's.
pub fn mend(root: &Path, fingerprint: &str, why: &IndexError) -> Result<(), IndexError> {
    let _writing = Lock::take(&root.join("write.lock"))?;
    let is_whole = matches!(Sealed::look(root, true), Ok(Found::Whole | Found::Doubtful));
    let is_of_segments = matches!(why, IndexError::Torn(_) | IndexError::FullText(_));
    let begun =
        if is_whole && is_of_segments { begin_anew(root, fingerprint) } else { Err(IndexError::Busy) };
    match begun {
        Ok(()) => Ok(()),
        Err(_) => wipe(root),
    }
}

/// An empty index in the same database, which other processes have open: its numbers go on.
fn begin_anew(root: &Path, fingerprint: &str) -> Result<(), IndexError> {
    let conn = catalog::open(&root.join(DATABASE), false)?;
    quick_check(&conn)?;
    let generation = catalog::totals(&conn)?.generation + 1;
    let files = SegmentFiles::open(&root.join("tantivy"))?;
    let store = Store::with(root, fingerprint, Mode::Writable, Some(files), conn);
    store.begin(generation)
}

/// Removes all that the index keeps under `root`.
fn wipe(root: &Path) -> Result<(), IndexError> {
    remove(std::fs::remove_file(root.join(DATABASE)), &root.join(DATABASE))?;
    drop_logs(root)?;
    remove(std::fs::remove_dir_all(root.join("tantivy")), &root.join("tantivy"))
}

/// Removes what belongs to a database that isn't there.
pub(super) fn drop_logs(root: &Path) -> Result<(), IndexError> {
    for name in ["index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal"] {
        remove(std::fs::remove_file(root.join(name)), &root.join(name))?;
    }
    remove(Sealed::remove(root), root)
}

fn remove(result: std::io::Result<()>, path: &Path) -> Result<(), IndexError> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(IndexError::cache(path, error)),
        _ => Ok(()),
    }
}
