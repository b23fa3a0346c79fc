//! Does, snoozes, skips, moves, changes or removes a due item for a person.
//!
//! The same functions are called as by `remind`. A form contains the line that it was made for (`was`); if the line has
//! changed since, nothing is done, and the answer shows the present line.

use jiff::SignedDuration;
use jiff::civil::DateTime;

use super::answer::Problem;
use super::visit::{Form, Visit};
use crate::format::commitment::Status;
use crate::format::reminder::{Recur, Reminder};
use crate::reminders::{Changes, ReminderError, VaultReminders, check_message, local_after};
use crate::schedule;
use crate::tasks::{Rewrite, TaskError, VaultTasks, WrittenTask, is_task_id};
use crate::when;

/// Snooze's minutes, where none are said.
const MINUTES: i64 = 10;

/// One form about one reminder, follow-up or task.
pub(super) struct Doing<'v> {
    visit: &'v Visit<'v>,
}

impl<'v> Doing<'v> {
    pub(super) fn new(visit: &'v Visit<'v>) -> Self {
        Self { visit }
    }

    pub(super) fn book(&self) -> VaultReminders<'_> {
        self.visit.workspace.vault_reminders()
    }

    /// Does what the form asks for; what was done, in a sentence. None where it asks for something else.
    pub(super) fn act(&self, form: &Form) -> Result<Option<String>, Problem> {
        let id = form.get("id");
        let done = match form.get("do") {
            "done" => self.done(id, form)?,
            "snooze" => self.snooze(id, form)?,
            "skip" if is_task_id(id) => {
                self.with_task(id, form, |book, due| book.skip(id, due, self.visit.origin()), "Skipped")?
            }
            "skip" => {
                self.is_next(id, form)?;
                let written = self.book().skip_next(id, self.visit.now, self.visit.origin())?;
                format!("Skipped; it goes on with: {}", in_words(self.visit, &written.line_text))
            }
            "move" if is_task_id(id) => {
                let rewrite = Rewrite { to: Some(self.when(form.get("when"))?.local), words: None };
                let moved = |book: VaultTasks<'_>, due| book.rewrite(id, due, rewrite, self.visit.origin());
                self.with_task(id, form, moved, "Moved")?
            }
            "move" if self.is_follow_up(id)? => self.snooze(id, form)?,
            "move" => {
                self.is_next(id, form)?;
                let to = self.when(form.get("when"))?.local;
                let written = self.book().move_next(id, to, self.visit.now, self.visit.origin())?;
                format!("Moved: {}", in_words(self.visit, &written.line_text))
            }
            "cancel" => format!("Cancelled: {}", self.close(id, Status::Cancelled)?),
            "edit" if is_task_id(id) => {
                let to = form.some("when").map(|text| self.when(text)).transpose()?;
                if to.as_ref().is_some_and(|to| to.recur != Recur::None) {
                    return Err(Problem::bad(
                        "how a task of another plugin comes again is changed in its note",
                    ));
                }
                let to = to.map(|to| to.local);
                let rewrite = Rewrite { to, words: form.some("message") };
                let changed = |book: VaultTasks<'_>, due| book.rewrite(id, due, rewrite, self.visit.origin());
                self.with_task(id, form, changed, "Changed")?
            }
            "edit" if self.is_follow_up(id)? => self.edit_follow_up(id, form)?,
            "edit" => self.edit(id, form)?,
            "remove" if is_task_id(id) => {
                self.with_task(id, form, |book, due| book.remove(id, due, self.visit.origin()), "Removed")?
            }
            "remove" => {
                self.unchanged(id, form)?;
                let written = self.book().remove(id, self.visit.origin())?;
                format!("Removed: {}", in_words(self.visit, &written.line_text))
            }
            _ => return Ok(None),
        };
        Ok(Some(done))
    }

    fn when(&self, text: &str) -> Result<when::Meaning, Problem> {
        when::read(text, self.visit.now, &self.visit.workspace.zone)
            .map_err(|error| ReminderError::from(error).into())
    }

    /// Refuses a form whose line is another by now; the reminder of the line.
    fn unchanged(&self, id: &str, form: &Form) -> Result<Reminder, Problem> {
        let was =
            form.some("was").ok_or_else(|| Problem::bad("the form doesn't say which line it is about"))?;
        let found = self.book().line(id)?;
        let line = String::from_utf8_lossy(&found.text).into_owned();
        if line.trim() == was {
            return Ok(found.reminder);
        }
        Err(Problem::changed("the line was changed meanwhile").hint(format!("it is now: {line}")))
    }

    /// As [`Self::unchanged`], for a form about the next time of a reminder.
    fn is_next(&self, id: &str, form: &Form) -> Result<(), Problem> {
        let reminder = self.unchanged(id, form)?;
        let next = schedule::next_occurrence(&self.visit.workspace.zone, &reminder, self.visit.now);
        let next = next.map_or_else(String::new, |next| minute(next.local));
        match form.some("at") {
            Some(at) if at != next => Err(Problem::changed("that isn't its next time").hint(format!(
                "its next time is {}; only that one can be left out or moved",
                next.replace('T', " ")
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses a form about a task of another plugin that is another by now; the local time that the form is about.
    fn task(&self, id: &str, form: &Form) -> Result<Option<DateTime>, Problem> {
        let (workspace, was) = (self.visit.workspace, form.get("was"));
        let mut scanner = self.visit.tasks();
        if let Some(settings) = workspace.task_settings() {
            scanner.scan(&workspace.vault, &settings, self.visit.now).map_err(Problem::failed)?;
        }
        let all = scanner.tasks();
        let mut standing =
            all.iter().filter(|(_, found)| found.id == id).map(|(_, found)| found.fingerprint());
        match standing.next() {
            Some(now) if now != was && standing.all(|other| other != was) => {
                Err(Problem::changed("the task was changed meanwhile").hint(format!("it is now: {now}")))
            }
            // A missing item is reported by the code that looks for it.
            _ => Ok(form.some("at").and_then(|at| at.parse().ok())),
        }
    }

    /// Changes a task of another plugin that is as the form knows it; what was done, where.
    fn with_task(
        &self,
        id: &str,
        form: &Form,
        act: impl FnOnce(VaultTasks<'_>, Option<DateTime>) -> Result<WrittenTask, TaskError>,
        said: &str,
    ) -> Result<String, Problem> {
        let due = self.task(id, form)?;
        let written = act(self.visit.workspace.vault_tasks(), due)?;
        let shown = written.shown();
        let shown = if shown.is_empty() { shown } else { format!(": {shown}") };
        Ok(format!("{said} in {}{shown}", written.place()))
    }

    fn edit_follow_up(&self, id: &str, form: &Form) -> Result<String, Problem> {
        self.unchanged_follow_up(id, form)?;
        let local = form.some("when").map(|text| self.when(text)).transpose()?.map(|meaning| meaning.local);
        let due = local.map(|local| schedule::resolve(&self.visit.workspace.zone, local));
        if let (None, None) = (form.some("message"), due) {
            return Err(ReminderError::NothingToChange.into());
        }
        let memory = self.visit.workspace.memory();
        let changed = memory.ledger().change(id, (form.some("message"), due), &self.visit.origin());
        Ok(format!("Changed: {}", changed?.text))
    }

    /// Refuses a form about a follow-up that says something else by now.
    fn unchanged_follow_up(&self, id: &str, form: &Form) -> Result<(), Problem> {
        let listed = self.visit.workspace.memory().ledger().list(false)?;
        match listed.into_iter().find(|one| one.id == id).map(|one| one.fingerprint()) {
            Some(now) if now != form.get("was") => {
                Err(Problem::changed("the follow-up was changed meanwhile").hint(format!("it is now: {now}")))
            }
            // A missing item is reported by the code that looks for it.
            _ => Ok(()),
        }
    }

    fn done(&self, id: &str, form: &Form) -> Result<String, Problem> {
        let (workspace, now) = (self.visit.workspace, self.visit.now);
        if is_task_id(id) {
            return self.with_task(
                id,
                form,
                |book, due| book.done(id, due, now, self.visit.origin()),
                "Done",
            );
        }
        if self.is_follow_up(id)? {
            let listed = self.close(id, Status::Delivered)?;
            return Ok(format!("Done: {listed}"));
        }
        self.unchanged(id, form)?;
        let line = self.book().line(id)?;
        if line.reminder.recur == Recur::None {
            let written = self.book().remove(id, self.visit.origin())?;
            return Ok(format!("Done: {}", in_words(self.visit, &written.line_text)));
        }
        let next = schedule::next_occurrence(&workspace.zone, &line.reminder, now);
        let said =
            next.map(|next| when::confirmation_with(next.local, line.reminder.recur, now, &workspace.zone));
        let said = said.unwrap_or_else(|| "never".to_owned());
        if schedule::due(&workspace.zone, &line.reminder, now).is_none() {
            return Err(Problem::bad(format!("it isn't due yet, and comes {said}"))
                .hint("`Skip this one` leaves that time out"));
        }
        Ok(format!("Done; it comes again {said}"))
    }

    /// Whether a follow-up that waits has this id.
    fn is_follow_up(&self, id: &str) -> Result<bool, Problem> {
        let listed = self.visit.workspace.memory().ledger().list(false)?;
        Ok(listed.iter().any(|one| one.id == id))
    }

    /// Closes a follow-up; what was promised.
    fn close(&self, id: &str, as_what: Status) -> Result<String, Problem> {
        let memory = self.visit.workspace.memory();
        let closed = memory.ledger().set(id, as_what, &self.visit.origin())?;
        Ok(closed.text)
    }

    fn snooze(&self, id: &str, form: &Form) -> Result<String, Problem> {
        let (workspace, now, origin) = (self.visit.workspace, self.visit.now, self.visit.origin());
        let local = match form.some("when") {
            Some(text) => self.when(text)?.local,
            None => local_after(now, SignedDuration::from_mins(MINUTES), &workspace.zone),
        };
        let said = when::confirmation_with(local, Recur::None, now, &workspace.zone);
        if is_task_id(id) {
            workspace.vault_tasks().snooze(id, self.task(id, form)?, local, origin)?;
        } else if workspace.postponed(id, local, &origin)?.is_none() {
            let is_told = |local| workspace.may_be_sent(id, local);
            self.unchanged(id, form)?;
            self.book().snooze(id, local, workspace.last_message_of(id).as_deref(), is_told, origin)?;
        }
        Ok(format!("Snoozed until {said}"))
    }

    fn edit(&self, id: &str, form: &Form) -> Result<String, Problem> {
        self.unchanged(id, form)?;
        let meaning = form.some("when").map(|text| self.when(text)).transpose()?;
        let mut recur =
            form.some("recur").map(|text| text.parse::<Recur>().map_err(Problem::bad)).transpose()?;
        if let Some(meaning) = meaning.as_ref().filter(|meaning| meaning.recur != Recur::None) {
            recur = Some(meaning.recurring(recur).map_err(Problem::bad)?);
        }
        let msg = form.some("message").map(str::to_owned);
        check_message(msg.as_deref().unwrap_or_default())?;
        let changes = Changes { local: meaning.map(|meaning| meaning.local), recur, msg };
        let written = self.book().change(id, &changes, self.visit.origin())?;
        Ok(format!("Changed: {}", in_words(self.visit, &written.line_text)))
    }
}

/// A reminder's line as a person says it.
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
fn minute(local: DateTime) -> String {
    local.strftime("%Y-%m-%dT%H:%M").to_string()
}
