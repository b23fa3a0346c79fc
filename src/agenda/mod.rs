//! Lists the past and coming times of reminders, follow-ups, routines, and task lines of other Obsidian plugins.
//!
//! The vault's notes, a [`Scanner`] for tasks and, for past times, the delivery journal come in; entries go out.
//! Reminders and follow-ups are read at each call; the scanner reads only changed notes. Nothing is written, and no
//! notification is sent.
//!
//! - [`upcoming_items`]: the next reminders and tasks, for `status` and Discord's `/status`;
//! - [`late_and_coming`]: the unsent items of the last 30 days, and all other entries from then to a week from now;
//! - [`range`](mod@range): all entries of a range of days, with repeats and runs of routines, for `agenda` and a
//!   calendar; [`entry`]: the types of an agenda.

mod entry;
mod range;

use jiff::{Timestamp, ToSpan};
use serde::Serialize;

use crate::tasks::{self, ListedLine, Scanner};
use crate::vault::VaultError;
use crate::workspace::{ReadError, Workspace};

pub use self::entry::{
    Agenda, AgendaEntry, DeliveryDetail, EntryKind, EntryState, MOST_ENTRIES, month, week,
};
pub(crate) use self::range::or_record_problem;
pub use self::range::range;

/// How many days back overdue items are searched.
const BEHIND_DAYS: i64 = 30;

/// The overdue unsent items of the last month, the latest first; and all other entries from then until a week from now.
///
/// # Errors
/// As [`range`](fn@range).
pub fn late_and_coming(
    workspace: &Workspace,
    scanner: &mut Scanner,
) -> Result<(Vec<AgendaEntry>, Agenda), ReadError> {
    let today = workspace.zone.tz().to_datetime(workspace.clock.now()).date();
    let (from, to) = (today.saturating_sub(BEHIND_DAYS.days()), today.saturating_add(7.days()));
    let mut agenda = range(workspace, from, to, scanner)?;
    let mut late: Vec<_> = agenda.entries.extract_if(.., |one| one.state == EntryState::Late).collect();
    late.reverse();
    Ok((late, agenda))
}

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
) -> Result<Vec<UpcomingItem>, VaultError> {
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
