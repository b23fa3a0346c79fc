//! Lists the next reminders and tasks of other plugins, earliest first.

use jiff::Timestamp;
use serde::Serialize;

use crate::format::reminder;
use crate::reminders::rfc3339;
use crate::schedule::Moment;
use crate::tasks::Scanner;
use crate::vault::VaultError;
use crate::workspace::Workspace;

/// A reminder or a task that will be notified.
#[derive(Debug, Serialize)]
pub struct UpcomingItem {
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
    /// Its line in the note, counted from 1.
    pub line: usize,
    /// The same as an instant.
    #[serde(skip)]
    pub instant: Timestamp,
}

/// The next `count` reminders and tasks, earliest first. Tasks that can't be read now are left out; `doctor` says why.
///
/// # Errors
/// The note of reminders is there and can't be read.
pub fn coming(
    workspace: &Workspace,
    count: usize,
    scanner: &mut Scanner,
) -> Result<Vec<UpcomingItem>, VaultError> {
    let path = workspace.note(&workspace.settings.paths.reminders);
    let bytes = workspace.vault.read_or_empty(&path)?;
    let now = workspace.clock.now();
    let moment = Moment::new(&workspace.zone, now);
    let mut coming: Vec<_> = reminder::parse(&bytes)
        .reminders
        .into_iter()
        .filter_map(|line| {
            let next = moment.next(&line.reminder)?;
            Some(UpcomingItem {
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
    let tasks = workspace.vault_tasks().list(scanner, now);
    let tasks = tasks.map_or_else(|_| Vec::new(), |(listed, _)| listed);
    coming.extend(tasks.into_iter().filter(|task| task.at > now).take(count).map(|task| UpcomingItem {
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
