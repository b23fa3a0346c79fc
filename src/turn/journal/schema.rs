//! Converts a row of the turn journal to a turn; names the columns that were added later.

use rusqlite::Row;

use super::instant;
use super::rows::{NewTurn, RecallRow, RequestRow, TurnRow};
use crate::turn::skills::ListedSkills;
use crate::turn::state::TurnState;

/// Columns that a journal of an earlier version may lack.
pub(super) const ADDED_COLUMNS: [(&str, &str); 2] = [
    ("skills", "ALTER TABLE turns ADD COLUMN skills TEXT"),
    ("sums", "ALTER TABLE turns ADD COLUMN sums TEXT"),
];

/// The columns that [`turn_of`] reads.
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
    let (at, budget): (Option<i64>, Option<u64>) = (row.get(15)?, row.get(16)?);
    let (tail, hash): (Option<String>, Option<String>) = (row.get(17)?, row.get(18)?);
    let skills: Option<String> = row.get(24)?;
    let skills = skills.as_deref().and_then(ListedSkills::parse);
    let sums: Option<String> = row.get(25)?;
    let sums: Vec<String> =
        sums.iter().flat_map(|sums| sums.split(',')).filter(|id| !id.is_empty()).map(str::to_owned).collect();
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
            attachments: files.split('\n').filter(|kind| !kind.is_empty()).map(str::to_owned).collect(),
        },
        // A state of a newer program version: the question is asked again rather than lost.
        state: TurnState::named(&state).unwrap_or(TurnState::Accepted),
        joined: joined.and_then(|id| id.parse().ok()),
        brain: row.get(12)?,
        assembled: at.zip(hash).map(|(at, hash)| RequestRow {
            at: instant(at),
            budget: budget.unwrap_or_default(),
            tail,
            hash,
            skills,
            sums,
        }),
        recalled: injection.map(|injection| RecallRow { injection, problem }),
        answer: row.get(19)?,
        facts: row.get(20)?,
        chunks: row.get(21)?,
        started: instant(row.get(22)?),
        finished: row.get::<_, Option<i64>>(23)?.map(instant),
    })
}
