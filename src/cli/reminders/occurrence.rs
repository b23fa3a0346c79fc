//! `remind skip` and `remind move`: one occurrence, and none of the others.

use super::remind::Remind;
use crate::cli::{CommandError, CommandResult};
use crate::format::reminder::Recur;
use crate::reminders::{self, ReminderError, Written};
use crate::tasks::is_task_id;
use crate::when;

impl Remind<'_> {
    pub(super) fn skip(&self, id: &str) -> CommandResult {
        let file = self.book().read()?;
        let line = reminders::find(&file, id, self.path)?;
        if line.reminder.recur == Recur::None {
            return Err(CommandError::usage(format!("`{}` comes once", line.reminder.msg))
                .hint(format!("take it out with `vault-agent remind rm {id}`, or `move` it")));
        }
        let written = self.book().skip_next(id, self.workspace.clock.now(), self.context.origin())?;
        let local = next_of(&written);
        let said = local.and_then(|local| self.said(local, line.reminder.recur));
        self.say("skipped", &written, said)
    }

    pub(super) fn move_next(&self, id: &str, when: &str) -> CommandResult {
        if is_task_id(id) {
            return Err(CommandError::usage("a task of another plugin is moved in its own note")
                .hint(format!("`vault-agent remind snooze {id} --until WHEN` lets it come again later")));
        }
        let (now, zone) = (self.workspace.clock.now(), &self.workspace.zone);
        let file = self.book().read()?;
        let time = reminders::find(&file, id, self.path).map(|line| line.reminder.time.strftime("%H:%M"));
        // A day alone keeps the time: with another time behind it, a phrase that has one can't be read.
        let kept = time.ok().and_then(|time| when::parse_when(&format!("{when} {time}"), now, zone).ok());
        let local = match kept {
            Some(local) => local,
            None => when::parse_when(when, now, zone).map_err(ReminderError::from)?,
        };
        let written = match self.workspace.postponed(id, local, &self.context.origin())? {
            Some(line_text) => Written { id: id.to_owned(), line_text },
            None => self.book().move_next(id, local, now, self.context.origin())?,
        };
        self.say("moved", &written, self.said(local, Recur::None))
    }
}

/// The date and time of a line as it was written.
fn next_of(written: &Written) -> Option<jiff::civil::DateTime> {
    match crate::format::reminder::parse_line(written.line_text.as_bytes()) {
        crate::format::reminder::Parsed::Reminder(line) => Some(line.date.to_datetime(line.time)),
        _ => None,
    }
}
