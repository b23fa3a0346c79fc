//! Carries out the commands about the program itself: `/status`, `/undo` and `/routine`.

use anyhow::{Context, bail};

use crate::agenda::upcoming_items;
use crate::history::{Deletions, Interrupted};
use crate::instance::DaemonStatus;
use crate::routines::{self, RunError, Runner};
use crate::tasks::Scanner;
use crate::vault::Actor;
use crate::workspace::Workspace;

/// The words of `/status`.
pub(super) fn status(workspace: &Workspace) -> String {
    let mut lines = Vec::new();
    if let Some(status) = DaemonStatus::read(&workspace.dirs.state) {
        let since = routines::moment_in_words(workspace, status.started);
        lines.push(format!("Running since {since}, {} notifications so far.", status.fired));
        lines.extend(
            status.last_error.iter().chain(&status.settings_error).map(|error| format!("Problem: {error}")),
        );
    }
    match upcoming_items(workspace, 3, &mut Scanner::default()) {
        Ok(next) if next.is_empty() => lines.push("Nothing is scheduled.".to_owned()),
        Ok(next) => lines.extend(next.iter().map(|reminder| {
            format!("{}: {}", routines::moment_in_words(workspace, reminder.instant), reminder.msg)
        })),
        Err(error) => lines.push(format!("The reminders can't be read: {error}")),
    }
    lines.join("\n")
}

/// Takes back the agent's last write; the result in a sentence.
pub(super) fn undo(workspace: &Workspace) -> anyhow::Result<String> {
    let history = workspace.history()?.context("the history is turned off in the settings")?;
    let interrupted = history.pending_restore()?;
    history.finish_pending(&workspace.editor, Interrupted::Finish)?;
    if let Some(undo) = interrupted.filter(|it| it.undoing.is_some()) {
        // The undo that was killed is the one that is asked for again.
        return Ok(format!("Finished what had been interrupted: {}", undo.subject));
    }
    workspace.snapshot_all(&history, Deletions::Hold)?;
    let plan = history.plan_undo(1)?;
    if let Some(conflict) = plan.conflicts.first() {
        bail!("`{}`: {}; nothing was undone", conflict.path, conflict.reason);
    }
    let write = plan.writes.first().context("there is nothing to undo")?;
    let subject = write.commit.message.subject.clone();
    let report = workspace.with_confirmation("by undo", || history.undo(&workspace.editor, &plan))?;
    if let Some(skip) = report.skipped.first() {
        bail!("`{}`: {}; nothing was undone, try again", skip.path, skip.reason);
    }
    Ok(format!("Undid: {subject}"))
}

/// The answer, and the run that is to go on.
type AnswerAndRun = (String, Option<(Runner, String)>);

/// Lists routines, turns one on or off, or claims a run of one now, for which `runner` makes the runner.
pub(super) fn routine(
    workspace: &Workspace,
    action: &str,
    name: Option<&str>,
    runner: impl FnOnce() -> Result<Runner, RunError>,
) -> anyhow::Result<AnswerAndRun> {
    let name = || name.context("`name` is missing: which routine?");
    match action {
        "list" => {
            let listed = routines::list(workspace)?;
            let all: Vec<String> = listed.iter().map(|one| one.in_a_line(workspace)).collect();
            Ok((if all.is_empty() { "There are no routines.".to_owned() } else { all.join("\n") }, None))
        }
        "enable" | "disable" => {
            let is_on = action == "enable";
            let (note, _) = routines::set_enabled(workspace, name()?, is_on, Actor::Discord)?;
            Ok((format!("`{}` is {action}d.", note.name), None))
        }
        "run" => {
            let note = routines::find(workspace, name()?)?;
            let runner = runner()?;
            let key = routines::claim_now(workspace, runner.journal(), runner.turns(), &note)?;
            let words = format!("`{}` is running; its answer goes to its usual place.", note.name);
            Ok((words, Some((runner, key))))
        }
        other => bail!("`{other}` is none of list, run, enable, disable"),
    }
}
