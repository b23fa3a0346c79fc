//! Records the runs of routines, with their states and outcomes. Also records, for each routine, the instant after
//! which its occurrences count.
//!
//! A run goes `claimed → fixed → done`. A run is claimed with all its input before a brain is asked. The run's text is
//! fixed in the transaction that queues its message, so a crash at any step leaves one text and one message. A
//! routine's row holds the latest occurrence that is handled: its run was claimed, or there was nothing to do. Earlier
//! occurrences are never handled again.

use jiff::{Timestamp, civil};
use rusqlite::{Row, Transaction, params};

use super::chunks::claim_one;
use super::keys::{RUN, local_text};
use super::message::NewMessage;
use super::{Journal, Result};
use crate::deliver::notifier::{MessageKind, MessageScope};
use crate::sqlite::{instant, unreadable, word};
use crate::words::words;

/// The schedule of a routine whose note is away or isn't understood: a sync tool may be replacing it, or a person typing.
const AWAY: &str = "away";

/// The number of finished runs that are kept.
const KEEP: i64 = 2_000;

/// The progress of an enabled routine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutineProgress {
    /// Occurrences after this instant count.
    pub since: Timestamp,
    /// The latest occurrence that was claimed, or had nothing to do.
    pub handled: Option<Timestamp>,
    /// When its last scheduled run began that had something to do.
    pub ran: Option<Timestamp>,
    /// The state that its last run left for comparison.
    pub baseline: Option<String>,
}

impl RoutineProgress {
    /// The progress of a routine that never ran.
    pub fn since(since: Timestamp) -> Self {
        Self { since, handled: None, ran: None, baseline: None }
    }
}

/// A routine that is enabled no more: its note was changed, deleted or renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoneRoutine {
    /// Its name.
    pub name: String,
    /// Its schedule.
    pub schedule: String,
    /// The latest occurrence that was claimed, or had nothing to do.
    pub handled: Option<Timestamp>,
}

words! {
    /// How far a run came.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum RunState, as_str {
        /// A brain may have been asked.
        #[default]
        Claimed = "claimed",
        /// Its text is fixed.
        Fixed = "fixed",
        /// Nothing is left to do.
        Done = "done",
    }
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoutineRun {
    /// Its key: the routine's name and the local occurrence.
    pub key: String,
    /// The routine.
    pub routine: String,
    /// When it was due, local.
    pub local: civil::DateTime,
    /// When it was due.
    pub due: Timestamp,
    /// How many earlier occurrences are folded in.
    pub missed: u32,
    /// When it was claimed.
    pub started: Timestamp,
    /// The routine's note as it was then.
    pub note: Vec<u8>,
    /// The input that was found without asking a brain.
    pub material: String,
    /// How far it came.
    pub state: RunState,
    /// The answer, once it is fixed.
    pub answer: Option<String>,
    /// The line of facts of the answer.
    pub facts: Option<String>,
    /// Its outcome, in a few words, which holds once it is done.
    pub outcome: Option<String>,
    /// Why its text isn't delivered yet.
    pub waits: Option<String>,
}

impl RoutineRun {
    /// Its outcome, or why it waits.
    pub fn result(&self) -> Option<String> {
        if self.state == RunState::Done { self.outcome.clone() } else { self.waits.clone() }
    }
}

/// The columns that [`run_of`] reads.
pub(super) const COLUMNS: &str =
    "key, routine, local, due_ms, missed, started_ms, note, material, state, answer, facts, outcome, waits";

impl Journal {
    /// Records that a routine's occurrences count from `since` on: it is new, has another schedule, or was handled at a
    /// time that has not come by `now`. Returns its progress.
    ///
    /// # Errors
    /// The journal can't be used.
    pub fn enabled(
        &self,
        name: &str,
        schedule: &str,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<RoutineProgress> {
        let sql = "INSERT INTO routines (name, schedule, since_ms) VALUES (?1, ?2, ?3)
                   ON CONFLICT (name) DO UPDATE SET schedule = ?2, since_ms = ?3,
                   handled_ms = CASE WHEN handled_ms <= ?4 THEN handled_ms END";
        self.db.execute(sql, params![name, schedule, since.as_millisecond(), now.as_millisecond()])?;
        Ok(self.known(name, schedule)?.unwrap_or_else(|| RoutineProgress::since(since)))
    }

    /// The last recorded check of routines.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn last_routine_check(&self) -> Result<Option<Timestamp>> {
        // The row without a name.
        self.db.row("SELECT since_ms FROM routines WHERE name = ''", [], |row| needed(row, 0))
    }

