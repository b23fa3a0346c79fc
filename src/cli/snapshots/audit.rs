//! `audit`: what the history proves.

use serde::Serialize;

use super::history::show_flaws;
use super::shared::{open, refresh};
use crate::cli::{CommandResult, Context, Status};
use crate::deliver::Journal;
use crate::deliver::journal::{State, key};
use crate::history::{AuditReport, DeliveryRecord, Flaw, Look, audit};

/// Proves from the history that logs only grew, that each write of the agent touched only what it says,
/// that every one-off that vanished was delivered, and that ids never changed.
///
/// Before that: that the history is the one that was written, and that nothing in it is missing.
/// `history verify` also reads every text in it.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// The answer of `audit --json`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    report: &'a AuditReport,
    flaws: &'a [Flaw],
}

/// Runs `audit`.
pub fn run(context: &Context, _: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let history = open(&workspace)?;
    let flaws = history.verify(Look::Present)?.flaws;
    show_flaws(context, &flaws);
    let journal = workspace.journal().ok();
    let delivered = |record: &DeliveryRecord<'_>| on_record(journal.as_ref()?, record);
    let audited = refresh(context, &workspace, &history)
        .and_then(|()| Ok(audit(&history, &workspace.settings.paths, &delivered)?));
    let report = match audited {
        Ok(report) => report,
        // What is missing was said; the rest can't be read because of it.
        Err(error) if !flaws.is_empty() => {
            context.ui.note(format!("not audited any further: {error}"));
            AuditReport::default()
        }
        Err(error) => return Err(error),
    };
    context.ui.json(&Document { report: &report, flaws: &flaws });
    for breach in &report.violations {
        context.ui.line(format!(
            "{}:{}: {} (commit {}, {}, {})",
            breach.path, breach.line, breach.detail, breach.commit, breach.actor, breach.rule
        ));
    }
    if report.violations.is_empty() && flaws.is_empty() {
        context.ui.line(format!(
            "{} commits, {} of them the agent's: logs only grew, every write touched only what it says, \
             every one-off that fired was delivered, no id changed",
            report.commits, report.agent_commits
        ));
        return Ok(Status::Fine);
    }
    Ok(Status::Problem)
}

/// Whether the delivery journal says that it was delivered; a journal that was deleted since, or has
/// forgotten it after years, proves nothing.
fn on_record(journal: &Journal, record: &DeliveryRecord<'_>) -> Option<bool> {
    let row = journal.row(&key(record.id, record.local, None)).ok()??;
    Some(row.delivered.is_some() || matches!(row.state, State::Sent | State::Done))
}
