//! Records the progress of each turn in the turn journal, `turns.sqlite` of the state directory.
//!
//! A row is one message to be answered, keyed by the message's id, so that a message which comes twice is one turn.
//! Each step is committed with fsync before its effect begins. The calls to brains, their rounds of tools and each
//! tool's start and end are recorded too. So a turn continues from the journal after a crash, and a tool that was
//! started is never started again. Deleting the file loses nothing of the vault; an open question may then be asked
//! again.
//!
//! - `rows`: the content, as values; `tables.sql`, `later_tables.sql`: the tables;
//! - `steps`: the progress of a turn, and the messages that stop it;
//! - `calls`: a turn's calls, calls outside of answers, and the sessions of harnesses.

mod calls;
mod rows;
mod steps;

use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, Row, Transaction, params};

use self::steps::step;
use super::skills::ListedSkills;
use crate::sqlite::{Database, DatabaseError, Result, StateFileKind};

pub use calls::HarnessSession;
pub use rows::{
    CallRow, NewTurn, OpenApproval, PAGE, RecallRow, RequestRow, Round, StepRow, ToolEnd, ToolRow, TurnRow,
    TurnState,
};

/// The file's name in the state directory.
pub const FILE_NAME: &str = "turns.sqlite";

/// The file; one of another version is begun anew.
static KIND: StateFileKind = StateFileKind {
    name: "the turn journal",
    hint: None,
    versions: &[include_str!("tables.sql")],
    each_time: |db| {
        add_later_columns(db)?;
        db.execute_batch(include_str!("later_tables.sql"))
    },
};

/// The step of an answer from memory.
const MEMORY_STEP: &str = "memory";
/// How many finished turns are kept for `turns`; older ones are deleted.
const KEEP_FINISHED: i64 = 20_000;

/// The turn journal of one vault.
#[derive(Debug)]
pub struct TurnJournal {
    db: Database,
}

impl TurnJournal {
    /// Opens the journal in `state_dir`, creating it if missing. A file that is no database, or of
    /// another version, is moved aside and a new one started.
    ///
    /// # Errors
    /// The directory can't be written.
    pub fn open(state_dir: &Path) -> Result<Self> {
        let is_newer = |error: &DatabaseError| matches!(error, DatabaseError::Newer { .. });
        Ok(Self { db: Database::open_or_renew(&KIND, state_dir.join(FILE_NAME), is_newer)? })
    }

    /// As [`open`](Self::open), where there is a journal; none is made.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_if_there(state_dir: &Path) -> Result<Option<Self>> {
        state_dir.join(FILE_NAME).exists().then(|| Self::open(state_dir)).transpose()
    }

    /// A journal in memory, for a question that is not recorded.
    ///
    /// # Errors
    /// SQLite can't be used.
    pub fn in_memory() -> Result<Self> {
        Ok(Self { db: Database::in_memory(&KIND)? })
    }

    /// Accepts a message; false if it was accepted before.
    pub fn accept(&self, turn: &NewTurn, now: Timestamp) -> Result<bool> {
        self.db.write(|tx| insert(tx, turn, now))
    }

    /// Records that the answer begins by saying that the assistant was away.
    pub fn mark_away(&self, message: u64) -> Result<()> {
        self.db.execute("UPDATE turns SET away = 1 WHERE message = ?1", [message.to_string()]).map(drop)
    }

    /// Adds a program message to a question, once.
    pub fn add_to_question(&self, message: u64, sentence: &str) -> Result<()> {
        let add =
            "UPDATE turns SET text = text || char(10, 10) || ?2 WHERE message = ?1 AND instr(text, ?2) = 0";
        self.db.execute(add, params![message.to_string(), sentence]).map(drop)
    }

    /// The turn of a message.
    pub fn turn(&self, message: u64) -> Result<Option<TurnRow>> {
        self.db.row(&format!("{SELECT} WHERE message = ?1"), [message.to_string()], turn_of)
    }

    /// The turn whose question is the log block with this id.
    pub fn by_block(&self, id: &str) -> Result<Option<TurnRow>> {
        let sql = format!("{SELECT} WHERE substr(block, -length(?1)) = ?1 ORDER BY number DESC LIMIT 1");
        self.db.row(&sql, [format!("#^{id}")], turn_of)
    }

    /// Records why memory answers in place of a brain.
    pub fn record_memory_answer(&self, message: u64, why: &str, now: Timestamp) -> Result<()> {
        self.db.write(|tx| step(tx, message, MEMORY_STEP, now, why))
    }

    /// Why memory answered in place of a brain, if it did.
    pub fn memory_reason(&self, message: u64) -> Result<Option<String>> {
        self.last_detail(message, MEMORY_STEP)
    }

    /// The turns that aren't finished, in the order in which they were accepted; of one channel, or all.
    pub fn open_turns(&self, channel: Option<u64>) -> Result<Vec<TurnRow>> {
        let sql = format!(
            "{SELECT} WHERE state NOT IN ('done', 'dropped') AND (?1 IS NULL OR channel = ?1) ORDER BY number"
        );
        self.db.rows(&sql, [channel.map(|id| id.to_string())], turn_of)
    }

    /// The latest turns, newest first.
    pub fn latest(&self, most: usize) -> Result<Vec<TurnRow>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.db.rows(&format!("{SELECT} ORDER BY number DESC LIMIT ?1"), [most], turn_of)
    }

    /// Marks these messages as answered by the answer to `leader`.
    pub fn join(&self, leader: u64, others: &[u64], now: Timestamp) -> Result<()> {
        self.db.write(|tx| {
            for other in others {
                let sql = "UPDATE turns SET joined = ?2 WHERE message = ?1 AND state = 'accepted'";
                if tx.execute(sql, params![other.to_string(), leader.to_string()])? > 0 {
                    step(tx, *other, "joined", now, &leader.to_string())?;
                }
            }
            Ok(())
        })
    }

    /// The other messages that the answer to `leader` also answers, in order.
    pub fn joined_to(&self, leader: u64) -> Result<Vec<TurnRow>> {
        self.db.rows(&format!("{SELECT} WHERE joined = ?1 ORDER BY number"), [leader.to_string()], turn_of)
    }

    /// The detail of a turn's last step with this name.
    fn last_detail(&self, message: u64, step: &str) -> Result<Option<String>> {
        let sql = "SELECT detail FROM steps WHERE message = ?1 AND step = ?2 ORDER BY number DESC LIMIT 1";
        self.db.row(sql, params![message.to_string(), step], |row| row.get(0))
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
    let sql = "DELETE FROM turns WHERE state IN ('done', 'dropped') AND number < (SELECT max(number) FROM turns) - ?1";
    tx.execute(sql, [KEEP_FINISHED])?;
    for table in ["calls", "rounds", "tools", "steps", "costs"] {
        tx.execute(&format!("DELETE FROM {table} WHERE message NOT IN (SELECT message FROM turns)"), [])?;
    }
    Ok(())
}

