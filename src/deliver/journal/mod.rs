//! Records deliveries in `deliveries.sqlite` of the state directory.
//!
//! A delivery goes `due → sending → sent → done` (its line is rewritten), or `failed`. Each step is committed to disk
//! before the next one begins (write-ahead log, `synchronous = FULL`), so after a crash at any instruction the journal
//! says what may have happened. It only records; `pass::send` decides:
//!
//! - `due`: surely not sent;
//! - `sending`: a message with a fixed text and fixed nonces may have been sent;
//! - `sent`: sent, and never sent again whatever the file says;
//! - `done`: sent, and the note says so too.
//!
//! Files:
//!
//! - [`keys`]: the key of a delivery; [`message`], [`chunks`]: messages with their chunks, and their states;
//! - [`answers`], [`runs`], [`tasks`], [`phrases`]: answers, runs of routines, task lines, and phrases of a brain for
//!   due reminders;
//! - [`copies`], [`retry_after`], [`problems`], [`line_ids`]: further notifiers, pauses of places, failures, ids given
//!   to lines;
//! - [`delivered`]: past deliveries; [`other_machines`]: deliveries of other machines, and messages that wait for them;
//! - [`file`](mod@file): the schema, and the replacement of a file that is no database.
//!
//! Two processes may have it open: each step is one `BEGIN IMMEDIATE` transaction that checks its start state, and
//! [`Journal::lock`] lets one pass send at a time. Deleting the file loses nothing of the vault; messages in flight may
//! then come twice.

mod answers;
mod chunks;
mod copies;
mod delivered;
mod file;
mod keys;
mod line_ids;
mod message;
mod other_machines;
mod phrases;
mod problems;
mod retry_after;
mod runs;
mod tasks;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{Timestamp, civil};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

pub use answers::PostedChunk;
pub use copies::{CopyState, Recipient};
pub use delivered::{PastDelivery, PastDeliveryState};
pub(crate) use file::{is_busy, is_no_database};
use file::{migrate, set_aside};
pub(super) use keys::local_text;
pub(super) use keys::voice_claim;
pub use keys::{
    LineHash, answer_key, approval_key, asked_in, claimed_turn, key, run_claim, subject, turn_claim,
};
pub use message::{Chunk, ChunkState, Message, NewMessage};
pub use other_machines::OtherMachineDelivery;
pub use problems::{OpenDelivery, Refusal};
pub use runs::{NewRun, RoutineProgress, Run, RunState, run_key};
pub use tasks::NotifiedTask;

use super::notifier::Fact;

/// Replaces the failed delivery's settings: the line was restored after its time, and was not asked to fire.
pub const RESTORED: &str = "restored";

/// The file's name in the state directory.
pub const FILE_NAME: &str = "deliveries.sqlite";

/// The schema's version, in `PRAGMA user_version`.
const VERSION: i64 = 8;

/// The columns that [`row_of`] reads.
const ROW: &str = "state, line, attempts, attempted_ms, retry_ms, settings, fact, delivered, teller";

/// When this many rows are done, the older half goes: far more than a stale buffer can bring back.
const KEEP_DONE: i64 = 100_000;

/// The result of an operation of the journal.
pub(crate) type Result<T, E = JournalError> = std::result::Result<T, E>;

/// Errors of the journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The database can't be used.
    #[error("the delivery journal `{}` can't be used: {source}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A file of the state directory can't be used.
    #[error("can't use `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The database was written by a newer version of this program.
    #[error("the delivery journal `{}` has version {found}, newer than this program knows ({VERSION}): use the newer program", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// A stored value is damaged.
    #[error("the delivery journal `{}` holds a value that can't be read: {detail}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Which.
        detail: String,
    },
}

/// How far a delivery came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// Surely not sent yet.
    Due,
    /// May have been sent.
    Sending,
    /// Sent; the note doesn't say so yet.
    Sent,
    /// Sent, and the note says so.
    Done,
    /// Refused everywhere, with these settings.
    Failed,
}

impl DeliveryState {
    fn read(text: &str) -> Option<Self> {
        Some(match text {
            "due" => Self::Due,
            "sending" => Self::Sending,
            "sent" => Self::Sent,
            "done" => Self::Done,
            "failed" => Self::Failed,
            _ => return None,
        })
    }
}

