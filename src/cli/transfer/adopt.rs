//! `import --from tasks`: turns dated tasks of other plugins, and reminder lines in other notes, into lines of the
//! reminder note.
//!
//! The change is shown first; `--yes` carries it out, as one operation that `undo` takes back. One run changes at most
//! 60 notes.

use std::collections::{HashMap, HashSet};

use super::batch;
use crate::cli::prelude::*;
use crate::cli::reminders::check;
use crate::deliver::delivery_journal::key;
use crate::deliver::pass::unsent_tasks;
use crate::format::ReminderId;
use crate::format::lines::not_understood;
use crate::format::reminder::{self, Reminder};
use crate::format::task::TaskFormat;
use crate::memory::Origin;
use crate::reminders::{AdoptedLine, UnadoptedLine, adopt};
use crate::tasks::{self, TaskSettings};
use crate::transfer::{FoundItem, ImportBatch, ImportItem, ImportProblem};
use crate::vault::{Actor, NotePath, OPERATION, OpOutcome, Operation, VaultError};

/// The most notes that are changed at once, so that `undo` finds them together.
const MAX_NOTES: usize = 60;

/// A note with what becomes of its lines.
struct NoteLines {
    path: NotePath,
    adopted: Vec<AdoptedLine>,
    kept: Vec<UnadoptedLine>,
}

/// Shows which lines of the whole vault, or below `under`, would become ours; with `yes` makes the changes.
pub(in crate::cli) fn run(
    context: &Context,
    workspace: &Workspace,
    under: Option<&Path>,
    yes: bool,
) -> CommandResult {
    let root = workspace.vault.root();
    let under = under.filter(|file| !file.canonicalize().is_ok_and(|file| file == root));
    let under = under.map(|file| check::note_path(workspace, file)).transpose()?;
    if let Some(gone) = under.as_ref().filter(|path| !root.join(path.as_str()).exists()) {
        return Err(VaultError::NotFound(gone.clone()).into());
    }
    // Of two at once, the second sees the lines as the first left them.
    let _alone = std::fs::File::open(&workspace.dirs.state).ok().filter(|dir| yes && dir.lock().is_ok());
    let mut notes = find_lines(workspace, under.as_ref())?;
    let beyond = notes.iter().filter(|note| !note.adopted.is_empty()).nth(MAX_NOTES);
    if let Some(beyond) = beyond.map(|note| note.path.clone()) {
        notes.retain(|note| note.path < beyond);
        let words = format!("these are the first {MAX_NOTES} notes; the others come when you run it again");
        context.ui.note(words);
    }
    clear_duplicate_ids(workspace, &mut notes)?;
    // A dry run before anything is shown: lines that the reminder note can't take stay.
    let tried = batch::write(workspace, "tasks", batch(&notes), true, None);
    drop_skipped(&mut notes, &tried.skipped);
    show(context, workspace, &notes);
    let count: usize = notes.iter().map(|note| note.adopted.len()).sum();
    let mut changed = Vec::new();
    let mut status = if tried.skipped.is_empty() { Status::Fine } else { Status::Problem };
    if yes && count > 0 {
        let written;
        (changed, written) =
            context.confirming(workspace, "import", || write(context, workspace, &mut notes))?;
        status = if written == Status::Problem { written } else { status };
    } else if count > 0 {
        context.ui.note(format!("nothing is changed; `--yes` turns these {count} lines into reminders"));
    } else {
        context.ui.line("no line can be turned into a reminder");
    }
    context.ui.json(&report(&notes, !yes, &changed));
    Ok(status)
}

