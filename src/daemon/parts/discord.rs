//! Runs the Discord bot, if there is a token, and restarts it with changed settings.
//!
//! The bot asks the rest of the daemon through [`DaemonServices`] for a status, an undo or a confirmation. Files and databases
//! are touched on threads that the gateway doesn't wait for. A fault of Discord is shown in `status` as one sentence;
//! the daemon goes on with the console.

use anyhow::{Context, bail};
use async_trait::async_trait;
use jiff::civil;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::prelude::*;
use crate::agenda::upcoming_items;
use crate::agent::VaultMemory;
use crate::daemon::assistant::AssistantService;
use crate::deliver::{self, AnswerSender, Fact, compose, delivery_journal};
use crate::discord::{
    BotParts, ChannelLock, DaemonServices, GatewayStatus, Logbook, ProgressTimes, VaultOperations, setup,
};
use crate::instance::DaemonStatus;
use crate::tasks::Scanner;
use crate::turn::{Responder, TurnJournal};

/// The bot, where there is a token.
pub async fn run(context: PartContext) -> anyhow::Result<()> {
    let PartContext { permits, mut workspace, mut events, board, stop, .. } = context;
    let turns = Arc::new(TurnJournal::open(&workspace.dirs.state)?);
    let kept = BotMemory {
        assistant: Arc::new(AssistantService::new(&workspace, Arc::clone(&turns), permits)),
        turns,
        channel_lock: Arc::default(),
    };
    kept.assistant.approvals.expire_questions().await;
    loop {
        let shutdown = stop.child_token();
        let is_voice = workspace.machines.is_voice();
        let bot = is_voice.then(|| {
            tokio::spawn(serve(Arc::clone(&workspace), kept.clone(), board.clone(), shutdown.clone()))
        });
        if !is_voice && has_bot(&workspace) {
            board.set_part("discord", "not connected here: another machine is the voice");
        }
        let changed = next_settings(&workspace, is_voice, &kept.assistant, &mut events).await;
        shutdown.cancel();
        if let Some(bot) = bot {
            // The bot's tasks end with their channel; one that hangs is left behind.
            let _ = tokio::time::timeout(Duration::from_millis(500), bot).await;
        }
        match changed {
            Some(changed) => workspace = changed,
            None => return Ok(()),
        }
    }
}

/// The state that stays while bots come and go with other settings.
#[derive(Clone)]
struct BotMemory {
    assistant: Arc<AssistantService>,
    turns: Arc<TurnJournal>,
    channel_lock: Arc<ChannelLock>,
}

fn has_bot(workspace: &Workspace) -> bool {
    matches!(setup::api(&workspace.settings.discord, workspace.vault.root()), Ok(Some(_)))
}

/// Waits for settings that concern the bot, or until this machine is the voice otherwise than `is_voice` says; none when the
/// daemon stops. Settings of the assistant are taken on by the next turn, and the bot stays.
async fn next_settings(
    workspace: &Arc<Workspace>,
    is_voice: bool,
    assistant: &AssistantService,
    events: &mut PartEvents,
) -> Option<Arc<Workspace>> {
    loop {
        if workspace.machines.is_voice() != is_voice {
            return Some(Arc::clone(workspace));
        }
        match events.next().await {
            Some(DaemonEvent::Settings(changed)) => {
                assistant.apply_settings(&changed);
                if !changed.settings.differ_for_assistant_alone(&workspace.settings) {
                    return Some(changed);
                }
            }
            Some(event) => assistant.on_event(&event).await,
            None => return None,
        }
    }
}

/// Runs the bot until `shutdown`, and says how it is.
async fn serve(workspace: Arc<Workspace>, kept: BotMemory, board: StatusBoard, shutdown: CancellationToken) {
    let api = match setup::api(&workspace.settings.discord, workspace.vault.root()) {
        Ok(Some(api)) => api,
        Ok(None) => return,
        Err(error) => return board.set_part("discord", error.to_string()),
    };
    let (status, mut seen) = watch::channel(GatewayStatus::Connecting);
    let report = board.clone();
    let watching = tokio::spawn(async move {
        loop {
            let words = words(&seen.borrow_and_update());
            report.set_part("discord", words);
            if seen.changed().await.is_err() {
                return;
            }
        }
    });
    let parts = match parts(&workspace, &kept, api) {
        Ok(parts) => parts,
        Err(error) => return board.set_part("discord", error.to_string()),
    };
    let result = crate::discord::run(parts, status, shutdown).await;
    let _ = watching.await;
    if let Err(error) = result {
        tracing::error!("Discord: {error}");
        board.set_part("discord", error.to_string());
    }
}

fn words(status: &GatewayStatus) -> String {
    match status {
        GatewayStatus::Connecting => "connecting".to_owned(),
        GatewayStatus::Ready => "connected".to_owned(),
        GatewayStatus::Degraded(problems) => {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            format!("connected, but {}", problems.join("; "))
        }
        GatewayStatus::Stopped(error) => error.to_string(),
    }
}

