//! Runs routines: checks them every minute and whenever one of their notes changes, beside the scheduler's pass.
//!
//! Each run is a task of its own, so reminders don't wait for it. At most four runs go on at once; further ones wait.
//! A run that a stop or a crash interrupted is continued by the next check.

use std::collections::HashSet;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::prelude::*;
use crate::agent::{VaultApprovals, Waiter};
use crate::daemon::assistant::recheck;
use crate::daemon::ticker::Ticker;
use crate::routines::{self, ClaimReport, RunError, RunProgress, Runner};
use crate::toolbox::runner_with;
use crate::turn::TurnJournal;

/// Runs that go on at the same time.
const AT_ONCE: usize = 4;

/// Runs the routines.
pub async fn run(context: PartContext, json: bool) -> anyhow::Result<()> {
    let PartContext { permits, workspace, mut events, board, stop, .. } = context;
    let turns = Arc::new(TurnJournal::open(&workspace.dirs.state)?);
    let approvals = Arc::new(VaultApprovals::new(&workspace, Waiter::Call));
    let make = |workspace: &Arc<Workspace>| -> Result<Arc<Runner>, RunError> {
        let (turns, permits, approvals) = (Arc::clone(&turns), Arc::clone(&permits), Arc::clone(&approvals));
        runner_with(workspace, turns, permits, approvals, workspace.delivery_order(json)).map(Arc::new)
    };
    let mut service = RoutineService {
        runner: make(&workspace)?,
        board,
        at_once: Arc::new(Semaphore::new(AT_ONCE)),
        runs: JoinSet::new(),
        running: HashSet::new(),
        stop: stop.child_token(),
    };
    let (mut ticker, mut asked) = (Ticker::default(), false);
    loop {
        let clock = Arc::clone(&service.runner.workspace().clock);
        if (ticker.is_due(clock.now()) || std::mem::take(&mut asked)) && !events.is_vault_gone() {
            service.check().await;
        }
        tokio::select! {
            biased;
            event = events.next() => {
                let Some(event) = event else { return Ok(()) };
                recheck(&approvals, &event);
                match event {
                    DaemonEvent::Changed(paths) => {
                        let folder = service.folder();
                        asked = paths.iter().any(|path| path.as_str().starts_with(&folder));
                    }
                    DaemonEvent::Settings(changed) => match make(&changed) {
                        Ok(runner) => {
                            approvals.set_workspace(&changed);
                            (service.runner, asked) = (runner, true);
                        }
                        Err(error) => tracing::error!("routines keep their old settings: {error}"),
                    },
                    DaemonEvent::Voice => asked = service.turned(&stop),
                    DaemonEvent::VaultBack | DaemonEvent::Rescan => asked = true,
                    DaemonEvent::VaultGone | DaemonEvent::Unwatched => {}
                }
            }
            Some(ended) = service.runs.join_next() => service.ended(ended),
            () = tokio::time::sleep(clock.sleep(ticker.sleep(clock.now()))) => {}
        }
    }
}

struct RoutineService {
    runner: Arc<Runner>,
    board: StatusBoard,
    at_once: Arc<Semaphore>,
    runs: JoinSet<(String, Result<RunProgress, RunError>)>,
    running: HashSet<String>,
    stop: CancellationToken,
}

impl RoutineService {
    /// The folder of routines, with its slash.
    fn folder(&self) -> String {
        format!("{}/", self.runner.workspace().settings.paths.routines.trim_end_matches('/'))
    }

    /// Handles a possible change of the voice, which continues the previous voice's runs: if this machine isn't the
    /// voice, ends its runs here. Returns whether to check for runs at once.
    fn turned(&mut self, stop: &CancellationToken) -> bool {
        let is_voice = self.runner.workspace().machines.is_voice();
        if !is_voice {
            std::mem::replace(&mut self.stop, stop.child_token()).cancel();
        }
        is_voice
    }

    async fn check(&mut self) {
        if self.runner.workspace().reason_for_rest().is_some() {
            return;
        }
        let runner = Arc::clone(&self.runner);
        let looked = blocking(move || {
            Ok(routines::claim_due_runs(runner.workspace(), runner.journal(), runner.turns(), false)?)
        });
        match looked.await {
            Ok(claimed) => self.begin(claimed),
            Err(error) => self.board.set_part("routines", format!("can't be looked at: {error}")),
        }
    }

    fn begin(&mut self, claimed: ClaimReport) {
        for problem in &claimed.problems {
            tracing::warn!("{problem}");
        }
        for key in claimed.open {
            if !self.running.insert(key.clone()) {
                continue;
            }
            let (runner, stop) = (Arc::clone(&self.runner), self.stop.clone());
            let at_once = Arc::clone(&self.at_once);
            self.runs.spawn(async move {
                let _place = at_once.acquire().await;
                let driven = runner.drive_logged(&key, &stop).await;
                (key, driven)
            });
        }
        let words = match (claimed.problems.first(), self.running.len()) {
            (Some(problem), _) => problem.clone(),
            (None, 0) => "waiting".to_owned(),
            (None, 1) => "1 is running".to_owned(),
            (None, count) => format!("{count} are running"),
        };
        self.board.set_part("routines", words);
    }

    fn ended(&mut self, ended: Result<(String, Result<RunProgress, RunError>), tokio::task::JoinError>) {
        match ended {
            Ok((key, driven)) => {
                self.running.remove(&key);
                let why = match driven {
                    Ok(RunProgress::Later(why)) => Some(format!("`{key}` goes on later: {why}")),
                    Ok(_) => None,
                    Err(error) => Some(format!("`{key}` can't go on: {error}")),
                };
                if let Some(why) = why {
                    return self.board.set_part("routines", why);
                }
            }
            // Whichever it was, the next look takes it up.
            Err(error) => {
                tracing::error!("a routine's run failed with an internal error: {error}");
                self.running.clear();
            }
        }
        if self.running.is_empty() {
            self.board.set_part("routines", "waiting");
        }
    }
}
