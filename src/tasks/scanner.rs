//! Reads the tasks of a vault's notes; a repeated scan reads only changed notes. Also counts the tasks whose form is
//! not enabled.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use jiff::civil::DateTime;
use rayon::prelude::*;

use super::{TaskSettings, plugins, rewrite, task_id};
use crate::config::{PathPatterns, Settings};
use crate::format::task::{self, PlacedTask, Rules, Task, TaskFormat};
use crate::schedule::Zone;
use crate::vault::{NotePath, Stat, Vault, VaultError, WalkEntry, WalkOptions};

/// A task in a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedTask {
    /// Its id: of its words and its note.
    pub id: String,
    /// Its line, from 1.
    pub line: usize,
    /// The parsed task.
    pub task: Task,
    /// The line itself, of one that comes again; nothing where the task is a note.
    text: Vec<u8>,
    /// When it was first seen, unless the first scan saw it: a person may still be typing it.
    pub new: Option<Timestamp>,
}

impl ScannedTask {
    /// A fingerprint of its words and times, which changes with them.
    pub fn fingerprint(&self) -> String {
        let times: Vec<String> =
            self.task.notification_times.iter().map(|time| time.at.to_string()).collect();
        let repeat = self.task.repeat.as_ref().map_or_else(String::new, |repeat| format!(" ({repeat})"));
        format!("{} {}{repeat}", times.join(", "), self.task.words)
    }
}

#[derive(Debug)]
struct CachedNote {
    stat: Stat,
    tasks: Vec<ScannedTask>,
}

/// The state between two scans of the vault.
#[derive(Debug, Default)]
pub struct Scanner {
    rules: Option<Rules>,
    notes: BTreeMap<String, CachedNote>,
    /// How many notes the last look read.
    pub read: usize,
}

