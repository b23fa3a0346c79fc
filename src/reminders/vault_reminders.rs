//! Lists, adds and changes the reminders of a vault through the editor.

use jiff::{SignedDuration, Timestamp, civil};
use serde::Serialize;

use super::{LinePlan, ReminderChanges, ReminderDraft, ReminderError, new_id, plan, rfc3339};
use crate::format::id::ReminderId;
use crate::format::reminder::{self, ReminderLine, RemindersFile};
use crate::reminders::Result;
use crate::schedule::{self, Zone};
use crate::vault::{self, DropReason, Editor, NotePath, OpOutcome, Origin, Vault};

/// The reminders of a vault.
#[derive(Debug, Clone)]
pub struct VaultReminders<'a> {
    /// Reads the note.
    pub vault: &'a Vault,
    /// Writes the note.
    pub editor: &'a Editor,
    /// The note.
    pub path: NotePath,
    /// The zone that its times are meant in.
    pub zone: &'a Zone,
}

/// A reminder that was added, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrittenReminder {
    /// Its id.
    pub id: String,
    /// Its exact line as it stands in the note (for a removal: as it stood).
    pub line_text: String,
}

/// One entry of `remind list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedReminder {
    /// Its id, once it has one.
    pub id: Option<String>,
    /// Its line, from 1.
    pub line: usize,
    /// Its local date.
    pub date: civil::Date,
    /// Its local time, `HH:MM`.
    pub time: String,
    /// `none`, `daily`, `weekly` or `monthly`.
    pub recur: String,
    /// The day of the month that is meant, where the month lacks it.
    pub day: Option<i8>,
    /// Its message.
    pub msg: String,
    /// Its next instant; of a one-off that is overdue, the one that it was due.
    pub next: String,
    /// The same, to compare.
    #[serde(skip)]
    pub at: Timestamp,
}

/// One entry of `remind preview`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreviewedReminder {
    /// Its id, once it has one.
    pub id: Option<String>,
    /// Its message.
    pub msg: String,
    /// Its occurrences, RFC 3339.
    pub occurrences: Vec<String>,
}

