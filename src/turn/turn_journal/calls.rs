//! Records a turn's calls to brains, their rounds of tool calls, and each tool's start and end. Also records
//! background calls, events of the day's budgets, the sessions of harnesses (to resume a conversation), and the costs
//! that harnesses report.

use std::collections::BTreeSet;

use jiff::Timestamp;
use rusqlite::{OptionalExtension, ToSql, Transaction, params};

use super::rows::{CallRow, Round, ToolEnd, ToolRow};
use super::{TurnJournal, step};
use crate::brain::{FailureClass, Reply, ToolCall, ToolResult, Usage};
use crate::sqlite::Result;
use crate::turn::session_match::SessionHashes;

/// The columns that [`call_of`] reads.
pub(super) const COLUMNS: &str = "brain, model, class, error, ms, input, cached, cache_write, output";

/// Reads a call from a row of [`COLUMNS`].
pub(super) fn call_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<CallRow> {
    let class: Option<String> = row.get(2)?;
    Ok(CallRow {
        brain: row.get(0)?,
        model: row.get(1)?,
        class: class.as_deref().and_then(FailureClass::named),
        error: row.get(3)?,
        ms: row.get(4)?,
        usage: Usage {
            input: row.get(5)?,
            cached: row.get(6)?,
            cache_write: row.get(7)?,
            output: row.get(8)?,
        },
    })
}

impl TurnJournal {
    /// Records a finished call, and the round of tools that it asks for.
    pub fn called(&self, message: u64, call: &CallRow, round: Option<&Reply>, now: Timestamp) -> Result<()> {
        self.db.write(|tx| {
            insert_call(tx, message, call, None, now.as_millisecond())?;
            if let Some(reply) = round {
                let json = serde_json::json!({ "text": reply.text, "tool_calls": reply.tool_calls, "raw": reply.raw });
                let sql = "INSERT INTO rounds (message, reply) VALUES (?1, ?2)";
                tx.execute(sql, params![message.to_string(), json.to_string()])?;
            }
            let detail = match (&call.class, round) {
                (Some(class), _) => format!("{}: {}", call.brain, class.name()),
                (None, Some(reply)) => format!("{}: {} tools", call.brain, reply.tool_calls.len()),
                (None, None) => format!("{}: an answer", call.brain),
            };
            step(tx, message, "call ended", now, &detail)
        })
    }

    /// The calls of a turn, in their order.
    pub fn calls(&self, message: u64) -> Result<Vec<CallRow>> {
        let sql = format!("SELECT {COLUMNS} FROM calls WHERE message = ?1 ORDER BY number");
        self.db.rows(&sql, [message.to_string()], call_of)
    }

    /// The rounds of tools that brains asked for in a turn, in their order.
    pub fn rounds(&self, message: u64) -> Result<Vec<Round>> {
        let sql = "SELECT reply FROM rounds WHERE message = ?1 ORDER BY number";
        self.db.rows(sql, [message.to_string()], |row| {
            Ok(serde_json::from_str(&row.get::<_, String>(0)?).unwrap_or_default())
        })
    }

    /// Records that a tool is started, before it starts. False if it was started before; then it must not be started
    /// again.
    pub fn tool_started(&self, message: u64, number: u32, call: &ToolCall, now: Timestamp) -> Result<bool> {
        self.db.write(|tx| {
            let added = tx.execute(
                "INSERT INTO tools (message, number, call_id, name, arguments) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO NOTHING",
                params![message.to_string(), number, call.id, call.name, call.arguments],
            )?;
            step(tx, message, "tool started", now, &call.name)?;
            Ok(added > 0)
        })
    }

