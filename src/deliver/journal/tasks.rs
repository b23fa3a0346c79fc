//! Records task lines: since when each form gives notifications, and tasks that moved or changed after their
//! notification.

use std::collections::HashMap;

use jiff::{Timestamp, civil};
use rusqlite::params;

use super::chunks::to_json;
use super::keys::{LineHash, local_text, parts};
use super::{Journal, Result};
use crate::deliver::notifier::Fact;
use crate::sqlite::{instant, json};

/// A task whose notification was sent, or may have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifiedTask {
    /// Its key.
    pub key: String,
    /// Whether it surely was.
    pub is_certain: bool,
    /// The sent item.
    pub fact: Fact,
}

fn task_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<NotifiedTask> {
    Ok(NotifiedTask {
        key: row.get(0)?,
        is_certain: row.get::<_, String>(1)? != "sending",
        fact: json(row, 2)?,
    })
}

impl Journal {
    /// The instants since when each known scope (a form, with its filter and the pattern of its notes) is notified.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn task_scopes(&self) -> Result<HashMap<String, Timestamp>> {
        self.db.rows("SELECT scope, since_ms FROM task_scopes", [], |row| {
            Ok((row.get(0)?, instant(row.get(1)?).unwrap_or(Timestamp::MIN)))
        })
    }

    /// Records that exactly these scopes are notified: new ones since `now`; one that is turned on again begins anew.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn set_task_scopes(&self, scopes: &[String], now: Timestamp) -> Result<()> {
        let known = self.task_scopes()?;
        self.db.write(|tx| {
            for scope in known.keys().filter(|scope| !scopes.contains(scope)) {
                tx.execute("DELETE FROM task_scopes WHERE scope = ?1", [scope])?;
            }
            for scope in scopes {
                tx.execute(
                    "INSERT INTO task_scopes (scope, since_ms) VALUES (?1, ?2) ON CONFLICT (scope) DO NOTHING",
                    params![scope, now.as_millisecond()],
                )?;
            }
            Ok(())
        })
    }

    /// Notifications for local times between `from` and `to`, both included, the latest first; at most a thousand.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn notifications(&self, from: civil::DateTime, to: civil::DateTime) -> Result<Vec<Fact>> {
        let sql = "SELECT fact FROM deliveries WHERE local BETWEEN ?1 AND ?2 AND state IN ('sent', 'done')
                   ORDER BY number DESC LIMIT 1000";
        let facts: Vec<Option<Fact>> =
            self.db.rows(sql, [local_text(from), local_text(to)], |row| Ok(json(row, 0).ok()))?;
        Ok(facts.into_iter().flatten().collect())
    }

    /// Notifications, sent or being sent, of tasks with these words in any note: at a local time, or for a line that
    /// named the same day.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn notified_tasks(
        &self,
        words: &str,
        local: civil::DateTime,
        day: Option<&LineHash>,
    ) -> Result<Vec<NotifiedTask>> {
        let sql = "SELECT key, state, fact FROM deliveries
                   WHERE subject > ?1 || '_' AND subject < ?1 || '`' AND (local = ?2 OR line = ?3)
                   AND state IN ('sending', 'sent', 'done') ORDER BY number";
        let values = params![format!("task_{words}"), local_text(local), day.map(LineHash::bytes)];
        self.db.rows(sql, values, task_of)
    }

    /// Notifications, sent or being sent, of all tasks at a local time.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn notified_tasks_at(&self, local: civil::DateTime) -> Result<Vec<NotifiedTask>> {
        let sql = "SELECT key, state, fact FROM deliveries
                   WHERE subject > 'task_' AND subject < 'task`' AND local = ?1
                   AND state IN ('sending', 'sent', 'done') ORDER BY number";
        self.db.rows(sql, [local_text(local)], task_of)
    }

    /// Records the present lines of these keys.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn set_task_lines(&self, lines: &[(&str, LineHash)]) -> Result<()> {
        self.db.write(|tx| {
            let mut statement = tx.prepare_cached("UPDATE deliveries SET line = ?2 WHERE key = ?1")?;
            lines.iter().try_for_each(|(key, line)| statement.execute(params![key, line.bytes()]).map(drop))
        })
    }

    /// Gives a task that was notified under one key another key, because it moved or changed.
    pub fn task_moved(&self, from: &str, to: &str, line: &LineHash, fact: &Fact) -> Result<()> {
        let (subject, local) = parts(to);
        let sql = "UPDATE OR IGNORE deliveries SET key = ?2, subject = ?3, local = ?4, line = ?5, fact = ?6
                   WHERE key = ?1";
        self.db.execute(sql, params![from, to, subject, local, line.bytes(), to_json(fact)]).map(drop)
    }
}
