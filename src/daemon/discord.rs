//! The daemon's bot: it runs beside the scheduler where a token is set, and is started anew when the settings change.
//!
//! What a person has to mend stands in `status`; the daemon goes on without the bot, and tries again now and then.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::civil;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::part::{Board, Event, Part};
use super::status::DaemonStatus;
use crate::deliver::{self, Fact};
use crate::discord::responder::{Memory, Recall, RecallResponder};
use crate::discord::{self, Desk, GatewayStatus, Logbook, Outside, Parts, setup};
use crate::workspace::Workspace;

/// How long to wait before a bot that a person has to help is tried again, should nobody change the settings.
const AGAIN: Duration = Duration::from_secs(15 * 60);

/// Runs the bot.
#[derive(Debug)]
pub struct DiscordPart;

#[async_trait]
impl Part for DiscordPart {
    fn name(&self) -> &'static str {
        "discord"
    }

    async fn run(
        self: Box<Self>,
        mut workspace: Arc<Workspace>,
        mut events: broadcast::Receiver<Event>,
        board: Board,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        loop {
            let over = stop.child_token();
            let bot = tokio::spawn(one_bot(Arc::clone(&workspace), board.clone(), over.clone()));
            let changed = next_settings(&mut events, &workspace, &stop).await;
            over.cancel();
            let _ = bot.await;
            match changed {
                Some(changed) => workspace = changed,
                None => return Ok(()),
            }
        }
    }
}

/// The vault with other settings for the bot; none at the end.
async fn next_settings(
    events: &mut broadcast::Receiver<Event>,
    workspace: &Workspace,
    stop: &CancellationToken,
) -> Option<Arc<Workspace>> {
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            event = events.recv() => match event {
                Ok(Event::Settings(changed)) => {
                    let (old, new) = (&workspace.settings, &changed.settings);
                    if old.discord != new.discord || old.paths != new.paths || old.timezone != new.timezone {
                        return Some(changed);
                    }
                }
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            },
        }
    }
}

/// One bot until `over`, tried again where a person has to mend something first.
async fn one_bot(workspace: Arc<Workspace>, board: Board, over: CancellationToken) {
    while !over.is_cancelled() {
        match parts(&workspace) {
            Ok(Some(parts)) => {
                let (sender, status) = watch::channel(GatewayStatus::Connecting);
                let report = tokio::spawn(report(board.clone(), status));
                let ended = discord::run(parts, sender, over.clone()).await;
                report.abort();
                let Err(problem) = ended else { return };
                tracing::error!("{problem}; reminders go on without the bot");
                board.say("discord", problem.to_string());
            }
            Ok(None) => {
                board.say("discord", "not set up");
                return over.cancelled().await;
            }
            Err(error) => {
                tracing::error!("{error:#}; reminders go on without the bot");
                board.say("discord", format!("{error:#}"));
            }
        }
        tokio::select! {
            () = over.cancelled() => {}
            () = tokio::time::sleep(AGAIN) => {}
        }
    }
}

async fn report(board: Board, mut status: watch::Receiver<GatewayStatus>) {
    loop {
        let words = match &*status.borrow_and_update() {
            GatewayStatus::Connecting => "connecting".to_owned(),
            GatewayStatus::Ready => "connected".to_owned(),
            GatewayStatus::Degraded(problem) | GatewayStatus::Stopped(problem) => problem.to_string(),
        };
        board.say("discord", words);
        if status.changed().await.is_err() {
            return;
        }
    }
}

/// What the bot is made of; none where no bot is set up.
fn parts(workspace: &Arc<Workspace>) -> anyhow::Result<Option<Parts>> {
    let settings = &workspace.settings.discord;
    if settings.channel_id.is_none() && settings.owner_ids.is_empty() {
        return Ok(None);
    }
    let Some(api) = setup::api(settings, workspace.vault.root())? else { return Ok(None) };
    let daemon = Arc::new(Daemon(Arc::clone(workspace)));
    let recall: Arc<dyn Recall> = Arc::clone(&daemon) as _;
    let paths = &workspace.settings.paths;
    Ok(Some(Parts {
        api,
        settings: settings.clone(),
        log: Logbook::new(Arc::clone(&workspace.editor), &paths.logs, Arc::clone(&workspace.clock)),
        desk: Desk {
            editor: Arc::clone(&workspace.editor),
            reminders: workspace.note(&paths.reminders),
            pinned: workspace.note(&paths.pinned),
            zone: workspace.zone.clone(),
            clock: Arc::clone(&workspace.clock),
            recall: Arc::clone(&recall),
            outside: daemon,
        },
        responder: Arc::new(RecallResponder::new(recall)),
        clock: Arc::clone(&workspace.clock),
        state: workspace.dirs.state.clone(),
        sweep: Parts::SWEEP,
        stall: None,
    }))
}

