//! `pause`: pauses all work that no person asked for, until a time or until `resume`.

use crate::cli::prelude::*;
use crate::pause::{self, Paused};

/// Pauses all automatic work: routines, captures, summaries, phrasing by a brain.
///
/// Questions are still answered, and reminders still delivered. The pause is a key of the settings: it applies to every
/// machine of the vault, and to a running daemon at once. An occurrence in a pause is handled as after an absence:
/// nothing due is lost.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Until when, as `remind add` takes it: `mon 9:00`, `in 3 hours`; else until `resume`.
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Reminders and follow-ups wait too.
    #[arg(long)]
    reminders: bool,
}

/// Runs `pause`.
pub fn run(context: &Context, args: &Args) -> CommandResult {
    let workspace = context.workspace()?;
    let now = workspace.clock.now();
    let until = args.until.as_deref().map(|text| when::parse_when(text, now, &workspace.zone));
    pause::pause(&workspace, until.transpose()?, args.reminders, &context.origin())?;
    print_state(context)
}

/// Prints whether the vault is paused, as the settings now say.
pub(super) fn print_state(context: &Context) -> CommandResult {
    let workspace = context.workspace()?;
    let pause = workspace.pause().filter(|_| workspace.is_paused());
    let words = pause.map(|pause| pause.words(workspace.zone.tz()));
    context.answer(&Paused::of(&workspace), words.as_deref().unwrap_or("nothing is paused"))
}
