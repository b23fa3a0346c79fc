//! Lists, adds, changes and removes the reminders of a vault. The vault's editor (`vault::edit`) writes each change.

use jiff::{SignedDuration, Timestamp, ToSpan, civil};
use serde::Serialize;

use super::{
    LinePlan, ReminderChanges, ReminderDraft, ReminderError, Result, distinct, new_id, plan, rfc3339,
};
use crate::format::ReminderId;
use crate::format::reminder::{self, ReminderLine, RemindersFile};
use crate::format::task::local_time::local_time;
use crate::schedule::{self, Zone};
use crate::vault::{self, ChangeReason, EditPlan, Editor, NotePath, Operation, Origin, Vault, VaultError};

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
    /// Knows what was sent.
    pub sent: &'a dyn SentRecord,
    /// The line, without blanks around it, that a reminder must have to be changed, where that matters.
    pub was: Option<&'a str>,
}

/// Knows which occurrences of reminders were sent.
pub trait SentRecord: std::fmt::Debug {
    /// Whether an occurrence at a local time was sent, or may have been.
    fn possibly_sent(&self, id: &str, local: civil::DateTime) -> bool;

    /// Records that a command took the line with this id out: no other line is this one in changed words.
    fn line_removed(&self, id: &str);
}

/// A reminder that was added, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrittenReminder {
    /// Its id.
    pub id: String,
    /// Its exact line as it stands in the note (for a removal: as it stood).
    pub line_text: String,
    /// The line with the other occurrences, if this is one that was taken out of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series_text: Option<String>,
}

impl WrittenReminder {
    /// A reminder with its line.
    pub fn new(id: impl Into<String>, line_text: String) -> Self {
        Self { id: id.into(), line_text, series_text: None }
    }

    /// All lines that were written, for a confirmation.
    pub fn lines(&self) -> String {
        let lines: Vec<&str> =
            [&self.line_text].into_iter().chain(&self.series_text).map(String::as_str).collect();
        lines.join("\n")
    }
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

impl<'a> VaultReminders<'a> {
    /// The same, for changes of a reminder that still has this line.
    #[must_use]
    pub fn if_unchanged(self, was: &'a str) -> Self {
        Self { was: Some(was), ..self }
    }

    /// The note's reminders; a missing note has none.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn read(&self) -> Result<RemindersFile, VaultError> {
        Ok(reminder::parse(&self.vault.read_or_empty(&self.path)?))
    }

    /// As [`Self::read`], for a change: never in the middle of another program's save.
    pub(super) fn read_settled(&self) -> Result<RemindersFile> {
        Ok(reminder::parse(&self.editor.read_settled(&self.path)?))
    }

    /// Adds a reminder at the end of the note.
    ///
    /// # Errors
    /// The message can't stand in a line, or the note can't be written.
    pub fn add(&self, draft: &ReminderDraft, origin: impl Into<Origin>) -> Result<WrittenReminder> {
        self.write(plan::add(draft, new_id(&self.read()?)?)?, &origin.into(), "added")
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
        self.write(plan::change(&self.line(id)?, changes)?, &origin.into(), "changed")
    }

    /// Removes the reminder with the id.
    ///
    /// # Errors
    /// There is none or more than one, or the note can't be written.
    pub fn remove(&self, id: &str, origin: impl Into<Origin>) -> Result<WrittenReminder> {
        let line = self.line(id)?;
        self.remove_line(&line, line.reminder.id.ok_or(ReminderError::NothingToChange)?, origin)
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
        let removed = self.write(plan::remove(line, id), &origin.into(), "removed")?;
        self.sent.line_removed(&removed.id);
        Ok(removed)
    }

    /// All reminders, in the order of their lines; copies are one.
    ///
    /// # Errors
    /// The note can't be read.
    pub fn list(&self, now: Timestamp) -> Result<Vec<ListedReminder>, VaultError> {
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
        Ok(distinct(&self.read()?).map(listed).collect())
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
            None => distinct(&file).collect(),
        };
        let just_before = from.saturating_sub(SignedDuration::from_nanos(1)).unwrap_or(from);
        let preview = |line: &reminder::ReminderLine| {
            let occurrences = schedule::DueInstant::new(self.zone, just_before).occurrences(&line.reminder);
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

    /// The line with this id, for a change of it.
    ///
    /// # Errors
    /// None or several have it, or the note can't be read, because another program keeps it open, too.
    pub fn line(&self, id: &str) -> Result<ReminderLine> {
        self.find(&self.read_settled()?, id).cloned()
    }

    /// The line with this id among the reminders that were read, if it is as expected.
    pub(super) fn find<'f>(&self, file: &'f RemindersFile, id: &str) -> Result<&'f ReminderLine> {
        let line = plan::find(file, id, &self.path)?;
        let is_expected = |was: &str| was == String::from_utf8_lossy(&line.text).trim();
        if self.was.is_none_or(is_expected) {
            return Ok(line);
        }
        Err(ReminderError::Changed(self.path.clone(), id.to_owned()))
    }

    pub(super) fn write(&self, plan: LinePlan, origin: &Origin, verb: &str) -> Result<WrittenReminder> {
        let msg = match reminder::parse_line(plan.text.as_bytes()) {
            reminder::ParsedLine::Reminder(reminder) => reminder.msg,
            _ => plan.id.to_string(),
        };
        let why = origin.why(format!("{verb}: {msg}")).trailer("Reminder", plan.id.to_string());
        let added = matches!(plan.operation, Operation::Append { .. }).then_some(plan.id);
        self.write_all(&[plan.operation], plan.id.as_str(), added, &why)?;
        Ok(WrittenReminder::new(plan.id.as_str(), plan.text))
    }

    /// Does all operations on the reminder with the id, or none. One that they have `added` is read back.
    pub(super) fn write_all(
        &self,
        all: &[Operation],
        id: &str,
        added: Option<ReminderId>,
        why: &ChangeReason,
    ) -> Result<()> {
        self.editor.try_edit_with(&self.path, why, |bytes| {
            let (after, outcomes) = vault::apply(all, bytes);
            if !outcomes.iter().all(|outcome| outcome.is_done()) {
                return Err(ReminderError::Changed(self.path.clone(), id.to_owned()));
            }
            let is_there = |line: &ReminderLine| line.reminder.id == added;
            if added.is_some() && !reminder::parse(&after).reminders.iter().any(is_there) {
                return Err(ReminderError::EndsInside(self.path.clone()));
            }
            Ok((EditPlan::Operations(all.to_vec()), ()))
        })
    }

    /// Adds a reminder, unless exactly this line is there already.
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
        if let Some(line) = self.read_settled()?.reminders.iter().find(same)
            && let Some(id) = &line.reminder.id
        {
            return Ok(WrittenReminder::new(id.as_str(), plan::lossy(line)));
        }
        self.add(&draft, origin)
    }
}

/// The local time after a length of time, rounded up to the minute. If the clocks go back, a local time that comes
/// twice means the earlier instant; so for an instant in the second hour, the first minute that is certainly later is
/// returned.
pub fn local_after(now: Timestamp, by: SignedDuration, zone: &Zone) -> civil::DateTime {
    let at = now.saturating_add(by).unwrap_or(Timestamp::MAX);
    let local = local_time(zone.tz(), at);
    let whole = local.date().at(local.hour(), local.minute(), 0, 0);
    if whole < local { whole.checked_add(1.minute()).unwrap_or(whole) } else { whole }
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
