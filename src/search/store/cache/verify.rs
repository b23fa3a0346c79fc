//! Detects damage of the cache: each file is compared with its checksum when the cache is opened.
//!
//! A checkpoint brings the database's file up to date, and its checksum into the seal. Opening the cache compares them,
//! and reads every byte after a start of the machine, and of a cache that was copied or left in the middle of a
//! checkpoint.

use rusqlite::Connection;

use super::Store;
use crate::search::IndexError;
use crate::search::store::seal::{DATABASE, Found, Seal, Sealed, boot_id};
use crate::search::store::{catalog, seal};

/// SQLite's log is taken into the database's file from this length on, in bytes.
const LONGEST_LOG: u64 = 4 << 20;

impl Store {
    /// To be called after a commit, under the write lock: a long log is taken into the database's file.
    ///
    /// # Errors
    /// The disk's.
    pub fn committed(&self) -> Result<(), IndexError> {
        if self.log_length() < LONGEST_LOG { Ok(()) } else { self.checkpoint() }
    }

    /// Of SQLite's log, in bytes.
    pub(super) fn log_length(&self) -> u64 {
        std::fs::metadata(self.root.join("index.sqlite-wal")).map_or(0, |log| log.len())
    }

    /// Brings the database's file up to the last commit, as far as its readers let it, and seals it; the write lock is
    /// held.
    ///
    /// # Errors
    /// The disk's.
    pub fn checkpoint(&self) -> Result<(), IndexError> {
        let conn = self.conn()?;
        if let Some(sealed) = Sealed::read(&self.root) {
            Sealed { is_changing: true, ..sealed }.write(&self.root)?;
        }
        conn.busy_timeout(std::time::Duration::ZERO)?;
        let done = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        conn.busy_timeout(catalog::PATIENCE)?;
        // A busy one has done what it could.
        if let Err(error) = done {
            tracing::debug!(%error, "no checkpoint");
        }
        fail::fail_point!("index-checkpoint-middle", |_| Err(IndexError::Interrupted));
        let path = self.root.join(DATABASE);
        let database = Seal::of(&path).map_err(|error| IndexError::cache(&path, error))?;
        Sealed { database, is_changing: false, boot: boot_id() }.write(&self.root)
    }

    /// Looks at every byte of the cache, and seals it anew.
    ///
    /// # Errors
    /// A file is damaged; the disk's.
    pub fn examine(&self) -> Result<(), IndexError> {
        if !self.is_writable() {
            return Ok(());
        }
        let _writing = self.write_lock()?;
        self.examine_locked()
    }

    /// As [`Store::examine`]; the write lock is held.
    pub(super) fn examine_locked(&self) -> Result<(), IndexError> {
        if !matches!(Sealed::look(&self.root, true)?, Found::Whole | Found::Doubtful) {
            return Err(IndexError::Torn(format!("`{DATABASE}` has no seal")));
        }
        let conn = self.conn()?;
        quick_check(&conn)?;
        for row in catalog::segments(&conn)? {
            if let Some(seals) = seal::check_files(&self.segments(), &row.seals, true)? {
                let values = rusqlite::params![row.id, seals];
                conn.execute("UPDATE segments SET seals = ?2 WHERE id = ?1", values)?;
            }
        }
        drop(conn);
        self.checkpoint()
    }
}

/// SQLite's own look at its file.
pub(super) fn quick_check(conn: &Connection) -> Result<(), IndexError> {
    let verdict: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(IndexError::Torn(verdict)) }
}
