//! Moves one occurrence of a reminder to another time, without the others.

use jiff::{Timestamp, civil};

use super::{ReminderChanges, ReminderDraft, ReminderError, VaultReminders, WrittenReminder, new_id, plan};
use crate::format::reminder::{self, Recur};
use crate::reminders::Result;
use crate::schedule;
use crate::vault::{self, EditPlan, Origin};

impl VaultReminders<'_> {
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
            return self.change(
                id,
                &ReminderChanges { local: Some(to), ..ReminderChanges::default() },
                origin,
            );
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
