//! `remind skip`, `remind move` and `remind preview`: changes or shows single occurrences.

use super::find_by_words;
use super::remind::Remind;
use crate::cli::context::instant;
use crate::cli::prelude::*;
use crate::format::reminder::{ParsedLine, Recur, parse_line};
use crate::reminders::PreviewedReminder;
use crate::tasks::{Scanner, TaskAction, TaskRewrite, is_task_id};
use crate::when::WhenError;

impl Remind<'_> {
    pub(super) fn skip(&self, id: &str) -> CommandResult {
        if is_task_id(id) {
            return self.change_task("skipped", id, TaskAction::Skip, None);
        }
        let line = self.reminders().line(id)?;
        if line.reminder.recur == Recur::None {
            return Err(CommandError::usage(format!("`{}` is a one-off reminder", line.reminder.msg))
                .hint(format!("remove it with `vault-agent remind rm {id}`, or `move` it")));
        }
        let written = self.reminders().skip_next(id, self.now, self.context.origin())?;
        let said = match parse_line(written.line_text.as_bytes()) {
            ParsedLine::Reminder(next) => {
                Some(self.confirmation(next.date.to_datetime(next.time), line.reminder.recur))
            }
            _ => None,
        };
        self.report_change("skipped", &written, said)
    }

    pub(super) fn move_next(&self, text: &str, when: &str) -> CommandResult {
        let (now, zone) = (self.now, &self.workspace.zone);
        let follow_ups = self.workspace.memory().ledger().read()?;
        let follow_up = follow_ups.find(text).map(|block| &block.commitment);
        let id = match follow_up {
            Some(one) => one.id.clone(),
            None => find_by_words::id_of(self.context, self.workspace, text, false)?,
        };
        let id = id.as_str();
        let time = if let Some(one) = follow_up {
            one.due.map(|due| zone.tz().to_datetime(due).time())
        } else if is_task_id(id) {
            let (listed, _) = self.tasks().list(&mut Scanner::default(), now)?;
            listed.iter().find(|one| one.id.as_deref() == Some(id)).and_then(|one| one.time.parse().ok())
        } else {
            self.reminders().line(id).ok().map(|line| line.reminder.time)
        };
        // A day alone keeps the time: with another time behind it, a phrase that has one can't be read.
        let kept =
            time.map(|time| when::parse_when(&format!("{when} {}", time.strftime("%H:%M")), now, zone));
        let local = match kept {
            None | Some(Err(WhenError::NotUnderstood { .. })) => when::parse_when(when, now, zone)?,
            Some(kept) => kept?,
        };
        if is_task_id(id) {
            return self.rewrite("moved", id, TaskRewrite { to: Some(local), words: None });
        }
        if follow_up.is_some() {
            return self.postpone("moved", id, local);
        }
        let written = self.reminders().move_next(id, local, now, self.context.origin())?;
        self.report_change("moved", &written, Some(self.confirmation(local, Recur::None)))
    }

    pub(super) fn preview(
        &self,
        id: Option<&str>,
        count: usize,
        until: Option<&str>,
        from: Option<&str>,
    ) -> CommandResult {
        let from = from.map_or(Ok(self.now), |from| instant(from, self.workspace))?;
        let until = until.map(|until| instant(until, self.workspace)).transpose()?;
        let previews = self.reminders().preview(id, from, until, count)?;
        self.context.ui.json(&previews);
        for PreviewedReminder { id, msg, occurrences } in &previews {
            self.context.ui.line(format!("{msg} ({})", id.as_deref().unwrap_or("no id yet")));
            occurrences.iter().for_each(|occurrence| self.context.ui.line(format!("  {occurrence}")));
        }
        Ok(Status::Fine)
    }

    /// Changes the time or the words of a task of another plugin.
    pub(super) fn rewrite(&self, what: &str, id: &str, rewrite: TaskRewrite<'_>) -> CommandResult {
        let said = rewrite.to.map(|to| self.confirmation(to, Recur::None));
        self.change_task(what, id, TaskAction::Rewrite(rewrite), said)
    }
}