    /// Records a finished tool call, unless its end is recorded already.
    pub fn tool_finished(&self, message: u64, number: u32, end: &ToolEnd, now: Timestamp) -> Result<()> {
        self.db.write(|tx| {
            let sql = "UPDATE tools SET result = ?3, is_error = ?4, ms = ?5
                       WHERE message = ?1 AND number = ?2 AND result IS NULL";
            match tx.execute(sql, params![message.to_string(), number, end.text, end.is_error, end.ms])? {
                0 => Ok(()),
                _ => step(tx, message, "tool finished", now, if end.is_error { "failed" } else { "" }),
            }
        })
    }

    /// The tools of a turn that were started, in their order.
    pub fn tools(&self, message: u64) -> Result<Vec<ToolRow>> {
        let sql = "SELECT number, call_id, name, arguments, result, is_error, ms FROM tools WHERE message = ?1 ORDER BY number";
        self.db.rows(sql, [message.to_string()], |row| {
            let is_error = row.get::<_, Option<bool>>(5)?.unwrap_or(false);
            let ms = row.get::<_, Option<u64>>(6)?.unwrap_or(0);
            Ok(ToolRow {
                number: row.get(0)?,
                call: ToolCall { id: row.get(1)?, name: row.get(2)?, arguments: row.get(3)? },
                result: row.get::<_, Option<String>>(4)?.map(|text| ToolEnd { text, is_error, ms }),
            })
        })
    }
}

/// Inserts a call of a turn that ended at this time; with a purpose, a call outside of answers.
pub(super) fn insert_call(
    tx: &Transaction<'_>,
    message: u64,
    call: &CallRow,
    purpose: Option<&str>,
    at: i64,
) -> rusqlite::Result<()> {
    let (table, column, value) = match purpose {
        Some(_) => ("side_calls", ", purpose", ", ?12"),
        None => ("calls", "", ""),
    };
    let sql = format!(
        "INSERT INTO {table} (message, {COLUMNS}, at_ms{column})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11{value})"
    );
    let (message, class, usage) = (message.to_string(), call.class.map(FailureClass::name), &call.usage);
    let counts = [call.ms, usage.input, usage.cached, usage.cache_write, usage.output];
    let mut row: Vec<&dyn ToSql> = vec![&message, &call.brain, &call.model, &class, &call.error];
    row.extend(counts.iter().map(|count| count as &dyn ToSql));
    row.push(&at);
    row.extend(purpose.iter().map(|purpose| purpose as &dyn ToSql));
    tx.prepare_cached(&sql)?.execute(row.as_slice()).map(drop)
}

/// For how many days such calls are kept.
const KEEP_DAYS: i64 = 40;

impl TurnJournal {
    /// Whether the journal outlives the process.
    pub fn is_kept(&self) -> bool {
        self.db.is_kept()
    }

    /// Records a finished call that was no attempt at an answer; `message` is the turn that it was made for, 0 if
    /// there was none.
    pub fn record_background_call(
        &self,
        message: u64,
        purpose: &str,
        call: &CallRow,
        now: Timestamp,
    ) -> Result<()> {
        self.db.write(|tx| {
            let (at, day) = (now.as_millisecond(), 24 * 60 * 60 * 1000);
            tx.execute("DELETE FROM side_calls WHERE at_ms < ?1", [at - KEEP_DAYS * day])?;
            insert_call(tx, message, call, Some(purpose), at)
        })
    }

    /// The background calls of a turn, in order.
    pub fn background_calls(&self, message: u64) -> Result<Vec<CallRow>> {
        let sql = format!("SELECT {COLUMNS} FROM side_calls WHERE message = ?1 ORDER BY number");
        self.db.rows(&sql, [message.to_string()], call_of)
    }

    /// The tokens that a turn has used, including its background calls.
    pub fn tokens(&self, message: u64) -> Result<u64> {
        let (own, background) = (self.calls(message)?, self.background_calls(message)?);
        Ok(own.iter().chain(&background).map(|call| call.usage.input + call.usage.output).sum())
    }

