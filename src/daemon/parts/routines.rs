//! Runs routines: checks them on every minute and whenever one of their notes changes, beside the scheduler's pass.
//!
//! Each run is a task of its own, so neither reminders nor other routines wait for it. The next check continues what a
//! stop or a crash left open.

use std::collections::HashSet;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::prelude::*;
use crate::agent::{VaultApprovals, Waiter};
use crate::daemon::assistant::{AssistantService, recheck};
use crate::daemon::ticker::Ticker;
use crate::routines::{self, ClaimReport, RunError, RunProgress, Runner};
use crate::toolbox::runner_with;
use crate::turn::TurnJournal;

/// Runs that go on at the same time.
const AT_ONCE: usize = 4;

/// The routines.
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
            () = tokio::time::sleep(clock.sleep(Ticker::sleep(clock.now()))) => {}
        }
    }
}

/// Carries out `/routine`: lists routines, runs one, turns one on or off. A run asks through `assistant`, which gets
/// the person's answers.
///
/// # Errors
/// A sentence on why not.
pub(super) async fn command(
    workspace: Arc<Workspace>,
    assistant: Arc<AssistantService>,
    action: String,
    name: Option<String>,
) -> Result<String, String> {
    let done = blocking(move || obey(&workspace, &assistant, &action, name.as_deref())).await;
    let (answer, run) = done?;
    if let Some((runner, key)) = run {
        // The next check continues a run that a stop cut off.
        tokio::spawn(async move { log(&key, &runner.drive(&key, &CancellationToken::new()).await) });
    }
    Ok(answer)
}

/// The answer, and the run that is to go on.
type AnswerAndRun = (String, Option<(Runner, String)>);

fn obey(
    workspace: &Arc<Workspace>,
    assistant: &AssistantService,
    action: &str,
    name: Option<&str>,
) -> anyhow::Result<AnswerAndRun> {
    let name = || name.ok_or_else(|| anyhow::anyhow!("`name` is missing: which routine?"));
    match action {
        "list" => {
            let listed = routines::list(workspace)?;
            let all: Vec<String> = listed.iter().map(|one| one.in_a_line(workspace)).collect();
            Ok((if all.is_empty() { "There are no routines.".to_owned() } else { all.join("\n") }, None))
        }
        "enable" | "disable" => {
            let is_on = action == "enable";
            let (note, _) = routines::set_enabled(workspace, name()?, is_on, crate::vault::Actor::Discord)?;
            Ok((format!("`{}` is {action}d.", note.name), None))
        }
        "run" => {
            let note = routines::find(workspace, name()?)?;
            let AssistantService { journal, permits, approvals, .. } = assistant;
            let (turns, permits, approvals) =
                (Arc::clone(journal), Arc::clone(permits), Arc::clone(approvals));
            let runner = runner_with(workspace, turns, permits, approvals, workspace.delivery_order(false))?;
            let key = routines::claim_now(workspace, runner.journal(), runner.turns(), &note)?;
            let words = format!("`{}` runs now; its answer goes where it always goes.", note.name);
            Ok((words, Some((runner, key))))
        }
        other => anyhow::bail!("`{other}` is none of list, run, enable, disable"),
    }
}

/// Logs how far a run came.
fn log(key: &str, driven: &Result<RunProgress, RunError>) {
    match driven {
        Ok(RunProgress::Done(outcome)) => tracing::info!(run = key, "a routine ran: {outcome}"),
        Ok(RunProgress::Later(why)) => tracing::info!(run = key, "a routine's run goes on later: {why}"),
        Ok(RunProgress::Busy) => {}
        Err(error) => tracing::warn!(run = key, "a routine's run can't go on: {error}"),
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

    /// The voice may have moved to another machine: it continues the runs of this one, and this one those of the other.
    /// Returns whether to check at once.
    fn turned(&mut self, stop: &CancellationToken) -> bool {
        let is_voice = self.runner.workspace().machines.is_voice();
        if !is_voice {
            std::mem::replace(&mut self.stop, stop.child_token()).cancel();
        }
        is_voice
    }

    async fn check(&mut self) {
        if self.runner.workspace().at_rest().is_some() {
            return;
        }
        let runner = Arc::clone(&self.runner);
        let looked = blocking(move || {
            routines::claim_due_runs(runner.workspace(), runner.journal(), runner.turns(), false)
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
                let driven = runner.drive(&key, &stop).await;
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
                log(&key, &driven);
                if let Err(error) = driven {
                    return self.board.set_part("routines", format!("`{key}` can't go on: {error}"));
                }
            }
            // Whichever it was, the next look takes it up.
            Err(error) => {
                tracing::error!("a routine's run went wrong inside: {error}");
                self.running.clear();
            }
        }
        if self.running.is_empty() {
            self.board.set_part("routines", "waiting");
        }
    }
}