    /// Records a check of routines.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn record_routine_check(&self, now: Timestamp) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO routines (name, schedule, since_ms) VALUES ('', '', ?1)";
        self.db.execute(sql, [now.as_millisecond()]).map(drop)
    }

    /// The progress of a routine with this schedule.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn known(&self, name: &str, schedule: &str) -> Result<Option<RoutineProgress>> {
        let sql = "SELECT since_ms, handled_ms, ran_ms, seen FROM routines WHERE name = ?1 AND schedule = ?2";
        self.db.row(sql, [name, schedule], |row| {
            Ok(RoutineProgress {
                since: needed(row, 0)?,
                handled: instant(row.get(1)?),
                ran: instant(row.get(2)?),
                baseline: row.get(3)?,
            })
        })
    }

    /// Since when a routine's note has been away.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn away_since(&self, name: &str) -> Result<Option<Timestamp>> {
        self.db.row("SELECT since_ms FROM routines WHERE name = ?1 AND schedule = ?2", [name, AWAY], |row| {
            needed(row, 0)
        })
    }

    /// The routines that are enabled no more, since they aren't among these; not those that were reset.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn gone_routines(&self, names: &[&str]) -> Result<Vec<GoneRoutine>> {
        let sql = "SELECT name, schedule, handled_ms FROM routines WHERE schedule NOT IN ('', ?1)";
        let mut gone: Vec<GoneRoutine> = self.db.rows(sql, [AWAY], |row| {
            Ok(GoneRoutine { name: row.get(0)?, schedule: row.get(1)?, handled: instant(row.get(2)?) })
        })?;
        gone.retain(|routine| !names.contains(&routine.name.as_str()));
        Ok(gone)
    }

    /// Resets all routines but the `enabled` ones: their occurrences count anew once they are enabled again. Of one that
    /// isn't among the `known` ones, whose notes are understood, `now` is kept ([`Journal::away_since`]).
    ///
    /// # Errors
    /// The journal can't be used.
    pub fn reset_all_except(&self, enabled: &[&str], known: &[&str], now: Timestamp) -> Result<()> {
        let away = self.gone_routines(known)?.into_iter();
        let away = away.map(|routine| (routine.name, AWAY, now.as_millisecond()));
        self.db.execute_each("UPDATE routines SET schedule = ?2, since_ms = ?3 WHERE name = ?1", away)?;
        let names = self.gone_routines(enabled)?.into_iter().map(|routine| [routine.name]);
        self.db.execute_each("UPDATE routines SET schedule = '' WHERE name = ?1", names)
    }

    /// Notes that a routine had nothing to do up to this occurrence.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn record_nothing_to_do(&self, name: &str, up_to: Timestamp) -> Result<()> {
        self.db.write(|tx| handled(tx, name, up_to))
    }

    /// Claims a run, with all that it begins with; false where it was claimed before. `is_scheduled` says that the
    /// schedule asked for it, rather than a person; `baseline` is the state for the next run to compare with.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn claim_run(&self, run: &RoutineRun, is_scheduled: bool, baseline: Option<&str>) -> Result<bool> {
        let RoutineRun { key, routine, missed, note, material, .. } = run;
        let (local, due, started) =
            (local_text(run.local), run.due.as_millisecond(), run.started.as_millisecond());
        self.db.write(|tx| {
            let sql =
                "INSERT INTO runs (key, routine, local, due_ms, missed, started_ms, note, material, state)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'claimed') ON CONFLICT DO NOTHING";
            let added =
                tx.execute(sql, params![key, routine, local, due, missed, started, note, material])?;
            if is_scheduled {
                handled(tx, routine, run.due)?;
                if added > 0 {
                    let sql = "UPDATE routines SET ran_ms = ?2, seen = coalesce(?3, seen) WHERE name = ?1";
                    tx.execute(sql, params![routine, started, baseline])?;
                }
            }
            Ok(added > 0)
        })
    }

    /// A run.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn run(&self, key: &str) -> Result<Option<RoutineRun>> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE key = ?1");
        self.db.row(&sql, [key], run_of)
    }

    /// The runs that aren't done, in the order of their claims.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn open_runs(&self) -> Result<Vec<RoutineRun>> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE state <> 'done' ORDER BY number");
        self.db.rows(&sql, [], run_of)
    }

    /// The keys of a routine's runs that began at this instant or later, scheduled or not.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn runs_since(&self, name: &str, since: Timestamp) -> Result<Vec<String>> {
        let sql = "SELECT key FROM runs WHERE routine = ?1 AND started_ms >= ?2 ORDER BY number";
        self.db.rows(sql, params![name, since.as_millisecond()], |row| row.get(0))
    }

    /// The time of a routine's last run, scheduled or not.
    ///
    /// # Errors
    /// The journal can't be read.
    pub fn last_run(&self, name: &str) -> Result<Option<Timestamp>> {
        let sql = "SELECT max(ms) FROM (SELECT started_ms AS ms FROM runs WHERE routine = ?1
                   UNION ALL SELECT ran_ms FROM routines WHERE name = ?1)";
        Ok(instant(self.db.value(sql, [name])?))
    }

    /// Fixes a run's text, once, together with its message, if it has one. Returns false if it was fixed before.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn fix_run(
        &self,
        key: &str,
        (answer, facts): (&str, &str),
        outcome: &str,
        message: Option<(Option<MessageScope>, String)>,
        limit: usize,
    ) -> Result<bool> {
        self.db.write(|tx| {
            let sql = "UPDATE runs SET state = 'fixed', answer = ?2, facts = ?3, outcome = ?4
                       WHERE key = ?1 AND state = 'claimed'";
            let fixed = tx.execute(sql, params![key, answer, facts, outcome])?;
            if let Some((scope, body)) = message.filter(|_| fixed > 0) {
                let message = NewMessage::plain(run_message_key(key), MessageKind::Routine, scope, body);
                claim_one(tx, &message, limit)?;
            }
            Ok(fixed > 0)
        })
    }

    /// Records why a run's text isn't delivered yet. Returns whether the reason is new.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn record_run_wait(&self, key: &str, why: &str) -> Result<bool> {
        let sql = "UPDATE runs SET waits = ?2 WHERE key = ?1 AND state <> 'done' AND waits IS NOT ?2";
        Ok(self.db.execute(sql, [key, why])? > 0)
    }

    /// Ends a run, in whatever state.
    ///
    /// # Errors
    /// The journal can't be written.
    pub fn finish_run(&self, key: &str, outcome: Option<&str>) -> Result<()> {
        self.db.write(|tx| {
            let sql =
                "UPDATE runs SET state = 'done', outcome = coalesce(?2, outcome), note = x'', material = ''
                       WHERE key = ?1 AND state <> 'done'";
            tx.execute(sql, params![key, outcome])?;
            let sql =
                "DELETE FROM runs WHERE state = 'done' AND number < (SELECT max(number) FROM runs) - ?1";
            tx.execute(sql, [KEEP])?;
            Ok(())
        })
    }
}

