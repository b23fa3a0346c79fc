//! `turns`: lists the latest turns, or shows one step by step.

use jiff::Timestamp;

use super::requests::{open_journal, show_request, unknown_turn};
use crate::cli::{CommandError, CommandResult, Context, Status};
use crate::turn::ListedTurn;
use crate::workspace::Workspace;

/// Lists the latest turns, or shows one: its steps, its calls, or its request.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The turn: its id as the list shows it, or the message's.
    id: Option<String>,
    /// Prints the request, made again from the notes, and whether its hash is the stored one.
    #[arg(long, requires = "id")]
    request: bool,
    /// The most turns.
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,
}

/// Runs `turns`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    match &args.id {
        None => list(context, &workspace, args.limit),
        Some(id) if args.request => show_request(context, &workspace, id),
        Some(id) => show(context, &workspace, id),
    }
}

fn list(context: &Context, workspace: &Workspace, limit: usize) -> CommandResult {
    let turns = match open_journal(workspace)? {
        Some(journal) => journal.latest(limit).map_err(CommandError::problem)?,
        None => Vec::new(),
    };
    let listed: Vec<ListedTurn> =
        turns.iter().map(|turn| ListedTurn::of(turn, workspace.zone.tz())).collect();
    context.ui.json(&listed);
    if listed.is_empty() {
        context.ui.line("no turns yet");
    }
    for (turn, listed) in turns.iter().zip(&listed) {
        let when = turn.started.to_zoned(workspace.zone.tz().clone()).strftime("%Y-%m-%d %H:%M:%S");
        let brain = listed.brain.as_deref().unwrap_or("-");
        context.ui.line(format!(
            "{when}  {}  {:<9}  {brain:<10}  {}",
            listed.id, listed.state, turn.question.author
        ));
    }
    Ok(Status::Fine)
}

fn show(context: &Context, workspace: &Workspace, id: &str) -> CommandResult {
    let Some(journal) = open_journal(workspace)? else { return Err(unknown_turn(id)) };
    let turn = journal.named(id).map_err(CommandError::problem)?.ok_or_else(|| unknown_turn(id))?;
    let shown = journal.detail(&turn, workspace.zone.tz()).map_err(CommandError::problem)?;
    context.ui.json(&shown);
    let ui = &context.ui;
    ui.line(format!(
        "{}  {}  {}",
        shown.turn.id,
        shown.turn.state,
        shown.turn.brain.as_deref().unwrap_or("-")
    ));
    let mut before: Option<Timestamp> = None;
    for row in &shown.steps {
        let since = before.map_or(0, |before| row.instant.duration_since(before).as_millis());
        ui.line(format!("{:>8} ms  {:<14} {}", format!("+{since}"), row.step, row.detail));
        before = Some(row.instant);
    }
    for call in shown.calls.iter().filter(|call| call.error.is_some()) {
        ui.line(format!("{}: {}", call.brain, call.error.as_deref().unwrap_or_default()));
    }
    if let Some(answer) = &shown.answer {
        ui.line(format!("\n{answer}"));
    }
    Ok(Status::Fine)
}
