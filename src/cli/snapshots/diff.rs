//! `diff`: prints the changes between two points in time, or since one.

use super::shared::{diff_style, diff_text, open_history, refresh, scopes, vault_path};
use crate::cli::prelude::*;
use crate::history::{Commit, DiffStyle, History, HistoryError, LogFilter, diff_stat, render_diff};

/// Shows what changed since a snapshot or a time, or between two.
///
/// REV is a snapshot's id, `HEAD~2`, or a time such as `yesterday 18:00`; two are joined by `..`. What
/// names no point is taken for a path. Without any, the last change is shown.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// `[REV[..REV]] [PATH…]`
    #[arg(value_name = "REV|PATH")]
    what: Vec<String>,
}

/// Runs `diff`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace_or_last()?;
    let history = open_history(&workspace)?;
    // Against now: what people changed since the last snapshot belongs to it.
    refresh(context, &workspace, &history)?;
    let (revisions, typed) = match args.what.split_first() {
        None => (None, &args.what[..]),
        Some((first, rest)) => match parse_points(&history, first) {
            Ok(points) => (Some(points), rest),
            Err(_) if is_path(&history, &workspace, first) => (None, &args.what[..]),
            Err(error) => {
                let is_name = matches!(error, HistoryError::UnknownPoint(_)) && !first.contains("..");
                let hint = is_name.then_some("nor is it a path in the vault or its history");
                return Err(CommandError::from(error).hints(hint));
            }
        },
    };
    let (old, new) = match revisions {
        Some((old, Some(new))) => (old, new),
        Some((old, None)) => (old, history.newest()?),
        None => (history.point("HEAD~1").or_else(|_| history.newest())?, history.newest()?),
    };
    let scopes = scopes(&workspace, typed)?;
    if let Some(unknown) = typed.iter().find(|path| !is_path(&history, &workspace, path)) {
        return Err(
            unknown_path(unknown).hint("two points in time are joined by `..`, as in `diff HEAD~2..HEAD`")
        );
    }
    let changes = history.diff_between(&old, &new, &scopes)?;
    if context.ui.json {
        let files = changes.iter().map(|change| {
            let diff = history.file_diff(change)?;
            let stat = diff_stat(&diff);
            let patch = render_diff(&diff, DiffStyle::Plain);
            Ok(json!({ "path": diff.path, "added": stat.added, "removed": stat.removed, "patch": patch }))
        });
        let files = files.collect::<Result<Vec<_>, HistoryError>>()?;
        let (from, to) = (old.id.to_string(), new.id.to_string());
        context.ui.json(&json!({ "from": from, "to": to, "files": files }));
        return Ok(Status::Fine);
    }
    for change in &changes {
        if !context.ui.line_of_notes(&diff_text(&history.file_diff(change)?, diff_style())) {
            break;
        }
    }
    if changes.is_empty() {
        context.ui.note("no difference");
    }
    Ok(Status::Fine)
}

type Points = (Commit, Option<Commit>);

fn parse_points(history: &History, text: &str) -> Result<Points, HistoryError> {
    match text.split_once("..") {
        Some((old, new)) if !old.is_empty() => {
            let new = if new.is_empty() { None } else { Some(history.point(new)?) };
            Ok((history.point(old)?, new))
        }
        _ => Ok((history.point(text)?, None)),
    }
}

/// The error that neither the vault nor its history has something of that name.
pub(super) fn unknown_path(typed: &str) -> CommandError {
    CommandError::usage(format!("`{typed}` is neither in the vault nor in its history"))
}

/// Whether the vault or its history has something of that name.
pub(super) fn is_path(history: &History, workspace: &Workspace, typed: &str) -> bool {
    let Ok(path) = vault_path(workspace, typed) else { return false };
    if path.is_empty() || workspace.vault.root().join(&path).exists() {
        return true;
    }
    let last = LogFilter { path: Some(path), limit: Some(1), ..LogFilter::default() };
    history.records(&last).is_ok_and(|records| !records.is_empty())
}
