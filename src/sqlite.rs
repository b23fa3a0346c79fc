//! Opens the SQLite files that hold state, such as the delivery journal, and runs statements on them.
//!
//! A change is one transaction, and on disk before its call returns. Several processes may use one file; each waits for
//! the others. A file of an earlier version gets the tables that it lacks; a file of a later version is an error. A
//! file that is no database is moved aside if its owner asks for that ([`Database::open_or_renew`]).

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::types::{FromSql, Type};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row, Transaction, TransactionBehavior};
use serde::de::{DeserializeOwned, IntoDeserializer};

pub(crate) type Result<T, E = DatabaseError> = std::result::Result<T, E>;

/// More bytes than a few changes need, SQLite's log of them included.
const ROOM: u64 = 1 << 20;

/// Whether less than 1 MB is free on the disk of `path`. A disk that doesn't say, and one that can't be written at all,
/// lacks none.
pub fn lacks_room(path: &Path) -> bool {
    use rustix::fs::StatVfsMountFlags;
    rustix::fs::statvfs(path).is_ok_and(|disk| {
        let is_read_only = disk.f_flag.contains(StatVfsMountFlags::RDONLY);
        !is_read_only && disk.f_blocks > 0 && disk.f_bavail.saturating_mul(disk.f_frsize) < ROOM
    })
}

/// A file of state can't be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The file, or a statement on it.
    #[error("{} `{}` can't be used: {source}", kind.name, path.display())]
    Sqlite {
        /// The kind of state that it holds.
        kind: &'static StateFileKind,
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A file beside it.
    #[error("can't use `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A newer program wrote the file.
    #[error("{} `{}` has version {found}, newer than this program knows ({}): use the newer program", kind.name, path.display(), kind.versions.len())]
    Newer {
        /// The kind of state that it holds.
        kind: &'static StateFileKind,
        /// The file.
        path: PathBuf,
        /// Its version.
        found: usize,
    },
    /// The file holds a value that makes no sense.
    #[error("{} `{}` holds a value that can't be read: {detail}", kind.name, path.display())]
    Value {
        /// The kind of state that it holds.
        kind: &'static StateFileKind,
        /// The file.
        path: PathBuf,
        /// The error's text.
        detail: String,
    },
}

impl DatabaseError {
    /// The remedy, as a sentence.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Sqlite { source, .. } if is_of_disk(source) => {
                Some("make room on its disk, if it is full; is the disk there, and may it be written to?")
            }
            Self::Sqlite { kind, .. } | Self::Newer { kind, .. } | Self::Value { kind, .. } => kind.hint,
            Self::File { .. } => None,
        }
    }
}

/// A kind of state file: its name, its versions, and its remedy.
#[derive(Debug)]
pub struct StateFileKind {
    /// As a message names it: `the delivery journal`.
    pub name: &'static str,
    /// The remedy if it can't be used.
    pub hint: Option<&'static str>,
    /// For each version, the statements that migrate a file from the version before; the first ones apply to an empty
    /// file.
    pub versions: &'static [&'static str],
    /// Runs whenever the file is opened; it may run twice at once.
    pub each_time: fn(&Connection) -> rusqlite::Result<()>,
}