impl VaultReminders<'_> {
    /// The note's reminders; a missing note has none.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn read(&self) -> Result<RemindersFile> {
        Ok(reminder::parse(&self.bytes()?))
    }

    /// Adds a reminder at the end of the note.
    ///
    /// # Errors
    /// The message can't stand in a line, or the note can't be written.
    pub fn add(&self, draft: &ReminderDraft, origin: impl Into<Origin>) -> Result<WrittenReminder> {
        let bytes = self.bytes()?;
        let plan = plan::add(draft, new_id(&reminder::parse(&bytes))?)?;
        let (after, _) = vault::apply(std::slice::from_ref(&plan.operation), &bytes);
        if reminder::parse(&after).reminders.iter().all(|line| line.reminder.id.as_ref() != Some(&plan.id)) {
            return Err(ReminderError::EndsInside(self.path.clone()));
        }
        self.write(plan, &origin.into(), "added")
    }

    /// Changes the reminder with the id.
    ///
    /// # Errors
    /// There is none or more than one, or the note can't be written.
    pub fn change(
        &self,
        id: &str,
        changes: &ReminderChanges,
        origin: impl Into<Origin>,
    ) -> Result<WrittenReminder> {
        let file = self.read()?;
        let plan = plan::change(plan::find(&file, id, &self.path)?, changes)?;
        self.write(plan, &origin.into(), "changed")
    }

    /// Removes the reminder with the id.
    ///
    /// # Errors
    /// There is none or more than one, or the note can't be written.
    pub fn remove(&self, id: &str, origin: impl Into<Origin>) -> Result<WrittenReminder> {
        let file = self.read()?;
        let line = plan::find(&file, id, &self.path)?;
        self.remove_line(line, line.reminder.id.ok_or(ReminderError::NothingToChange)?, origin)
    }

    /// Removes this line, whose id is `id`, also if it has none yet.
    ///
    /// # Errors
    /// The line is deleted, or the note can't be written.
    pub fn remove_line(
        &self,
        line: &ReminderLine,
        id: ReminderId,
        origin: impl Into<Origin>,
    ) -> Result<WrittenReminder> {
        self.write(plan::remove(line, id), &origin.into(), "removed")
    }

    /// Moves a recurring reminder past its next occurrence after `now`.
    ///
    /// # Errors
    /// It isn't recurring, there is none with the id, or the note can't be written.
    pub fn skip_next(&self, id: &str, now: Timestamp, origin: impl Into<Origin>) -> Result<WrittenReminder> {
        let file = self.read()?;
        let line = plan::find(&file, id, &self.path)?;
        self.skip_next_of(line, line.reminder.id.ok_or(ReminderError::NothingToChange)?, now, origin)
    }

    /// Moves this line, whose id is `id`, past its next occurrence after `now`, also if it has none yet.
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
        let skipped = schedule::next_occurrence(self.zone, &line.reminder, now);
        let next = skipped.and_then(|next| schedule::next_occurrence(self.zone, &line.reminder, next.at));
        let next = next.ok_or(ReminderError::NothingToChange)?;
        let with = reminder::with_schedule(&line.text, next.local.date(), None, next.day);
        let operation = vault::Operation::ReplaceLine { line: line.text.clone(), with: with.clone() };
        self.write(
            LinePlan { id, text: String::from_utf8_lossy(&with).into_owned(), operation },
            &origin.into(),
            "skipped",
        )
    }

    /// All reminders, in the order of their lines.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn list(&self, now: Timestamp) -> Result<Vec<ListedReminder>> {
        let moment = schedule::DueInstant::new(self.zone, now);
        let listed = |line: &reminder::ReminderLine| {
            let reminder = &line.reminder;
            let own = || schedule::resolve(self.zone, reminder.date.to_datetime(reminder.time));
            let at = moment.next(reminder).map_or_else(own, |next| next.at);
            ListedReminder {
                id: reminder.id.as_ref().map(ToString::to_string),
                line: line.line,
                date: reminder.date,
                time: reminder.time.strftime("%H:%M").to_string(),
                recur: reminder.recur.to_string(),
                day: reminder.day,
                msg: reminder.msg.clone(),
                next: rfc3339(at, self.zone.tz()),
                at,
            }
        };
        Ok(self.read()?.reminders.iter().map(listed).collect())
    }

    /// The occurrences from `from` on, at most `count` each and none after `until`, of the reminder
    /// with the id or of all.
    ///
    /// # Errors
    /// There is no such reminder, or the note can't be read.
    pub fn preview(
        &self,
        id: Option<&str>,
        from: Timestamp,
        until: Option<Timestamp>,
        count: usize,
    ) -> Result<Vec<PreviewedReminder>> {
        let file = self.read()?;
        let lines = match id {
            Some(id) => vec![plan::find(&file, id, &self.path)?],
            None => file.reminders.iter().collect(),
        };
        let just_before = from.saturating_sub(SignedDuration::from_nanos(1)).unwrap_or(from);
        let preview = |line: &reminder::ReminderLine| {
            let occurrences = schedule::occurrences_after(self.zone, &line.reminder, just_before);
            PreviewedReminder {
                id: line.reminder.id.as_ref().map(ToString::to_string),
                msg: line.reminder.msg.clone(),
                occurrences: occurrences
                    .map(|occurrence| occurrence.at)
                    .take_while(|at| until.is_none_or(|until| *at <= until))
                    .take(count)
                    .map(|at| rfc3339(at, self.zone.tz()))
                    .collect(),
            }
        };
        Ok(lines.into_iter().map(preview).collect())
    }

    /// The line with this id.
    ///
    /// # Errors
    /// None or several have it, or the note can't be read.
    pub fn line(&self, id: &str) -> Result<ReminderLine> {
        Ok(plan::find(&self.read()?, id, &self.path)?.clone())
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(self.vault.read_or_empty(&self.path)?)
    }

    fn write(&self, plan: LinePlan, origin: &Origin, verb: &str) -> Result<WrittenReminder> {
        let msg = match reminder::parse_line(plan.text.as_bytes()) {
            reminder::ParsedLine::Reminder(reminder) => reminder.msg,
            _ => plan.id.to_string(),
        };
        let why = origin.why(format!("{verb}: {msg}")).trailer("Reminder", plan.id.to_string());
        let report = self.editor.edit(&self.path, &[plan.operation], &why)?;
        match report.outcomes.first() {
            Some(OpOutcome::Dropped(DropReason::Gone | DropReason::Changed | DropReason::NotUnique)) => {
                Err(ReminderError::Changed(self.path.clone(), plan.id.to_string()))
            }
            _ => Ok(WrittenReminder { id: plan.id.to_string(), line_text: plan.text }),
        }
    }
}
