//! Lists all lines that give notifications (reminders and tasks), each with its place.

use jiff::Timestamp;
use serde::Serialize;

use crate::reminders::ListedReminder;

/// A reminder or a task, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedLine {
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
    pub next: String,
    /// The same, to compare.
    #[serde(skip)]
    pub at: Timestamp,
}

impl ListedLine {
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
            at: listed.at,
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
