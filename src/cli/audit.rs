//! `audit`: what the history proves.

use super::snapshots::{open, refresh};
use super::{CommandResult, Context, Status};
use crate::deliver::Journal;
use crate::deliver::journal::{State, key};
use crate::history::{DeliveryRecord, audit};

/// Proves from the history that logs only grew, that each write of the agent touched only what it says,
/// that every one-off that vanished was delivered, and that ids never changed.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs `audit`.
pub fn run(context: &Context, _: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let history = open(&workspace)?;
    refresh(context, &workspace, &history)?;
    let journal = workspace.journal().ok();
    let delivered = |record: &DeliveryRecord<'_>| on_record(journal.as_ref()?, record);
    let report = audit(&history, &workspace.settings.paths, &delivered)?;
    context.ui.json(&report);
    for breach in &report.violations {
        context.ui.line(format!(
            "{}:{}: {} (commit {}, {}, {})",
            breach.path, breach.line, breach.detail, breach.commit, breach.actor, breach.rule
        ));
    }
    if report.violations.is_empty() {
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
