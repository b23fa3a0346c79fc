//! Puts a reminder off: snoozes it, or moves one occurrence to another time without the others.
//!
//! If a snoozed reminder was notified already, or recurs, its line stays, and a new line with the same words gets the new
//! time. A one-off that wasn't notified yet is moved instead, so that it doesn't come twice; also while it waits for
//! the end of quiet hours or for its notifier.

use jiff::{SignedDuration, Timestamp, ToSpan, civil};

use super::{ReminderChanges, ReminderDraft, ReminderError, VaultReminders, WrittenReminder, new_id, plan};
use crate::format::reminder::{self, Recur, ReminderLine};
use crate::reminders::Result;
use crate::schedule::{self, Zone};
use crate::vault::{self, EditPlan, Origin};

impl VaultReminders<'_> {
    /// Lets the reminder with the id come again at a local time. If its line is deleted, `said` is its text; `is_told`
    /// returns whether its occurrence at a local time was sent, or may have been.
    ///
    /// # Errors
    /// The reminder is unknown, or the note can't be written.
    pub fn snooze(
        &self,
        id: &str,
        local: civil::DateTime,
        said: Option<&str>,
        is_told: impl Fn(civil::DateTime) -> bool,
        origin: impl Into<Origin>,
    ) -> Result<WrittenReminder> {
        let file = self.read()?;
        let again = |msg: &str| ReminderDraft { local, recur: Recur::None, msg: msg.to_owned() };
        let line = match (plan::find(&file, id, &self.path), said) {
            (Err(ReminderError::NoSuchId { .. }), Some(said)) => return self.add_once(&again(said), origin),
            (line, _) => line?,
        };
        let reminder = &line.reminder;
        if reminder.recur == Recur::None && !is_told(reminder.date.to_datetime(reminder.time)) {
            return self.change(id, &ReminderChanges::moved_to(local), origin);
        }
        self.add_once(&again(&reminder.msg), origin)
    }

    /// Adds a reminder; one that stands there just so already is that one.
    ///
    /// # Errors
    /// As [`VaultReminders::add`].
    pub fn add_once(&self, draft: &ReminderDraft, origin: impl Into<Origin>) -> Result<WrittenReminder> {
        let msg = crate::format::one_line(&draft.msg);
        let draft = ReminderDraft { msg, ..draft.clone() };
        let same = |line: &&ReminderLine| {
            let r = &line.reminder;
            r.date.to_datetime(r.time) == draft.local && r.recur == draft.recur && r.msg == draft.msg
        };
        if let Some(line) = self.read()?.reminders.iter().find(same)
            && let Some(id) = &line.reminder.id
        {
            let line_text = String::from_utf8_lossy(&line.text).into_owned();
            return Ok(WrittenReminder { id: id.to_string(), line_text });
        }
        self.add(&draft, origin)
    }

    /// Moves the next occurrence after `now` to a local time. A reminder that comes once is moved itself; of one that comes
    /// again the line goes on with the occurrence after it, and a line of its own says the moved one: one edit.
    ///
    /// # Errors
    /// There is none with the id, nothing of it comes any more, or the note can't be written.
    pub fn move_next(
        &self,
        id: &str,
        to: civil::DateTime,
        now: Timestamp,
        origin: impl Into<Origin>,
    ) -> Result<WrittenReminder> {
        let file = self.read()?;
        let line = plan::find(&file, id, &self.path)?;
        if line.reminder.recur == Recur::None {
            return self.change(id, &ReminderChanges::moved_to(to), origin);
        }
        let mut coming = schedule::occurrences_after(self.zone, &line.reminder, now);
        let (moved, next) = (coming.next(), coming.next());
        let (Some(_), Some(next)) = (moved, next) else { return Err(ReminderError::NothingToChange) };
        let with = reminder::with_schedule(&line.text, next.local.date(), None, next.day);
        let goes_on = vault::Operation::ReplaceLine { line: line.text.clone(), with };
        let draft = ReminderDraft { local: to, recur: Recur::None, msg: line.reminder.msg.clone() };
        let alone = plan::add(&draft, new_id(&file)?)?;
        let why = origin.into().why(format!("moved once: {}", draft.msg));
        let why = why.trailer("Reminder", id).trailer("Reminder", alone.id.to_string());
        // Both or none: without its line, the moved one would come beside it.
        let mut stands = false;
        let operations = vec![goes_on, alone.operation];
        let report = self.editor.edit_with(&self.path, &why, |bytes| {
            stands = reminder::parse(bytes).reminders.iter().filter(|one| one.text == line.text).count() == 1;
            EditPlan::Operations(if stands { operations.clone() } else { Vec::new() })
        })?;
        if !stands || !report.all_done() {
            return Err(ReminderError::Changed(self.path.clone(), id.to_owned()));
        }
        Ok(WrittenReminder { id: alone.id.to_string(), line_text: alone.text })
    }
}

/// The local time so much later, on the whole minute after. If the clocks go back, a local time that comes twice
/// means its first coming; one in the second is then the first minute that is certainly later.
pub fn local_after(now: Timestamp, by: SignedDuration, zone: &Zone) -> civil::DateTime {
    let at = now.saturating_add(by).unwrap_or(Timestamp::MAX);
    let local = zone.tz().to_datetime(at);
    let whole = local.date().at(local.hour(), local.minute(), 0, 0);
    let mut whole = if whole < local { whole.checked_add(1.minute()).unwrap_or(whole) } else { whole };
    while schedule::resolve(zone, whole) < at {
        let Ok(next) = whole.checked_add(1.minute()) else { break };
        whole = next;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_later_is_never_earlier_also_where_the_clocks_go_back() {
        let london = Zone::get("Europe/London").unwrap();
        let after = |now: &str, minutes| {
            local_after(now.parse().unwrap(), SignedDuration::from_mins(minutes), &london).to_string()
        };
        assert_eq!(after("2026-12-01T09:30:20Z", 10), "2026-12-01T09:41:00");
        // At 01:00 GMT the clocks show 01:00 for the second time; 01:59 comes before that.
        assert_eq!(after("2026-10-25T00:30:00Z", 20), "2026-10-25T01:50:00");
        assert_eq!(after("2026-10-25T00:50:00Z", 20), "2026-10-25T02:00:00");
        assert_eq!(after("2026-10-25T01:50:00Z", 20), "2026-10-25T02:10:00");
        assert_eq!(after("2026-03-29T00:50:00Z", 20), "2026-03-29T02:10:00");
        let mut now: Timestamp = "2026-10-24T22:00:00Z".parse().unwrap();
        for _ in 0..300 {
            let at = now.checked_add(SignedDuration::from_mins(10)).unwrap();
            assert!(
                schedule::resolve(&london, local_after(now, SignedDuration::from_mins(10), &london)) >= at,
                "{now}"
            );
            now = now.checked_add(SignedDuration::from_secs(61)).unwrap();
        }
    }
}
