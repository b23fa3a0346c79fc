//! Records the calls of brains that answer no question (choosing memories, wording a reminder), and the events of a
//! day's budget: a person's decision, and the notice that it is used up.
//!
//! Such calls have a table of their own, so that they are not taken for attempts at a turn's answer. A day's budget
//! counts both kinds.

use std::collections::BTreeSet;

use jiff::Timestamp;
use rusqlite::params;

use super::TurnJournal;
use super::calls::{COLUMNS, call_of, insert_call};
use super::rows::CallRow;
use crate::brain::Usage;
use crate::sqlite::Result;

/// For how many days such calls are kept.
const KEEP_DAYS: i64 = 40;

impl TurnJournal {
    /// Whether it outlives the process.
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
            insert_call(tx, message, call, Some((purpose, at)))
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

    /// The spending since an instant, by brain: turns that were accepted since, and background calls.
    pub fn spent_since(&self, since: Timestamp) -> Result<Vec<(String, Usage)>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM calls WHERE message IN (SELECT message FROM turns WHERE started_ms >= ?1)
             UNION ALL SELECT {COLUMNS} FROM side_calls WHERE at_ms >= ?1"
        );
        self.db.rows(&sql, [since.as_millisecond()], |row| call_of(row).map(|call| (call.brain, call.usage)))
    }

    /// Records an event of a day's budget under a name that holds both: a person's answer, or its announced end.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spent_beside_answers_counts_and_is_no_attempt() {
        let journal = TurnJournal::in_memory().unwrap();
        let now: Timestamp = "2026-12-01T09:00:00Z".parse().unwrap();
        let usage = Usage { input: 10, output: 3, ..Usage::default() };
        let call = CallRow { brain: "b".into(), model: "m".into(), class: None, error: None, ms: 4, usage };
        journal.record_background_call(7, "recall", &call, now).unwrap();
        journal.record_background_call(0, "phrase", &call, now).unwrap();
        assert_eq!(journal.calls(7).unwrap(), []);
        assert_eq!(journal.background_calls(7).unwrap(), [call]);
        assert_eq!(journal.spent_since(now).unwrap().len(), 2);
        let later = now + jiff::SignedDuration::from_secs(1);
        assert_eq!(journal.spent_since(later).unwrap(), []);
        journal.record_budget_event("2026-12-01 day", now).unwrap();
        journal.record_budget_event("2026-12-01 day", later).unwrap();
        assert_eq!(journal.budget_events_since(now).unwrap().len(), 1);
        assert!(!journal.is_kept());
    }
}