/// Clears ids that another reminder has: the line would count as a duplicate, and be lost.
fn clear_duplicate_ids(workspace: &Workspace, notes: &mut [NoteLines]) -> Result<()> {
    let bytes = workspace.vault.read_or_empty(&workspace.note(&workspace.settings.paths.reminders))?;
    let there = reminder::parse(&bytes).reminders.into_iter().map(|line| line.reminder);
    let mut known: HashMap<ReminderId, Reminder> =
        there.filter_map(|reminder| Some((reminder.id?, reminder))).collect();
    for reminder in notes.iter_mut().flat_map(|note| &mut note.adopted).flat_map(|one| &mut one.reminders) {
        let Some(id) = reminder.id else { continue };
        if *known.entry(id).or_insert_with(|| reminder.clone()) != *reminder {
            reminder.id = None;
        }
    }
    Ok(())
}

/// All reminders that the lines become, each with its line's place.
fn batch(notes: &[NoteLines]) -> ImportBatch {
    let mut found = Vec::new();
    for (note, one) in notes.iter().flat_map(|note| note.adopted.iter().map(move |one| (note, one))) {
        let items = one.reminders.iter().cloned().map(ImportItem::Reminder);
        found.extend(items.map(|item| FoundItem { place: place(note, one), item }));
    }
    ImportBatch { found, ..ImportBatch::default() }
}

fn place(note: &NoteLines, one: &AdoptedLine) -> String {
    format!("{}:{}", note.path, one.line)
}

/// Lines of which a reminder can't be written stay as they are.
fn drop_skipped(notes: &mut [NoteLines], skipped: &[ImportProblem]) {
    for note in notes {
        for one in std::mem::take(&mut note.adopted) {
            let place = place(note, &one);
            match skipped.iter().find(|problem| problem.place == place) {
                Some(problem) => {
                    note.kept.push(UnadoptedLine { line: one.line, reason: problem.reason.clone() });
                }
                None => note.adopted.push(one),
            }
        }
        note.kept.sort_by_key(|one| one.line);
    }
}

