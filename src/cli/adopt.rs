//! `import --from tasks`: dated tasks of other plugins, and reminder lines in other notes, become lines of the note of
//! reminders. Shown first; `--yes` does it, and `undo` takes all of it back at once.

use std::path::Path;

use serde::Serialize;

use super::{CommandError, CommandResult, Context, Status, check, import};
use crate::format::task::Format;
use crate::memory::Origin;
use crate::reminders::{Adopted, Kept, adopt};
use crate::tasks::{self, TaskSettings};
use crate::transfer::{Batch, Found, Item};
use crate::vault::{Actor, NotePath, OPERATION, OpOutcome, Operation};
use crate::workspace::Workspace;

/// So many notes are changed at once: `undo` finds them together.
const NOTES: usize = 60;

/// A line that becomes ours, or would.
#[derive(Debug, Serialize)]
struct TakenLine<'a> {
    path: &'a str,
    line: usize,
    text: String,
    left: Option<&'a str>,
    reminders: Vec<String>,
}

/// A line that stays as it is.
#[derive(Debug, Serialize)]
struct KeptLine<'a> {
    path: &'a str,
    line: usize,
    reason: &'a str,
}

/// What is answered to a program.
#[derive(Debug, Serialize)]
struct Report<'a> {
    dry_run: bool,
    taken: Vec<TakenLine<'a>>,
    kept: Vec<KeptLine<'a>>,
    changed: Vec<String>,
}

/// A note with what becomes of its lines.
struct Note {
    path: NotePath,
    adopted: Vec<Adopted>,
    kept: Vec<Kept>,
}

/// Shows what would become ours of the whole vault or below `under`; with `yes` does it.
pub(super) fn run(
    context: &Context,
    workspace: &Workspace,
    under: Option<&Path>,
    yes: bool,
) -> CommandResult {
    let under = under.map(|file| check::note_path(workspace, file)).transpose()?;
    let mut notes = look(workspace, under.as_ref())?;
    let more = notes.iter().filter(|note| !note.adopted.is_empty()).nth(NOTES).map(|note| note.path.clone());
    if let Some(beyond) = more {
        notes.retain(|note| note.path < beyond);
        context.ui.note(format!("these are the first {NOTES} notes; the others come when you run it again"));
    }
    show(context, workspace, &notes);
    let count: usize = notes.iter().map(|note| note.adopted.len()).sum();
    let mut changed = Vec::new();
    let mut status = Status::Fine;
    if yes && count > 0 {
        (changed, status) = write(context, workspace, &notes)?;
        context.ui.note(format!(
            "{count} lines are in `{}` now; `vault-agent undo` takes it all back",
            workspace.settings.paths.reminders
        ));
    } else if count > 0 {
        context.ui.note(format!("nothing is changed; `--yes` makes these {count} lines ours"));
    } else {
        context.ui.line("no line can become ours");
    }
    context.ui.json(&report(&notes, !yes, changed));
    Ok(status)
}

