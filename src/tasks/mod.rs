//! Finds task lines of other plugins in the vault, reads their times, and does or snoozes one.
//!
//! - [`Scanner`] caches each note's tasks with the note's stat, and reads only notes whose stat changed again; without
//!   the cache all notes are read.
//! - [`plugins`] reads the plugins' own settings.
//! - [`TaskRef`] identifies a task; [`change`] applies Done or Snooze to a note, as its plugin would; `rewrite` moves,
//!   rewords and removes a task. Pure.
//! - [`Scanner::later`] computes the further times of a recurring task.
//! - [`disabled_forms`] counts the tasks whose syntax is not enabled in the settings.
//! - [`VaultTasks`] lists tasks, and makes those changes through the editing engine, one edit each.
//!
//! These are in `vault_tasks`, `scanner`, `task_ref`, `listed_lines` and `error`; `note` has the tasks that are notes.
//!
//! Never here: the decision to notify (that is `deliver`), and a write that no person asked for.

pub mod change;
mod disabled_forms;
mod error;
mod listed_lines;
mod note;
mod plugins;
mod repeats;
mod rewrite;
mod scanner;
mod task_ref;
mod vault_tasks;

use jiff::civil::Time;
use jiff::tz::TimeZone;

use crate::config::Settings;
use crate::format::task::TaskFormat;
use crate::schedule::Zone;
use crate::vault::NotePath;

pub use disabled_forms::{DisabledForms, count_disabled_forms};
pub(crate) use error::Result;
pub use error::TaskError;
pub use listed_lines::ListedLine;
pub use plugins::rules;
pub use rewrite::TaskRewrite;
pub use scanner::{ScannedTask, Scanner, notes};
pub use task_ref::{ChangedNote, TaskRef};
pub use vault_tasks::{VaultTasks, WrittenTask, all, is_task_id};

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

    /// The settings with these forms on, whichever the vault's name.
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
        Self {
            on,
            default_time: reminders.time(),
            zone: zone.tz().clone(),
            from: reminders.from.clone(),
            exclude: own.into_iter().filter_map(|path| NotePath::new(path).ok()).collect(),
        }
    }
}

/// The hash in a task's id that its words alone decide.
fn short(text: &str) -> String {
    data_encoding::BASE32_NOPAD.encode(&blake3::hash(text.as_bytes()).as_bytes()[..10])
}

/// The id of a task: of its words, then of the note it stands in. Its place in the note and its dates have no say.
pub fn task_id(path: &str, words: &str) -> String {
    format!("task_{}_{}", short(words), short(path))
}

/// The part of a task's id that its words decide: the same in every note.
pub fn words_of(id: &str) -> Option<&str> {
    let (words, _) = id.strip_prefix("task_")?.split_once('_')?;
    Some(words)
}

/// Whether a task's id names this note.
fn is_of_note(id: &str, path: &str) -> bool {
    id.rsplit_once('_').is_some_and(|(_, note)| note == short(path))
}
