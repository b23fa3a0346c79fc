//! Opens the journal's file: its schema, the detection of other connections, and the replacement of a file that is no
//! database.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::{JournalError, VERSION, copies, delivered, other_machines, phrases, retry_after, runs, tasks};
use crate::deliver::journal::Result;

/// Brings the schema to [`VERSION`]; returns the version that the file has now.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<i64> {
    let version = |tx: &Connection| tx.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
    let found = version(connection)?;
    if found >= VERSION {
        return Ok(found);
    }
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated while this one waited for the lock.
    if version(&tx)? < 1 {
        tx.execute_batch(include_str!("schema.sql"))?;
    }
    if version(&tx)? < 2 {
        retry_after::create(&tx)?;
    }
    if version(&tx)? < 3 {
        runs::create(&tx)?;
    }
    if version(&tx)? < 4 {
        phrases::create(&tx)?;
    }
    if version(&tx)? < 5 {
        tasks::create(&tx)?;
    }
    if version(&tx)? < 6 {
        copies::create(&tx)?;
    }
    if version(&tx)? < 7 {
        delivered::create(&tx)?;
    }
    if version(&tx)? < VERSION {
        other_machines::create(&tx)?;
        tx.pragma_update(None, "user_version", VERSION)?;
    }
    let found = version(&tx)?;
    tx.commit()?;
    Ok(found)
}

/// Whether another connection is at the file.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// Whether the file is no database that could be read: a full disk or a busy one is no reason to begin anew.
pub(crate) fn is_no_database(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt)
    )
}

/// Renames a file that is no database, with the log that belongs to it.
pub(super) fn set_aside(path: &Path, why: &rusqlite::Error) -> Result<()> {
    let free = (1..).map(|n| path.with_extension(format!("sqlite.broken-{n}"))).find(|path| !path.exists());
    let to = free.unwrap_or_else(|| path.with_extension("sqlite.broken"));
    tracing::warn!(from = %path.display(), to = %to.display(), %why, "the delivery journal is no database any more: put aside, a new one begun");
    std::fs::rename(path, &to).map_err(|source| JournalError::File { path: path.to_owned(), source })?;
    for suffix in ["-wal", "-shm"] {
        let mut side = path.as_os_str().to_owned();
        side.push(suffix);
        let _ = std::fs::remove_file(side);
    }
    Ok(())
}
