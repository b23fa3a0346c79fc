//! `check`: prints lines that look like a reminder or another entry of this program but can't be parsed.
//!
//! Also printed are reminders in notes that are never read for reminders. Other programs' tasks that are not delivered,
//! or are delivered without a time of day, are listed with one line for each note. They are no fault: the exit code
//! stays 0.

use std::collections::{BTreeMap, HashMap};
use std::path::Component;

use crate::cli::prelude::*;
use crate::format::{
    Finding, approval, candidate, commitment, dated_tasks, log, reminder, summary, working_memory,
};
use crate::memory::working::working_path;
use crate::reminders::{self, PlacedFinding};
use crate::tasks::{Scanner, TaskSettings};
use crate::vault::{NotePath, WalkOptions};

/// Shows every invalid line: one that looks like a reminder or another entry but can't be read.
///
/// Each finding has file, line, column, reason and suggestion. Also checked: the headers of routines, reminders in
/// notes that are not read for reminders, working memory, dated tasks in the form of other programs (Tasks, Reminder,
/// Kanban; one finding a note), skills, their settings, and summaries. Nothing is changed. The exit code is 1 if there
/// is a finding other than those tasks.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The notes to look at; else those of reminders, follow-ups, approvals and the inbox, and all notes for lines that
    /// are never delivered.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// What was read; else nothing, and the reason among the findings.
fn or_finding<T: Default>(
    read: Result<T, impl std::fmt::Display>,
    path: &str,
    found: &mut Vec<PlacedFinding>,
) -> T {
    read.unwrap_or_else(|error| {
        let suggestion = "make it readable, or move it out of the way".to_owned();
        let (path, reason) = (path.to_owned(), error.to_string());
        found.push(PlacedFinding { path, line: 1, column: 1, reason, suggestion });
        T::default()
    })
}

/// Runs `check`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let paths = &workspace.settings.paths;
    let (mut found, mut foreign) = (Vec::new(), Vec::new());
    let delivered = delivered_tasks(&workspace, &mut found);
    if args.files.is_empty() {
        let ours = [&paths.reminders, &paths.commitments, &paths.approvals, &paths.inbox];
        for path in ours.map(|path| workspace.note(path)) {
            let read = workspace.vault.read_if_there(&path);
            if let Some(bytes) = or_finding(read, path.as_str(), &mut found) {
                found.extend(check_bytes(&workspace, &path, &bytes));
            }
        }
        found.extend(crate::doctor::moved(&workspace));
        check_other_notes(&workspace, &delivered, &mut found, &mut foreign);
        #[cfg(feature = "assistant")]
        {
            let skills = crate::agent::skills::Skills::of(&workspace);
            let listed = skills.unknown_tables().and_then(|tables| Ok((tables, skills.list()?)));
            let (tables, skills) = or_finding(listed, &paths.skills, &mut found);
            found.extend(tables.into_iter().chain(skills.into_iter().flat_map(|one| one.problems)));
            for note in or_finding(crate::routines::read_all(&workspace), &paths.routines, &mut found) {
                found.extend(note.findings.iter().map(|finding| PlacedFinding::new(&note.path, finding)));
            }
            let summaries = crate::summary::Summaries::of(&workspace).findings();
            let summaries = or_finding(summaries, &paths.summaries, &mut found);
            found.extend(summaries);
        }
    }
    for file in &args.files {
        let path = note_path(&workspace, file)?;
        if workspace.vault.root().join(path.as_str()).is_dir() {
            return Err(CommandError::usage(format!("`{path}` is a folder"))
                .hint("name its notes; without any, `vault-agent check` looks at all notes"));
        }
        let bytes = workspace.vault.read(&path)?;
        found.extend(check_bytes(&workspace, &path, &bytes));
        check_other_note(&workspace, (&path, &bytes), &delivered, &mut found, &mut foreign);
    }
    let all: Vec<&PlacedFinding> = found.iter().chain(&foreign).collect();
    let done = context.report(&all, all.iter().map(|finding| finding_line(finding)), found.is_empty());
    if !foreign.is_empty() {
        context.ui.note("tasks of other programs are left to them; this is not an error");
        // An error here was reported above as a finding.
        context.note_disabled_forms(&workspace);
    }
    match found.len() {
        0 if foreign.is_empty() => context.ui.line("every line is understood"),
        0 => {}
        1 => context.ui.note("1 line has a problem"),
        count => context.ui.note(format!("{count} lines have problems")),
    }
    done
}

/// Checks all other notes for reminders and dated tasks that are never delivered there.
fn check_other_notes(
    workspace: &Workspace,
    delivered: &DeliveredTasks,
    found: &mut Vec<PlacedFinding>,
    foreign: &mut Vec<PlacedFinding>,
) {
    let walk = workspace.vault.walk(&WalkOptions::default());
    let notes = or_finding(walk.map(|walk| walk.entries), ".", found);
    for note in notes.iter().map(|entry| &entry.path) {
        // `check` doesn't report notes that can't be read or are gone.
        let Ok(bytes) = workspace.vault.read(note) else { continue };
        if is_kept_by_program(workspace, note) {
            found.extend(check_bytes(workspace, note, &bytes));
        }
        check_other_note(workspace, (note, &bytes), delivered, found, foreign);
    }
}