fn parts(
    workspace: &Arc<Workspace>,
    kept: &BotMemory,
    api: crate::discord::DiscordApi,
) -> Result<BotParts, crate::sqlite::DatabaseError> {
    let recall = Arc::new(VaultMemory::new(Arc::clone(workspace)));
    let paths = &workspace.settings.paths;
    let answers = AnswerSender {
        journal: workspace.journal()?,
        vault: workspace.vault.clone(),
        editor: Arc::clone(&workspace.editor),
        delivery_order: workspace.bot_delivery_order(),
        clock: Arc::clone(&workspace.clock),
        settings: workspace.pass_settings(),
        machines: workspace.machines.clone(),
    };
    Ok(BotParts {
        api,
        settings: workspace.settings.discord.clone(),
        log: Logbook::new(
            Arc::clone(&workspace.editor),
            &paths.logs,
            Arc::clone(&workspace.clock),
            workspace.settings.hooks.redactor(),
        ),
        operations: VaultOperations {
            workspace: Arc::clone(workspace),
            recall,
            services: Arc::new(LocalServices(Arc::clone(workspace), Arc::clone(&kept.assistant))),
        },
        responder: Arc::clone(&kept.assistant) as Arc<dyn Responder>,
        turns: Arc::clone(&kept.turns),
        approvals: Arc::clone(&kept.assistant.approvals),
        answers: Arc::new(answers),
        channel_lock: Arc::clone(&kept.channel_lock),
        clock: Arc::clone(&workspace.clock),
        state: workspace.dirs.state.clone(),
        sweep: BotParts::SWEEP,
        gather: BotParts::GATHER,
        stall: None,
        pace: ProgressTimes::default(),
    })
}

/// The services that the bot asks the rest of the daemon for.
struct LocalServices(Arc<Workspace>, Arc<AssistantService>);

#[async_trait]
impl DaemonServices for LocalServices {
    async fn status(&self) -> String {
        let workspace = Arc::clone(&self.0);
        blocking(move || Ok::<_, String>(describe(&workspace))).await.unwrap_or_else(|error| error)
    }

    async fn undo(&self) -> Result<String, String> {
        let workspace = Arc::clone(&self.0);
        blocking(move || undo(&workspace)).await
    }

    async fn confirm(&self, what: &str, line: &str) {
        let (workspace, what, line) = (Arc::clone(&self.0), what.to_owned(), line.to_owned());
        let queued =
            blocking(move || deliver::confirm(&workspace.journal()?, &what, &line, workspace.clock.now()));
        if let Err(error) = queued.await {
            tracing::warn!("a change could not be confirmed: {error}");
        }
    }

    async fn routines(&self) -> Vec<String> {
        let workspace = Arc::clone(&self.0);
        blocking(move || crate::routines::names(&workspace)).await.unwrap_or_default()
    }

    async fn routine(&self, action: &str, name: Option<&str>) -> Result<String, String> {
        let (workspace, action) = (Arc::clone(&self.0), action.to_owned());
        let name = name.map(str::to_owned);
        super::routines::command(workspace, Arc::clone(&self.1), action, name).await
    }

    async fn fact(&self, id: &str, local: civil::DateTime) -> Option<Fact> {
        let (workspace, key) = (Arc::clone(&self.0), delivery_journal::key(id, local, None));
        let row = blocking(move || workspace.journal().and_then(|journal| journal.row(&key))).await;
        Some(row.ok()??.fact)
    }
}

/// The words of `/status`.
fn describe(workspace: &Workspace) -> String {
    let mut lines = Vec::new();
    if let Some(status) = DaemonStatus::read(&workspace.dirs.state) {
        let since = local(workspace, status.started);
        lines.push(format!("Running since {since}, {} notifications so far.", status.fired));
        lines.extend(
            status.last_error.iter().chain(&status.settings_error).map(|error| format!("Problem: {error}")),
        );
    }
    match upcoming_items(workspace, 3, &mut Scanner::default()) {
        Ok(next) if next.is_empty() => lines.push("Nothing is scheduled.".to_owned()),
        Ok(next) => lines.extend(
            next.iter().map(|reminder| format!("{}: {}", local(workspace, reminder.instant), reminder.msg)),
        ),
        Err(error) => lines.push(format!("The reminders can't be read: {error}")),
    }
    lines.join("\n")
}

/// An instant as people say it, in the vault's zone.
fn local(workspace: &Workspace, at: jiff::Timestamp) -> String {
    let tz = workspace.zone.tz();
    compose::moment(tz.to_datetime(at), tz.to_datetime(workspace.clock.now()).date())
}

/// Takes back the agent's last write.
fn undo(workspace: &Workspace) -> anyhow::Result<String> {
    let history = workspace.history()?.context("the history is turned off in the settings")?;
    let interrupted = history.pending_restore()?;
    history.finish_pending(&workspace.editor, crate::history::Interrupted::Finish)?;
    if let Some(undo) = interrupted.filter(|it| it.undoing.is_some()) {
        // The undo that was killed is the one that is asked for again.
        return Ok(format!("Finished what had been interrupted: {}", undo.subject));
    }
    history.snapshot_all(crate::history::Deletions::Hold)?;
    let plan = history.plan_undo(1)?;
    if let Some(conflict) = plan.conflicts.first() {
        bail!("`{}`: {}; nothing was undone", conflict.path, conflict.reason);
    }
    let write = plan.writes.first().context("there is nothing to undo")?;
    let subject = write.commit.message.subject.clone();
    let report = history.undo(&workspace.editor, &plan)?;
    if let Some(skip) = report.skipped.first() {
        bail!("`{}`: {}; nothing was undone, try again", skip.path, skip.reason);
    }
    Ok(format!("Undid: {subject}"))
}
