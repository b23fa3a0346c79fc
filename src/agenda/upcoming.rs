//! Lists the next reminders and tasks of other plugins, earliest first.

use jiff::Timestamp;
use serde::Serialize;

use crate::reminders::ReminderError;
use crate::tasks::{self, ListedLine, Scanner};
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
pub fn upcoming_items(
    workspace: &Workspace,
    count: usize,
    scanner: &mut Scanner,
) -> Result<Vec<UpcomingItem>, ReminderError> {
    let now = workspace.clock.now();
    let (mut coming, _) = tasks::all(&workspace.vault_reminders(), &workspace.vault_tasks(), scanner, now)?;
    coming.retain(|one| one.at > now);
    let key = |one: &ListedLine| (one.at, one.is_task(), one.path.clone(), one.line);
    coming.sort_by_cached_key(key);
    coming.truncate(count);
    let item = |one: ListedLine| UpcomingItem {
        id: one.id,
        path: one.path,
        format: one.format,
        at: one.next,
        msg: one.msg,
        line: one.line,
        instant: one.at,
    };
    Ok(coming.into_iter().map(item).collect())
}
