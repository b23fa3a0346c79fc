//! Records facts about lines of notes, beside the deliveries:
//!
//! - the ids that were chosen for reminder lines;
//! - the findings that were reported;
//! - the phrases of a brain (a language model) for reminders and follow-ups that are soon due;
//! - the tasks that were notified, and the time since which each form of tasks is notified;
//! - the names of notices that are sent once, and the presses of buttons that act once.
//!
//! The rows outlive a crash, so the next pass assigns the same ids and reports nothing twice. A phrase belongs to one
//! occurrence and to the hash of the line that it was made from, so a changed line has no phrase. A phrase's row is
//! written before the brain is asked, so after a crash no brain is asked a second time.

use std::collections::{BTreeSet, HashMap};

use jiff::{Timestamp, civil};
use rusqlite::{OptionalExtension, Transaction, params};

use super::chunks::to_json;
use super::keys::{LineHash, local_text, parts};
use super::{DeliveryRow, Journal, NewMessage, ROW, Result, row_of};
use crate::deliver::notifier::NotifiedItem;
use crate::format::ReminderId;
use crate::sqlite::{each, instant, json};

/// The days for which a phrase and the name of a notice are kept.
const KEEP_DAYS: i64 = 3;

/// The days for which the press of a button is kept.
const KEEP_PRESSES: i64 = 60;

/// A task whose notification was sent, or may have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifiedTask {
    /// Its key.
    pub key: String,
    /// Whether the notification was surely sent.
    pub is_certain: bool,
    /// The sent item.
    pub fact: NotifiedItem,
}

impl Journal {
    /// All deliveries that are sent, or may have been, and are not done, in the order of their claims.
    pub fn unfinished_deliveries(&self) -> Result<Vec<DeliveryRow>> {
        let sql = format!("SELECT {ROW} FROM deliveries WHERE state IN ('sending', 'sent') ORDER BY number");
        self.db.rows(&sql, [], row_of)
    }

    /// Records that a button is pressed, before the press acts. Returns the answer to an earlier press of it, if there
    /// was one; an empty one if its end isn't known.
    pub fn begin_press(&self, button: &str, now: Timestamp) -> Result<Option<String>> {
        self.db.write(|tx| {
            let (at, day) = (now.as_millisecond(), 24 * 60 * 60 * 1000);
            tx.execute("DELETE FROM presses WHERE at_ms < ?1", [at - KEEP_PRESSES * day])?;
            let earlier =
                tx.query_row("SELECT words FROM presses WHERE button = ?1", [button], |row| row.get(0));
            let earlier = earlier.optional()?;
            if earlier.is_none() {
                tx.execute("INSERT INTO presses VALUES (?1, '', ?2)", params![button, at])?;
            }
            Ok(earlier)
        })
    }

    /// Records the answer to a press; none if it failed, so that the button works again.
    pub fn end_press(&self, button: &str, answer: Option<&str>) -> Result<()> {
        match answer {
            Some(words) => {
                self.db.execute("UPDATE presses SET words = ?2 WHERE button = ?1", [button, words])
            }
            None => self.db.execute("DELETE FROM presses WHERE button = ?1", [button]),
        }
        .map(drop)
    }

    /// The id that was given to a line without one, if any.
    pub fn name(&self, line: &LineHash) -> Result<Option<ReminderId>> {
        let sql = "SELECT id FROM names WHERE line = ?1";
        let id: Option<String> = self.db.row(sql, [line.bytes()], |row| row.get(0))?;
        Ok(id.and_then(|id| ReminderId::from_bytes(id.as_bytes())))
    }