/// What the bot needs of the rest of the program.
struct Daemon(Arc<Workspace>);

impl Daemon {
    /// Work on files or databases, where no other task waits for it.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Workspace) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let workspace = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || work(&workspace)).await.map_err(|error| error.to_string())?
    }
}

#[async_trait]
impl Recall for Daemon {
    #[cfg(feature = "index")]
    async fn recall(&self, query: &str, limit: usize) -> Result<Vec<Memory>, String> {
        let query = query.to_owned();
        self.blocking(move |workspace| {
            let recall = crate::recall::Recall::of(workspace).map_err(|error| error.to_string())?;
            let found = recall.recall(&query, None, 2000, false).map_err(|error| error.to_string())?;
            let zone = workspace.zone.tz();
            let memory = |hit: crate::index::Hit| Memory {
                path: hit.path,
                line: usize::try_from(hit.line).unwrap_or_default(),
                when: hit.timestamp.map(|at| at.to_zoned(zone.clone()).strftime("%a %-d %b %Y %H:%M").to_string()),
                text: hit.snippet,
            };
            Ok(found.hits.into_iter().take(limit).map(memory).collect())
        })
        .await
    }

    #[cfg(not(feature = "index"))]
    async fn recall(&self, _: &str, _: usize) -> Result<Vec<Memory>, String> {
        Err("this build of vault-agent has no search".to_owned())
    }
}

#[async_trait]
impl Outside for Daemon {
    async fn status(&self) -> String {
        let words = self.blocking(|workspace| {
            let status = DaemonStatus::read(&workspace.dirs.state).ok_or("the daemon hasn't reported yet")?;
            Ok(describe(&status, workspace))
        });
        words.await.unwrap_or_else(|problem| problem)
    }

    #[cfg(feature = "history")]
    async fn undo(&self) -> Result<String, String> {
        self.blocking(undo).await
    }

    #[cfg(not(feature = "history"))]
    async fn undo(&self) -> Result<String, String> {
        Err("this build of vault-agent keeps no history".to_owned())
    }

    async fn confirm(&self, what: &str, line: &str) {
        let (what, line) = (what.to_owned(), line.to_owned());
        let confirmed = self.blocking(move |workspace| {
            let journal = workspace.journal().map_err(|error| error.to_string())?;
            deliver::confirm(&journal, &what, &line, workspace.clock.now()).map_err(|error| error.to_string())
        });
        if let Err(error) = confirmed.await {
            tracing::error!(error, "a change could not be confirmed");
        }
    }

    async fn fact(&self, id: &str, local: civil::DateTime) -> Option<Fact> {
        let key = deliver::journal::key(id, local, None);
        let row = self.blocking(move |workspace| {
            let journal = workspace.journal().map_err(|error| error.to_string())?;
            journal.row(&key).map_err(|error| error.to_string())
        });
        row.await.ok().flatten().map(|row| row.fact)
    }
}

fn describe(status: &DaemonStatus, workspace: &Workspace) -> String {
    let local = |at: jiff::Timestamp| at.to_zoned(workspace.zone.tz().clone()).strftime("%a %-d %b %H:%M").to_string();
    let mut words = format!("vault-agent {} runs since {}.", status.version, local(status.started));
    if let Some(at) = status.last_pass {
        let _ = write!(words, "\nLast look at the reminders: {} ({} told so far).", local(at), status.fired);
    }
    for (part, said) in &status.parts {
        let _ = write!(words, "\n- {part}: {said}");
    }
    for problem in status.last_error.iter().chain(&status.settings_error) {
        let _ = write!(words, "\nProblem: {problem}");
    }
    words
}

#[cfg(feature = "history")]
fn undo(workspace: &Workspace) -> Result<String, String> {
    let words = |error: crate::history::HistoryError| error.to_string();
    let history = workspace.history().map_err(words)?.ok_or("no history is kept: `[history] enabled` is off")?;
    history.snapshot_all(crate::history::Deletions::Hold).map_err(words)?;
    let plan = history.plan_undo(1).map_err(words)?;
    if let Some(conflict) = plan.conflicts.first() {
        return Err(format!("`{}` has been changed since ({}): {}", conflict.path, conflict.subject, conflict.reason));
    }
    let Some(write) = plan.writes.first() else { return Err("the agent has written nothing".to_owned()) };
    let subject = write.commit.message.subject.clone();
    let report = history.undo(&workspace.editor, &plan).map_err(words)?;
    match report.skipped.first() {
        Some(path) => Err(format!("`{path}` was changed at this very moment; try again")),
        None => Ok(format!("Undone: {subject}")),
    }
}