/// An open file of state.
#[derive(Debug)]
pub(crate) struct Database {
    kind: &'static StateFileKind,
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Database {
    /// Opens a file, making it if it is missing. Another process may be making it or changing its version.
    pub fn open(kind: &'static StateFileKind, path: PathBuf) -> Result<Self> {
        let error = |source| DatabaseError::Sqlite { kind, path: path.clone(), source };
        let mut opened = prepare(kind, Connection::open(&path));
        for _ in 0..100 {
            if !matches!(&opened, Err(error) if is_busy(error)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
            opened = prepare(kind, Connection::open(&path));
        }
        let (connection, found) = opened.map_err(error)?;
        if found > kind.versions.len() {
            return Err(DatabaseError::Newer { kind, path, found });
        }
        Ok(Self { kind, path, connection: Mutex::new(connection) })
    }

    /// As [`open`](Self::open), but moves aside a file that is no database, or that `is_useless` rejects.
    pub fn open_or_renew(
        kind: &'static StateFileKind,
        path: PathBuf,
        is_useless: impl Fn(&DatabaseError) -> bool,
    ) -> Result<Self> {
        match Self::open(kind, path.clone()) {
            Err(error) if is_no_database(&error) || is_useless(&error) => {
                move_aside(kind, &path, &error)?;
                Self::open(kind, path)
            }
            opened => opened,
        }
    }

    /// Makes a database in memory alone.
    #[cfg(feature = "assistant")]
    pub fn in_memory(kind: &'static StateFileKind) -> Result<Self> {
        let path = PathBuf::from(":memory:");
        let made = prepare(kind, Connection::open_in_memory());
        let error = |source| DatabaseError::Sqlite { kind, path: path.clone(), source };
        let (connection, _) = made.map_err(error)?;
        Ok(Self { kind, path, connection: Mutex::new(connection) })
    }

    /// Whether it is in a file.
    #[cfg(feature = "assistant")]
    pub fn is_kept(&self) -> bool {
        self.path.as_os_str() != ":memory:"
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, source: rusqlite::Error) -> DatabaseError {
        let (kind, path) = (self.kind, self.path.clone());
        match source {
            rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..) => {
                DatabaseError::Value { kind, path, detail: source.to_string() }
            }
            source => DatabaseError::Sqlite { kind, path, source },
        }
    }

    /// Refuses if the file's disk lacks room.
    pub fn needs_room(&self) -> Result<()> {
        if !lacks_room(&self.path) {
            return Ok(());
        }
        let full = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
        let words = "less than 1 MB is free on its disk".to_owned();
        Err(self.error(rusqlite::Error::SqliteFailure(full, Some(words))))
    }

    /// Reads.
    pub fn read<T>(&self, f: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        f(&self.connection()).map_err(|error| self.error(error))
    }

    /// Changes the file in one transaction, which no other process comes between.
    pub fn write<T>(&self, f: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T> {
        let mut connection = self.connection();
        let run = || {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = f(&tx)?;
            tx.commit()?;
            Ok(value)
        };
        run().map_err(|error| self.error(error))
    }

    /// Reads all rows.
    pub fn rows<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C> {
        self.read(|db| db.prepare_cached(sql)?.query_map(params, row)?.collect())
    }

    /// Reads the first row, if there is one.
    pub fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.read(|db| db.prepare_cached(sql)?.query_row(params, row).optional())
    }

    /// Reads the only value of a row that always exists.
    pub fn value<T: FromSql>(&self, sql: &str, params: impl Params) -> Result<T> {
        self.read(|db| db.prepare_cached(sql)?.query_row(params, |row| row.get(0)))
    }

    /// Changes rows by one statement. Returns their number.
    pub fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.write(|tx| tx.prepare_cached(sql)?.execute(params))
    }

    /// Runs one statement for each of several rows of values, in one transaction; none where there is no row.
    pub fn execute_each<P: Params>(&self, sql: &str, rows: impl IntoIterator<Item = P>) -> Result<()> {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_none() {
            return Ok(());
        }
        self.write(|tx| each(tx, sql, rows))
    }
}

/// Runs one statement for each of several rows of values.
pub(crate) fn each<P: Params>(
    tx: &Transaction<'_>,
    sql: &str,
    rows: impl IntoIterator<Item = P>,
) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached(sql)?;
    rows.into_iter().try_for_each(|row| statement.execute(row).map(drop))
}

/// Brings an opened file to this program's version, unless it has a later one. Returns the version.
fn prepare(
    kind: &StateFileKind,
    opened: rusqlite::Result<Connection>,
) -> rusqlite::Result<(Connection, usize)> {
    let mut connection = opened?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")?;
    let version = |db: &Connection| db.query_row("PRAGMA user_version", [], |row| row.get::<_, usize>(0));
    if version(&connection)? < kind.versions.len() {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for statements in kind.versions.iter().skip(version(&tx)?) {
            tx.execute_batch(statements)?;
        }
        tx.pragma_update(None, "user_version", version(&tx)?.max(kind.versions.len()))?;
        tx.commit()?;
    }
    let found = version(&connection)?;
    if found <= kind.versions.len() {
        (kind.each_time)(&connection)?;
    }
    Ok((connection, found))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn is_of_disk(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure))
}

fn is_no_database(error: &DatabaseError) -> bool {
    let DatabaseError::Sqlite { source, .. } = error else { return false };
    matches!(source.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// Moves an unusable file aside, with its side files.
fn move_aside(kind: &StateFileKind, path: &Path, why: &DatabaseError) -> Result<()> {
    let free = (1..).map(|n| path.with_extension(format!("sqlite.broken-{n}"))).find(|path| !path.exists());
    let to = free.unwrap_or_else(|| path.with_extension("sqlite.broken"));
    let what = if is_no_database(why) { "is no database any more" } else { "can't be used" };
    tracing::warn!(from = %path.display(), to = %to.display(), %why, "{} {what}: put aside, a new one begun", kind.name);
    std::fs::rename(path, &to).map_err(|source| DatabaseError::File { path: path.to_owned(), source })?;
    for suffix in ["-wal", "-shm"] {
        let side = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        let _ = std::fs::rename(side(path), side(&to));
    }
    Ok(())
}

/// A stored instant.
pub(crate) fn instant(ms: Option<i64>) -> Option<Timestamp> {
    ms.and_then(|ms| Timestamp::from_millisecond(ms).ok())
}

/// The value of a column with JSON.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(column, "JSON", &error.to_string()))
}

/// The value of a column with the word of an enum.
pub(crate) fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    let read: Result<T, serde::de::value::Error> = T::deserialize(text.as_str().into_deserializer());
    read.map_err(|error| unreadable(column, "word", &error.to_string()))
}

/// A column's value that makes no sense.
pub(crate) fn unreadable(column: usize, what: &str, value: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, format!("{what}: {value}").into())
}
