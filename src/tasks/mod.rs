//! Finds tasks in the vault that are written in the formats of other Obsidian plugins, reads their times, and
//! completes, snoozes, changes or removes a task.
//!
//! - [`Scanner`] (`scanner`) caches each note's tasks with the note's stat, and reads a note again only if its stat has
//!   changed; without the cache all notes are read.
//! - [`plugins`] reads the plugins' own settings.
//! - [`TaskRef`] identifies a task, and finds it in a note's bytes. [`change`] applies Done or Snooze to these bytes,
//!   as the task's plugin would; `rewrite` moves, rewords, skips or removes a task. None of them reads or writes a
//!   file.
//! - [`Scanner::later`] computes the further times of a recurring task.
//! - [`count_disabled_forms`] counts the tasks whose syntax is not enabled in the settings.
//! - [`VaultTasks`] (`vault_tasks`) lists tasks, and makes these changes through the editing engine, one edit each.
//!
//! This module doesn't decide whether and when to notify (`deliver` does), and never writes unless a person asked for
//! it.

pub mod change;
mod plugins;
mod rewrite;
mod scanner;
mod vault_tasks;

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;

use crate::config::Settings;
use crate::format::task::english_repeat::RepeatError;
use crate::format::task::{self, PlacedTask, Rules, TaskFormat, TaskLine};
use crate::schedule::Zone;
use crate::vault::{EditError, NotePath, VaultError};

pub use plugins::rules;
pub use rewrite::TaskRewrite;
pub use scanner::{Scanner, count_disabled_forms, notes};
pub use vault_tasks::{ListedLine, TaskAction, VaultTasks, WrittenTask, all, is_task_id};

/// The result of an operation on a task.
pub(crate) type Result<T, E = TaskError> = std::result::Result<T, E>;

/// A task was not changed; its note is as it was.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// No form is on, so nothing is a task.
    #[error("no task lines are delivered in this vault, so none has the id `{0}`")]
    Off(String),
    /// No open task has that id.
    #[error("no open task has the id `{0}`: it was done or its words were changed")]
    NoSuchId(String),
    /// Several notes hold a task with these words, and none of them is where it was; or several lines of a note do, and
    /// no time says which.
    #[error("the task stands in more than one place now: {}", .0.join(", "))]
    Disputed(Vec<String>),
    /// Its recurrence isn't one that can be worked out.
    #[error("the task comes again `{0}`, and {1}")]
    Repeat(String, RepeatError),
    /// It comes once.
    #[error("the task is not recurring, or ends with its next occurrence: {0}")]
    Once(String),
    /// The new line can't be read as the same task.
    #[error("this task can't be written in the form that its plugin's settings say: {0}")]
    Unwritable(String),
    /// The plugins' settings can't be read.
    #[error("{0}")]
    Plugins(String),
    /// A note can't be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The note can't be written.
    #[error(transparent)]
    Edit(#[from] EditError),
}

impl TaskError {
    fn gone(meant: &TaskRef<'_>) -> Self {
        Self::NoSuchId(meant.id.to_owned())
    }

    /// A remedy, where the message has none.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Off(_) => Some("name the forms that you use in `[reminders] also`"),
            Self::NoSuchId(_) | Self::Disputed(_) => {
                Some("`vault-agent remind list --all` shows all tasks with their ids")
            }
            Self::Repeat { .. } => Some("tick it in Obsidian, where its plugin makes the next one"),
            Self::Once(_) => Some("move it to another day, or remove it"),
            Self::Unwritable(_) => Some("change the line in Obsidian"),
            _ => None,
        }
    }
}

/// The settings about task lines.
#[derive(Debug, Clone)]
pub struct TaskSettings {
    /// The forms that give notifications, in the order of [`TaskFormat::ALL`]; never empty.
    pub on: Vec<TaskFormat>,
    /// The time of day of a date without one.
    pub default_time: Time,
    /// The zone of the vault.
    pub zone: TimeZone,
    /// Glob patterns of the notes; none means all.
    pub from: Vec<String>,
    /// The notes and folders that are the agent's own.
    pub exclude: Vec<NotePath>,
}

