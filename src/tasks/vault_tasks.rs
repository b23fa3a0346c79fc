//! Lists the tasks of a vault, and completes, snoozes, moves, rewords, skips or removes a task. The vault's editor
//! (`vault::edit`) writes each change.
//!
//! A task's id is a hash of its words and its note. If the note was renamed, or the line moved to another note, the id
//! stands for the task with the same words, if there is exactly one. Two tasks of one note with the same words and
//! different times share one id. A time after the id selects one of them (`task_…@2026-12-05T09:00`); without a time
//! neither is changed.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde::Serialize;

use super::rewrite::{self, TaskRewrite};
use super::{Result, Scanner, TaskError, TaskRef, TaskSettings, change, plugins, short, task_id, words_of};
use crate::format::one_line;
use crate::format::task::{Rules, TaskFormat};
use crate::reminders::{ListedReminder, VaultReminders, rfc3339};
use crate::schedule::{self, Zone};
use crate::vault::{EditPlan, Editor, NotePath, Origin, Vault, VaultError};

/// The tasks of a vault.
#[derive(Debug, Clone)]
pub struct VaultTasks<'a> {
    /// Reads the notes.
    pub vault: &'a Vault,
    /// Writes the notes.
    pub editor: &'a Editor,
    /// The forms that give notifications; `None` for none.
    pub settings: Option<TaskSettings>,
    /// The zone that their times are meant in.
    pub zone: &'a Zone,
}

/// A task that was changed, read back from its note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrittenTask {
    /// Its id.
    pub id: String,
    /// Its note.
    pub path: String,
    /// Its line now, from 1.
    pub line: usize,
    /// The form that it is written in.
    pub format: TaskFormat,
    /// The line's text in the note, or as it was if it is gone; empty if Done leaves only the line of its next time.
    pub line_text: String,
    /// The line of its next time.
    pub next_text: Option<String>,
    /// A remark for the person.
    pub remark: Option<String>,
}

impl WrittenTask {
    /// The lines as they stand in the note.
    pub fn shown(&self) -> String {
        let lines = [Some(&self.line_text), self.next_text.as_ref()];
        let lines: Vec<&str> =
            lines.into_iter().flatten().map(String::as_str).filter(|line| !line.is_empty()).collect();
        lines.join("\n")
    }

    /// `Home.md:3 (tasks)`.
    pub fn place(&self) -> String {
        format!("{}:{} ({})", self.path, self.line, self.format)
    }
}

/// An action on a task.
#[derive(Debug, Clone, Copy)]
pub enum TaskAction<'a> {
    /// Completes it at this instant, as its plugin does.
    Done(Timestamp),
    /// It is told again, once, at this local time.
    Snooze(DateTime),
    /// It gets another time, or other words, or both.
    Rewrite(TaskRewrite<'a>),
    /// The next time of one that comes again is left out.
    Skip,
    /// Its line is taken out of its note.
    Remove,
}

impl TaskAction<'_> {
    fn verb(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Snooze(_) => "snoozed",
            Self::Rewrite(TaskRewrite { words: Some(_), .. }) => "changed",
            Self::Rewrite(_) => "moved",
            Self::Skip => "skipped",
            Self::Remove => "removed",
        }
    }
}

/// Whether an id is a task's, rather than a reminder's.
pub fn is_task_id(id: &str) -> bool {
    words_of(id).is_some()
}

