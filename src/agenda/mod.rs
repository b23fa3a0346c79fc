//! Lists coming and past reminders, follow-ups, tasks of other plugins and routines.
//!
//! Each call reads the vault's notes again and, for the past, the delivery journal. Nothing is written, and no
//! notification is sent.
//! - [`upcoming_items`]: the next few, for `status` and Discord's `/status`;
//! - [`range`](mod@range): all of some days, with repeats and runs of routines, for `agenda` and a calendar; [`entry`]: the
//!   parts of an agenda.

mod entry;
mod range;

use jiff::Timestamp;
use serde::Serialize;

use crate::reminders::ReminderError;
use crate::tasks::{self, ListedLine, Scanner};
use crate::workspace::Workspace;

pub use self::entry::{
    Agenda, AgendaEntry, AgendaError, DeliveryDetail, EntryKind, EntryState, MOST_ENTRIES, month, week,
};
pub use self::range::range;

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
