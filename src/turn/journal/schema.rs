//! Defines the tables of the turn journal, and converts a row to a turn.

use rusqlite::Row;

use super::rows::{Assembled, NewTurn, Recalled, TurnRow};
use super::{count, instant};
use crate::turn::skills::Names;
use crate::turn::state::TurnState;

/// The tables of an empty journal.
pub(super) const SCHEMA: &str = "
CREATE TABLE turns (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  message TEXT NOT NULL UNIQUE, channel TEXT NOT NULL, thread INTEGER NOT NULL, author TEXT NOT NULL,
  block TEXT NOT NULL, text TEXT NOT NULL, only_brain TEXT, away INTEGER NOT NULL, reply INTEGER NOT NULL,
  files TEXT NOT NULL, state TEXT NOT NULL, joined TEXT, brain TEXT,
  injection TEXT, recall_problem TEXT, at_ms INTEGER, budget INTEGER, tail TEXT, hash TEXT, skills TEXT, sums TEXT,
  answer TEXT, facts TEXT, chunks INTEGER NOT NULL DEFAULT 0, started_ms INTEGER NOT NULL, finished_ms INTEGER
);
CREATE INDEX open_turns ON turns (channel, number) WHERE state NOT IN ('done', 'dropped');
CREATE INDEX joined_turns ON turns (joined) WHERE joined IS NOT NULL;
CREATE TABLE calls (
  number INTEGER PRIMARY KEY, message TEXT NOT NULL, brain TEXT NOT NULL, model TEXT NOT NULL, class TEXT, error TEXT,
  ms INTEGER NOT NULL, input INTEGER NOT NULL, cached INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  output INTEGER NOT NULL
);
CREATE INDEX calls_of ON calls (message);
CREATE TABLE rounds (number INTEGER PRIMARY KEY, message TEXT NOT NULL, reply TEXT NOT NULL);
CREATE INDEX rounds_of ON rounds (message);
CREATE TABLE tools (
  message TEXT NOT NULL, number INTEGER NOT NULL, call_id TEXT NOT NULL, name TEXT NOT NULL, arguments TEXT NOT NULL,
  result TEXT, is_error INTEGER, ms INTEGER, PRIMARY KEY (message, number)
);
CREATE TABLE steps (number INTEGER PRIMARY KEY, message TEXT NOT NULL, step TEXT NOT NULL, at_ms INTEGER NOT NULL, detail TEXT NOT NULL);
CREATE INDEX steps_of ON steps (message);
";

/// Columns that a journal of an earlier version may lack.
pub(super) const ADDED_COLUMNS: [(&str, &str); 2] = [
    ("skills", "ALTER TABLE turns ADD COLUMN skills TEXT"),
    ("sums", "ALTER TABLE turns ADD COLUMN sums TEXT"),
];

/// What [`turn_of`] reads.
pub(super) const SELECT: &str = "SELECT message, channel, thread, author, block, text, only_brain, away, reply, files, state, joined,
 brain, injection, recall_problem, at_ms, budget, tail, hash, answer, facts, chunks, started_ms, finished_ms, skills, sums FROM turns";

/// Reads a row of [`SELECT`].
pub(super) fn turn_of(row: &Row<'_>) -> rusqlite::Result<TurnRow> {
    let id = |column: usize| -> rusqlite::Result<u64> {
        Ok(row.get::<_, String>(column)?.parse().unwrap_or_default())
    };
    let files: String = row.get(9)?;
    let state: String = row.get(10)?;
    let joined: Option<String> = row.get(11)?;
    let injection: Option<String> = row.get(13)?;
    let problem: Option<String> = row.get(14)?;
    let (at, budget): (Option<i64>, u64) = (row.get(15)?, count(row, 16)?);
    let (tail, hash): (Option<String>, Option<String>) = (row.get(17)?, row.get(18)?);
    let skills: Option<String> = row.get(24)?;
    let skills = skills.as_deref().and_then(Names::parse);
    let sums: Option<String> = row.get(25)?;
    let sums: Vec<String> =
        sums.iter().flat_map(|sums| sums.split(',')).filter(|id| !id.is_empty()).map(str::to_owned).collect();
    Ok(TurnRow {
        asked: NewTurn {
            message: id(0)?,
            channel: id(1)?,
            thread: row.get(2)?,
            author: row.get(3)?,
            block: row.get(4)?,
            text: row.get(5)?,
            only: row.get(6)?,
            away: row.get(7)?,
            reply: row.get(8)?,
            attachments: files.split('\n').filter(|kind| !kind.is_empty()).map(str::to_owned).collect(),
        },
        // A state of a newer program version: the question is asked again rather than lost.
        state: TurnState::named(&state).unwrap_or(TurnState::Accepted),
        joined: joined.and_then(|id| id.parse().ok()),
        brain: row.get(12)?,
        assembled: at.zip(hash).map(|(at, hash)| Assembled {
            at: instant(at),
            budget,
            tail,
            hash,
            skills,
            sums,
        }),
        recalled: injection.map(|injection| Recalled { injection, problem }),
        answer: row.get(19)?,
        facts: row.get(20)?,
        chunks: row.get(21)?,
        started: instant(row.get(22)?),
        finished: row.get::<_, Option<i64>>(23)?.map(instant),
    })
}
