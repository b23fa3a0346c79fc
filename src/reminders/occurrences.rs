//! Skips, moves or snoozes one occurrence of a reminder, and leaves the other occurrences as they are.
//!
//! The changed occurrence is the first that wasn't sent yet. An occurrence that is due comes first if it was missed or
//! still waits (for its notifier, or for the end of quiet hours or of a pause). Otherwise the next occurrence is
//! changed. So the changed occurrence is never sent at its old time as well, and no later occurrence is lost.
//!
//! If a snoozed reminder was notified already, it comes once more. A one-off comes under its own id. A recurring
//! reminder comes in a line of its own, whose id follows from the recurring line, so that a second Snooze and Done find
//! it.

use jiff::{Timestamp, civil};

use super::{
    LinePlan, ReminderChanges, ReminderDraft, ReminderError, Result, VaultReminders, WrittenReminder,
    id_of_line, new_id, plan,
};
use crate::format::ReminderId;
use crate::format::reminder::{self, Recur, Reminder, ReminderLine, RemindersFile};
use crate::schedule::{self, DueInstant, Occurrence};
use crate::vault::{self, Origin};

impl VaultReminders<'_> {
    /// The occurrence that is due at `now` and was not sent: held back by quiet hours or a pause, or missed.
    pub fn unsent(&self, id: &str, reminder: &Reminder, now: Timestamp) -> Option<Occurrence> {
        let due = schedule::due(self.zone, reminder, now)?.occurrence;
        (!self.sent.possibly_sent(id, due.local)).then_some(due)
    }

    /// The occurrences that are still to come at `now`: the one that is due and was not sent, then the later ones.
    pub fn coming(&self, id: &str, reminder: &Reminder, now: Timestamp) -> impl Iterator<Item = Occurrence> {
        let unsent = self.unsent(id, reminder, now);
        unsent.into_iter().chain(DueInstant::new(self.zone, now).occurrences(reminder))
    }

    /// Moves a recurring reminder past an occurrence that is due and was not sent, else removes the line in which the
    /// last one was snoozed, which has another id; `None` if there is no such one.
    ///
    /// # Errors
    /// As [`Self::skip_next`].
    pub fn skip_unsent(
        &self,
        id: &str,
        now: Timestamp,
        origin: impl Into<Origin>,
    ) -> Result<Option<WrittenReminder>> {
        let line = self.line(id)?;
        if self.unsent(id, &line.reminder, now).is_some() {
            return self.skip_next(id, now, origin).map(Some);
        }
        let snoozed = id_of_line(&self.path, &line.reminder, |_| false);
        match (Self { was: None, ..self.clone() }).remove(snoozed.as_str(), origin) {
            Err(ReminderError::NoSuchId { .. }) => Ok(None),
            removed => removed.map(Some),
        }
    }

    /// Moves a recurring reminder past the first occurrence that is still to come at `now`.
    ///
    /// # Errors
    /// It isn't recurring, there is none with the id, or the note can't be written.
    pub fn skip_next(&self, id: &str, now: Timestamp, origin: impl Into<Origin>) -> Result<WrittenReminder> {
        let line = self.line(id)?;
        self.skip_next_of(&line, line.reminder.id.ok_or(ReminderError::NothingToChange)?, now, origin)
    }

    /// As [`Self::skip_next`], for this line. Its id is `id`, even if the line has no id yet.
    ///
    /// # Errors
    /// It isn't recurring, the line is deleted, or the note can't be written.
    pub fn skip_next_of(
        &self,
        line: &ReminderLine,
        id: ReminderId,
        now: Timestamp,
        origin: impl Into<Origin>,
    ) -> Result<WrittenReminder> {
        let next = self.coming(id.as_str(), &line.reminder, now).nth(1);
        let next = next.ok_or(ReminderError::NothingToChange)?;
        let with = reminder::with_schedule(&line.text, next.local.date(), None, next.day);
        let text = String::from_utf8_lossy(&with).into_owned();
        let operation = vault::Operation::ReplaceLine { line: line.text.clone(), with };
        self.write(LinePlan { id, text, operation }, &origin.into(), "skipped")
    }

    /// Snoozes the reminder with the id to a local time. If its line is deleted, `said` is its text.
    ///
    /// # Errors
    /// The reminder is unknown, or the note can't be written.
    pub fn snooze(
        &self,
        id: &str,
        local: civil::DateTime,
        said: Option<&str>,
        now: Timestamp,
        origin: impl Into<Origin>,
    ) -> Result<WrittenReminder> {
        let file = self.read_settled()?;
        let once = |msg: &str| ReminderDraft { local, recur: Recur::None, msg: crate::format::one_line(msg) };
        let line = match (self.find(&file, id), said) {
            (Err(ReminderError::NoSuchId { .. }), Some(said)) => {
                return self.again(&file, ReminderId::from_bytes(id.as_bytes()), &once(said), origin);
            }
            (line, _) => line?,
        };
        let reminder = &line.reminder;
        let is_open = match reminder.recur {
            Recur::None => !self.sent.possibly_sent(id, reminder.date.to_datetime(reminder.time)),
            _ => self.unsent(id, reminder, now).is_some(),
        };
        if is_open {
            return self.move_next(id, local, now, origin);
        }
        let own = reminder.id.filter(|_| reminder.recur == Recur::None);
        let id = own.or_else(|| Some(id_of_line(&self.path, reminder, |_| false)));
        self.again(&file, id, &once(&reminder.msg), origin)
    }

    /// Lets a told reminder come once more under this id, in the line that has it, if one does. Where the id is none of
    /// a reminder, or was told at this very time, it comes under a new one.
    fn again(
        &self,
        file: &RemindersFile,
        id: Option<ReminderId>,
        draft: &ReminderDraft,
        origin: impl Into<Origin>,
    ) -> Result<WrittenReminder> {
        let Some(id) = id.filter(|id| !self.sent.possibly_sent(id.as_str(), draft.local)) else {
            return self.add_once(draft, origin);
        };
        if file.reminders.iter().any(|line| line.reminder.id == Some(id)) {
            let changes = ReminderChanges::moved_to(draft.local);
            return Self { was: None, ..self.clone() }.change(id.as_str(), &changes, origin);
        }
        self.write(plan::add(draft, id)?, &origin.into(), "added")
    }

    /// Moves the first occurrence that is still to come at `now` to a local time. A one-off is moved itself. For a
    /// recurring reminder, its line continues with the occurrence after that, and the moved occurrence gets a line of
    /// its own, in one edit.
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
        let file = self.read_settled()?;
        let line = self.find(&file, id)?;
        if line.reminder.recur == Recur::None {
            return self.change(id, &ReminderChanges::moved_to(to), origin);
        }
        let next = self.coming(id, &line.reminder, now).nth(1);
        let next = next.ok_or(ReminderError::NothingToChange)?;
        let with = reminder::with_schedule(&line.text, next.local.date(), None, next.day);
        let series_text = Some(String::from_utf8_lossy(&with).into_owned());
        let goes_on = vault::Operation::ReplaceLine { line: line.text.clone(), with };
        let draft = ReminderDraft { local: to, recur: Recur::None, msg: line.reminder.msg.clone() };
        let alone = plan::add(&draft, new_id(&file)?)?;
        let why = origin.into().why(format!("moved once: {}", draft.msg));
        let why = why.trailer("Reminder", id).trailer("Reminder", alone.id.to_string());
        // Both or none: without its line, the moved one would come beside it.
        self.write_all(&[goes_on, alone.operation], id, Some(alone.id), &why)?;
        Ok(WrittenReminder { id: alone.id.to_string(), line_text: alone.text, series_text })
    }
}
