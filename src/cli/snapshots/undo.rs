//! `undo`: takes back the agent's last operations, one operation, or all changes of a turn (a question to the
//! assistant).

use super::shared::{diff_style, diff_text, open_history, refresh};
use crate::cli::prelude::*;
use crate::history::{
    DiffStyle, FileDiff, History, Interrupted, OperationUndo, UndoPlan, UndoReport, UndoSelection,
};

/// Undoes what the agent did last; later changes by people stay.
///
/// An operation is undone as a whole or not at all, and an undo is one snapshot, which `undo ID` undoes in turn.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many operations, or the snapshot of one, as `history` shows it.
    #[arg(default_value = "1", value_name = "N|ID")]
    what: String,
    /// All changes of one turn of the assistant, by its id in `turns`.
    #[arg(long, value_name = "ID", conflicts_with = "what")]
    turn: Option<String>,
    /// Shows what would change and changes nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct UndoDocument<'a> {
    #[serde(flatten)]
    report: &'a UndoReport,
    /// The undone operations, newest first.
    operations: Vec<OperationUndo>,
    /// The change of each note, as a diff.
    changes: Vec<serde_json::Value>,
    dry_run: bool,
}

/// The most digits of a count, which is shorter than any id.
const MAX_COUNT_DIGITS: usize = 3;

impl Args {
    fn selection(&self) -> Result<UndoSelection> {
        let what = self.what.trim();
        if let Some(turn) = &self.turn {
            return Ok(UndoSelection::Turn(turn.clone()));
        }
        match what.parse::<usize>() {
            Ok(0) => {
                Err(CommandError::usage("can't undo `0` operations").hint("`undo` alone undoes the last one"))
            }
            Ok(count) if what.len() <= MAX_COUNT_DIGITS => Ok(UndoSelection::Last(count)),
            _ => Ok(UndoSelection::Snapshot(what.to_owned())),
        }
    }
}

/// Runs `undo`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let selection = args.selection()?;
    let workspace = context.workspace()?;
    let history = open_history(&workspace)?;
    if !args.dry_run && finish_interrupted(context, &workspace, &history)? {
        return Ok(Status::Fine);
    }
    // A snapshot of what people changed comes before any write.
    refresh(context, &workspace, &history)?;
    let plan = history.plan_undo(selection.clone())?;
    for conflict in &plan.conflicts {
        context.ui.note(format!("`{}` ({}): {}", conflict.path, conflict.subject, conflict.reason));
        if !conflict.diff.is_empty() {
            context.ui.note(conflict.diff.trim_end());
        }
    }
    if plan.writes.is_empty() {
        let report = UndoReport { conflicts: plan.conflicts.clone(), ..UndoReport::default() };
        context.ui.json(&document(&plan, &report, args.dry_run));
        if !plan.conflicts.is_empty() {
            return Err(nothing_undone(&selection));
        }
        context.ui.note("the agent has written nothing that could be undone");
        return Ok(Status::Fine);
    }
    if args.dry_run {
        plan.operations().iter().for_each(|it| context.ui.line(format!("would undo: {}", it.subject)));
        plan.notes.values().for_each(|diff| context.ui.styled_line(&diff_text(diff, diff_style())));
        let report = UndoReport {
            undone: plan.writes.iter().map(|write| write.commit.id.to_string()).collect(),
            notes: plan.notes.keys().cloned().collect(),
            conflicts: plan.conflicts.clone(),
            ..UndoReport::default()
        };
        context.ui.json(&document(&plan, &report, true));
        return Ok(Status::Fine);
    }
    let report = context.confirming(&workspace, "undo", || history.undo(&workspace.editor, &plan))?;
    for operation in plan.operations() {
        if operation.snapshots.iter().all(|id| report.undone.contains(id)) {
            context.ui.line(format!("undid: {}", operation.subject));
        }
    }
    for conflict in report.conflicts.iter().filter(|it| !plan.conflicts.contains(it)) {
        context.ui.note(format!("`{}` ({}): {}", conflict.path, conflict.subject, conflict.reason));
    }
    for skip in &report.skipped {
        context.ui.note(format!("`{}`: {}; nothing was undone, run `undo` again", skip.path, skip.reason));
    }
    let is_whole = report.skipped.is_empty() && report.conflicts.is_empty();
    context.ui.json(&document(&plan, &report, false));
    Ok(Status::of(is_whole))
}

/// Finishes an interrupted restore or undo. True for an undo: that is the one which is asked for again.
fn finish_interrupted(context: &Context, workspace: &Workspace, history: &History) -> Result<bool> {
    let Some(pending) = history.pending_restore()? else { return Ok(false) };
    let finish = || history.finish_pending(&workspace.editor, Interrupted::Finish);
    let Some(done) = context.confirming(workspace, "undo", finish)? else { return Ok(false) };
    let what = if pending.undoing.is_some() { "an undo" } else { "a restore" };
    context.ui.note(format!("first finished {what} that had been interrupted: {}", pending.subject));
    done.skipped.iter().for_each(|skip| context.ui.note(format!("`{}`: {}", skip.path, skip.reason)));
    let undone = pending.undoing.map(|undoing| undoing.undoes).unwrap_or_default();
    let is_undo = !undone.is_empty() && done.skipped.is_empty();
    if is_undo {
        context.ui.line(&pending.subject);
        let report = UndoReport {
            undone,
            notes: done.restored,
            snapshot: done.snapshot_after,
            ..UndoReport::default()
        };
        context.ui.json(&document(&UndoPlan::default(), &report, false));
    }
    Ok(is_undo)
}

fn nothing_undone(selection: &UndoSelection) -> CommandError {
    let hint = "change the notes by hand, or bring one back with `vault-agent restore --at ID PATH`";
    CommandError::problem("nothing was undone").hint(match selection {
        UndoSelection::Last(count) => {
            format!("{hint}; `vault-agent undo {}` takes back what was done before, too", count + 1)
        }
        _ => hint.to_owned(),
    })
}

fn document<'a>(plan: &UndoPlan, report: &'a UndoReport, dry_run: bool) -> UndoDocument<'a> {
    let change = |diff: &FileDiff| json!({ "path": diff.path, "diff": diff_text(diff, DiffStyle::Plain) });
    UndoDocument {
        report,
        operations: plan.operations(),
        changes: plan.notes.values().map(change).collect(),
        dry_run,
    }
}
