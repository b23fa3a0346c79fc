//! What comes next: reminders and tasks of other plugins, earliest first, for `status` and Discord's `/status`.

use comfy_table::{Table, presets};
use jiff::Timestamp;
use serde::Serialize;

use super::CommandError;
use super::ui::printable;
use super::when::told;
use crate::format::reminder;
use crate::reminders::rfc3339;
use crate::schedule::Moment;
use crate::tasks::Scanner;
use crate::vault::VaultError;
use crate::workspace::Workspace;

/// A reminder or a task that will be told.
#[derive(Debug, Serialize)]
pub(crate) struct Coming {
    /// Its id, once it has one.
    pub id: Option<String>,
    /// Its note.
    pub path: String,
    /// `own`, or the form of a task of another plugin.
    pub format: String,
    /// When, in the vault's zone.
    pub at: String,
    /// Its message.
    pub msg: String,
    line: usize,
    /// The same as an instant.
    #[serde(skip)]
    pub instant: Timestamp,
}

impl Coming {
    /// Its id; of a task where it stands, `Home.md:3 (tasks)`.
    fn place(&self) -> String {
        match (&self.id, self.format.as_str()) {
            (Some(id), "own") => id.clone(),
            (None, "own") => "no id yet".to_owned(),
            _ => format!("{}:{} ({})", printable(&self.path), self.line, self.format),
        }
    }
}

/// The next reminders and tasks, earliest first. Tasks that nobody can read now are left out; `doctor` says why.
pub(crate) fn coming(
    workspace: &Workspace,
    count: usize,
    scanner: &mut Scanner,
) -> Result<Vec<Coming>, CommandError> {
    let path = workspace.note(&workspace.settings.paths.reminders);
    let bytes = match workspace.vault.read(&path) {
        Ok(bytes) => bytes,
        Err(VaultError::NotFound(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let now = workspace.clock.now();
    let moment = Moment::new(&workspace.zone, now);
    let mut coming: Vec<_> = reminder::parse(&bytes)
        .reminders
        .into_iter()
        .filter_map(|line| {
            let next = moment.next(&line.reminder)?;
            Some(Coming {
                id: line.reminder.id.as_ref().map(ToString::to_string),
                path: path.to_string(),
                format: "own".to_owned(),
                at: rfc3339(next.at, workspace.zone.tz()),
                msg: line.reminder.msg,
                line: line.line,
                instant: next.at,
            })
        })
        .collect();
    let settings = workspace.task_settings();
    let tasks = workspace.task_book(settings.as_ref()).list(scanner, now);
    let tasks = tasks.map_or_else(|_| Vec::new(), |(listed, _)| listed);
    coming.extend(tasks.into_iter().filter(|task| task.at > now).take(count).map(|task| Coming {
        id: Some(task.id),
        path: task.path,
        format: task.format.to_string(),
        at: task.next,
        msg: task.msg,
        line: task.line,
        instant: task.at,
    }));
    coming.sort_by(|a, b| {
        (a.instant, a.format != "own", &a.path, a.line).cmp(&(b.instant, b.format != "own", &b.path, b.line))
    });
    coming.truncate(count);
    Ok(coming)
}

/// What comes next, for people.
pub(super) fn next_lines(out: &mut Vec<String>, workspace: &Workspace, next: &[Coming]) {
    if next.is_empty() {
        out.push("next      nothing is scheduled".to_owned());
        return;
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let now = workspace.clock.now();
    for reminder in next {
        table.add_row([
            told(reminder.instant, now, workspace.zone.tz()).as_str(),
            &reminder.place(),
            &printable(&reminder.msg),
        ]);
    }
    out.push("next".to_owned());
    for line in table.lines() {
        out.push(format!(" {}", line.trim_end()));
    }
}
