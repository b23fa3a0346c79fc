//! Records the progress of each turn in the turn journal, `turns.sqlite` of the state directory.
//!
//! A row is one message to be answered, keyed by the message's id, so that a message which comes twice is one turn.
//! Each step is committed with fsync before its effect begins. The calls to brains, their rounds of tools and each
//! tool's start and end are recorded too: after a crash a turn continues from there, and a tool that was started is
//! never started again.
//!
//! Deleting the file loses nothing of the vault; an open question may then be asked again.
//!
//! - `rows`, `schema`: the content, as values and as tables;
//! - `steps`: the progress of a turn; `calls`: its calls; `background_calls`: calls outside of answers;
//! - `stops`: messages that stop a turn; `sessions`: sessions of harnesses.

mod background_calls;
mod calls;
mod rows;
mod schema;
mod sessions;
mod steps;
mod stops;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row, Transaction, TransactionBehavior, params};

use self::schema::{ADDED_COLUMNS, SCHEMA, SELECT, turn_of};
use self::steps::step;
use crate::deliver::journal::{is_busy, is_no_database};

pub use rows::{Assembled, CallRow, NewTurn, PAGE, Recalled, Round, StepRow, ToolEnd, ToolRow, TurnRow};
pub use sessions::HarnessSession;

/// The file's name in the state directory.
pub const FILE_NAME: &str = "turns.sqlite";

/// The schema's version, in `PRAGMA user_version`; another one begins the file anew.
const VERSION: i64 = 1;

/// The step of an answer from memory.
const MEMORY_STEP: &str = "memory";
/// How many finished turns are kept for `turns`; older ones are deleted.
const KEEP_FINISHED: i64 = 20_000;

/// The journal can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the turn journal `{}` can't be used: {source}", path.display())]
pub struct TurnJournalError {
    /// The file.
    pub path: PathBuf,
    /// The error of SQLite.
    pub source: rusqlite::Error,
}

/// The turn journal of one vault.
#[derive(Debug)]
pub struct TurnJournal {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl TurnJournal {
    /// Opens the journal in `state_dir`, creating it if missing. A file that is no database, or of
    /// another version, is moved aside and a new one started.
    ///
    /// # Errors
    /// The directory can't be written.
    pub fn open(state_dir: &Path) -> Result<Self, TurnJournalError> {
        let path = state_dir.join(FILE_NAME);
        let mut opened = Self::open_file(&path);
        // Two processes that create the file at the same moment may find it locked, despite the time-out.
        for _ in 0..100 {
            match &opened {
                Err(error) if is_busy(&error.source) => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                _ => break,
            }
            opened = Self::open_file(&path);
        }
        match opened {
            Ok(Some(journal)) => Ok(journal),
            Err(error) if !is_no_database(&error.source) => Err(error),
            Ok(None) | Err(_) => {
                move_aside(&path);
                let journal_error = |source| TurnJournalError { path: path.clone(), source };
                Self::open_file(&path)?.ok_or_else(|| journal_error(rusqlite::Error::InvalidQuery))
            }
        }
    }

    /// A journal in memory, for a question that is not recorded.
    ///
    /// # Errors
    /// SQLite can't be used.
    pub fn in_memory() -> Result<Self, TurnJournalError> {
        let path = PathBuf::from(":memory:");
        let journal_error = |source| TurnJournalError { path: path.clone(), source };
        let connection = Connection::open_in_memory().map_err(journal_error)?;
        connection.execute_batch(SCHEMA).map_err(journal_error)?;
        connection.execute_batch(sessions::TABLES).map_err(journal_error)?;
        connection.execute_batch(background_calls::SCHEMA).map_err(journal_error)?;
        Ok(Self { path, connection: Mutex::new(connection) })
    }

    fn open_file(path: &Path) -> Result<Option<Self>, TurnJournalError> {
        let journal_error = |source| TurnJournalError { path: path.to_owned(), source };
        let mut connection = Connection::open(path).map_err(journal_error)?;
        connection.busy_timeout(std::time::Duration::from_secs(10)).map_err(journal_error)?;
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
            .map_err(journal_error)?;
        let found = create_tables(&mut connection).map_err(journal_error)?;
        if found != VERSION {
            return Ok(None);
        }
        add_later_columns(&connection).map_err(journal_error)?;
        connection.execute_batch(sessions::TABLES).map_err(journal_error)?;
        connection.execute_batch(background_calls::SCHEMA).map_err(journal_error)?;
        Ok(Some(Self { path: path.to_owned(), connection: Mutex::new(connection) }))
    }