/// The notes with such lines, in the order of their paths, without our own notes and conversations.
fn find_lines(workspace: &Workspace, under: Option<&NotePath>) -> Result<Vec<NoteLines>> {
    let all = TaskSettings::with(TaskFormat::ALL.to_vec(), &workspace.settings, &workspace.zone);
    let all = TaskSettings { from: Vec::new(), ..all };
    let rules = tasks::rules(&workspace.vault, &all).map_err(CommandError::problem)?;
    let now = workspace.clock.now();
    let (journal, order, settings) =
        (workspace.journal()?, workspace.delivery_order(false), workspace.pass_settings());
    let unsent = unsent_tasks(&workspace.pass_context(&journal, &order, &settings))?;
    let mut found = Vec::new();
    for entry in tasks::notes(&workspace.vault, &all)? {
        let path = entry.path;
        if under.is_some_and(|under| path != *under && !path.is_within(under)) {
            continue;
        }
        let Ok(bytes) = workspace.vault.read(&path) else { continue };
        let is_unsent =
            |words: &str, at| unsent.contains(&key(&tasks::task_id(path.as_str(), words), at, None));
        let told = &workspace.settings.reminders.also;
        let (mut adopted, mut kept) =
            adopt(path.as_str(), &bytes, &rules, told, now, &workspace.zone, is_unsent);
        if !adopted.is_empty()
            && let Err(error) = workspace.editor.check_writable(&path)
        {
            let reason = error.to_string();
            kept.extend(
                adopted.drain(..).map(|one| UnadoptedLine { line: one.line, reason: reason.clone() }),
            );
        }
        if adopted.is_empty() && kept.is_empty() {
            let whole = not_understood(&bytes);
            kept.extend(whole.map(|it| UnadoptedLine {
                line: it.line,
                reason: format!("{}; {}", it.reason, it.suggestion),
            }));
        }
        if !adopted.is_empty() || !kept.is_empty() {
            found.push(NoteLines { path, adopted, kept });
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

fn show(context: &Context, workspace: &Workspace, notes: &[NoteLines]) {
    let ui = context.ui;
    for note in notes {
        for one in &note.adopted {
            ui.line(format!("{}:{}: {}", note.path, one.line, String::from_utf8_lossy(&one.text).trim()));
            match &one.remaining {
                Some(left) => ui.line(format!("  stays: {}", left.trim())),
                None => ui.line("  removed there"),
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

/// The lines that become ours, or would, with what is left of each; those that stay; and the notes that were changed.
fn report(notes: &[NoteLines], dry_run: bool, changed: &[String]) -> Value {
    let (mut taken, mut kept) = (Vec::new(), Vec::new());
    for NoteLines { path, adopted, kept: staying } in notes {
        let path = path.as_str();
        taken.extend(adopted.iter().map(|AdoptedLine { line, text, remaining, reminders }| {
            let text = String::from_utf8_lossy(text);
            let reminders: Vec<String> = reminders.iter().map(Reminder::to_line).collect();
            json!({ "path": path, "line": line, "text": text, "left": remaining, "reminders": reminders })
        }));
        let line = |one: &UnadoptedLine| json!({ "path": path, "line": one.line, "reason": one.reason });
        kept.extend(staying.iter().map(line));
    }
    json!({ "dry_run": dry_run, "taken": taken, "kept": kept, "changed": changed })
}

/// The reminders first, then the notes: a stop between the two leaves a line too many and none too few. Lines that
/// could not be taken over are named.
fn write(context: &Context, workspace: &Workspace, notes: &mut [NoteLines]) -> Result<(Vec<String>, Status)> {
    let operation = format!("tasks-{:016x}", getrandom::u64().unwrap_or_default());
    let report = batch::write(workspace, "tasks", batch(notes), false, Some(&operation));
    let mut status = Status::Fine;
    // The note of reminders is another than a moment ago, or can't be written: what it didn't take stays.
    for problem in &report.skipped {
        context.ui.note(format!("{}: left as it is: {}", problem.place, problem.reason));
        status = Status::Problem;
    }
    drop_skipped(notes, &report.skipped);
    let mut changed: Vec<String> = report.notes.iter().map(|note| note.path.to_string()).collect();
    let origin = Origin::new(Actor::Cli).client("tasks");
    let count: usize = notes.iter().map(|note| note.adopted.len()).sum();
    for note in notes.iter().filter(|note| !note.adopted.is_empty()) {
        let why = origin.why(format!("made ours: {} lines of {}", note.adopted.len(), note.path));
        let operations: Vec<Operation> = note.adopted.iter().map(operation_of).collect();
        let still = "is still there, in addition to the reminder";
        match workspace.editor.edit(&note.path, &operations, &why.trailer(OPERATION, operation.clone())) {
            Ok(report) => {
                // Equal lines are one to the editor: the first operation changes them all.
                let mut replaced: HashSet<&[u8]> = HashSet::new();
                for (one, outcome) in note.adopted.iter().zip(&report.outcomes) {
                    if *outcome == OpOutcome::Done {
                        replaced.insert(&one.text);
                    }
                    if !replaced.contains(one.text.as_slice()) {
                        context.ui.note(format!("{}: was changed meanwhile, and {still}", place(note, one)));
                        status = Status::Problem;
                    }
                }
                changed.extend(report.changed.then(|| note.path.to_string()));
            }
            Err(error) => {
                for one in &note.adopted {
                    context.ui.note(format!("{}: {still}: {error}", place(note, one)));
                }
                status = Status::Problem;
            }
        }
    }
    let own = &workspace.settings.paths.reminders;
    context.ui.note(match changed.as_slice() {
        [] => "nothing is changed".to_owned(),
        _ => format!("{count} lines are in `{own}` now; `vault-agent undo` takes it all back"),
    });
    Ok((changed, status))
}

fn operation_of(one: &AdoptedLine) -> Operation {
    match &one.remaining {
        Some(left) => Operation::ReplaceLine { line: one.text.clone(), with: left.clone().into_bytes() },
        None => Operation::DeleteLine { line: one.text.clone() },
    }
}