/// Adds the columns that a journal of an earlier version lacks.
fn add_later_columns(connection: &Connection) -> rusqlite::Result<()> {
    for (table, column, kind) in ADDED_COLUMNS {
        let known = "SELECT count(*) > 0 FROM pragma_table_info(?1) WHERE name = ?2";
        let is_known = || connection.query_row(known, [table, column], |row| row.get::<_, bool>(0));
        if !is_known()? {
            let added = connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} {kind}"));
            // Another process may have added it meanwhile.
            added.or_else(|error| if is_known()? { Ok(()) } else { Err(error) })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

/// Columns that a journal of an earlier version may lack, with their tables and types.
const ADDED_COLUMNS: [(&str, &str, &str); 3] =
    [("turns", "skills", "TEXT"), ("turns", "sums", "TEXT"), ("calls", "at_ms", "INTEGER")];

/// The columns that [`turn_of`] reads.
pub(super) const SELECT: &str = "SELECT message, channel, thread, author, block, text, only_brain, away, reply, files, state, joined,
 brain, injection, recall_problem, at_ms, budget, tail, hash, answer, facts, chunks, started_ms, finished_ms, skills, sums FROM turns";

/// Reads a row of [`SELECT`].
pub(super) fn turn_of(row: &Row<'_>) -> rusqlite::Result<TurnRow> {
    let id = |column: usize| -> rusqlite::Result<u64> {
        Ok(row.get::<_, String>(column)?.parse().unwrap_or_default())
    };
    let text = |column: usize| row.get::<_, Option<String>>(column);
    let list = |column: usize, between: char| -> rusqlite::Result<Vec<String>> {
        let parts = text(column)?.unwrap_or_default();
        Ok(parts.split(between).filter(|part| !part.is_empty()).map(str::to_owned).collect())
    };
    let at = row.get::<_, Option<i64>>(15)?.map(instant);
    let budget = row.get::<_, Option<u64>>(16)?.unwrap_or_default();
    let (injection, problem, tail, hash) = (text(13)?, text(14)?, text(17)?, text(18)?);
    let (skills, sums) = (text(24)?.as_deref().and_then(ListedSkills::parse), list(25, ',')?);
    Ok(TurnRow {
        question: NewTurn {
            message: id(0)?,
            channel: id(1)?,
            thread: row.get(2)?,
            author: row.get(3)?,
            block: row.get(4)?,
            text: row.get(5)?,
            only: row.get(6)?,
            away: row.get(7)?,
            reply: row.get(8)?,
            attachments: list(9, '\n')?,
        },
        // A state of a newer program version: the question is asked again rather than lost.
        state: TurnState::named(&row.get::<_, String>(10)?).unwrap_or(TurnState::Accepted),
        joined: text(11)?.and_then(|id| id.parse().ok()),
        brain: text(12)?,
        assembled: at.zip(hash).map(|(at, hash)| RequestRow { at, budget, tail, hash, skills, sums }),
        recalled: injection.map(|injection| RecallRow { injection, problem }),
        answer: row.get(19)?,
        facts: row.get(20)?,
        chunks: row.get(21)?,
        started: instant(row.get(22)?),
        finished: row.get::<_, Option<i64>>(23)?.map(instant),
    })
}
