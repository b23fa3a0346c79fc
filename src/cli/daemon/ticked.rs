//! The routines of a `tick`: those that are due run to their end, one after another, and then it exits.

use std::sync::Arc;

use serde::Serialize;

use crate::cli::CommandError;
use crate::daemon;
use crate::deliver::Console;
use crate::routines::{self, Driven};
use crate::terminal::Ui;
use crate::turn::TurnJournal;
use crate::workspace::Workspace;

/// What a tick did about routines.
#[derive(Debug, Default, Serialize)]
pub struct Ticked {
    /// The runs, with what became of each; with `--dry-run` the routines that would run.
    pub ran: Vec<Ran>,
    /// The routines that were due and have nothing to do.
    pub nothing: Vec<String>,
    /// What is wrong.
    pub problems: Vec<String>,
}

/// One run.
#[derive(Debug, Serialize)]
pub struct Ran {
    /// The routine with its local occurrence.
    pub run: String,
    /// What became of it; none where it goes on in the next tick.
    pub outcome: Option<String>,
}

/// Runs what is due.
pub fn routines(ui: Ui, workspace: &Arc<Workspace>, rests: bool, dry: bool) -> Result<Ticked, CommandError> {
    let notes = routines::read_all(workspace)?;
    let journal = workspace.journal()?;
    let is_on = notes.iter().any(|note| note.routine.as_ref().is_some_and(|routine| routine.enabled));
    // A vault without routines opens nothing for them.
    if rests || !is_on && journal.open_runs()?.is_empty() {
        if !rests && !dry {
            journal.only_enabled(&[])?;
        }
        return Ok(Ticked::default());
    }
    let turns = if dry { TurnJournal::in_memory() } else { TurnJournal::open(&workspace.dirs.state) };
    let turns = Arc::new(turns.map_err(CommandError::problem)?);
    let looked = routines::look(workspace, &journal, &turns, dry)?;
    let mut ticked = Ticked { ran: Vec::new(), nothing: looked.nothing, problems: looked.problems };
    if dry {
        ticked.ran = looked.due.into_iter().map(|run| Ran { run, outcome: None }).collect();
        return Ok(ticked);
    }
    if looked.open.is_empty() {
        return Ok(ticked);
    }
    let outlets = if ui.json {
        workspace.outlets_with(Arc::new(Console::stderr(workspace.zone.tz().clone())))
    } else {
        workspace.outlets(false)
    };
    let approvals = Arc::new(crate::agent::VaultApprovals::left_behind(workspace));
    let runner = daemon::routines::runner_with(workspace, turns, Arc::default(), approvals, outlets)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for key in looked.open {
        let driven = runtime.block_on(async {
            let stop = daemon::stop_on_signals()?;
            Ok::<_, CommandError>(runner.drive(&key, &stop).await)
        })?;
        let outcome = match driven {
            Ok(Driven::Done(outcome)) => Some(outcome),
            Ok(Driven::Busy) => continue,
            Ok(Driven::Later(_)) => None,
            Err(error) => {
                ticked.problems.push(format!("`{key}` can't go on: {error}"));
                None
            }
        };
        ticked.ran.push(Ran { run: key, outcome });
    }
    runtime.shutdown_background();
    Ok(ticked)
}

impl Ticked {
    /// Whether there is anything to tell.
    pub fn has_something(&self) -> bool {
        !(self.ran.is_empty() && self.nothing.is_empty() && self.problems.is_empty())
    }

    /// Says what a person wants to know; whether somebody has to look at it.
    pub fn say(&self, ui: Ui) -> bool {
        for ran in &self.ran {
            let outcome = ran.outcome.as_deref().unwrap_or("goes on in the next tick");
            ui.note(format!("routine {}: {outcome}", ran.run));
        }
        for problem in &self.problems {
            ui.note(format!("problem: {problem}"));
        }
        !self.problems.is_empty()
    }
}
