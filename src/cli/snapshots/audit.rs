//! `audit` and `history verify`: checks the whole history and prints its faults.

use super::shared::{open_history, refresh};
use crate::cli::prelude::*;
use crate::deliver::Journal;
use crate::deliver::delivery_journal::{DeliveryState, key};
use crate::history::{AuditReport, CheckDepth, DeliveryRecord, History, Verification, Violation, audit};

/// Checks the whole history: that it is complete and unaltered, that logs only grew, that each write of the agent
/// touched only what it says, that every one-off reminder that was removed was delivered, and that ids never changed.
///
/// `history verify` does the same.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// The answer of `audit --json` and of `history verify --json`.
#[derive(Debug, Serialize)]
struct AuditDocument<'a> {
    #[serde(flatten)]
    report: &'a AuditReport,
    #[serde(flatten)]
    found: &'a Verification,
}

/// Runs `audit`.
pub fn run(context: &Context, _: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let history = open_history(&workspace)?;
    check_all(context, &workspace, &history)
}

/// Reads all of the history, and prints its faults.
pub(super) fn check_all(context: &Context, workspace: &Workspace, history: &History) -> CommandResult {
    let found = history.verify(CheckDepth::Whole)?;
    found.flaws.iter().for_each(|flaw| context.ui.line(format!("{}: {}", flaw.kind, flaw.detail)));
    found.notes.iter().for_each(|note| context.ui.note(note));
    let journal = workspace.journal().ok();
    let delivered = |record: &DeliveryRecord<'_>| is_delivered(journal.as_ref()?, record);
    let audited = refresh(context, workspace, history)
        .and_then(|()| Ok(audit(history, &workspace.settings.paths, &delivered)?));
    let report = match audited {
        Ok(report) => report,
        // The flaws were printed; because of them the rest can't be read.
        Err(error) if !found.flaws.is_empty() => {
            context.ui.note(format!("not audited any further: {error}"));
            AuditReport::default()
        }
        Err(error) => return Err(error),
    };
    context.ui.json(&AuditDocument { report: &report, found: &found });
    for breach in &report.violations {
        let Violation { path, line, detail, commit, actor, rule, .. } = breach;
        context.ui.line(format!("{path}:{line}: {detail} (commit {commit}, {actor}, {rule})"));
    }
    if found.flaws.is_empty() {
        let (snapshots, objects) = (found.snapshots, found.objects);
        let all = "all there, all readable, none rewritten";
        context.ui.line(format!("{snapshots} snapshots, {objects} objects: {all}"));
    }
    if report.violations.is_empty() && found.flaws.is_empty() {
        context.ui.line(format!(
            "{} commits, {} of them the agent's: logs only grew, every write touched only what it says, \
             every one-off that fired was delivered, no id changed",
            report.commits, report.agent_commits
        ));
        return Ok(Status::Fine);
    }
    print_remedies(context, history, &found);
    Ok(Status::Problem)
}

fn print_remedies(context: &Context, history: &History, found: &Verification) {
    if found.flaws.iter().any(|flaw| flaw.kind == "rewritten") {
        context.ui.note(
            "if this is intended (a history restored from a backup, a text removed from it), accept it with `vault-agent history verify --accept`",
        );
    }
    if found.flaws.iter().any(|flaw| matches!(flaw.kind, "missing" | "damaged")) {
        context.ui.note(format!(
            "restore the missing parts from a backup or a remote of `{}`; or move it away, and a new history begins",
            history.dir().display()
        ));
    }
}

/// Whether the delivery journal says that it was delivered; a journal that was deleted since, or has
/// forgotten it after years, proves nothing.
fn is_delivered(journal: &Journal, record: &DeliveryRecord<'_>) -> Option<bool> {
    let row = journal.row(&key(record.id, record.local, None)).ok()??;
    Some(row.delivered.is_some() || matches!(row.state, DeliveryState::Sent | DeliveryState::Done))
}
