//! Carries out a person's actions on a line of a note: a reminder, a task or a follow-up.
//!
//! Reminders and tasks are completed, snoozed, skipped, moved, changed or removed; follow-ups are completed, snoozed,
//! moved, changed or cancelled. The functions are those that `remind` calls. A form contains the line that it was made
//! for (`was`). If the line has changed since, nothing is done, and the answer shows the present line.

use jiff::SignedDuration;
use jiff::civil::DateTime;

use super::answer::{PageError, Result};
use super::visit::{FormData, Visit};
use crate::format::commitment::CommitmentStatus;
use crate::format::reminder::{Recur, Reminder};
use crate::memory::commitments::ListedFollowUp;
use crate::reminders::{ReminderChanges, ReminderError, VaultReminders, checked_message, local_after};
use crate::schedule;
use crate::tasks::{TaskAction, TaskRewrite, is_task_id};
use crate::when;

/// Snooze's minutes, where none are said.
const MINUTES: i64 = 10;

impl Visit<'_> {
    /// The reminders, for changes of one that is still the form's.
    fn book<'f>(&'f self, form: &'f FormData) -> VaultReminders<'f> {
        self.workspace.vault_reminders().if_unchanged(form.get("was"))
    }

    /// Carries out the form's action on a line, and returns a sentence about it. `None` if the form has another action.
    pub(super) fn act_on_line(&self, form: &FormData) -> Result<Option<String>> {
        let (id, what) = (form.get("id"), form.get("do"));
        let memory = self.workspace.memory();
        let changes = [new_words(form), form.non_blank("when"), form.non_blank("recur")];
        if what == "edit" && changes == [None; 3] {
            return Err(ReminderError::NothingToChange.into());
        }
        if is_task_id(id) {
            return self.act_on_task(id, what, form);
        }
        match memory.ledger().list(true)?.into_iter().find(|one| one.id == id) {
            Some(one) => self.act_on_follow_up(&one, what, form),
            None => self.act_on_reminder(id, what, form),
        }
    }

    /// Does it with a task of another plugin.
    fn act_on_task(&self, id: &str, what: &str, form: &FormData) -> Result<Option<String>> {
        let due = self.task(id, form)?;
        let change = |action| self.workspace.vault_tasks().change(id, due, action, self.origin());
        let (action, said) = match what {
            "done" => (TaskAction::Done(self.now), "Done"),
            "skip" => (TaskAction::Skip, "Skipped"),
            "snooze" => {
                let (local, said) = self.until(form)?;
                change(TaskAction::Snooze(local))?;
                return Ok(Some(said));
            }
            "move" => {
                let to = self.when(form.get("when"))?.local;
                (TaskAction::Rewrite(TaskRewrite { to: Some(to), words: None }), "Moved")
            }
            "edit" => {
                let to = form.non_blank("when").map(|text| self.when(text)).transpose()?;
                if to.as_ref().is_some_and(|to| to.recur != Recur::None) {
                    let words = "the recurrence of another plugin's task can only be changed in its note";
                    return Err(PageError::bad(words));
                }
                let rewrite = TaskRewrite { to: to.map(|to| to.local), words: new_words(form) };
                (TaskAction::Rewrite(rewrite), "Changed")
            }
            "remove" => (TaskAction::Remove, "Removed"),
            _ => return Ok(None),
        };
        let written = change(action)?;
        let shown = written.shown();
        let shown = if shown.is_empty() { shown } else { format!(": {shown}") };
        Ok(Some(format!("{said} in {}{shown}", written.place())))
    }

    /// Does it with a follow-up; one that doesn't wait any more is refused by the ledger.
    fn act_on_follow_up(&self, one: &ListedFollowUp, what: &str, form: &FormData) -> Result<Option<String>> {
        let (workspace, origin, now) = (self.workspace, self.origin(), one.fingerprint());
        let memory = workspace.memory();
        let ledger = memory.ledger().if_unchanged(form.get("was"));
        if one.status == CommitmentStatus::Pending.name() && now != form.get("was") {
            return Err(
                PageError::changed("the follow-up was changed meanwhile").hint(format!("it is now: {now}"))
            );
        }
        Ok(Some(match what {
            "done" => format!("Done: {}", ledger.set(&one.id, CommitmentStatus::Delivered, &origin)?.text),
            "cancel" => {
                format!("Cancelled: {}", ledger.set(&one.id, CommitmentStatus::Cancelled, &origin)?.text)
            }
            "snooze" => self.snooze(&one.id, form)?,
            "move" => self.snooze(&one.id, form)?.replacen("Snoozed until", "Moved to", 1),
            "edit" => {
                let due =
                    form.non_blank("when").map(|text| when::parse_instant(text, self.now, &workspace.zone));
                let due = due.transpose().map_err(ReminderError::from)?.map(|due| due.at);
                let changed = ledger.change(&one.id, (new_words(form), due), &origin)?;
                format!("Changed: {}", changed.text)
            }
            _ => return Ok(None),
        }))
    }

    /// Does it with a reminder.
    fn act_on_reminder(&self, id: &str, what: &str, form: &FormData) -> Result<Option<String>> {
        let (now, origin) = (self.now, self.origin());
        Ok(Some(match what {
            "done" => self.done(id, form)?,
            "snooze" => self.snooze(id, form)?,
            "skip" => {
                self.is_next(id, form)?;
                let written = self.book(form).skip_next(id, now, origin)?;
                format!("Skipped; next: {}", in_words(self, &written.line_text))
            }
            "move" => {
                self.is_next(id, form)?;
                let to = self.when(form.get("when"))?.local;
                let written = self.book(form).move_next(id, to, now, origin)?;
                format!("Moved: {}", in_words(self, &written.line_text))
            }
            "edit" => self.edit(id, form)?,
            "remove" => {
                self.unchanged(id, form)?;
                let written = self.book(form).remove(id, origin)?;
                format!("Removed: {}", in_words(self, &written.line_text))
            }
            _ => return Ok(None),
        }))
    }

    /// The meaning of a time as it is typed.
    pub(super) fn when(&self, text: &str) -> Result<when::Meaning> {
        when::read(text, self.now, &self.workspace.zone).map_err(|error| ReminderError::from(error).into())
    }

    /// Refuses a form whose line is another by now; the reminder of the line.
    fn unchanged(&self, id: &str, form: &FormData) -> Result<Reminder> {
        let was = form
            .non_blank("was")
            .ok_or_else(|| PageError::bad("the form names no line; reload the page and send it again"))?;
        let found = self.workspace.vault_reminders().line(id)?;
        let line = String::from_utf8_lossy(&found.text).into_owned();
        if line.trim() == was {
            return Ok(found.reminder);
        }
        Err(PageError::changed("the line was changed meanwhile").hint(format!("it is now: {line}")))
    }

    /// As [`Self::unchanged`], for a form about the next time of a reminder.
    fn is_next(&self, id: &str, form: &FormData) -> Result<()> {
        let reminder = self.unchanged(id, form)?;
        let next = self.workspace.vault_reminders().coming(id, &reminder, self.now).next();
        let next = next.map_or_else(String::new, |next| minute(next.local));
        match form.non_blank("at") {
            Some(at) if at != next => Err(PageError::changed("this is not the reminder's next occurrence")
                .hint(format!(
                    "the next one is {}; only that one can be skipped or moved",
                    next.replace('T', " ")
                ))),
            _ => Ok(()),
        }
    }

    /// Refuses a form about a task of another plugin that is another by now; the local time that the form is about.
    fn task(&self, id: &str, form: &FormData) -> Result<Option<DateTime>> {
        let (workspace, was) = (self.workspace, form.get("was"));
        let mut scanner = self.tasks();
        if let Some(settings) = workspace.task_settings() {
            scanner.scan(&workspace.vault, &settings, self.now).map_err(PageError::failed)?;
        }
        let all = scanner.tasks();
        let mut standing =
            all.iter().filter(|(_, found)| found.id == id).map(|(_, found)| found.fingerprint());
        match standing.next() {
            Some(now) if now != was && standing.all(|other| other != was) => {
                Err(PageError::changed("the task was changed meanwhile").hint(format!("it is now: {now}")))
            }
            // A missing item is reported by the code that looks for it.
            _ => Ok(form.non_blank("at").and_then(|at| at.parse().ok())),
        }
    }

    fn done(&self, id: &str, form: &FormData) -> Result<String> {
        let (workspace, now) = (self.workspace, self.now);
        let reminder = self.unchanged(id, form)?;
        if reminder.recur == Recur::None {
            let written = self.book(form).remove(id, self.origin())?;
            return Ok(format!("Done: {}", in_words(self, &written.line_text)));
        }
        let next = schedule::next_occurrence(&workspace.zone, &reminder, now);
        let said = next.map(|next| when::confirmation_with(next.local, reminder.recur, now, &workspace.zone));
        let said = said.unwrap_or_else(|| "never".to_owned());
        if schedule::due(&workspace.zone, &reminder, now).is_none() {
            return Err(PageError::bad(format!("it isn't due yet, and comes {said}"))
                .hint("`Skip this occurrence` leaves it out"));
        }
        self.book(form).skip_unsent(id, now, self.origin())?;
        Ok(format!("Done; next time: {said}"))
    }

    /// Until when it is snoozed, as a time and in a sentence.
    fn until(&self, form: &FormData) -> Result<(DateTime, String)> {
        let (zone, now) = (&self.workspace.zone, self.now);
        let local = match form.non_blank("when") {
            Some(text) => self.when(text)?.local,
            None => local_after(now, SignedDuration::from_mins(MINUTES), zone),
        };
        let said = when::confirmation_with(local, Recur::None, now, zone);
        Ok((local, format!("Snoozed until {said}")))
    }

    fn snooze(&self, id: &str, form: &FormData) -> Result<String> {
        let (workspace, origin) = (self.workspace, self.origin());
        let (local, said) = self.until(form)?;
        if workspace.postpone_follow_up(id, Some(form.get("was")), local, &origin)?.is_none() {
            self.unchanged(id, form)?;
            self.book(form).snooze(id, local, workspace.last_message_of(id).as_deref(), self.now, origin)?;
        }
        Ok(said)
    }

    fn edit(&self, id: &str, form: &FormData) -> Result<String> {
        let old = self.unchanged(id, form)?;
        let meaning = form.non_blank("when").map(|text| self.when(text)).transpose()?;
        let mut recur = recurrence(form)?.filter(|recur| *recur != old.recur);
        if let Some(meaning) = meaning.as_ref().filter(|meaning| meaning.recur != Recur::None) {
            recur = Some(meaning.recurring(recur).map_err(PageError::bad)?);
        }
        let msg = new_words(form).map(checked_message).transpose()?;
        let changes = ReminderChanges { local: meaning.map(|meaning| meaning.local), recur, msg };
        let written = self.book(form).change(id, &changes, self.origin())?;
        Ok(format!("Changed: {}", in_words(self, &written.line_text)))
    }
}

/// The words of a form; none where they are as the form had them.
fn new_words(form: &FormData) -> Option<&str> {
    let was = form.non_blank("message_was");
    form.non_blank("message").filter(|words| was != Some(*words))
}

/// How it comes again, if the form says so.
pub(super) fn recurrence(form: &FormData) -> Result<Option<Recur>> {
    form.non_blank("recur").map(|text| Recur::parse(text).map_err(PageError::bad)).transpose()
}

/// A reminder's line in words for a person.
pub(super) fn in_words(visit: &Visit<'_>, line: &str) -> String {
    let file = crate::format::reminder::parse(line.as_bytes());
    let Some(Reminder { date, time, recur, msg, .. }) = file.reminders.first().map(|line| &line.reminder)
    else {
        return line.to_owned();
    };
    let said = when::confirmation_with(date.to_datetime(*time), *recur, visit.now, &visit.workspace.zone);
    format!("{said}: {msg}")
}

/// `2026-12-01T09:30`: a local time as forms have it.
pub(super) fn minute(local: DateTime) -> String {
    local.strftime("%Y-%m-%dT%H:%M").to_string()
}