    /// Remembers the ids of lines, before they are written; a line that has one gets the new one.
    pub fn set_names(&self, names: &[(LineHash, ReminderId)]) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO names (line, id) VALUES (?1, ?2)";
        self.db.execute_each(sql, names.iter().map(|(line, id)| (line.bytes(), id.as_str())))
    }

    /// The findings among `current` in a note that were not reported yet. With `remember` they count as reported from
    /// now on, and those that are fixed are deleted: a mistake made again is reported again.
    pub fn new_findings(
        &self,
        note: &str,
        current: &BTreeSet<LineHash>,
        remember: bool,
    ) -> Result<BTreeSet<LineHash>> {
        let reported = "SELECT finding FROM reported WHERE note = ?1";
        let known: BTreeSet<LineHash> = self.db.rows(reported, [note], |row| Ok(LineHash(row.get(0)?)))?;
        let new: BTreeSet<LineHash> = current.difference(&known).copied().collect();
        if remember && known != *current {
            self.db.write(|tx| {
                let row = |finding: &LineHash| (note, finding.0);
                each(tx, "INSERT OR IGNORE INTO reported VALUES (?1, ?2)", new.iter().map(row))?;
                let gone = known.difference(current).map(row);
                each(tx, "DELETE FROM reported WHERE note = ?1 AND finding = ?2", gone)
            })?;
        }
        Ok(new)
    }

    /// Records a brain's phrase for this occurrence as requested, before the request; `plain` is the text without a
    /// phrase. Returns false if it was requested before and the line is the same.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn begin_phrase(&self, key: &str, line: &LineHash, plain: &str, now: Timestamp) -> Result<bool> {
        self.db.write(|tx| {
            forget(tx, "phrases", now)?;
            let sql = "INSERT INTO phrases (key, line, plain, at_ms) VALUES (?1, ?2, ?3, ?4)
                       ON CONFLICT (key) DO UPDATE SET line = ?2, plain = ?3, phrase = NULL, at_ms = ?4 WHERE line <> ?2";
            let changed = tx.execute(sql, params![key, line.bytes(), plain, now.as_millisecond()])?;
            Ok(changed > 0)
        })
    }

    /// Stores a brain's phrase, unless the line was changed in the meantime.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn set_phrase(&self, key: &str, line: &LineHash, phrase: &str) -> Result<()> {
        let sql = "UPDATE phrases SET phrase = ?3 WHERE key = ?1 AND line = ?2";
        self.db.execute(sql, params![key, line.bytes(), phrase]).map(drop)
    }

    /// The phrase for this occurrence of this line, if there is one.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn phrase(&self, key: &str, line: &LineHash) -> Result<Option<String>> {
        let sql = "SELECT phrase FROM phrases WHERE key = ?1 AND line = ?2";
        Ok(self.db.row(sql, params![key, line.bytes()], |row| row.get(0))?.flatten())
    }

    /// Queues a message unless one of this name was queued before, whatever its outcome. Returns whether it was queued.
    ///
    /// # Errors
    /// The journal can't be written.
    pub(in crate::deliver) fn queue_once(
        &self,
        name: &str,
        message: &NewMessage,
        limit: usize,
        now: Timestamp,
    ) -> Result<bool> {
        self.db.write(|tx| {
            forget(tx, "said", now)?;
            let sql = "INSERT INTO said (name, at_ms) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            let new = tx.execute(sql, params![name, now.as_millisecond()])? > 0;
            Ok(new && super::chunks::claim_one(tx, message, limit)?)
        })
    }

    /// The instants since when each known scope (a form, with its filter and the pattern of its notes) is notified.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn task_scopes(&self) -> Result<HashMap<String, Timestamp>> {
        self.db.rows("SELECT scope, since_ms FROM task_scopes", [], |row| {
            Ok((row.get(0)?, instant(row.get(1)?).unwrap_or(Timestamp::MIN)))
        })
    }

    /// Records that exactly these scopes are notified: new ones since `now`, and those since a later time, when the clock
    /// was ahead, since its minute; one that is turned on again begins anew.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn set_task_scopes(&self, scopes: &[&str], now: Timestamp) -> Result<()> {
        let known = self.task_scopes()?;
        self.db.write(|tx| {
            let gone = known.keys().filter(|scope| !scopes.contains(&scope.as_str()));
            each(tx, "DELETE FROM task_scopes WHERE scope = ?1", gone.map(|scope| [scope]))?;
            let sql = "INSERT INTO task_scopes (scope, since_ms) VALUES (?1, ?2)
                       ON CONFLICT (scope) DO UPDATE SET since_ms = ?2 - ?2 % 60000 WHERE since_ms > ?2";
            each(tx, sql, scopes.iter().map(|scope| (scope, now.as_millisecond())))
        })
    }

    /// Notifications for local times between `from` and `to`, both included, the latest first; at most a thousand.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn notifications(&self, from: civil::DateTime, to: civil::DateTime) -> Result<Vec<NotifiedItem>> {
        let sql = "SELECT fact FROM deliveries WHERE local BETWEEN ?1 AND ?2 AND state IN ('sent', 'done')
                   ORDER BY number DESC LIMIT 1000";
        let facts: Vec<Option<NotifiedItem>> =
            self.db.rows(sql, [local_text(from), local_text(to)], |row| Ok(json(row, 0).ok()))?;
        Ok(facts.into_iter().flatten().collect())
    }

    /// Notifications, sent or being sent, of tasks with these words in any note: at a local time, for a line that named
    /// the same day, or at an instant.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn notified_tasks(
        &self,
        words: &str,
        local: civil::DateTime,
        day: Option<&LineHash>,
        instant: Option<Timestamp>,
    ) -> Result<Vec<NotifiedTask>> {
        let sql = "SELECT key, state, fact FROM deliveries
                   WHERE subject > ?1 || '_' AND subject < ?1 || '`' AND (local = ?2 OR line = ?3 OR fact ->> 'due' = ?4)
                   AND state IN ('sending', 'sent', 'done') ORDER BY number";
        let (day, instant) = (day.map(LineHash::bytes), instant.map(|at| at.to_string()));
        let values = params![format!("task_{words}"), local_text(local), day, instant];
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
        let sql = "UPDATE deliveries SET line = ?2 WHERE key = ?1";
        self.db.execute_each(sql, lines.iter().map(|(key, line)| (key, line.bytes())))
    }

    /// Gives a task that was surely notified under one key another key, because it moved or changed.
    pub fn task_moved(&self, from: &str, to: &str, line: &LineHash, fact: &NotifiedItem) -> Result<()> {
        let (subject, local) = parts(to);
        let sql = "UPDATE OR IGNORE deliveries SET key = ?2, subject = ?3, local = ?4, line = ?5, fact = ?6
                   WHERE key = ?1 AND state IN ('sent', 'done')";
        self.db.execute(sql, params![from, to, subject, local, line.bytes(), to_json(fact)]).map(drop)
    }
}

fn forget(tx: &Transaction<'_>, table: &str, now: Timestamp) -> rusqlite::Result<()> {
    let before = now.as_millisecond() - KEEP_DAYS * 24 * 60 * 60 * 1000;
    tx.execute(&format!("DELETE FROM {table} WHERE at_ms < ?1"), [before]).map(drop)
}

fn task_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<NotifiedTask> {
    Ok(NotifiedTask {
        key: row.get(0)?,
        is_certain: row.get::<_, String>(1)? != "sending",
        fact: json(row, 2)?,
    })
}