/// The key of a run: the routine and its local occurrence.
pub fn run_key(routine: &str, local: civil::DateTime) -> String {
    format!("{routine}@{}", local_text(local))
}

/// The key of the message with a run's text.
pub fn run_message_key(run: &str) -> String {
    format!("{RUN}{run}")
}

fn handled(tx: &Transaction<'_>, name: &str, up_to: Timestamp) -> rusqlite::Result<()> {
    let sql = "UPDATE routines SET handled_ms = max(coalesce(handled_ms, ?2), ?2) WHERE name = ?1";
    tx.execute(sql, params![name, up_to.as_millisecond()]).map(drop)
}

fn needed(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    instant(row.get(column)?).ok_or_else(|| unreadable(column, "instant", ""))
}

/// A run as a row of [`COLUMNS`] has it.
pub(super) fn run_of(row: &Row<'_>) -> rusqlite::Result<RoutineRun> {
    let local: String = row.get(2)?;
    Ok(RoutineRun {
        key: row.get(0)?,
        routine: row.get(1)?,
        local: local.parse().map_err(|_| unreadable(2, "local time", &local))?,
        due: needed(row, 3)?,
        missed: row.get(4)?,
        started: needed(row, 5)?,
        note: row.get(6)?,
        material: row.get(7)?,
        state: word(row, 8)?,
        answer: row.get(9)?,
        facts: row.get(10)?,
        outcome: row.get(11)?,
        waits: row.get(12)?,
    })
}

#[cfg(test)]
mod tests;
