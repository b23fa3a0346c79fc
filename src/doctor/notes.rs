//! Checks the notes for reminders and follow-ups that can't be parsed, and for files that can't be used.
//!
//! Also reported are conflict copies of sync tools, files that are left out, and tasks of other plugins.

use super::{Check, CheckExtent, Checked, all};
use crate::conflicts::{ConflictCopy, Finder};
use crate::format::{Finding, commitment, dated_tasks, reminder};
use crate::reminders::{PlacedFinding, findings, holds_items};
use crate::tasks::{self, Scanner};
use crate::transfer::follow;
use crate::vault::{EditRefusal, NotePath, SkipReason, WalkOptions, conflict};
use crate::workspace::Workspace;

/// At most so many findings of one kind are shown one by one.
const SHOWN: usize = 10;

pub(super) fn checks(workspace: &Workspace, look: CheckExtent) -> Vec<Check> {
    let mut checks = near_misses(workspace);
    checks.extend(other_notes(workspace));
    if look == CheckExtent::Whole {
        let moved = moved(workspace).into_iter();
        checks.extend(moved.map(|found| Check::fail("notes", found.reason, &found.suggestion)));
        checks.extend(all(copies(workspace)));
        checks.extend(tasks(workspace));
    }
    checks
}

fn near_misses(workspace: &Workspace) -> Vec<Check> {
    let fail = |detail: String, fix: &str| Check::fail("notes", detail, fix);
    let warn = |detail: String, fix: &str| Check::warn("notes", detail, fix);
    let paths = &workspace.settings.paths;
    let (mut checks, mut found) = (Vec::new(), Vec::new());
    let [lines, blocks] = [&paths.reminders, &paths.commitments].map(|name| {
        let path = workspace.note(name);
        let bytes = match workspace.vault.read_if_there(&path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return 0,
            Err(error) => {
                let fix = "restore the note: nothing fires from a note that can't be read";
                checks.push(fail(error.to_string(), fix));
                return 0;
            }
        };
        if let Some(line) = conflict::conflict_markers(&bytes) {
            checks.push(fail(
                format!("{path}:{line}: a merge conflict begins here, so the note is never written"),
                "choose between its two sides and remove the markers",
            ));
        }
        let file = workspace.vault.root().join(path.as_str());
        if let Err(error) = rustix::fs::access(file, rustix::fs::Access::WRITE_OK) {
            let detail = format!("`{path}` can't be written: {}", std::io::Error::from(error));
            let fix =
                "make it writable: until then delivered lines stay in it, and recurring ones keep their date";
            checks.push(fail(detail, fix));
        }
        if *name == paths.reminders {
            let file = reminder::parse(&bytes);
            found.extend(findings(&path, &file));
            file.reminders.len()
        } else {
            let file = commitment::parse(&bytes);
            found.extend(file.findings.iter().map(|finding| PlacedFinding::new(&path, finding)));
            file.blocks.len()
        }
    });
    for finding in found.iter().take(SHOWN) {
        let place = format!("{}:{}:{}", finding.path, finding.line, finding.column);
        checks.push(warn(format!("{place}: {}", finding.reason), &finding.suggestion));
    }
    if found.len() > SHOWN {
        let more = format!("{} more lines can't be understood", found.len() - SHOWN);
        checks.push(warn(more, "`vault-agent check` shows them all"));
    }
    if checks.is_empty() {
        let count = |n: usize, word| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        let (lines, blocks) = (count(lines, "reminder"), count(blocks, "follow-up"));
        checks.push(Check::ok("notes", format!("{lines} and {blocks}, all understood")));
    }
    checks
}

/// The notes of reminders and follow-ups that are not there, while a note of that name, in letters of any case, is in
/// another place, or a conflict copy: nothing of it is told.
pub fn moved(workspace: &Workspace) -> Vec<PlacedFinding> {
    let paths = &workspace.settings.paths;
    let mut missing = [&paths.reminders, &paths.commitments].map(|name| workspace.note(name)).to_vec();
    missing.retain(|path| !workspace.vault.exists(path));
    let walk = (!missing.is_empty()).then(|| workspace.vault.walk(&WalkOptions::every_file()));
    let notes = walk.and_then(Result::ok).map_or_else(Vec::new, |walk| walk.entries);
    let other = |path: &NotePath| {
        let is_it = |name: &str| {
            name.eq_ignore_ascii_case(path.file_name())
                || conflict::original_of(name).as_deref() == Some(path.file_name())
        };
        // Anybody's note may be called so.
        let holds_items = |note: &&NotePath| holds_items(&workspace.vault.read(note).unwrap_or_default());
        let mut named = notes.iter().map(|entry| &entry.path).filter(|note| is_it(note.file_name()));
        named.find(holds_items)
    };
    let finding = |path| {
        let reason = format!("`{path}` is missing, so nothing of `{}` is delivered", other(path)?);
        let fix = "move it back, or name it in `[paths]`";
        Some(PlacedFinding::new(path, &Finding::new(1, 1, reason, fix)))
    };
    missing.iter().filter_map(finding).collect()
}

/// Why the lines of reminders and follow-ups can't be rewritten: a conflict copy beside their note.
pub(super) fn with_copies(workspace: &Workspace) -> Vec<String> {
    let paths = &workspace.settings.paths;
    let notes = [&paths.reminders, &paths.commitments].map(|name| workspace.note(name)).into_iter();
    let refusal = |path: NotePath| {
        let copy = workspace.editor.conflict_copy(&path)?;
        Some(EditRefusal::ConflictCopy { path, copy }.to_string())
    };
    notes.filter(|path| workspace.vault.exists(path)).filter_map(refusal).collect()
}

