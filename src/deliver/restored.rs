//! Reminders that a restore brings back after their time.
//!
//! Unless the person asks for it, they don't fire: a one-off stays in the note as it was restored, a
//! recurring one moves on to its next occurrence. The journal holds that, so that it is true for every
//! process and after a crash.

use jiff::Timestamp;
use rusqlite::params;

use super::journal::{self, Journal, JournalError, RESTORED};
use super::notifier::{Fact, MessageKind};
use super::pass::meaning;
use crate::format::id::ReminderId;
use crate::format::reminder::{Recur, Reminder};
use crate::schedule::{Zone, due};

/// Notes that the line of `reminder` comes back at `now`; call it before the line is written. With
/// `fire` it is as if it had never been delivered. Says whether its time is past at all.
///
/// # Errors
/// The journal can't be written; then the line should not be restored.
pub fn restored(
    journal: &Journal,
    zone: &Zone,
    reminder: &Reminder,
    now: Timestamp,
    fire: bool,
) -> Result<bool, JournalError> {
    let Some(due) = due(zone, reminder, now) else { return Ok(false) };
    let line = meaning(reminder);
    let id = match reminder.id {
        Some(id) => id.to_string(),
        None => match journal.name(&line)? {
            Some(id) => id,
            None => {
                // The same line comes back under the same id, however often it is restored.
                let mut seed = [0; 8];
                seed.copy_from_slice(&blake3::hash(line.bytes()).as_bytes()[..8]);
                let id = ReminderId::from_random(seed).to_string();
                journal.set_names(&[(line, id.clone())])?;
                id
            }
        },
    };
    let own = journal::local_text(reminder.date.to_datetime(reminder.time));
    let local = journal::local_text(due.occurrence.local);
    if fire {
        journal.write(|tx| {
            tx.execute(
                "DELETE FROM deliveries WHERE subject = ?1 AND local BETWEEN ?2 AND ?3 AND state IN ('done', 'failed')",
                params![id, own, local],
            )
        })?;
        return Ok(true);
    }
    let recurring = reminder.recur != Recur::None;
    let fact = Fact {
        kind: MessageKind::Reminder,
        id: id.clone(),
        local: due.occurrence.local,
        due: due.occurrence.at,
        late_seconds: 0,
        missed: due.missed,
        msg: reminder.msg.clone(),
        recurring,
        next: None,
    };
    let key = journal::key(&id, due.occurrence.local, None);
    let state = if recurring { "done" } else { "failed" };
    let fact = serde_json::to_string(&fact).unwrap_or_default();
    journal.write(|tx| {
        tx.execute(
            "INSERT INTO deliveries (key, subject, local, state, line, fact, error, settings)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (key) DO UPDATE SET state = ?4, line = ?5, error = ?7, settings = ?8",
            params![
                key,
                id,
                local,
                state,
                line.bytes(),
                fact,
                "restored after its time; `restore --fire-missed` would deliver it",
                RESTORED,
            ],
        )
    })?;
    Ok(true)
}
