//! Detects damage of the cache, and replaces an unusable cache by an empty one, which is filled from the notes. If the
//! database itself is undamaged, its vectors are kept, and its generation number continues.
//!
//! A checkpoint writes all commits into the database's file, and its checksum into the seal. Opening the cache compares
//! the file's stat with the seal. Every byte is read after a restart of the machine, for a cache that was copied, and
//! for one that was left in the middle of a checkpoint.

use std::path::Path;

use rusqlite::Connection;

use crate::search::store::lock::remove;
use crate::search::store::seal;
use crate::search::store::{
    DATABASE, DatabaseState, Mode, Seal, Sealed, SegmentFiles, Store, boot_id, catalog,
};
use crate::search::{IndexError, Result};

impl Store {
    /// All tables anew, with this generation; the write lock is held.
    pub(super) fn begin(&self, generation: u64) -> Result<()> {
        let conn = self.conn()?;
        conn.execute_batch("BEGIN IMMEDIATE")?;
        catalog::reset(&conn, &self.fingerprint, generation)?;
        conn.execute_batch("COMMIT")?;
        self.checkpoint()
    }

    /// Makes a checkpoint if SQLite's log is long. To be called after a commit, under the write lock.
    ///
    /// # Errors
    /// The disk's.
    pub fn committed(&self) -> Result<()> {
        if self.log_length() < LONGEST_LOG { Ok(()) } else { self.checkpoint() }
    }

    /// The length of SQLite's log, in bytes.
    pub(super) fn log_length(&self) -> u64 {
        std::fs::metadata(self.root.join("index.sqlite-wal")).map_or(0, |log| log.len())
    }

    /// Brings the database's file up to the last commit, as far as its readers let it, and seals it; the write lock is
    /// held.
    ///
    /// # Errors
    /// The disk's.
    pub fn checkpoint(&self) -> Result<()> {
        let conn = self.conn()?;
        if let Some(sealed) = Sealed::read(&self.root) {
            Sealed { is_changing: true, ..sealed }.write(&self.root)?;
        }
        conn.busy_timeout(std::time::Duration::ZERO)?;
        let done = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        // A busy one has done what it could.
        if let Err(error) = done {
            tracing::debug!(%error, "no checkpoint");
        }
        fail::fail_point!("index-checkpoint-middle", |_| Err(IndexError::Interrupted));
        let path = self.root.join(DATABASE);
        let database = Seal::of(&path).map_err(|error| IndexError::cache(&path, error))?;
        Sealed { database, is_changing: false, boot: boot_id() }.write(&self.root)
    }

    /// Checks every byte of the cache, and seals it anew.
    ///
    /// # Errors
    /// A file is damaged; the disk's.
    pub fn examine(&self) -> Result<()> {
        if !self.is_writable() {
            return Ok(());
        }
        let _writing = self.write_lock()?;
        self.examine_locked()
    }

    /// As [`Store::examine`]; the write lock is held.
    pub(super) fn examine_locked(&self) -> Result<()> {
        if !matches!(Sealed::look(&self.root, true)?, DatabaseState::Whole | DatabaseState::Doubtful) {
            return Err(IndexError::Torn(format!("`{DATABASE}` has no seal")));
        }
        let conn = self.conn()?;
        quick_check(&conn)?;
        for row in catalog::segments(&conn)? {
            let seals = seal::json(&seal::check_files(&self.segments(), &row.seals, true)?);
            if seals != row.seals {
                let values = rusqlite::params![row.id, seals];
                conn.execute("UPDATE segments SET seals = ?2 WHERE id = ?1", values)?;
            }
        }
        self.checkpoint()
    }
}

/// Replaces a damaged cache by an empty one, to be filled from the notes; the write lock is held. An undamaged database
/// keeps its vectors.
///
/// # Errors
/// The disk's.
pub fn make_anew(root: &Path, fingerprint: &str, why: &IndexError) -> Result<()> {
    let is_whole = matches!(Sealed::look(root, true), Ok(DatabaseState::Whole | DatabaseState::Doubtful));
    let is_of_segments = matches!(why, IndexError::Torn(_) | IndexError::FullText(_));
    let begun =
        if is_whole && is_of_segments { begin_anew(root, fingerprint) } else { Err(IndexError::Busy) };
    begun.or_else(|_| wipe(root))
}

/// An empty index in the same database, which other processes have open: its numbers go on.
fn begin_anew(root: &Path, fingerprint: &str) -> Result<()> {
    let conn = catalog::open(&root.join(DATABASE), false)?;
    quick_check(&conn)?;
    let generation = catalog::last_commit(&conn)?.generation + 1;
    let files = SegmentFiles::open(&root.join("tantivy"))?;
    let store = Store::with(root, fingerprint, Mode::Writable, Some(files), conn);
    store.begin(generation)
}

/// Removes all that the index keeps under `root`.
fn wipe(root: &Path) -> Result<()> {
    remove(&root.join(DATABASE))?;
    drop_logs(root)?;
    remove(&root.join("tantivy"))
}

/// Removes the files that belong to a missing database.
pub(super) fn drop_logs(root: &Path) -> Result<()> {
    let logs = ["index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal", seal::NAME];
    logs.iter().try_for_each(|name| remove(&root.join(name)))
}

/// SQLite's log is taken into the database's file from this length on, in bytes.
const LONGEST_LOG: u64 = 4 << 20;

/// SQLite's own check of its file.
pub(super) fn quick_check(conn: &Connection) -> Result<()> {
    let verdict: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(IndexError::Torn(verdict)) }
}
