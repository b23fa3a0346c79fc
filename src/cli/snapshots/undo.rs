//! `undo`: takes back what the agent wrote last, and only that.

use std::collections::HashSet;

use serde::Serialize;

use super::shared::{diff_text, open, refresh, style};
use crate::cli::{CommandError, CommandResult, Context, Status};
use crate::history::{Conflict, FileDiff, Mode, UndoPlan, UndoReport};
use crate::vault::OPERATION;

/// Takes back the agent's last writes; what people changed since stays.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many writes.
    #[arg(default_value_t = 1, value_name = "N")]
    count: usize,
    /// Shows what would change and changes nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: UndoReport,
    conflicts: &'a [Conflict],
}

/// Runs `undo`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    if args.count == 0 {
        return Err(CommandError::usage("`0` writes can't be taken back")
            .hint("`undo` alone takes back the last one"));
    }
    let workspace = context.workspace()?;
    let history = open(&workspace)?;
    // What people changed is kept before anything is written.
    refresh(context, &workspace, &history)?;
    let plan = history.plan_undo(args.count)?;
    let conflicts = &plan.conflicts[..];
    for conflict in conflicts {
        context.ui.note(format!("`{}` ({}): {}", conflict.path, conflict.subject, conflict.reason));
        context.ui.note(conflict.diff.trim_end());
    }
    if !conflicts.is_empty() && plan.writes.is_empty() {
        context.ui.json(&Document { report: UndoReport::default(), conflicts });
        let next = args.count + 1;
        return Err(CommandError::problem("nothing was undone: people have changed the same lines since")
            .hint(format!(
                "change them by hand, or bring the note back with `vault-agent restore --at ID PATH`; \
                 `vault-agent undo {next}` takes back the write before them"
            )));
    }
    if plan.writes.is_empty() {
        context.ui.json(&Document { report: UndoReport::default(), conflicts: &[] });
        context.ui.note("the agent has written nothing that could be undone");
        return Ok(Status::Fine);
    }
    if args.dry_run {
        show(context, &plan);
        let undone = plan.writes.iter().map(|write| write.commit.id.to_string()).collect();
        let report = UndoReport { undone, notes: plan.notes.keys().cloned().collect(), skipped: Vec::new() };
        context.ui.json(&Document { report, conflicts });
        return Ok(Status::Fine);
    }
    let report = history.undo(&workspace.editor, &plan)?;
    for subject in subjects(&plan, |id| report.undone.contains(&id)) {
        context.ui.line(format!("undid: {subject}"));
    }
    for path in &report.skipped {
        context
            .ui
            .note(format!("`{path}` was changed at this very moment and stays as it is; run `undo` again"));
    }
    let is_whole = report.skipped.is_empty() && conflicts.is_empty();
    let status = if is_whole { Status::Fine } else { Status::Problem };
    context.ui.json(&Document { report, conflicts });
    Ok(status)
}

/// What the meant writes did, newest first; an operation on several notes is said once.
fn subjects(plan: &UndoPlan, is_meant: impl Fn(String) -> bool) -> Vec<&str> {
    let mut seen = HashSet::new();
    let meant =
        plan.writes.iter().map(|write| &write.commit).filter(|commit| is_meant(commit.id.to_string()));
    let once = meant.filter(|commit| commit.message.trailer(OPERATION).is_none_or(|it| seen.insert(it)));
    once.map(|commit| commit.message.subject.as_str()).collect()
}

fn show(context: &Context, plan: &UndoPlan) {
    for subject in subjects(plan, |_| true) {
        context.ui.line(format!("would undo: {subject}"));
    }
    for (path, note) in &plan.notes {
        let side = |bytes: &Option<Vec<u8>>| bytes.clone().map(|bytes| (Mode::File, bytes));
        let diff = FileDiff { path: path.clone(), old: side(&note.now), new: side(&note.after) };
        context.ui.line(diff_text(&diff, style()));
    }
}
