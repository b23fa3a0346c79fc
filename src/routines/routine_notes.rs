//! Reads the notes of `routines/`, enables or disables a routine, and lists all routines with their next and last runs.
//! No brain is asked.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::run_texts::target;
use crate::deliver::compose;
use crate::deliver::instants::ShownInstant;
use crate::format::routine::{self, Routine};
use crate::format::{Finding, nearest};
use crate::schedule::Timetable;
use crate::vault::{Actor, ChangeReason, EditError, EditPlan, NotePath, VaultError};
use crate::workspace::{ReadError, Workspace};

/// The longest delay with which a sync tool brings a note that was just written on another machine.
pub(super) const SYNC_DELAY: SignedDuration = SignedDuration::from_hours(24);

/// A note of the folder of routines.
#[derive(Debug, Clone)]
pub struct RoutineNote {
    /// Its path below the folder, without `.md`.
    pub name: String,
    /// Its place in the vault.
    pub path: NotePath,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// When it was last changed, by its file.
    pub changed: Option<Timestamp>,
    /// The routine; none if its schedule isn't understood.
    pub routine: Option<Routine>,
    /// The problems of its head.
    pub findings: Vec<Finding>,
}

impl RoutineNote {
    /// Whether it is understood and turned on.
    pub fn is_enabled(&self) -> bool {
        self.routine.as_ref().is_some_and(|routine| routine.enabled)
    }

    /// Whether this is its schedule, or may be.
    pub(super) fn has_schedule(&self, schedule: &str) -> bool {
        self.routine.as_ref().is_none_or(|routine| routine.schedule.to_string() == schedule)
    }

    /// When a note that no check saw so far came here. By its file's time, unless that is older than the last check by
    /// more than a sync tool's delay: a copy keeps the time of its original.
    pub(super) fn appeared(&self, checked: Option<Timestamp>) -> Option<Timestamp> {
        let is_copy =
            |at: &Timestamp| self.changed.is_some_and(|changed| changed.duration_until(*at) > SYNC_DELAY);
        checked.filter(is_copy).or(self.changed)
    }
}

