//! Handles reminders and follow-ups that a restore brings back after their time.
//!
//! Such items don't fire unless the person asks for it. A one-off reminder or a follow-up stays in the note as
//! restored; a recurring reminder moves on to its next occurrence. The decision is a row of the journal, so it holds
//! for every process and after a crash.

use rusqlite::params;

use super::delivery_journal::{self, Journal, LineHash, RESTORED, Result};
use super::notifier::NotifiedItem;
use super::pass::{commitment_fact, meaning, reminder_fact, text_hash};
use crate::deliver::prelude::*;
use crate::format::commitment::{self, Commitment, CommitmentStatus};
use crate::format::reminder::{self, Reminder};
use crate::schedule::{DueReminder, Zone, due};

/// Notes that items come back at an instant; called before their note is written.
pub struct Restoring<'a> {
    /// The record of deliveries.
    pub journal: &'a Journal,
    /// The zone of the reminders.
    pub zone: &'a Zone,
    /// The instant.
    pub now: Timestamp,
    /// Whether those whose time is past fire all the same, as if they had never been delivered.
    pub fire: bool,
}

impl Restoring<'_> {
    /// Notes each reminder that `then` has and `now` lacks; says how many are past.
    ///
    /// # Errors
    /// The journal can't be written; then the lines should not be restored.
    pub fn hold_reminders(&self, now: &[u8], then: &[u8]) -> Result<usize> {
        let lines = |bytes| -> Vec<Reminder> {
            reminder::parse(bytes).reminders.into_iter().map(|line| line.reminder).collect()
        };
        hold_each(&lines(now), &lines(then), |one| self.hold_reminder(one))
    }

    /// Notes each follow-up that `then` has and `now` lacks; says how many are past. One stays pending, and is not sent
    /// unless it fires.
    ///
    /// # Errors
    /// The journal can't be written; then the blocks should not be restored.
    pub fn hold_commitments(&self, now: &[u8], then: &[u8]) -> Result<usize> {
        let blocks = |bytes| -> Vec<Commitment> {
            commitment::parse(bytes).blocks.into_iter().map(|block| block.commitment).collect()
        };
        hold_each(&blocks(now), &blocks(then), |one| self.hold_commitment(one))
    }

    /// Says whether its time is past at all.
    fn hold_reminder(&self, reminder: &Reminder) -> Result<bool> {
        let Some(due) = due(self.zone, reminder, self.now) else { return Ok(false) };
        let line = meaning(reminder);
        let known = reminder.id.map_or_else(|| self.journal.name(&line), |id| Ok(Some(id)))?;
        let id = match known {
            Some(id) => id,
            None => {
                let mut seed = [0; 8];
                seed.copy_from_slice(&blake3::hash(line.bytes()).as_bytes()[..8]);
                // The same line comes back under the same id, however often it is restored.
                let id = ReminderId::from_random(seed);
                self.journal.set_names(&[(line, id)])?;
                id
            }
        };
        let times = (reminder.date.to_datetime(reminder.time), due.occurrence.local);
        let fact = reminder_fact(reminder, id, &DueReminder { next: None, ..due }, due.occurrence.at);
        self.settle(times, if fact.recurring { "done" } else { "failed" }, &line, &fact)
    }

    fn hold_commitment(&self, commitment: &Commitment) -> Result<bool> {
        let is_past = |due: &Timestamp| commitment.status == CommitmentStatus::Pending && *due <= self.now;
        let Some(due) = commitment.due.filter(is_past) else { return Ok(false) };
        let utc = due.to_zoned(TimeZone::UTC).datetime();
        let fact = commitment_fact(self.zone, commitment, due, due);
        self.settle((utc, utc), "failed", &text_hash(commitment), &fact)
    }

    /// Lets the occurrences of an item from `from` to `to` fire, as if they had never been delivered; or records the
    /// one at `to` in `state`, so that it doesn't fire. One that a message carries is told, and stays as it is: then
    /// returns false.
    fn settle(
        &self,
        (from, to): (civil::DateTime, civil::DateTime),
        state: &str,
        line: &LineHash,
        fact: &NotifiedItem,
    ) -> Result<bool> {
        let (id, local) = (&fact.id, delivery_journal::local_text(to));
        if self.fire {
            let sql = "DELETE FROM deliveries
                       WHERE subject = ?1 AND local BETWEEN ?2 AND ?3 AND state IN ('done', 'failed')";
            self.journal.db.execute(sql, [id, &delivery_journal::local_text(from), &local])?;
            return Ok(true);
        }
        let sql = "INSERT INTO deliveries (key, subject, local, state, line, fact, error, settings)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                   ON CONFLICT (key) DO UPDATE SET state = ?4, line = ?5, error = ?7, settings = ?8
                   WHERE message IS NULL";
        let key = delivery_journal::key(id, to, None);
        let fact = serde_json::to_string(fact).unwrap_or_default();
        let why = "restored after its time; `restore --fire-missed` would deliver it";
        let values = params![key, id, local, state, line.bytes(), fact, why, RESTORED];
        Ok(self.journal.db.execute(sql, values)? > 0)
    }
}

/// Items of a note that a restore brings back after their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoredItem {
    /// How many, at least one.
    pub count: usize,
    /// Their kind: `reminder` or `follow-up`.
    pub kind: &'static str,
    /// Whether they fire all the same.
    pub fire: bool,
}

impl RestoredItem {
    /// A sentence about them for the person.
    pub fn words(&self) -> String {
        let Self { count, kind: what, fire } = self;
        let (late, fires, does_not, it) = match count {
            1 => (format!("1 restored {what} is past its time"), "fires", "doesn't", "it"),
            _ => (format!("{count} restored {what}s are past their time"), "fire", "don't", "them"),
        };
        match fire {
            true => format!("{late} and {fires} now"),
            false => format!("{late} and {does_not} fire; `--fire-missed` fires {it}"),
        }
    }
}

/// Calls `hold` for each item of `then` that `now` lacks. Returns how many are past.
fn hold_each<T: PartialEq>(now: &[T], then: &[T], mut hold: impl FnMut(&T) -> Result<bool>) -> Result<usize> {
    then.iter().filter(|one| !now.contains(one)).try_fold(0, |past, one| Ok(past + usize::from(hold(one)?)))
}
