//! Ensures that a commit is complete, and that the cache's files are unchanged.
//!
//! A commit comes in; its number and the checksums of the files go into the seal. Opening the cache compares them, and
//! reads every byte after a start of the machine.

use rusqlite::Connection;

use super::Store;
use crate::search::IndexError;
use crate::search::store::seal::{DATABASE, Seal, SealState, Sealed};
use crate::search::store::{catalog, seal};

/// SQLite's log is taken into the database's file from this length on, in bytes.
const LONGEST_LOG: u64 = 4 << 20;

impl Store {
    /// Whether the last sealed commit is there: what a damaged log loses, it loses in silence. Another process may commit
    /// meanwhile; under the write lock, none does.
    pub(super) fn check_commit(&self, sealed: Sealed, is_locked: bool) -> Result<(), IndexError> {
        let (epoch, generation) = last_commit(&*self.conn()?)?;
        if epoch == sealed.commit.0 && generation >= sealed.commit.1 {
            return Ok(());
        }
        if !is_locked && self.is_writable() {
            let _writing = self.write_lock()?;
            let sealed = Sealed::read(&self.root).unwrap_or(sealed);
            return self.check_commit(sealed, true);
        }
        Err(IndexError::Torn(format!("commit {} is lost, the last one is {generation}", sealed.commit.1)))
    }

    /// The seals anew, of the database and of all segments, which must be what they were; the write lock is held.
    pub(super) fn seal_again(&self, deep: bool) -> Result<(), IndexError> {
        for row in catalog::segments(&*self.conn()?)? {
            if let Some(seals) = seal::check_files(&self.segments(), &row.seals, deep)? {
                let conn = self.conn()?;
                conn.execute(
                    "UPDATE segments SET seals = ?2 WHERE id = ?1",
                    rusqlite::params![row.id, seals],
                )?;
            }
        }
        self.checkpoint()
    }

    /// To be called after a commit, under the write lock: notes that it was made.
    ///
    /// # Errors
    /// The disk's.
    pub fn committed(&self) -> Result<(), IndexError> {
        if !self.is_writable() {
            return Ok(());
        }
        let log = std::fs::metadata(self.root.join("index.sqlite-wal")).map_or(0, |log| log.len());
        match Sealed::read(&self.root) {
            Some(sealed) if log < LONGEST_LOG => {
                let commit = last_commit(&*self.conn()?)?;
                Sealed { commit, ..sealed }.write(&self.root)
            }
            _ => self.checkpoint(),
        }
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
        Sealed { database, commit: last_commit(&conn)?, is_changing: false }.write(&self.root)
    }

    /// Looks at every byte of the cache.
    ///
    /// # Errors
    /// What is damaged; the disk's.
    pub fn examine(&self) -> Result<(), IndexError> {
        if !self.is_writable() {
            return Ok(());
        }
        let _writing = self.write_lock()?;
        let SealState::Whole { sealed, .. } = Sealed::look(&self.root, true) else {
            return Err(IndexError::Torn(format!("`{DATABASE}` is not what it was")));
        };
        self.check_commit(sealed, true)?;
        let conn = self.conn()?;
        quick_check(&conn)?;
        for row in catalog::segments(&conn)? {
            seal::check_files(&self.segments(), &row.seals, true)?;
        }
        Ok(())
    }

    /// After a start of the machine, what was written without waiting for the disk may be torn: looks.
    pub(super) fn check_after_boot(&self) -> Result<(), IndexError> {
        let boot = boot_id();
        let conn = self.conn()?;
        if catalog::get::<String>(&conn, "boot")?.as_deref() == Some(boot.as_str()) {
            return Ok(());
        }
        drop(conn);
        self.examine()?;
        let _writing = self.write_lock()?;
        let conn = self.conn()?;
        // The last commits may be lost, and their numbers given to others.
        catalog::begin_epoch(&conn)?;
        catalog::set(&conn, "boot", boot)?;
        drop(conn);
        self.committed()
    }
}

/// Which making of the index, and which commit of it, `conn` sees.
fn last_commit(conn: &Connection) -> Result<(i64, u64), IndexError> {
    let epoch = catalog::epoch(conn)?.unwrap_or_default();
    Ok((epoch, catalog::totals(conn)?.generation))
}

/// SQLite's own look at its file.
pub(super) fn quick_check(conn: &Connection) -> Result<(), IndexError> {
    let verdict: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(IndexError::Torn(verdict)) }
}

/// Whether a checkpoint that didn't end left the database whole: SQLite finishes it from its log. After a start of the
/// machine neither may be what was written.
pub(super) fn check_unfinished(conn: &Connection) -> Result<(), IndexError> {
    if catalog::get::<String>(conn, "boot")? != Some(boot_id()) {
        return Err(IndexError::Torn(format!("`{DATABASE}` is not what it was")));
    }
    quick_check(conn)
}

/// Which start of the machine this is; empty where the system doesn't say.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