    /// Accepts a message; false if it was accepted before.
    pub fn accept(&self, turn: &NewTurn, now: Timestamp) -> Result<bool, TurnJournalError> {
        self.write(|tx| insert(tx, turn, now))
    }

    /// Records that the answer begins by saying that the assistant was away.
    pub fn mark_away(&self, message: u64) -> Result<(), TurnJournalError> {
        self.execute("UPDATE turns SET away = 1 WHERE message = ?1", [message.to_string()])
    }

    /// Adds a program message to a question, once.
    pub fn add_to_question(&self, message: u64, sentence: &str) -> Result<(), TurnJournalError> {
        let add =
            "UPDATE turns SET text = text || char(10, 10) || ?2 WHERE message = ?1 AND instr(text, ?2) = 0";
        self.execute(add, params![message.to_string(), sentence])
    }

    /// The turn of a message.
    pub fn turn(&self, message: u64) -> Result<Option<TurnRow>, TurnJournalError> {
        self.row(&format!("{SELECT} WHERE message = ?1"), [message.to_string()], turn_of)
    }

    /// The turn whose question is the log block with this id.
    pub fn by_block(&self, id: &str) -> Result<Option<TurnRow>, TurnJournalError> {
        let sql = format!("{SELECT} WHERE substr(block, -length(?1)) = ?1 ORDER BY number DESC LIMIT 1");
        self.row(&sql, [format!("#^{id}")], turn_of)
    }

    /// Records why memory answers in place of a brain.
    pub fn record_memory_answer(
        &self,
        message: u64,
        why: &str,
        now: Timestamp,
    ) -> Result<(), TurnJournalError> {
        self.write(|tx| step(tx, message, MEMORY_STEP, now, why))
    }

    /// Why memory answered in place of a brain, if it did.
    pub fn memory_reason(&self, message: u64) -> Result<Option<String>, TurnJournalError> {
        self.last_detail(message, MEMORY_STEP)
    }

    /// The turns that aren't finished, in the order in which they were accepted; of one channel, or all.
    pub fn open_turns(&self, channel: Option<u64>) -> Result<Vec<TurnRow>, TurnJournalError> {
        let sql = format!(
            "{SELECT} WHERE state NOT IN ('done', 'dropped') AND (?1 IS NULL OR channel = ?1) ORDER BY number"
        );
        self.rows(&sql, [channel.map(|id| id.to_string())], turn_of)
    }

    /// The latest turns, newest first.
    pub fn latest(&self, most: usize) -> Result<Vec<TurnRow>, TurnJournalError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.rows(&format!("{SELECT} ORDER BY number DESC LIMIT ?1"), [most], turn_of)
    }

    /// Marks these messages as answered by the answer to `leader`.
    pub fn join(&self, leader: u64, others: &[u64], now: Timestamp) -> Result<(), TurnJournalError> {
        self.write(|tx| {
            for other in others {
                tx.execute(
                    "UPDATE turns SET joined = ?2 WHERE message = ?1 AND state = 'accepted'",
                    params![other.to_string(), leader.to_string()],
                )?;
                step(tx, *other, "joined", now, &leader.to_string())?;
            }
            Ok(())
        })
    }

