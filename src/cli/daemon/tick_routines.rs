//! Runs the routines that are due in a `tick`, one after another. A run that has to wait, such as for an approval or
//! for another attempt at delivery, goes on in a later tick.

use crate::cli::prelude::*;
use crate::routines::{self, RoutineNote, RunProgress};
use crate::turn::TurnJournal;
use crate::{daemon, toolbox};

/// The routines of a tick.
#[derive(Debug, Default, Serialize)]
pub struct RoutineReport {
    /// The runs, with what became of each; with `--dry-run` the routines that would run.
    pub ran: Vec<TickedRun>,
    /// The routines that were due and have nothing to do.
    pub nothing: Vec<String>,
    /// The problems.
    pub problems: Vec<String>,
}

/// One run.
#[derive(Debug, Serialize)]
pub struct TickedRun {
    /// The routine with its local occurrence.
    pub run: String,
    /// The outcome; none where the run goes on in a later tick.
    pub outcome: Option<String>,
    /// The reason of waiting, where the run goes on in a later tick.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

/// Runs the due routines.
pub fn run_due_routines(ui: Ui, workspace: &Arc<Workspace>, rests: bool, dry: bool) -> Result<RoutineReport> {
    let notes = routines::read_all(workspace)?;
    let journal = workspace.journal()?;
    let is_on = notes.iter().any(RoutineNote::is_enabled);
    // A vault without routines opens nothing for them.
    if rests || !is_on && journal.open_runs()?.is_empty() {
        if !rests && !dry {
            routines::reset_disabled(&journal, &notes, workspace.clock.now())?;
        }
        return Ok(RoutineReport::default());
    }
    let turns = if dry { TurnJournal::in_memory() } else { TurnJournal::open(&workspace.dirs.state) };
    let turns = Arc::new(turns?);
    let looked = routines::claim_due_runs(workspace, &journal, &turns, dry)?;
    let mut ticked = RoutineReport { ran: Vec::new(), nothing: looked.nothing, problems: looked.problems };
    if dry {
        let due = looked.due.into_iter();
        ticked.ran = due.map(|run| TickedRun { run, outcome: None, waits: None }).collect();
        return Ok(ticked);
    }
    if looked.open.is_empty() {
        return Ok(ticked);
    }
    let delivery_order = workspace.delivery_order_off_stdout(ui.json);
    let approvals = Arc::new(crate::agent::VaultApprovals::new(workspace, crate::agent::Waiter::Turn));
    let runner = toolbox::runner_with(workspace, turns, Arc::default(), approvals, delivery_order)?;
    on_workers(async {
        for key in looked.open {
            let stop = daemon::stop_on_signals()?;
            let driver = tokio::spawn({
                let (machines, stop) = (workspace.machines.clone(), stop.child_token());
                async move { machines.drive(stop).await }
            });
            let driven = runner.drive(&key, &stop).await;
            driver.abort();
            workspace.machines.catch_up().await;
            let (outcome, waits) = match driven {
                Ok(RunProgress::Done(outcome)) => (Some(outcome), None),
                Ok(RunProgress::Busy) => continue,
                Ok(RunProgress::Later(why)) => (None, Some(why)),
                Err(error) => {
                    ticked.problems.push(format!("`{key}` can't go on: {error}"));
                    (None, None)
                }
            };
            ticked.ran.push(TickedRun { run: key, outcome, waits });
        }
        Ok(ticked)
    })
}

impl RoutineReport {
    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.ran.is_empty() && self.nothing.is_empty() && self.problems.is_empty()
    }

    /// Prints the runs and the problems; true where there is a problem.
    pub fn print_report(&self, ui: Ui) -> bool {
        for TickedRun { run, outcome, waits } in &self.ran {
            ui.note(match (outcome, waits) {
                (Some(outcome), _) => format!("routine {run}: {outcome}"),
                (None, Some(why)) => format!("routine {run}: goes on in a later tick: {why}"),
                (None, None) => format!("routine {run}: goes on in the next tick"),
            });
        }
        self.problems.iter().for_each(|problem| ui.note(format!("problem: {problem}")));
        !self.problems.is_empty()
    }
}