impl VaultTasks<'_> {
    /// All open tasks with a notification: coming ones in their order, then overdue ones; and the problems. A caller
    /// that lists repeatedly keeps the scanner, which reads only changed notes again.
    pub fn list(&self, scanner: &mut Scanner, now: Timestamp) -> Result<(Vec<ListedLine>, Vec<String>)> {
        let Some(settings) = &self.settings else { return Ok((Vec::new(), Vec::new())) };
        let problems = scanner.scan(self.vault, settings, now).map_err(TaskError::Plugins)?;
        let tasks = scanner.tasks();
        let mut times_of: HashMap<&str, HashSet<DateTime>> = HashMap::new();
        for (_, found) in &tasks {
            times_of.entry(&found.id).or_default().extend(found.task.first_time());
        }
        let mut listed: Vec<ListedLine> = tasks
            .into_iter()
            .filter_map(|(path, found)| {
                let mut times = found
                    .task
                    .notification_times
                    .iter()
                    .map(|it| (it.at, schedule::resolve(self.zone, it.at)));
                let (local, at) = times.clone().find(|(_, at)| *at > now).or_else(|| times.next_back())?;
                let first = found.task.first_time().filter(|_| times_of[found.id.as_str()].len() > 1);
                let first = first.map_or_else(String::new, |at| at.strftime("@%Y-%m-%dT%H:%M").to_string());
                Some(ListedLine {
                    id: Some(format!("{}{first}", found.id)),
                    path: path.to_owned(),
                    line: found.line,
                    format: found.task.format.to_string(),
                    date: local.date().to_string(),
                    time: local.strftime("%H:%M").to_string(),
                    recur: found.task.repeat.clone().unwrap_or_else(|| "none".to_owned()),
                    msg: found.task.words.clone(),
                    next: rfc3339(at, self.zone.tz()),
                    at,
                })
            })
            .collect();
        listed
            .sort_by(|a, b| (a.at <= now, a.at, &a.path, a.line).cmp(&(b.at <= now, b.at, &b.path, b.line)));
        Ok((listed, problems))
    }

    /// Changes the task. `due` is the local time of the notification that a person answers, if it is known and isn't
    /// part of the id.
    ///
    /// # Errors
    /// It isn't there or can't be changed so, or its note can't be written; or other tasks of the note have its words,
    /// and no time says which is meant.
    pub fn change(
        &self,
        id: &str,
        due: Option<DateTime>,
        action: TaskAction<'_>,
        origin: impl Into<Origin>,
    ) -> Result<WrittenTask> {
        let settings = self.settings.as_ref().ok_or_else(|| TaskError::Off(id.to_owned()))?;
        let rules = plugins::rules(self.vault, settings).map_err(TaskError::Plugins)?;
        let (id, due) = match id.split_once('@') {
            Some((plain, at)) => (plain, Some(at.parse().map_err(|_| TaskError::NoSuchId(id.to_owned()))?)),
            None => (id, due),
        };
        let path = self.note_of(id, due, settings, &rules)?;
        let meant = TaskRef { path: path.as_str(), id, due };
        let bytes = self.vault.read(&path)?;
        let words = meant
            .find(&bytes, &rules)
            .map(|placed| placed.task.words)
            .ok_or_else(|| TaskError::gone(&meant))?;
        let all = meant.all(&bytes, &rules);
        if due.is_none() && all.iter().any(|one| one.task.first_time() != all[0].task.first_time()) {
            let places = all.iter().map(|one| format!("{path}:{}", one.line));
            return Err(TaskError::Disputed(places.collect()));
        }
        let why = origin.into().why(format!("{}: {words}", action.verb())).trailer("Task", id.to_owned());
        let changed = self.editor.try_edit_with(&path, &why, |bytes| {
            let mut changed = match action {
                TaskAction::Done(now) => {
                    change::complete(bytes, &meant, &rules, self.zone.tz().to_datetime(now))
                }
                TaskAction::Snooze(to) => change::snooze(bytes, &meant, &rules, to),
                TaskAction::Rewrite(rewrite) => rewrite::rewritten(bytes, &meant, &rules, rewrite),
                TaskAction::Skip => rewrite::skipped(bytes, &meant, &rules),
                TaskAction::Remove => rewrite::removed(bytes, &meant, &rules),
            }?;
            Ok::<_, TaskError>((EditPlan::Bytes(std::mem::take(&mut changed.bytes)), changed))
        })?;
        let words = match action {
            TaskAction::Rewrite(TaskRewrite { words: Some(new), .. }) => one_line(new),
            _ => words,
        };
        Ok(WrittenTask {
            id: task_id(path.as_str(), &words),
            path: path.to_string(),
            line: changed.line,
            format: changed.format,
            line_text: changed.text,
            next_text: changed.next,
            remark: changed.remark,
        })
    }

    /// The note in which a task stands: the one that its id names, else the only one that has it now.
    fn note_of(
        &self,
        id: &str,
        due: Option<DateTime>,
        settings: &TaskSettings,
        rules: &Rules,
    ) -> Result<NotePath> {
        let notes = super::scanner::notes(self.vault, settings)?;
        let holds = |path: &NotePath| -> Result<bool, VaultError> {
            let task = TaskRef { path: path.as_str(), id, due };
            Ok(self.vault.read_if_there(path)?.is_some_and(|bytes| task.find(&bytes, rules).is_some()))
        };
        let of_note = id.rsplit_once('_').map(|(_, note)| note);
        let named = notes.iter().find(|entry| of_note == Some(&short(entry.path.as_str())));
        if let Some(entry) = named
            && holds(&entry.path)?
        {
            return Ok(entry.path.clone());
        }
        let mut found = Vec::new();
        for entry in &notes {
            // A note that can't be read isn't known to hold it.
            if holds(&entry.path).unwrap_or(false) {
                found.push(entry.path.clone());
            }
        }
        found.sort_unstable();
        match found.as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(TaskError::NoSuchId(id.to_owned())),
            many => Err(TaskError::Disputed(many.iter().map(ToString::to_string).collect())),
        }
    }
}

/// All reminders in the order of their note, then all tasks, coming ones first; and the problems. If the tasks can't be
/// read now, that is one of the problems, and the reminders are listed all the same.
pub fn all(
    book: &VaultReminders<'_>,
    tasks: &VaultTasks<'_>,
    scanner: &mut Scanner,
    now: Timestamp,
) -> Result<(Vec<ListedLine>, Vec<String>), VaultError> {
    let path = book.path.as_str();
    let mut all: Vec<ListedLine> =
        book.list(now)?.into_iter().map(|listed| ListedLine::reminder(listed, path)).collect();
    match tasks.list(scanner, now) {
        Ok((listed, problems)) => {
            all.extend(listed);
            Ok((all, problems))
        }
        Err(error) => Ok((all, vec![error.to_string()])),
    }
}

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