    /// The spending since an instant, by brain: calls that ended since, whenever their turn was accepted. A call that an
    /// earlier version recorded has no time, so the turn's counts.
    pub fn spent_since(&self, since: Timestamp) -> Result<Vec<(String, Usage)>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM calls WHERE at_ms >= ?1
             UNION ALL SELECT {COLUMNS} FROM calls
             WHERE at_ms IS NULL AND message IN (SELECT message FROM turns WHERE started_ms >= ?1)
             UNION ALL SELECT {COLUMNS} FROM side_calls WHERE at_ms >= ?1"
        );
        self.db.rows(&sql, [since.as_millisecond()], |row| call_of(row).map(|call| (call.brain, call.usage)))
    }

    /// Records an event of a day's budget: a person's answer, or the announcement that it is used up. The name contains
    /// the day and the event.
    pub fn record_budget_event(&self, budget: &str, now: Timestamp) -> Result<()> {
        let sql = "INSERT INTO lifted (budget, at_ms) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        self.db.execute(sql, params![budget, now.as_millisecond()]).map(drop)
    }

    /// The names of the recorded budget events since an instant.
    pub fn budget_events_since(&self, since: Timestamp) -> Result<BTreeSet<String>> {
        let sql = "SELECT budget FROM lifted WHERE at_ms >= ?1";
        self.db.rows(sql, [since.as_millisecond()], |row| row.get(0))
    }
}

/// How many sessions are stored; an older one is started anew.
const KEEP_SESSIONS: u32 = 500;

/// A harness's session of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct HarnessSession {
    /// The harness's name for it.
    pub id: String,
    /// Its content, as hashes.
    pub hashes: SessionHashes,
    /// Its cost so far, if the harness reports it.
    pub usd: Option<f64>,
}

