//! Runs the Discord bot if a token is set and this machine is the voice (the machine that speaks on Discord). New
//! settings restart the bot, except those of the assistant.
//!
//! A fault of Discord is shown in `status` as one sentence; the daemon goes on.

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::prelude::*;
use crate::agent::VaultMemory;
use crate::daemon::assistant::AssistantService;
use crate::deliver::AnswerSender;
use crate::discord::{BotParts, BotTimes, ChannelLock, GatewayStatus, Logbook, VaultOperations, setup};
use crate::turn::{Responder, TurnJournal};

/// Runs the bot if there is a token.
pub async fn run(context: PartContext) -> anyhow::Result<()> {
    let PartContext { permits, mut workspace, mut events, board, stop, .. } = context;
    let turns = Arc::new(TurnJournal::open(&workspace.dirs.state)?);
    let mut kept = BotMemory {
        assistant: Arc::new(AssistantService::new(&workspace, turns, permits)),
        channel_lock: Arc::default(),
        cut_off: stop.child_token(),
    };
    kept.assistant.approvals.expire_questions().await;
    loop {
        if kept.cut_off.is_cancelled() {
            kept.cut_off = stop.child_token();
        }
        let shutdown = kept.cut_off.child_token();
        let is_voice = workspace.machines.is_voice();
        let bot = is_voice.then(|| {
            tokio::spawn(serve(Arc::clone(&workspace), kept.clone(), board.clone(), shutdown.clone()))
        });
        if !is_voice && has_bot(&workspace) {
            board.set_part("discord", "not connected here: another machine is the voice");
        }
        let changed = next_settings(&workspace, is_voice, &kept.assistant, &mut events).await;
        // With other settings alone, a running turn keeps those that it began with.
        let ending = if workspace.machines.is_voice() == is_voice { &shutdown } else { &kept.cut_off };
        ending.cancel();
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

/// The state that outlives restarts of the bot with other settings.
#[derive(Clone)]
struct BotMemory {
    assistant: Arc<AssistantService>,
    channel_lock: Arc<ChannelLock>,
    /// Cancelled when running turns are to end, also those of a bot that had other settings.
    cut_off: CancellationToken,
}

fn has_bot(workspace: &Workspace) -> bool {
    matches!(setup::api(&workspace.settings.discord, workspace.vault.root()), Ok(Some(_)))
}

/// Waits for changed settings of the bot, or until this machine becomes the voice or stops being it (`is_voice` is the
/// present state). None when the daemon stops. Changed settings of the assistant don't count: the next turn applies
/// them, and the bot stays.
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
                if !changed.settings.differs_only_for_assistant(&workspace.settings) {
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
    let watching = async {
        loop {
            board.set_part("discord", words(&seen.borrow_and_update()));
            if seen.changed().await.is_err() {
                return;
            }
        }
    };
    let parts = match parts(&workspace, &kept, api) {
        Ok(parts) => parts,
        Err(error) => return board.set_part("discord", error.to_string()),
    };
    let (result, ()) = tokio::join!(crate::discord::run(parts, status, shutdown), watching);
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
        operations: VaultOperations { workspace: Arc::clone(workspace), recall },
        responder: Arc::clone(&kept.assistant) as Arc<dyn Responder>,
        turns: Arc::clone(&kept.assistant.journal),
        permits: Arc::clone(&kept.assistant.permits),
        approvals: Arc::clone(&kept.assistant.approvals),
        answers: Arc::new(answers),
        channel_lock: Arc::clone(&kept.channel_lock),
        cut_off: kept.cut_off.clone(),
        clock: Arc::clone(&workspace.clock),
        state: workspace.dirs.state.clone(),
        times: BotTimes::default(),
    })
}
