//! Lists all lines that give notifications (reminders and tasks), each with its place.

use jiff::Timestamp;
use serde::Serialize;

use super::{ListedTask, Scanner, VaultTasks};
use crate::reminders::{ListedReminder, VaultReminders};

/// A reminder or a task, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToldLine {
    /// Its id, once it has one.
    pub id: Option<String>,
    /// Its note.
    pub path: String,
    /// Its line, from 1.
    pub line: usize,
    /// `own`, or the form of a task as the settings name it.
    pub format: String,
    /// Its local date.
    pub date: String,
    /// Its local time, `HH:MM`.
    pub time: String,
    /// How it comes again; `none` for once. Of a task in its own words.
    pub recur: String,
    /// Its words.
    pub msg: String,
    /// Its next instant; of one that is overdue, the one that it was due.
    pub next: Option<String>,
}

impl ToldLine {
    /// A reminder of the note `path`.
    pub fn reminder(listed: ListedReminder, path: &str) -> Self {
        Self {
            id: listed.id,
            path: path.to_owned(),
            line: listed.line,
            format: "own".to_owned(),
            date: listed.date.to_string(),
            time: listed.time,
            recur: listed.recur,
            msg: listed.msg,
            next: listed.next,
        }
    }

    /// Whether it is another plugin's.
    pub fn is_task(&self) -> bool {
        self.format != "own"
    }

    /// `Home.md:3 (tasks)`.
    pub fn place(&self) -> String {
        format!("{}:{} ({})", self.path, self.line, self.format)
    }
}

impl From<ListedTask> for ToldLine {
    fn from(listed: ListedTask) -> Self {
        Self {
            id: Some(listed.id),
            path: listed.path,
            line: listed.line,
            format: listed.format.to_string(),
            date: listed.date.to_string(),
            time: listed.time,
            recur: listed.repeat.unwrap_or_else(|| "none".to_owned()),
            msg: listed.msg,
            next: Some(listed.next),
        }
    }
}

/// All reminders in the order of their note, then all tasks, coming ones first; and the problems. If the tasks can't be
/// read now, that is one of the problems, and the reminders are listed all the same.
///
/// # Errors
/// The note of the reminders can't be read.
pub fn all(
    book: &VaultReminders<'_>,
    tasks: &VaultTasks<'_>,
    now: Timestamp,
) -> Result<(Vec<ToldLine>, Vec<String>), crate::reminders::ReminderError> {
    let path = book.path.as_str();
    let mut all: Vec<ToldLine> =
        book.list(now)?.into_iter().map(|listed| ToldLine::reminder(listed, path)).collect();
    match tasks.list(&mut Scanner::default(), now) {
        Ok((listed, problems)) => {
            all.extend(listed.into_iter().map(ToldLine::from));
            Ok((all, problems))
        }
        Err(error) => Ok((all, vec![error.to_string()])),
    }
}