impl TurnJournal {
    /// Takes the session of a brain in a conversation; it is stored again once its turn is answered.
    pub fn take_session(&self, brain: &str, place: &str) -> Result<Option<HarnessSession>> {
        self.db.write(|tx| {
            let sql = "DELETE FROM sessions WHERE brain = ?1 AND place = ?2 RETURNING session, known, usd";
            let session = |row: &rusqlite::Row<'_>| {
                let known: String = row.get(1)?;
                let (id, usd) = (row.get(0)?, row.get(2)?);
                Ok(serde_json::from_str(&known).ok().map(|known| HarnessSession { id, hashes: known, usd }))
            };
            tx.query_row(sql, [brain, place], session).optional().map(Option::flatten)
        })
    }

    /// Stores a session.
    pub fn keep_session(&self, brain: &str, place: &str, session: &HarnessSession) -> Result<()> {
        self.db.write(|tx| {
            tx.execute(
                "INSERT OR REPLACE INTO sessions (brain, place, session, known, usd) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![brain, place, session.id, serde_json::json!(session.hashes).to_string(), session.usd],
            )?;
            let most = "SELECT rowid FROM sessions ORDER BY rowid DESC LIMIT ?1";
            tx.execute(&format!("DELETE FROM sessions WHERE rowid NOT IN ({most})"), [KEEP_SESSIONS]).map(drop)
        })
    }

    /// Records, before it happens, that a harness calls a tool, as a round of its own. Returns the call's number.
    pub fn harness_called(&self, message: u64, call: &ToolCall, now: Timestamp) -> Result<u32> {
        self.db.write(|tx| {
            let id = message.to_string();
            let sql = "SELECT COALESCE(MAX(number) + 1, 0) FROM tools WHERE message = ?1";
            let number: u32 = tx.query_row(sql, [&id], |row| row.get(0))?;
            let round = serde_json::json!({ "text": "", "tool_calls": [call], "raw": null });
            let sql = "INSERT INTO rounds (message, reply) VALUES (?1, ?2)";
            tx.execute(sql, params![id, round.to_string()])?;
            let sql =
                "INSERT INTO tools (message, number, call_id, name, arguments) VALUES (?1, ?2, ?3, ?4, ?5)";
            tx.execute(sql, params![id, number, call.id, call.name, call.arguments])?;
            step(tx, message, "tool started", now, &call.name)?;
            Ok(number)
        })
    }

    /// The unfinished call of a turn with this id.
    pub fn open_call(&self, message: u64, call_id: &str) -> Result<Option<(u32, ToolCall)>> {
        let tools = self.tools(message)?;
        let open = tools.into_iter().rev().find(|row| row.call.id == call_id && row.result.is_none());
        Ok(open.map(|row| (row.number, row.call)))
    }

    /// Records a finished call of a harness. Returns its number and the call, if there is such a call.
    pub fn harness_finished(
        &self,
        message: u64,
        result: &ToolResult,
        end: &ToolEnd,
        now: Timestamp,
    ) -> Result<Option<(u32, ToolCall)>> {
        let found = self.open_call(message, &result.call_id)?;
        if let Some((number, _)) = &found {
            self.tool_finished(message, *number, end, now)?;
        }
        Ok(found)
    }

    /// Records the cost of a run.
    pub fn cost(&self, message: u64, brain: &str, usd: f64, now: Timestamp) -> Result<()> {
        let sql = "INSERT INTO costs (message, brain, usd, at_ms) VALUES (?1, ?2, ?3, ?4)";
        self.db.execute(sql, params![message.to_string(), brain, usd, now.as_millisecond()]).map(drop)
    }

    /// The cost of a turn's runs, by brain.
    pub fn costs(&self, message: u64) -> Result<Vec<(String, f64)>> {
        let sql = "SELECT brain, SUM(usd) FROM costs WHERE message = ?1 GROUP BY brain";
        self.db.rows(sql, [message.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The cost of all runs since an instant, by brain.
    pub fn costs_since(&self, since: Timestamp) -> Result<Vec<(String, f64)>> {
        let sql = "SELECT brain, SUM(usd) FROM costs WHERE at_ms >= ?1 GROUP BY brain";
        self.db.rows(sql, [since.as_millisecond()], |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::NewTurn;

    #[test]
    fn what_was_spent_beside_answers_counts_and_is_no_attempt() {
        let journal = TurnJournal::in_memory().unwrap();
        let now: Timestamp = "2026-12-01T09:00:00Z".parse().unwrap();
        let usage = Usage { input: 10, output: 3, ..Usage::default() };
        let call = CallRow { brain: "b".into(), model: "m".into(), class: None, error: None, ms: 4, usage };
        journal.record_background_call(7, "recall", &call, now).unwrap();
        journal.record_background_call(0, "phrase", &call, now).unwrap();
        assert_eq!(journal.calls(7).unwrap(), []);
        assert_eq!(journal.background_calls(7).unwrap(), std::slice::from_ref(&call));
        assert_eq!(journal.spent_since(now).unwrap().len(), 2);
        let later = now + jiff::SignedDuration::from_secs(1);
        assert_eq!(journal.spent_since(later).unwrap(), []);
        // Of a turn: by its own time, not by the turn's.
        journal.accept(&NewTurn { message: 8, ..NewTurn::default() }, now).unwrap();
        journal.called(8, &call, None, later).unwrap();
        assert_eq!(journal.spent_since(later).unwrap().len(), 1);
        assert_eq!(journal.spent_since(later + jiff::SignedDuration::from_secs(1)).unwrap(), []);
        // As an earlier version recorded it.
        journal.db.execute("UPDATE calls SET at_ms = NULL", []).unwrap();
        assert_eq!(journal.spent_since(now).unwrap().len(), 3);
        assert_eq!(journal.spent_since(later).unwrap(), []);
        journal.record_budget_event("2026-12-01 day", now).unwrap();
        journal.record_budget_event("2026-12-01 day", later).unwrap();
        assert_eq!(journal.budget_events_since(now).unwrap().len(), 1);
        assert!(!journal.is_kept());
    }
}
