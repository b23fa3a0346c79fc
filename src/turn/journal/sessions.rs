//! Keeps the sessions of harnesses, to resume a conversation, and the costs that harnesses report.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::rows::ToolEnd;
use super::{TurnJournal, step};
use crate::brain::{ToolCall, ToolResult};
use crate::sqlite::Result;
use crate::turn::session_match::SessionHashes;

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
            let number: u32 = tx.query_row(
                "SELECT COALESCE(MAX(number) + 1, 0) FROM tools WHERE message = ?1",
                [&id],
                |row| row.get(0),
            )?;
            let round = serde_json::json!({ "text": "", "tool_calls": [call], "raw": null });
            tx.execute(
                "INSERT INTO rounds (message, reply) VALUES (?1, ?2)",
                params![id, round.to_string()],
            )?;
            tx.execute(
                "INSERT INTO tools (message, number, call_id, name, arguments) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![id, number, call.id, call.name, call.arguments],
            )?;
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
