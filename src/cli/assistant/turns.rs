//! `turns`: lists the latest turns, or shows one step by step. It can also make a turn's request again from the notes,
//! and compare that with the request that was sent.

use crate::agent::rebuild_request::{RebuildError, rebuild};
use crate::cli::prelude::*;
use crate::toolbox;
use crate::turn::{ListedTurn, TurnJournal};

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
    let workspace = Arc::new(context.workspace()?);
    match &args.id {
        None => list(context, &workspace, args.limit),
        Some(id) if args.request => show_request(context, &workspace, id),
        Some(id) => show(context, &workspace, id),
    }
}

fn list(context: &Context, workspace: &Workspace, limit: usize) -> CommandResult {
    let journal = TurnJournal::open_if_there(&workspace.dirs.state)?;
    let turns = journal.map(|journal| journal.latest(limit)).transpose()?.unwrap_or_default();
    let tz = workspace.zone.tz();
    let listed: Vec<ListedTurn> = turns.iter().map(|turn| ListedTurn::of(turn, tz)).collect();
    let none = listed.is_empty().then(|| "no turns yet".to_owned());
    let lines = turns.iter().zip(&listed).map(|(turn, ListedTurn { id, state, brain, .. })| {
        let when = turn.started.to_zoned(tz.clone()).strftime("%Y-%m-%d %H:%M:%S");
        let brain = brain.as_deref().unwrap_or("-");
        format!("{when}  {id}  {state:<9}  {brain:<10}  {}", turn.question.author)
    });
    context.report(&listed, none.into_iter().chain(lines), true)
}

fn show(context: &Context, workspace: &Workspace, id: &str) -> CommandResult {
    let unknown = || RebuildError::Unknown(id.to_owned());
    let journal = TurnJournal::open_if_there(&workspace.dirs.state)?.ok_or_else(unknown)?;
    let turn = journal.named(id)?.ok_or_else(unknown)?;
    let shown = journal.detail(&turn, workspace.zone.tz())?;
    let ui = &context.ui;
    ui.json(&shown);
    let ListedTurn { id, state, brain, .. } = &shown.turn;
    ui.line(format!("{id}  {state}  {}", brain.as_deref().unwrap_or("-")));
    let mut before: Option<Timestamp> = None;
    for row in &shown.steps {
        let since = before.map_or(0, |before| row.at.at().duration_since(before).as_millis());
        ui.line(format!("{:>8} ms  {:<14} {}", format!("+{since}"), row.step, row.detail));
        before = Some(row.at.at());
    }
    for call in &shown.calls {
        if let Some(error) = &call.error {
            ui.line(format!("{}: {error}", call.brain));
        }
    }
    if let Some(answer) = &shown.answer {
        ui.line(format!("\n{answer}"));
    }
    Ok(Status::Fine)
}

fn show_request(context: &Context, workspace: &Arc<Workspace>, id: &str) -> CommandResult {
    let journal = TurnJournal::open_if_there(&workspace.dirs.state)?;
    let rebuilt = rebuild(workspace, journal.as_ref(), id, &toolbox::specs)?;
    let text = rebuilt.request.as_ref().and_then(|request| serde_json::to_string_pretty(request).ok());
    let done = context.report(&rebuilt, text, rebuilt.equal);
    context.ui.note(rebuilt.words());
    done
}