    /// The other messages that the answer to `leader` also answers, in order.
    pub fn joined_to(&self, leader: u64) -> Result<Vec<TurnRow>, TurnJournalError> {
        self.rows(&format!("{SELECT} WHERE joined = ?1 ORDER BY number"), [leader.to_string()], turn_of)
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, f: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, TurnJournalError> {
        f(&self.connection()).map_err(|source| TurnJournalError { path: self.path.clone(), source })
    }

    /// All rows of a query.
    fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, TurnJournalError> {
        self.read(|db| db.prepare_cached(sql)?.query_map(params, row)?.collect())
    }

    /// The first row of a query, if there is one.
    fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, TurnJournalError> {
        self.read(|db| db.prepare_cached(sql)?.query_row(params, row).optional())
    }

    /// The detail of a turn's last step with this name.
    fn last_detail(&self, message: u64, step: &str) -> Result<Option<String>, TurnJournalError> {
        let sql = "SELECT detail FROM steps WHERE message = ?1 AND step = ?2 ORDER BY number DESC LIMIT 1";
        self.row(sql, params![message.to_string(), step], |row| row.get(0))
    }

    /// One statement in a transaction of its own.
    fn execute(&self, sql: &str, params: impl Params) -> Result<(), TurnJournalError> {
        self.write(|tx| tx.execute(sql, params).map(drop))
    }

    fn write<T>(
        &self,
        f: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, TurnJournalError> {
        let mut connection = self.connection();
        let run = || {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = f(&tx)?;
            tx.commit()?;
            Ok(value)
        };
        run().map_err(|source| TurnJournalError { path: self.path.clone(), source })
    }
}

/// Adds the row of a message; false if there is one.
fn insert(tx: &Transaction<'_>, turn: &NewTurn, now: Timestamp) -> rusqlite::Result<bool> {
    let added = tx.execute(
        "INSERT INTO turns (message, channel, thread, author, block, text, only_brain, away, reply, files, state, started_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'accepted', ?11) ON CONFLICT DO NOTHING",
        params![
            turn.message.to_string(),
            turn.channel.to_string(),
            turn.thread,
            turn.author,
            turn.block,
            turn.text,
            turn.only,
            turn.away,
            turn.reply,
            turn.attachments.join("\n"),
            now.as_millisecond()
        ],
    )?;
    if added > 0 {
        step(tx, turn.message, "accepted", now, "")?;
    }
    Ok(added > 0)
}

/// A count as SQLite stores it.
fn to_i64(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A stored count; 0 if there is none.
fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, Option<i64>>(column)?.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
}

fn instant(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Deletes the oldest finished turns above [`KEEP_FINISHED`].
fn prune(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let span: i64 = tx
        .prepare_cached("SELECT coalesce(max(number) - min(number), 0) FROM turns")?
        .query_row([], |row| row.get(0))?;
    if span < 2 * KEEP_FINISHED {
        return Ok(());
    }
    tx.execute(
        "DELETE FROM turns WHERE state IN ('done', 'dropped') AND number < (SELECT max(number) FROM turns) - ?1",
        [KEEP_FINISHED],
    )?;
    for table in ["calls", "rounds", "tools", "steps", "costs"] {
        tx.execute(&format!("DELETE FROM {table} WHERE message NOT IN (SELECT message FROM turns)"), [])?;
    }
    Ok(())
}

/// Creates missing tables; returns the file's version. Another process, or another
/// part of this one, may be at the same.
fn create_tables(connection: &mut Connection) -> rusqlite::Result<i64> {
    let version = |db: &Connection| db.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
    if version(connection)? != 0 {
        return version(connection);
    }
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if version(&tx)? == 0 {
        tx.execute_batch(SCHEMA)?;
        tx.pragma_update(None, "user_version", VERSION)?;
    }
    let found = version(&tx)?;
    tx.commit()?;
    Ok(found)
}

/// Adds the columns that a journal of an earlier version lacks.
fn add_later_columns(connection: &Connection) -> rusqlite::Result<()> {
    for (column, add) in ADDED_COLUMNS {
        let known = "SELECT count(*) FROM pragma_table_info('turns') WHERE name = ?1";
        if connection.query_row(known, [column], |row| row.get::<_, i64>(0))? == 0 {
            connection.execute_batch(add)?;
        }
    }
    Ok(())
}

/// Moves an unusable file aside, with its side files.
fn move_aside(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut from = path.as_os_str().to_owned();
        from.push(suffix);
        let mut to = path.with_extension("sqlite.broken").into_os_string();
        to.push(suffix);
        if std::fs::rename(&from, &to).is_ok() && suffix.is_empty() {
            tracing::warn!(from = %path.display(), "the turn journal can't be used: put aside, a new one begun");
        }
    }
}

#[cfg(test)]
mod tests;