/// The notes with something to say, in the order of their paths. Notes of ours and conversations are left out.
fn look(workspace: &Workspace, under: Option<&NotePath>) -> Result<Vec<Note>, CommandError> {
    let all = TaskSettings::with(Format::ALL.to_vec(), &workspace.settings, &workspace.zone);
    let all = TaskSettings { from: Vec::new(), ..all };
    let rules = tasks::rules(&workspace.vault, &all).map_err(CommandError::problem)?;
    let now = workspace.clock.now();
    let mut found = Vec::new();
    for entry in tasks::notes(&workspace.vault, &all)? {
        let path = entry.path;
        if under.is_some_and(|under| path != *under && !path.is_within(under)) {
            continue;
        }
        let Ok(bytes) = workspace.vault.read(&path) else { continue };
        let (adopted, kept) = adopt(path.as_str(), &bytes, &rules, now, &workspace.zone);
        if !adopted.is_empty() || !kept.is_empty() {
            found.push(Note { path, adopted, kept });
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

fn show(context: &Context, workspace: &Workspace, notes: &[Note]) {
    let ui = context.ui;
    for note in notes {
        for one in &note.adopted {
            ui.line(format!("{}:{}: {}", note.path, one.line, String::from_utf8_lossy(&one.text).trim()));
            match &one.left {
                Some(left) => ui.line(format!("  stays: {}", left.trim())),
                None => ui.line("  goes from there"),
            }
            for reminder in &one.reminders {
                ui.line(format!("  {}: {}", workspace.settings.paths.reminders, reminder.to_line()));
            }
        }
        for one in &note.kept {
            ui.note(format!("{}:{}: left as it is: {}", note.path, one.line, one.reason));
        }
    }
}

fn report(notes: &[Note], dry_run: bool, changed: Vec<String>) -> Report<'_> {
    let taken = notes.iter().flat_map(|note| {
        note.adopted.iter().map(|one| TakenLine {
            path: note.path.as_str(),
            line: one.line,
            text: String::from_utf8_lossy(&one.text).into_owned(),
            left: one.left.as_deref(),
            reminders: one.reminders.iter().map(crate::format::reminder::Reminder::to_line).collect(),
        })
    });
    let kept = notes.iter().flat_map(|note| {
        note.kept.iter().map(|one| KeptLine { path: note.path.as_str(), line: one.line, reason: &one.reason })
    });
    Report { dry_run, taken: taken.collect(), kept: kept.collect(), changed }
}

/// The reminders first, then the notes: a stop between the two leaves a line too many and none too few.
fn write(
    context: &Context,
    workspace: &Workspace,
    notes: &[Note],
) -> Result<(Vec<String>, Status), CommandError> {
    let operation = format!("tasks-{:016x}", getrandom::u64().unwrap_or_default());
    let found = notes.iter().flat_map(|note| {
        note.adopted.iter().flat_map(|one| {
            let place = format!("{}:{}", note.path, one.line);
            one.reminders
                .iter()
                .map(move |reminder| Found { place: place.clone(), item: Item::Reminder(reminder.clone()) })
        })
    });
    let batch = Batch { found: found.collect(), ..Batch::default() };
    let report = import::import(workspace, "tasks", batch, false, Some(&operation))?;
    if let Some(problem) = report.skipped.first() {
        return Err(CommandError::problem(format!(
            "nothing is changed: {}: {}",
            problem.place, problem.reason
        )));
    }
    let mut changed: Vec<String> = report.notes.iter().map(|note| note.path.to_string()).collect();
    let mut status = Status::Fine;
    let origin = Origin::new(Actor::Cli).client("tasks");
    for note in notes.iter().filter(|note| !note.adopted.is_empty()) {
        let why = origin.why(format!("made ours: {} lines of {}", note.adopted.len(), note.path));
        let operations: Vec<Operation> = note.adopted.iter().map(operation_of).collect();
        match workspace.editor.edit(&note.path, &operations, &why.trailer(OPERATION, operation.clone())) {
            Ok(report) => {
                for (one, _) in note
                    .adopted
                    .iter()
                    .zip(&report.outcomes)
                    .filter(|(_, outcome)| **outcome != OpOutcome::Done)
                {
                    context.ui.note(format!(
                        "{}:{}: was changed meanwhile, and stands there still",
                        note.path, one.line
                    ));
                    status = Status::Problem;
                }
                changed.push(note.path.to_string());
            }
            Err(error) => {
                context.ui.note(format!("{}: {error}; its lines stand there still", note.path));
                status = Status::Problem;
            }
        }
    }
    Ok((changed, status))
}

fn operation_of(one: &Adopted) -> Operation {
    match &one.left {
        Some(left) => Operation::ReplaceLine { line: one.text.clone(), with: left.clone().into_bytes() },
        None => Operation::DeleteLine { line: one.text.clone() },
    }
}