impl Scanner {
    /// Scans all notes, and reads those that changed. Unreadable notes are reported; their tasks stay as they were.
    ///
    /// # Errors
    /// The vault can't be listed, or its plugins' settings can't be read: then nothing is known.
    pub fn scan(
        &mut self,
        vault: &Vault,
        settings: &TaskSettings,
        now: Timestamp,
    ) -> Result<Vec<String>, String> {
        let rules = plugins::rules(vault, settings)?;
        let is_first = self.rules.as_ref() != Some(&rules);
        if is_first {
            self.notes.clear();
            self.rules = Some(rules.clone());
        }
        let notes = notes(vault, settings).map_err(|error| error.to_string())?;
        let there: HashSet<String> = notes.iter().map(|entry| entry.path.to_string()).collect();
        let is_known = |entry: &WalkEntry| {
            self.notes.get(entry.path.as_str()).is_some_and(|seen| seen.stat == entry.stat)
        };
        let changed: Vec<WalkEntry> = notes.into_iter().filter(|entry| !is_known(entry)).collect();
        let mut problems = plugins::unread_formats(&rules);
        self.read = 0;
        for (entry, read) in changed.iter().zip(read_all(vault, &changed, &rules)) {
            match read {
                Ok(tasks) => {
                    self.read += 1;
                    self.take(&entry.path, entry.stat, tasks, (!is_first).then_some(now));
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        self.notes.retain(|path, _| there.contains(path));
        Ok(problems)
    }

    /// Takes a note's tasks over. Those that it didn't hold before are new at `now`.
    fn take(&mut self, path: &NotePath, stat: Stat, tasks: Vec<PlacedTask>, now: Option<Timestamp>) {
        let before = self.notes.get(path.as_str());
        let known = |id: &str, task: &Task| {
            let same =
                |old: &&ScannedTask| old.id == id && old.task.notification_times == task.notification_times;
            before.and_then(|seen| seen.tasks.iter().find(same))
        };
        let tasks = tasks
            .into_iter()
            .map(|placed| {
                let id = task_id(path.as_str(), &placed.task.words);
                let new = known(&id, &placed.task).map_or(now, |old| old.new);
                let text = if placed.task.repeat.is_some() { placed.text } else { Vec::new() };
                ScannedTask { id, line: placed.line, task: placed.task, text, new }
            })
            .collect();
        self.notes.insert(path.as_str().to_owned(), CachedNote { stat, tasks });
    }

    /// All tasks with their notes, by note and line.
    pub fn tasks(&self) -> Vec<(&str, &ScannedTask)> {
        let notes = self.notes.iter();
        notes.flat_map(|(path, note)| note.tasks.iter().map(move |task| (path.as_str(), task))).collect()
    }

    /// The local times before `until` of a task's notifications after the present ones, if each were done on its day.
    pub fn later(&self, vault: &Vault, path: &str, found: &ScannedTask, until: DateTime) -> Vec<DateTime> {
        let comes_again = found.task.repeat.is_some()
            && found.task.notification_times.first().is_some_and(|time| time.at < until);
        let (Some(rules), true) = (&self.rules, comes_again) else { return Vec::new() };
        let note = || vault.read(&NotePath::new(path).ok()?).ok();
        let bytes = if found.text.is_empty() { note() } else { Some(found.text.clone()) };
        bytes.map_or_else(Vec::new, |bytes| rewrite::later(path, &found.task, &bytes, rules, until))
    }

    /// Tasks' global filter as it was last read.
    pub fn filter(&self) -> &str {
        self.rules.as_ref().map_or("", |rules| &rules.filter)
    }
}

/// Fewer notes than this don't pay for another core.
const WORTH_A_CORE: usize = 100;

/// The tasks of each of these notes, read by as many cores as pay.
fn read_all(vault: &Vault, notes: &[WalkEntry], rules: &Rules) -> Vec<Result<Vec<PlacedTask>, VaultError>> {
    let read = |entry: &WalkEntry| {
        let path = &entry.path;
        vault.read(path).map(|bytes| task::scan(path.as_str(), &bytes, rules))
    };
    notes.par_iter().with_min_len(WORTH_A_CORE).map(read).collect()
}

/// The notes that may hold tasks, by the settings.
pub fn notes(vault: &Vault, settings: &TaskSettings) -> Result<Vec<WalkEntry>, VaultError> {
    let from = (!settings.from.is_empty()).then(|| PathPatterns::of(&settings.from));
    let options = WalkOptions { exclude: settings.exclude.clone(), wide: true, ..WalkOptions::default() };
    let mut entries = vault.walk(&options)?.entries;
    entries.retain(|entry| {
        from.as_ref().is_none_or(|from| from.matches(entry.path.as_str()))
            && !vault.is_conflict_copy(&entry.path)
    });
    Ok(entries)
}

/// The number of open tasks with a date in forms that aren't enabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisabledForms {
    /// How many there are of each form that isn't on.
    pub counts: Vec<(TaskFormat, usize)>,
    /// The forms that would be on then.
    pub also: Vec<TaskFormat>,
}

/// Counts the tasks of forms that aren't enabled; `None` if there are none.
///
/// # Errors
/// The vault can't be listed, or what its plugins mean can't be found out.
pub fn count_disabled_forms(
    vault: &Vault,
    settings: &Settings,
    zone: &Zone,
    now: Timestamp,
) -> Result<Option<DisabledForms>, String> {
    let on = TaskSettings::of(settings, zone).map_or_else(Vec::new, |settings| settings.on);
    let off: Vec<TaskFormat> = TaskFormat::ALL.into_iter().filter(|format| !on.contains(format)).collect();
    if off.is_empty() {
        return Ok(None);
    }
    let mut scanner = Scanner::default();
    scanner.scan(vault, &TaskSettings::with(off.clone(), settings, zone), now)?;
    let tasks = scanner.tasks();
    let count = |format: TaskFormat| tasks.iter().filter(|(_, found)| found.task.format == format).count();
    let counts: Vec<(TaskFormat, usize)> =
        off.into_iter().map(|format| (format, count(format))).filter(|(_, count)| *count > 0).collect();
    let is_meant = |format: &TaskFormat| on.contains(format) || counts.iter().any(|(seen, _)| seen == format);
    let also = TaskFormat::ALL.into_iter().filter(is_meant).collect();
    Ok((!counts.is_empty()).then_some(DisabledForms { counts, also }))
}

impl DisabledForms {
    /// `12 tasks with a date are not delivered (tasks 10, dataview 2)`.
    pub fn count_text(&self) -> String {
        let all: usize = self.counts.iter().map(|(_, count)| count).sum();
        let each: Vec<String> =
            self.counts.iter().map(|(format, count)| format!("{format} {count}")).collect();
        let tasks = if all == 1 { "task with a date is" } else { "tasks with a date are" };
        format!("{all} {tasks} not delivered ({})", each.join(", "))
    }

    /// The setting that turns them on.
    pub fn setting_hint(&self) -> String {
        let forms: Vec<String> = self.also.iter().map(|format| format!("\"{format}\"")).collect();
        format!(
            "to have them delivered, set `also = [{}]` under `[reminders]` in vault-agent.toml",
            forms.join(", ")
        )
    }
}
