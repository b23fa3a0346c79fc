//! Finds the task that an id or words mean, and returns the note with that task done or snoozed. Pure.

use jiff::civil::DateTime;

use super::{task_id, words_of};
use crate::format::task::{self, PlacedTask, Rules, TaskFormat, TaskLine};

/// A note with a task done or snoozed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedNote {
    /// The note.
    pub bytes: Vec<u8>,
    /// The form of the task.
    pub format: TaskFormat,
    /// Its line now, from 1; its former line, if it is deleted.
    pub line: usize,
    /// The line's present text; of a note that is a task, the properties that changed; empty if it is deleted.
    pub text: String,
    /// The line of its next time.
    pub next: Option<String>,
    /// A remark for the person.
    pub remark: Option<String>,
}

/// Which task is meant.
#[derive(Debug, Clone, Copy)]
pub struct TaskRef<'a> {
    /// The note's place in the vault.
    pub path: &'a str,
    /// The task's id: that of its words, in whichever note.
    pub id: &'a str,
    /// The local time of the notification, if known: it distinguishes two tasks with the same words.
    pub due: Option<DateTime>,
}

impl TaskRef<'_> {
    /// The open task that is meant, in the bytes of the note: the one with that time, else the only one that comes once.
    /// One that comes again and has another time now was moved on since. Without a time it is the first.
    pub fn find(&self, bytes: &[u8], rules: &Rules) -> Option<PlacedTask> {
        let words = words_of(self.id)?;
        let has_words =
            |placed: &PlacedTask| words_of(&task_id(self.path, &placed.task.words)) == Some(words);
        let mut all: Vec<PlacedTask> =
            task::scan(self.path, bytes, rules).into_iter().filter(has_words).collect();
        let at = match self.due {
            Some(due) => all.iter().position(|placed| has_time(placed, due, rules)).or_else(|| {
                let once = all.len() == 1 && all[0].task.repeat.is_none();
                once.then_some(0)
            }),
            None => {
                let first = |placed: &PlacedTask| placed.task.notification_times.first().map(|time| time.at);
                (0..all.len()).min_by_key(|at| first(&all[*at]))
            }
        };
        at.map(|at| all.swap_remove(at))
    }

    /// A change, if the task's notification is at that time after it.
    pub(super) fn told_at(&self, changed: ChangedNote, rules: &Rules, to: DateTime) -> Option<ChangedNote> {
        let here = TaskRef { due: Some(to), ..*self };
        let placed = here.find(&changed.bytes, rules)?;
        placed.task.notification_times.iter().any(|time| time.at == to).then_some(changed)
    }
}

/// Whether a task's notification is at a time, or one of its dates is: one that was snoozed keeps its dates.
fn has_time(placed: &PlacedTask, due: DateTime, rules: &Rules) -> bool {
    let dated = || {
        let text = std::str::from_utf8(&placed.text).ok()?;
        let line = TaskLine::read(text, rules)?;
        let own = line.fields.iter().filter(|field| field.format == placed.task.format);
        Some(own.filter_map(|field| field.when).any(|when| when.at(rules.default_time) == due))
    };
    placed.task.notification_times.iter().any(|time| time.at == due) || dated().unwrap_or(false)
}