/// Whether a note is a log or a summary, which hold no reminders and no tasks.
fn is_kept_by_program(workspace: &Workspace, note: &NotePath) -> bool {
    let paths = &workspace.settings.paths;
    [&paths.logs, &paths.summaries].iter().any(|folder| note.is_within(&workspace.note(folder)))
}

/// Checks one note for reminders and dated tasks that are never delivered there.
fn check_other_note(
    workspace: &Workspace,
    (note, bytes): (&NotePath, &[u8]),
    delivered: &DeliveredTasks,
    found: &mut Vec<PlacedFinding>,
    foreign: &mut Vec<PlacedFinding>,
) {
    if is_kept_by_program(workspace, note) {
        return;
    }
    found.extend(non_utf8_tasks(workspace, note, bytes));
    found.extend(malformed_working_memory(workspace, note, bytes));
    foreign.extend(foreign_tasks(workspace, note, bytes, delivered));
    let reminders = &workspace.settings.paths.reminders;
    if note.as_str() == reminders {
        return;
    }
    // `import` leaves the agent's own notes alone.
    let own = TaskSettings::with(Vec::new(), &workspace.settings, &workspace.zone).exclude;
    let does_it = match own.iter().any(|own| note == own || note.is_within(own)) {
        true => "",
        false => "; `vault-agent import --from tasks` does it",
    };
    let reason = format!("this reminder is never delivered: only those in `{reminders}` are");
    let fix = match workspace.vault.is_conflict_copy(note) {
        true => "`vault-agent conflicts merge` merges this conflict copy into its note".to_owned(),
        false => format!("move the line to `{reminders}`{does_it}"),
    };
    let lines = reminder::parse(bytes).reminders.into_iter().map(|line| line.line);
    found.extend(lines.map(|line| finding(note, (line, 1), reason.as_str(), fix.as_str())));
}

/// Blocks of a log that look like events of an unknown kind.
fn unknown_kinds(path: &NotePath, bytes: &[u8]) -> Vec<PlacedFinding> {
    let found = log::unknown_kinds(bytes).into_iter().map(|(line, column, kind)| {
        let reason =
            format!("`{kind}` is not a kind of event, so this block is not part of the conversation");
        finding(path, (line, column), reason, "the kinds are `user`, `agent`, `tool`, `system` and `recall`")
    });
    found.collect()
}

/// For each note the lines of other programs' tasks that are delivered, with whether each has a time of day.
type DeliveredTasks = HashMap<String, BTreeMap<usize, bool>>;

/// Other programs' tasks that are delivered, by the forms in `[reminders] also`.
fn delivered_tasks(workspace: &Workspace, found: &mut Vec<PlacedFinding>) -> DeliveredTasks {
    let mut delivered = DeliveredTasks::new();
    let Some(settings) = workspace.task_settings() else { return delivered };
    let mut scanner = Scanner::default();
    let scanned = scanner.scan(&workspace.vault, &settings, workspace.clock.now());
    for reason in scanned.unwrap_or_else(|reason| vec![reason]) {
        let suggestion = "fix that file, or remove the form from `[reminders] also`".to_owned();
        let path = ".obsidian/plugins".to_owned();
        found.push(PlacedFinding { path, line: 1, column: 1, reason, suggestion });
    }
    for (path, task) in scanner.tasks() {
        let timed = task.task.notification_times.iter().all(|time| time.timed);
        delivered.entry(path.to_owned()).or_default().insert(task.line, timed);
    }
    delivered
}

/// Findings about a note's dated tasks of other programs: not delivered, impossible dates, delivered without a time.
fn foreign_tasks(
    workspace: &Workspace,
    path: &NotePath,
    bytes: &[u8],
    delivered: &DeliveredTasks,
) -> Vec<PlacedFinding> {
    let none = BTreeMap::new();
    let delivered = delivered.get(path.as_str()).unwrap_or(&none);
    let mut dated = dated_tasks::dated(bytes);
    dated.retain(|task| !delivered.contains_key(&task.line));
    let mut out = Vec::new();
    let is_on = workspace.task_settings().is_some();
    let faults = [
        (dated_tasks::impossible(bytes), "a date that does not exist", "write a day that the month has"),
        (
            dated_tasks::in_words(bytes),
            "a date in an unsupported format",
            "names are read in English; write `2026-12-01`",
        ),
    ];
    for (tasks, what, suggestion) in faults.into_iter().filter(|_| is_on) {
        for task in tasks.iter().filter(|task| !delivered.contains_key(&task.line)) {
            dated.retain(|other| other.line != task.line);
            let reason = format!("`{}` is {what}, so this task is not delivered", task.mark);
            out.push(finding(path, (task.line, task.column), reason, suggestion));
        }
    }
    if let Some(first) = dated.first() {
        let reason = match dated.len() {
            1 => format!("a task with a date of another program (`{}`) is not delivered", first.mark),
            count => format!(
                "{count} tasks with dates of other programs are not delivered, from this line on (`{}`)",
                first.mark
            ),
        };
        let reminders = &workspace.settings.paths.reminders;
        let form = if workspace.task_settings().is_some() {
            "put the date at the end of the line, where its plugin reads it; turn another form on"
        } else {
            "turn their form on"
        };
        let suggestion = match workspace.vault.is_conflict_copy(path) {
            true => "the note is named like a conflict copy, from which nothing is delivered: rename it, or merge it with `vault-agent conflicts merge`".to_owned(),
            false => format!(
                "{form} with `[reminders] also`, or make them lines of `{reminders}`: `vault-agent import --from tasks` shows what would become of them"
            ),
        };
        out.push(finding(path, (first.line, first.column), reason, suggestion));
    }
    let mut timeless = delivered.iter().filter(|(_, timed)| !**timed);
    if let Some((first, _)) = timeless.next() {
        let at = workspace.settings.reminders.time().strftime("%H:%M");
        let reason = match timeless.count() + 1 {
            1 => format!("a task that has a date and no time is delivered at {at}"),
            count => {
                format!("{count} tasks that have a date and no time are delivered at {at}, from this line on")
            }
        };
        let suggestion = "write the time behind the date, or set `[reminders] default_time`";
        out.push(finding(path, (*first, 1), reason, suggestion));
    }
    out
}