/// The other notes and folders of `[paths]`, and the followed folders: whether they can be used.
fn other_notes(workspace: &Workspace) -> Vec<Check> {
    let paths = &workspace.settings.paths;
    let root = workspace.vault.root();
    let fail = |detail: String, fix: &str| Check::fail("notes", detail, fix);
    let folders = [&paths.daily, &paths.routines, &paths.logs, &paths.skills, &paths.summaries];
    let wrong =
        folders.into_iter().filter(|name| root.join(name).metadata().is_ok_and(|meta| !meta.is_dir()));
    let mut checks: Vec<Check> =
        wrong.map(|name| fail(format!("`{name}` is no folder"), "move it out of the way")).collect();
    for name in [&paths.memory, &paths.pinned, &paths.inbox, &paths.approvals] {
        let is_there = match workspace.vault.read_if_there(&workspace.note(name)) {
            Ok(found) => found.is_some(),
            Err(error) => {
                checks.push(fail(error.to_string(), "restore the note: nothing is saved there meanwhile"));
                false
            }
        };
        if is_there && let Err(error) = rustix::fs::access(root.join(name), rustix::fs::Access::WRITE_OK) {
            let detail = format!("`{name}` can't be written: {}", std::io::Error::from(error));
            checks.push(fail(detail, "make it writable: until then nothing is saved there"));
        }
    }
    let gone = follow::folders(workspace).into_iter().filter(|(_, folder)| !folder.is_dir());
    checks.extend(gone.map(|(name, folder)| {
        let detail = format!("`[follow] {name}`: `{}` is no folder that is there", folder.display());
        Check::warn(
            "follow",
            detail,
            "fix the path, or remove the line; the folder is looked for each minute",
        )
    }));
    checks
}

/// Tasks of other plugins: how many are told, and how many could be.
fn tasks(workspace: &Workspace) -> Vec<Check> {
    let ok = |detail: String| Check::ok("tasks", detail);
    let now = workspace.clock.now();
    let mut checks = Vec::new();
    if let Some(settings) = workspace.task_settings() {
        let mut scanner = Scanner::default();
        match scanner.scan(&workspace.vault, &settings, now) {
            Ok(_) => {
                let names: Vec<&str> = settings.on.iter().map(|format| format.name()).collect();
                let count = scanner.tasks().len();
                let detail =
                    format!("{count} open tasks of other plugins are delivered ({})", names.join(", "));
                checks.push(ok(detail));
            }
            Err(reason) => checks.push(Check::fail(
                "tasks",
                reason,
                "fix that file, or remove the form from `[reminders] also`",
            )),
        }
    }
    if let Ok(Some(offer)) =
        tasks::count_disabled_forms(&workspace.vault, &workspace.settings, &workspace.zone, now)
    {
        checks.push(Check { fix: Some(offer.setting_hint()), ..ok(offer.count_text()) });
    }
    checks
}

/// The warning about a conflict copy. A note that is only named like one counts if something is left out for that.
fn conflict_copy(workspace: &Workspace, found: &ConflictCopy) -> Option<Check> {
    let ConflictCopy { copy, note, is_certain, .. } = found;
    let paths = &workspace.settings.paths;
    let written =
        [&paths.reminders, &paths.commitments, &paths.memory, &paths.pinned, &paths.inbox, &paths.approvals];
    let is_written = written.iter().any(|path| *path == note.as_str());
    let bytes = || workspace.vault.read(copy).unwrap_or_default();
    let has_tasks = || workspace.task_settings().is_some() && !dated_tasks::dated(&bytes()).is_empty();
    let detail = if *is_certain {
        format!("`{copy}` is a sync tool's conflict copy, and is not read")
    } else if is_written || has_tasks() {
        let effect = if is_written { "that is not written" } else { "its tasks are not delivered" };
        format!(
            "`{copy}` is named like a conflict copy of `{note}`, so {effect}; rename it if it is a note of its own"
        )
    } else {
        return None;
    };
    let fix = "see it with `vault-agent conflicts show`, and merge it with `conflicts merge`";
    Some(Check::warn("vault", detail, fix))
}

/// Conflict copies of sync tools, and files that can't be listed.
fn copies(workspace: &Workspace) -> Checked {
    let warn = |detail: String, fix: &str| Check::warn("vault", detail, fix);
    let fix = "mount it, or name another with `--vault DIR`";
    let walk = workspace.vault.walk(&WalkOptions::default());
    let walk = walk.map_err(|error| Check::fail("vault", error.to_string(), fix))?;
    let copies = Finder::default().find_all(&workspace.vault).into_iter();
    let mut checks: Vec<_> = copies.filter_map(|copy| conflict_copy(workspace, &copy)).take(SHOWN).collect();
    let odd = walk.skipped.iter().filter(|skipped| skipped.reason != SkipReason::Link);
    checks.extend(odd.take(SHOWN).map(|skipped| {
        warn(
            format!("`{}` is left out: {}", skipped.path.display(), skipped.reason),
            "rename or fix it, if it should be read",
        )
    }));
    if checks.is_empty() {
        checks.push(Check::ok("vault", format!("{} notes, no conflict copies", walk.entries.len())));
    }
    Ok(checks)
}
