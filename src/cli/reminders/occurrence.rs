//! `remind skip`, `remind move` and `remind preview`: changes or shows single occurrences.

use jiff::civil::Time;

use super::remind::Remind;
use crate::cli::instant_option::instant;
use crate::cli::{CommandError, CommandResult, Status};
use crate::format::reminder::Recur;
use crate::reminders::{PreviewedReminder, ReminderError, WrittenReminder};
use crate::tasks::{Scanner, TaskRewrite, is_task_id};
use crate::when;

impl Remind<'_> {
    pub(super) fn skip(&self, id: &str) -> CommandResult {
        if is_task_id(id) {
            let written = self.with_tasks(|tasks| tasks.skip(id, None, self.context.origin()))?;
            return self.report_task_change("skipped", &written, None);
        }
        let line = self.reminders().line(id)?;
        if line.reminder.recur == Recur::None {
            return Err(CommandError::usage(format!("`{}` comes once", line.reminder.msg))
                .hint(format!("take it out with `vault-agent remind rm {id}`, or `move` it")));
        }
        let written = self.reminders().skip_next(id, self.workspace.clock.now(), self.context.origin())?;
        let local = next_of(&written);
        let said = local.and_then(|local| self.confirmation(local, line.reminder.recur));
        self.report_change("skipped", &written, said.as_deref())
    }

    pub(super) fn move_next(&self, id: &str, when: &str) -> CommandResult {
        let (now, zone) = (self.workspace.clock.now(), &self.workspace.zone);
        let time = if is_task_id(id) {
            self.time_of_task(id)?
        } else {
            self.reminders().line(id).ok().map(|line| line.reminder.time)
        };
        // A day alone keeps the time: with another time behind it, a phrase that has one can't be read.
        let kept = time
            .map(|time| time.strftime("%H:%M"))
            .and_then(|time| when::parse_when(&format!("{when} {time}"), now, zone).ok());
        let local = match kept {
            Some(local) => local,
            None => when::parse_when(when, now, zone).map_err(ReminderError::from)?,
        };
        if is_task_id(id) {
            return self.rewrite("moved", id, TaskRewrite { to: Some(local), words: None });
        }
        let written = match self.workspace.postponed(id, local, &self.context.origin())? {
            Some(line_text) => WrittenReminder { id: id.to_owned(), line_text },
            None => self.reminders().move_next(id, local, now, self.context.origin())?,
        };
        self.report_change("moved", &written, self.confirmation(local, Recur::None).as_deref())
    }

    pub(super) fn preview(
        &self,
        id: Option<&str>,
        count: usize,
        until: Option<&str>,
        from: Option<&str>,
    ) -> CommandResult {
        let now = self.workspace.clock.now();
        let from = from.map_or(Ok(now), |from| instant(from, self.workspace))?;
        let until = until.map(|until| instant(until, self.workspace)).transpose()?;
        let previews = self.reminders().preview(id, from, until, count)?;
        self.context.ui.json(&previews);
        for PreviewedReminder { id, msg, occurrences } in &previews {
            self.context.ui.line(format!("{msg} ({})", id.as_deref().unwrap_or("no id yet")));
            for occurrence in occurrences {
                self.context.ui.line(format!("  {occurrence}"));
            }
        }
        Ok(Status::Fine)
    }

    /// Changes the time or the words of a task of another plugin.
    pub(super) fn rewrite(&self, what: &str, id: &str, rewrite: TaskRewrite<'_>) -> CommandResult {
        let written = self.with_tasks(|tasks| tasks.rewrite(id, None, rewrite, self.context.origin()))?;
        self.report_task_change(
            what,
            &written,
            rewrite.to.and_then(|to| self.confirmation(to, Recur::None)).as_deref(),
        )
    }

    /// The time of day of a task's next delivery; none where no task has the id.
    fn time_of_task(&self, id: &str) -> Result<Option<Time>, CommandError> {
        let now = self.workspace.clock.now();
        let (listed, _) = self.with_tasks(|tasks| tasks.list(&mut Scanner::default(), now))?;
        Ok(listed.into_iter().find(|one| one.id.as_deref() == Some(id)).and_then(|one| one.time.parse().ok()))
    }
}

/// The date and time of a line as it was written.
fn next_of(written: &WrittenReminder) -> Option<jiff::civil::DateTime> {
    match crate::format::reminder::parse_line(written.line_text.as_bytes()) {
        crate::format::reminder::ParsedLine::Reminder(line) => Some(line.date.to_datetime(line.time)),
        _ => None,
    }
}