impl TaskSettings {
    /// The vault's settings; none where they name no form.
    pub fn of(settings: &Settings, zone: &Zone) -> Option<Self> {
        let is_on = |format: &TaskFormat| settings.reminders.also.contains(format);
        let on: Vec<TaskFormat> = TaskFormat::ALL.into_iter().filter(is_on).collect();
        (!on.is_empty()).then(|| Self::with(on, settings, zone))
    }

    /// The settings with these forms enabled, instead of those that the vault's settings name.
    pub fn with(on: Vec<TaskFormat>, settings: &Settings, zone: &Zone) -> Self {
        let (reminders, paths) = (&settings.reminders, &settings.paths);
        let own = [
            &paths.reminders,
            &paths.commitments,
            &paths.approvals,
            &paths.inbox,
            &paths.routines,
            &paths.logs,
            &paths.skills,
            &paths.summaries,
        ];
        // A model and other programs write these.
        let written = settings.working_path().into_iter().chain(settings.followed_folders());
        let own = own.into_iter().cloned().chain(written);
        Self {
            on,
            default_time: reminders.time(),
            zone: zone.tz().clone(),
            from: reminders.from.clone(),
            exclude: own.filter_map(|path| NotePath::new(&path).ok()).collect(),
        }
    }
}

/// The hash in a task's id that its words alone decide.
fn short(text: &str) -> String {
    data_encoding::BASE32_NOPAD.encode(&blake3::hash(text.as_bytes()).as_bytes()[..10])
}

/// The id of a task, from its words and the path of its note. Its place in the note and its dates don't count.
pub fn task_id(path: &str, words: &str) -> String {
    format!("task_{}_{}", short(words), short(path))
}

/// The part of a task's id that depends on its words alone and is the same in every note.
pub fn words_of(id: &str) -> Option<&str> {
    let (words, _) = id.strip_prefix("task_")?.split_once('_')?;
    Some(words)
}

/// A note with a task done or snoozed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedNote {
    /// The note.
    pub bytes: Vec<u8>,
    /// The form of the task.
    pub format: TaskFormat,
    /// Its line now, from 1; its former line, if it is deleted.
    pub line: usize,
    /// The line's present text, or its former text if it is gone and none comes after it; of a note that is a task, the
    /// properties that changed.
    pub text: String,
    /// The line of its next time.
    pub next: Option<String>,
    /// A remark for the person.
    pub remark: Option<String>,
}

/// A reference to a task.
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
    /// Finds the open task in the bytes of its note. With a time, it is the task with that time, or else the only one
    /// that doesn't recur; a recurring task with another time has moved on since. Without a time, it is the first.
    pub fn find(&self, bytes: &[u8], rules: &Rules) -> Option<PlacedTask> {
        let mut all = self.all(bytes, rules);
        let at = match self.due {
            Some(due) => all.iter().position(|placed| has_time(placed, due, rules)).or_else(|| {
                let once = all.len() == 1 && all[0].task.repeat.is_none();
                once.then_some(0)
            }),
            None => (0..all.len()).min_by_key(|at| all[*at].task.first_time()),
        };
        at.map(|at| all.swap_remove(at))
    }

    /// The open tasks of the note with its words.
    fn all(&self, bytes: &[u8], rules: &Rules) -> Vec<PlacedTask> {
        let mut all = task::scan(self.path, bytes, rules);
        let words = words_of(self.id);
        all.retain(|placed| words_of(&task_id(self.path, &placed.task.words)) == words);
        all
    }

    /// A change, if the task's notification is at that time after it.
    fn told_at(&self, changed: ChangedNote, rules: &Rules, to: DateTime) -> Option<ChangedNote> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_memory_and_followed_folders_are_no_place_of_a_person_s_tasks() {
        let excluded = |text: &str| {
            let settings = Settings::parse(text).unwrap();
            let exclude = TaskSettings::with(Vec::new(), &settings, &Zone::get("UTC").unwrap()).exclude;
            move |path: &str| exclude.contains(&NotePath::new(path).unwrap())
        };
        let none = excluded("");
        assert!(none("logs") && !none("user/working.md") && !none("memory/codex") && !none("memory"));
        let both = excluded("[memory]\nuser_namespace = \"me\"\n[follow]\ncodex = \"~/c\"\n");
        assert!(both("me/working.md") && both("memory/codex") && !both("memory/other") && !both("me"));
    }
}
