//! `turns`: what became of each question, step by step, and its request made again.

use jiff::Timestamp;
use serde::Serialize;

use super::requests::{find, id_of, journal, request, unknown};
use crate::cli::{CommandError, CommandResult, Context, Status};
use crate::reminders::rfc3339;
use crate::turn::{Facts, Turn};
use crate::workspace::Workspace;

/// Lists the latest turns, or shows one: its steps, its calls, or its request.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The turn: its id as the list shows it, or the message's.
    id: Option<String>,
    /// Prints the request, made again from the notes, and whether its hash is the stored one.
    #[arg(long, requires = "id")]
    request: bool,
    /// So many turns at most.
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,
}

#[derive(Debug, Serialize)]
struct Listed {
    id: String,
    message: String,
    channel: String,
    state: &'static str,
    brain: Option<String>,
    started: String,
    finished: Option<String>,
    chunks: u32,
}

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    turn: Listed,
    question: String,
    answer: Option<String>,
    steps: Vec<Step>,
    calls: Vec<Called>,
}

#[derive(Debug, Serialize)]
struct Step {
    step: String,
    at: String,
    detail: String,
}

#[derive(Debug, Serialize)]
struct Called {
    brain: String,
    model: String,
    class: Option<crate::brain::Class>,
    error: Option<String>,
    ms: u64,
    input: u64,
    cached: u64,
    output: u64,
}

/// Runs `turns`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    match &args.id {
        None => list(context, &workspace, args.limit),
        Some(id) if args.request => request(context, &workspace, id),
        Some(id) => show(context, &workspace, id),
    }
}

fn list(context: &Context, workspace: &Workspace, limit: usize) -> CommandResult {
    let turns = match journal(workspace)? {
        Some(journal) => journal.latest(limit).map_err(CommandError::problem)?,
        None => Vec::new(),
    };
    let listed: Vec<Listed> = turns.iter().map(|turn| listed(turn, workspace)).collect();
    context.ui.json(&listed);
    if listed.is_empty() {
        context.ui.line("no turns yet");
    }
    for (turn, listed) in turns.iter().zip(&listed) {
        let when = turn.started.to_zoned(workspace.zone.tz().clone()).strftime("%Y-%m-%d %H:%M:%S");
        let brain = listed.brain.as_deref().unwrap_or("-");
        context
            .ui
            .line(format!("{when}  {}  {:<9}  {brain:<10}  {}", listed.id, listed.state, turn.asked.author));
    }
    Ok(Status::Fine)
}

fn listed(turn: &Turn, workspace: &Workspace) -> Listed {
    let instant = |at: Timestamp| rfc3339(at, workspace.zone.tz());
    Listed {
        id: id_of(turn),
        message: turn.asked.message.to_string(),
        channel: match turn.asked.routine() {
            Some(name) => format!("routine:{name}"),
            None => turn.asked.channel.to_string(),
        },
        state: turn.state.as_str(),
        brain: turn
            .facts
            .as_deref()
            .and_then(Facts::parse)
            .map(|facts| facts.brain)
            .or_else(|| turn.brain.clone()),
        started: instant(turn.started),
        finished: turn.finished.map(instant),
        chunks: turn.chunks,
    }
}

fn show(context: &Context, workspace: &Workspace, id: &str) -> CommandResult {
    let Some(journal) = journal(workspace)? else { return Err(unknown(id)) };
    let turn = find(&journal, id)?.ok_or_else(|| unknown(id))?;
    let message = turn.joined.unwrap_or(turn.asked.message);
    let instant = |at: Timestamp| rfc3339(at, workspace.zone.tz());
    let steps = journal.steps(message).map_err(CommandError::problem)?;
    let calls = journal.calls(message).map_err(CommandError::problem)?;
    let shown = Shown {
        turn: listed(&turn, workspace),
        question: turn.asked.text.clone(),
        answer: turn.answer.clone(),
        steps: steps
            .iter()
            .map(|row| Step { step: row.step.clone(), at: instant(row.at), detail: row.detail.clone() })
            .collect(),
        calls: calls
            .into_iter()
            .map(|call| Called {
                brain: call.brain,
                model: call.model,
                class: call.class,
                error: call.error,
                ms: call.ms,
                input: call.usage.input,
                cached: call.usage.cached,
                output: call.usage.output,
            })
            .collect(),
    };
    context.ui.json(&shown);
    let ui = &context.ui;
    ui.line(format!(
        "{}  {}  {}",
        shown.turn.id,
        shown.turn.state,
        shown.turn.brain.as_deref().unwrap_or("-")
    ));
    let mut before: Option<Timestamp> = None;
    for row in &steps {
        let since = before.map_or(0, |before| row.at.duration_since(before).as_millis());
        ui.line(format!("{:>8} ms  {:<14} {}", format!("+{since}"), row.step, row.detail));
        before = Some(row.at);
    }
    for call in shown.calls.iter().filter(|call| call.error.is_some()) {
        ui.line(format!("{}: {}", call.brain, call.error.as_deref().unwrap_or_default()));
    }
    if let Some(answer) = &shown.answer {
        ui.line(format!("\n{answer}"));
    }
    Ok(Status::Fine)
}