/// A routine could not be turned on or off; its note is as it was.
#[derive(Debug, thiserror::Error)]
pub enum EnableError {
    /// There is none of that name.
    #[error("no routine has the name `{name}`{}", .nearest.as_ref().map(|it| format!("; did you mean `{it}`?")).unwrap_or_default())]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// One that was perhaps meant.
        nearest: Option<String>,
    },
    /// Its head isn't understood.
    #[error("`{}` line {}: {}; {}", .0, .1.line, .1.reason, .1.suggestion)]
    NotUnderstood(NotePath, Finding),
    /// The notes can't be read.
    #[error(transparent)]
    Read(#[from] VaultError),
    /// The note can't be written.
    #[error(transparent)]
    Write(#[from] EditError),
}

/// All routines, by name.
///
/// # Errors
/// The folder can't be listed. A note that is gone by the time it is read is left out.
pub fn read_all(workspace: &Workspace) -> Result<Vec<RoutineNote>, VaultError> {
    let folder = workspace.note(&workspace.settings.paths.routines);
    let mut notes = Vec::new();
    for entry in workspace.vault.notes_below(folder)? {
        match read(workspace, entry.path) {
            Ok(note) => notes.extend(note),
            Err(error) if error.is_not_found() => {}
            // A note that can't be read doesn't stop the others.
            Err(error) => tracing::warn!("a routine can't be read: {error}"),
        }
    }
    notes.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(notes)
}

fn read(workspace: &Workspace, path: NotePath) -> Result<Option<RoutineNote>, VaultError> {
    let bytes = workspace.vault.read(&path)?;
    let stat = workspace.vault.stat(&path)?;
    let changed = stat.and_then(|stat| Timestamp::from_nanosecond(i128::from(stat.mtime_ns)).ok());
    let (routine, findings) = parse_and_check(workspace, &path, &bytes);
    if routine.is_none() && findings.is_empty() {
        return Ok(None);
    }
    Ok(Some(RoutineNote { name: name_of(workspace, &path), path, bytes, changed, routine, findings }))
}

/// The routine of a note with its findings. A conflict copy has none: its original runs.
fn parse_and_check(workspace: &Workspace, path: &NotePath, bytes: &[u8]) -> (Option<Routine>, Vec<Finding>) {
    let (routine, mut findings) = routine::parse(bytes);
    if routine.is_some() && workspace.vault.is_conflict_copy(path) {
        let reason =
            "the note is named as a conflict copy of another one, which runs in its place".to_owned();
        let suggestion = "merge it with `vault-agent conflicts merge`, or rename it".to_owned();
        return (None, vec![Finding { line: 1, column: 1, reason, suggestion }]);
    }
    (routine.map(|routine| check(workspace, routine, &mut findings)), findings)
}

/// The finding that would stop a routine if it were enabled.
fn obstacle(workspace: &Workspace, note: &RoutineNote) -> Option<Finding> {
    let enabled = routine::with_enabled(&note.bytes, true)?;
    let (routine, findings) = parse_and_check(workspace, &note.path, &enabled);
    findings.into_iter().next().filter(|_| !routine.is_some_and(|routine| routine.enabled))
}

/// Checks a routine against the vault and its settings.
fn check(workspace: &Workspace, mut routine: Routine, findings: &mut Vec<Finding>) -> Routine {
    let finding = |reason: String, suggestion: String| Finding { line: 1, column: 1, reason, suggestion };
    let brains: Vec<&str> = workspace.settings.brains.iter().map(|brain| brain.name.as_str()).collect();
    if let Some(brain) = routine.brain.as_deref().filter(|brain| !brains.contains(brain)) {
        let meant = nearest(brain, &brains).map(|it| format!("did you mean `{it}`?"));
        findings.push(finding(
            format!("no brain has the name `{brain}`"),
            meant.unwrap_or_else(|| "name one of `vault-agent brain list`, or delete the line".to_owned()),
        ));
    }
    if let Err(problem) = target(workspace, &routine, jiff::civil::Date::default()) {
        findings.push(finding(problem, "name a note of your own".to_owned()));
        routine.enabled = false;
    }
    if routine.prompt.is_empty() {
        findings.push(finding(
            "the note has no text below its frontmatter, so the prompt is empty".to_owned(),
            "write the prompt there".to_owned(),
        ));
        routine.enabled = false;
    }
    routine
}

fn name_of(workspace: &Workspace, path: &NotePath) -> String {
    let folder = workspace.settings.paths.routines.trim_end_matches('/');
    let below = path.as_str().strip_prefix(folder).unwrap_or(path.as_str()).trim_start_matches('/');
    below.trim_end_matches(".md").to_owned()
}

/// The names of all routines.
///
/// # Errors
/// The notes can't be read.
pub fn names(workspace: &Workspace) -> Result<Vec<String>, VaultError> {
    Ok(read_all(workspace)?.into_iter().map(|note| note.name).collect())
}

/// The routine of this name; if there is none, that of this name in another letter case.
///
/// # Errors
/// There is none, or the notes can't be read.
pub fn find(workspace: &Workspace, name: &str) -> Result<RoutineNote, EnableError> {
    let mut notes = read_all(workspace)?;
    let exact = name.trim().trim_end_matches(".md");
    let wanted = exact.to_lowercase();
    let at = notes.iter().position(|note| note.name == exact);
    if let Some(at) = at.or_else(|| notes.iter().position(|note| note.name.to_lowercase() == wanted)) {
        return Ok(notes.swap_remove(at));
    }
    let names: Vec<&str> = notes.iter().map(|note| note.name.as_str()).collect();
    let nearest = nearest(&wanted, &names).map(str::to_owned);
    Err(EnableError::Unknown { name: name.to_owned(), nearest })
}

/// Turns a routine on or off, in its note's head. Returns it as it stands then, and whether anything was changed.
///
/// # Errors
/// There is no such routine, its head isn't understood, or its note can't be written.
pub fn set_enabled(
    workspace: &Workspace,
    name: &str,
    enabled: bool,
    actor: Actor,
) -> Result<(RoutineNote, bool), EnableError> {
    let note = find(workspace, name)?;
    if let Some(finding) = obstacle(workspace, &note).filter(|_| enabled) {
        return Err(EnableError::NotUnderstood(note.path, finding));
    }
    let verb = if enabled { "enabled" } else { "disabled" };
    let why = ChangeReason::new(actor, format!("routine {verb}: {}", note.name))
        .trailer("Routine", note.name.clone());
    let report = workspace.editor.edit_with(&note.path, &why, |bytes| {
        match routine::with_enabled(bytes, enabled) {
            Some(changed) if changed != bytes => EditPlan::Bytes(changed),
            _ => EditPlan::NOTHING,
        }
    })?;
    let after = read(workspace, note.path.clone())?.unwrap_or(note);
    Ok((after, report.changed))
}

/// A routine as `routine list --json` shows it.
#[derive(Debug, Clone, Serialize)]
pub struct ListedRoutine {
    /// Its note's name without `.md`.
    pub name: String,
    /// Its schedule, in its own words; none if it isn't understood.
    pub schedule: Option<String>,
    /// Its schedule as a person says it.
    #[serde(skip)]
    pub words: Option<String>,
    /// Whether it is turned on.
    pub enabled: bool,
    /// When it comes next; none if it doesn't.
    pub next: Option<ShownInstant>,
    /// When it last ran.
    pub last: Option<ShownInstant>,
    /// The brain that it asks first, if its note names one.
    pub brain: Option<String>,
    /// The reason why the answer of a run isn't delivered yet; until it is, no other run begins.
    pub waits: Option<String>,
    /// The problems of its head.
    pub problems: Vec<Finding>,
}

/// An instant in words, in the vault's zone: the day only where it isn't today.
pub fn moment_in_words(workspace: &Workspace, at: Timestamp) -> String {
    let tz = workspace.zone.tz();
    compose::moment(tz.to_datetime(at), tz.to_datetime(workspace.clock.now()).date())
}

impl ListedRoutine {
    /// That an answer waits to be delivered, and why.
    pub fn undelivered(&self) -> Option<String> {
        self.waits.as_ref().map(|why| format!("an answer is not delivered yet: {why}"))
    }

    /// The reason why it doesn't run, or why its answer isn't delivered.
    pub fn trouble(&self) -> Option<String> {
        let problem = self.problems.first().filter(|_| self.next.is_none());
        self.undelivered().or_else(|| Some(format!("doesn't run: {}", problem?.reason)))
    }

    /// One line for a chat.
    pub fn in_a_line(&self, workspace: &Workspace) -> String {
        let next = || Some(format!("next {}", moment_in_words(workspace, self.next.as_ref()?.at())));
        let state = self.trouble().or_else(next).unwrap_or_else(|| "off".to_owned());
        format!("- `{}` ({}): {state}", self.name, self.schedule.as_deref().unwrap_or("no schedule"))
    }
}

/// All routines.
///
/// # Errors
/// The folder of routines, or the delivery journal, can't be read.
pub fn list(workspace: &Workspace) -> Result<Vec<ListedRoutine>, ReadError> {
    let journal = workspace.journal()?;
    let (notes, open) = (read_all(workspace)?, journal.open_runs()?);
    notes
        .into_iter()
        .map(|note| {
            let routine = note.routine.as_ref();
            let next = routine.filter(|routine| routine.enabled).and_then(|routine| {
                let now = workspace.clock.now();
                Timetable::new(&workspace.zone, &routine.schedule).after(now).next().map(|next| next.at)
            });
            let shown = |at: Timestamp| ShownInstant::new(at, workspace.zone.tz());
            Ok(ListedRoutine {
                schedule: routine.map(|routine| routine.schedule.to_string()),
                words: routine.map(|routine| routine.schedule.words()),
                enabled: routine.is_some_and(|routine| routine.enabled),
                next: next.map(shown),
                last: journal.last_run(&note.name)?.map(shown),
                brain: routine.and_then(|routine| routine.brain.clone()),
                waits: open.iter().find(|run| run.routine == note.name).and_then(|run| run.waits.clone()),
                name: note.name,
                problems: note.findings,
            })
        })
        .collect()
}
