//! `conflicts`: lists a sync tool's conflict copies, shows them, and merges them into their notes.

use super::shared::{diff_style, diff_text, refresh, vault_path};
use crate::cli::prelude::*;
use crate::conflicts::{ConflictCopy, ConflictError, Finder, MergePlan, copy_of, execute, plan};
use crate::history::{DiffStyle, FileDiff, FileMode, HistoryError};

/// Merges a sync tool's conflict copy into its note.
///
/// Copies are known by the names that Syncthing, Dropbox, Nextcloud, iCloud and Obsidian Sync give them. Reminders in a
/// copy are never delivered, and a note with a copy beside it is never written.
#[derive(Debug, clap::Subcommand)]
pub enum Args {
    /// Lists the conflict copies.
    List,
    /// Shows what merging a copy would make of its note, and changes nothing.
    Show {
        /// The copy's path.
        #[arg(value_name = "COPY")]
        copy: String,
    },
    /// Merges a copy into its note, line by line, and removes it; history keeps it, and `undo` takes all of it back.
    ///
    /// The base is the state of the note in history that the copy is closest to. If both changed one line, both lines
    /// stay, the note's first. The changes are shown before.
    Merge {
        /// The copy's path.
        #[arg(value_name = "COPY")]
        copy: String,
        /// Asks no question.
        #[arg(long)]
        yes: bool,
    },
}

/// Runs `conflicts`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    match args {
        Args::List => list(context, &workspace),
        Args::Show { copy } => {
            let plan = plan_for(context, &workspace, copy)?;
            show(context, &plan);
            context.ui.json(&merge_document(&plan, false));
            Ok(Status::Fine)
        }
        Args::Merge { copy, yes } => merge(context, &workspace, copy, *yes),
    }
}

fn list(context: &Context, workspace: &Workspace) -> CommandResult {
    let copies = Finder::default().find_all(&workspace.vault);
    context.list(&copies, "no conflict copies", |ConflictCopy { copy, note, is_certain, has_note }| {
        let what = match (has_note, is_certain) {
            (false, _) => format!("a copy of `{note}`, which isn't there"),
            (true, true) => format!("a copy of `{note}`"),
            (true, false) => format!("perhaps a copy of `{note}`; else rename it"),
        };
        format!("{copy}: {what}")
    })
}

/// The plan of a merge. The notes' present text is in the history before.
fn plan_for(context: &Context, workspace: &Workspace, typed: &str) -> Result<MergePlan> {
    let history = workspace.history()?.ok_or(HistoryError::Disabled)?;
    let path = NotePath::new(&vault_path(workspace, typed)?).map_err(CommandError::usage)?;
    let copy = copy_of(&workspace.vault, &path).ok_or(ConflictError::NoCopy(path))?;
    refresh(context, workspace, &history)?;
    Ok(plan(&workspace.vault, &history, copy)?)
}

fn merge(context: &Context, workspace: &Workspace, typed: &str, is_agreed: bool) -> CommandResult {
    let plan = plan_for(context, workspace, typed)?;
    show(context, &plan);
    if !is_agreed {
        if !context.ui.can_ask() {
            return Err(CommandError::usage("nothing was merged: there is no terminal here to ask at")
                .hint("confirm with `--yes`"));
        }
        if !context.ui.confirm("Merge it?") {
            context.ui.note("nothing was merged");
            return Ok(Status::Fine);
        }
    }
    let operation = format!("conflict-{:016x}", getrandom::u64().unwrap_or_default());
    let merge = || execute(&workspace.editor, &plan, &context.origin(), &operation);
    context.confirming(workspace, "merge", merge)?;
    context.ui.line(format!("merged {} into {}", plan.copy.copy, plan.copy.note));
    context.ui.note("to undo this: `vault-agent undo`");
    context.ui.json(&merge_document(&plan, true));
    Ok(Status::Fine)
}

fn show(context: &Context, plan: &MergePlan) {
    let ui = context.ui;
    match plan.base {
        Some(base) => {
            ui.line(format!("base of the merge: the note as of {}", base.strftime("%Y-%m-%d %H:%M UTC")));
        }
        None => ui.line("history has no common base: no line is treated as removed"),
    }
    match plan.note_after == plan.note_before {
        true => ui.line("the note already contains the whole copy"),
        false => ui.styled_line(&diff_text(&diff(plan), diff_style())),
    }
    for both in &plan.overlaps {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        ui.line(format!("changed in both, both stay:\n{}\n{}", text(&both.first), text(&both.second)));
    }
    ui.line(format!("remove {}", plan.copy.copy));
}

fn diff(plan: &MergePlan) -> FileDiff {
    let side = |bytes: &[u8]| Some((FileMode::File, bytes.to_vec()));
    FileDiff { path: plan.copy.note.to_string(), old: side(&plan.note_before), new: side(&plan.note_after) }
}

/// A merge, done or planned; `base` is when history kept the state that both came of, `both` are places where both
/// lines stay.
fn merge_document(plan: &MergePlan, merged: bool) -> Value {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let both = plan.overlaps.iter().map(|it| json!({ "note": text(&it.first), "copy": text(&it.second) }));
    json!({
        "copy": plan.copy.copy.as_str(),
        "note": plan.copy.note.as_str(),
        "base": plan.base,
        "diff": diff_text(&diff(plan), DiffStyle::Plain),
        "both": both.collect::<Vec<_>>(),
        "merged": merged,
    })
}