/// One finding for a note's dated tasks in lines that aren't UTF-8, where other programs' tasks are delivered.
fn non_utf8_tasks(workspace: &Workspace, path: &NotePath, bytes: &[u8]) -> Option<PlacedFinding> {
    let _ = workspace.task_settings()?;
    let all = dated_tasks::unreadable(bytes);
    let first = all.first()?;
    let reason = match all.len() {
        1 => format!("a task with a date (`{}`) is not delivered: its line is not valid UTF-8", first.mark),
        count => format!(
            "{count} tasks with dates are not delivered, from this line on (`{}`): their lines are not valid UTF-8",
            first.mark
        ),
    };
    Some(finding(path, (first.line, first.column), reason, "save the file as UTF-8"))
}

/// The finding for a working memory that can't be parsed.
fn malformed_working_memory(workspace: &Workspace, path: &NotePath, bytes: &[u8]) -> Option<PlacedFinding> {
    let is_it = working_path(&workspace.settings).is_some_and(|working| working == *path);
    let (line, reason) =
        working_memory::checked(bytes).err().filter(|_| is_it && !bytes.trim_ascii().is_empty())?;
    let suggestion = "it begins with `# Working Memory`, `Updated: <RFC 3339>`, `Expires: <RFC 3339>` and an empty \
                      line; `vault-agent memory working --set` writes them";
    Some(finding(path, (line, 1), format!("this working memory is ignored: {reason}"), suggestion))
}

/// `Reminders.md:3:17: the reason; the suggestion`.
pub(in crate::cli) fn finding_line(finding: &PlacedFinding) -> String {
    let PlacedFinding { path, line, column, reason, suggestion } = finding;
    let more = if suggestion.is_empty() { "" } else { "; " };
    format!("{path}:{line}:{column}: {reason}{more}{suggestion}")
}

fn check_bytes(workspace: &Workspace, path: &NotePath, bytes: &[u8]) -> Vec<PlacedFinding> {
    let paths = &workspace.settings.paths;
    let is_in = |folder: &str| path.is_within(&workspace.note(folder));
    let findings = match path.as_str() {
        _ if is_in(&paths.logs) => return unknown_kinds(path, bytes),
        _ if is_in(&paths.routines) => crate::format::routine::parse(bytes).1,
        _ if is_in(&paths.summaries) => summary::parse(bytes).1,
        note if note == paths.commitments => commitment::parse(bytes).findings,
        note if note == paths.approvals => approval::parse(bytes).near_misses,
        note if note == paths.inbox => candidate::parse(bytes).near_misses,
        _ => return reminders::findings(path, &reminder::parse(bytes)),
    };
    findings.iter().map(|finding| PlacedFinding::new(path, finding)).collect()
}

fn finding(
    path: &NotePath,
    (line, column): (usize, usize),
    reason: impl Into<String>,
    suggestion: impl Into<String>,
) -> PlacedFinding {
    PlacedFinding::new(path, &Finding::new(line, column, reason, suggestion))
}

/// A file as people name it, as a note of the vault: from the current folder if it is there, else from
/// the vault's.
pub(in crate::cli) fn note_path(workspace: &Workspace, file: &Path) -> Result<NotePath> {
    let root = workspace.vault.root();
    let here = current_dir()?.join(file);
    let relative = match here.canonicalize() {
        Ok(full) => full.strip_prefix(root).map(Path::to_path_buf).map_err(|_| {
            CommandError::usage(format!("`{}` is not in the vault `{}`", file.display(), root.display()))
        })?,
        Err(_) => file.strip_prefix(root).unwrap_or(file).to_path_buf(),
    };
    let parts = relative.components().filter(|part| !matches!(part, Component::CurDir));
    let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let path = NotePath::new(&parts.join("/")).map_err(CommandError::usage)?;
    Ok(workspace.vault.with_names_on_disk(path))
}