/// The journal's row of one delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    /// How far it came.
    pub state: DeliveryState,
    /// The line that it was claimed for.
    pub line: Option<LineHash>,
    /// How often sending surely failed.
    pub attempts: u32,
    /// When it was last tried.
    pub attempted: Option<Timestamp>,
    /// Not before this instant.
    pub retry: Option<Timestamp>,
    /// A failed one: the settings that it failed with.
    pub settings: Option<String>,
    /// The item.
    pub fact: Fact,
    /// A sent one: the message's id, else its nonce.
    pub delivered: Option<String>,
    /// The other machine that sent it, if one did.
    pub sender_machine: Option<String>,
}

/// The delivery journal of one vault.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    connection: Mutex<Connection>,
}

/// The right to run a pass; released when dropped, or when the process ends.
#[derive(Debug)]
pub struct PassLock(#[allow(dead_code)] File);

impl Journal {
    /// Opens the journal in `state_dir`, making or migrating it. A file that is no database is put
    /// aside under another name, with a warning, so that reminders go on firing.
    ///
    /// # Errors
    /// The directory can't be written, or a newer program wrote the file.
    pub fn open(state_dir: &Path) -> Result<Self> {
        let path = state_dir.join(FILE_NAME);
        let mut opened = Self::open_file(&path);
        // Two that make the file at the same moment may find it locked, whatever the time-out says.
        for _ in 0..100 {
            match &opened {
                Err(JournalError::Database { source, .. }) if is_busy(source) => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                _ => break,
            }
            opened = Self::open_file(&path);
        }
        match opened {
            Err(JournalError::Database { source, .. }) if is_no_database(&source) => {
                set_aside(&path, &source)?;
                Self::open_file(&path)
            }
            other => other,
        }
    }

    fn open_file(path: &Path) -> Result<Self> {
        let wrap = |source| JournalError::Database { path: path.to_owned(), source };
        let mut connection = Connection::open(path).map_err(wrap)?;
        connection.busy_timeout(std::time::Duration::from_secs(10)).map_err(wrap)?;
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
            .map_err(wrap)?;
        let found = migrate(&mut connection).map_err(wrap)?;
        if found > VERSION {
            return Err(JournalError::Newer { path: path.to_owned(), found });
        }
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection) })
    }

    /// Takes the right to run a pass, without waiting: `None` while another process (or task) has it.
    ///
    /// # Errors
    /// The lock file can't be made.
    pub fn lock(&self) -> Result<Option<PassLock>> {
        let path = self.path.with_file_name("deliver.lock");
        let wrap = |source| JournalError::File { path: path.clone(), source };
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(wrap)?;
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(PassLock(file))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(wrap(error.into())),
        }
    }

    /// The row of a key.
    pub fn row(&self, key: &str) -> Result<Option<DeliveryRow>> {
        self.read(|tx| {
            tx.query_row(&format!("SELECT {ROW} FROM deliveries WHERE key = ?1"), [key], row_of).optional()
        })
    }

    /// The latest local time between `from` and `to`, both included, at which something with this
    /// subject was sent.
    pub fn latest_sent(
        &self,
        subject: &str,
        from: civil::DateTime,
        to: civil::DateTime,
    ) -> Result<Option<civil::DateTime>> {
        let text: Option<String> = self.read(|tx| {
            tx.query_row(
                "SELECT max(local) FROM deliveries
                 WHERE subject = ?1 AND local BETWEEN ?2 AND ?3 AND state IN ('sent', 'done')",
                params![subject, local_text(from), local_text(to)],
                |row| row.get(0),
            )
        })?;
        Ok(text.and_then(|text| text.parse().ok()))
    }

    /// Whether an occurrence of this id (or of several lines that share it) at a local time was sent, or may have been.
    pub fn may_be_sent(&self, id: &str, local: civil::DateTime) -> Result<bool> {
        self.read(|tx| {
            tx.query_row(
                "SELECT EXISTS (SELECT 1 FROM deliveries
                 WHERE (subject = ?1 OR subject > ?1 || '#' AND subject < ?1 || '$') AND local = ?2
                 AND state IN ('sending', 'sent', 'done'))",
                params![id, local_text(local)],
                |row| row.get(0),
            )
        })
    }

    /// All deliveries that are sent but not done: key and row, in the order of their claims.
    pub fn unsettled(&self) -> Result<Vec<(String, DeliveryRow)>> {
        self.read(|tx| {
            let sql = format!("SELECT {ROW}, key FROM deliveries WHERE state = 'sent' ORDER BY number");
            tx.prepare_cached(&sql)?.query_map([], |row| Ok((row.get(9)?, row_of(row)?)))?.collect()
        })
    }

    /// Marks deliveries as written down in their notes, and deletes old ones.
    pub fn done<'k>(&self, keys: impl IntoIterator<Item = &'k str>) -> Result<()> {
        self.write(|tx| {
            let mut statement =
                tx.prepare_cached("UPDATE deliveries SET state = 'done' WHERE key = ?1 AND state = 'sent'")?;
            for key in keys {
                statement.execute([key])?;
            }
            let span = "SELECT coalesce(max(number) - min(number), 0) FROM deliveries";
            if tx.query_row(span, [], |row| row.get::<_, i64>(0))? > 2 * KEEP_DONE {
                tx.execute(
                    "DELETE FROM deliveries WHERE state = 'done' AND subject NOT GLOB 'task_*'
                     AND number < (SELECT max(number) FROM deliveries) - ?1",
                    [KEEP_DONE],
                )?;
                copies::prune(tx)?;
            }
            Ok(())
        })
    }

    /// Deletes deliveries that are not on their way and whose line is deleted.
    pub fn forget_unsent<'k>(&self, keys: impl IntoIterator<Item = &'k str>) -> Result<()> {
        self.write(|tx| {
            let mut statement = tx.prepare_cached(
                "DELETE FROM deliveries WHERE key = ?1 AND state IN ('due', 'failed') AND message IS NULL",
            )?;
            for key in keys {
                statement.execute([key])?;
            }
            Ok(())
        })
    }

    /// Whether a message of the place was counted for a delivery already. A lookup by text may find
    /// the message of another reminder that says the same.
    pub fn is_counted(&self, message_id: &str) -> Result<bool> {
        self.read(|tx| {
            tx.prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM deliveries WHERE delivered = ?1)
                 OR EXISTS (SELECT 1 FROM chunks WHERE message_id = ?1)
                 OR EXISTS (SELECT 1 FROM copies WHERE delivered = ?1)",
            )?
            .query_row([message_id], |row| row.get(0))
        })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wrap(&self, source: rusqlite::Error) -> JournalError {
        match source {
            rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..) => {
                JournalError::Value { path: self.path.clone(), detail: source.to_string() }
            }
            source => JournalError::Database { path: self.path.clone(), source },
        }
    }

    fn read<T>(&self, f: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        f(&self.connection()).map_err(|error| self.wrap(error))
    }

    /// One transaction that has the write lock from its start; committed to disk when it returns.
    pub(super) fn write<T>(&self, f: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T> {
        let mut connection = self.connection();
        let run = || {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = f(&tx)?;
            tx.commit()?;
            Ok(value)
        };
        run().map_err(|error| self.wrap(error))
    }
}

fn row_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<DeliveryRow> {
    let state: String = row.get(0)?;
    let line: Vec<u8> = row.get(1)?;
    Ok(DeliveryRow {
        state: DeliveryState::read(&state).ok_or_else(|| unreadable(0, "state", &state))?,
        line: line.try_into().ok().map(LineHash),
        attempts: row.get(2)?,
        attempted: instant(row.get(3)?),
        retry: instant(row.get(4)?),
        settings: row.get(5)?,
        fact: json(row, 6)?,
        delivered: row.get(7)?,
        sender_machine: row.get(8)?,
    })
}

fn instant(ms: Option<i64>) -> Option<Timestamp> {
    ms.and_then(|ms| Timestamp::from_millisecond(ms).ok())
}

fn json<T: serde::de::DeserializeOwned>(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(column, "JSON", &error.to_string()))
}

fn unreadable(column: usize, what: &str, value: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(
        column,
        rusqlite::types::Type::Text,
        format!("{what}: {value}").into(),
    )
}
