//! Connects to Discord's gateway: supervises one serenity client, and passes its events on as [`GatewayEvent`]s.
//!
//! API access and a channel for events come in; events and a [`GatewayStatus`] go out. Nothing here decides about
//! messages.
//!
//! - The supervisor requests the gateway's address itself and checks the address's host. Without an explicit address
//!   serenity would send the token to Discord's own gateway, even if `[discord] api_base` names a test server.
//! - After a close code that forbids reconnecting the supervisor stops with an error. A client that stays without a
//!   connection is restarted.
//! - The supervisor can be stopped at any moment; serenity alone can't be stopped before its first connection.
//! - A bot that may not read messages connects without the intent `MESSAGE_CONTENT`, so commands and buttons work. The
//!   permission is checked again at intervals.
//! - An event that serenity can't decode becomes [`GatewayEvent::Lost`]. Events that are lost while a connection hangs
//!   are read from history by `catchup`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serenity::all::{ClientBuilder, ConnectionStage, Event, GatewayIntents, RawEventHandler};
use serenity::gateway::GatewayError;
use serenity::http::Route;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::bot_checks;
use super::error::DiscordError;
use super::events::{GatewayEvent, translate};
use super::http::{DiscordApi, is_loopback_address};

/// The state of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatewayStatus {
    /// Not connected yet, or again.
    Connecting,
    /// Events come.
    Ready,
    /// Events come, but a person has to fix something.
    Degraded(Vec<DiscordError>),
    /// It can't go on without a person.
    Stopped(DiscordError),
}

const LONGEST_PAUSE: Duration = Duration::from_secs(120);
const LONGEST_RECHECK: Duration = Duration::from_secs(3600);

/// The supervisor of the connection.
pub struct Gateway {
    api: DiscordApi,
    events: mpsc::UnboundedSender<GatewayEvent>,
    status: watch::Sender<GatewayStatus>,
    stall: Duration,
    /// Set while the bot may not read messages.
    pub(in crate::discord) blind: Arc<AtomicBool>,
}

/// A runtime for serenity's tasks. serenity itself can't end them before the first connection; dropping this ends them.
///
/// serenity spawns a task for each event, and one thread runs the tasks in the order in which they were spawned. A
/// runtime of several threads would run the newest first.
struct GatewayRuntime {
    handle: tokio::runtime::Handle,
    _stop: DropGuard,
}

impl GatewayRuntime {
    fn start() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (handle, stop) = (runtime.handle().clone(), CancellationToken::new());
        let stopped = stop.clone();
        std::thread::Builder::new().name("discord-gateway".to_owned()).spawn(move || {
            runtime.block_on(stopped.cancelled());
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, _stop: stop.drop_guard() })
    }
}

/// Why one client ended.
enum GatewayEnd {
    Shutdown,
    Stalled,
    /// The bot may read messages now.
    Granted,
    Failed(DiscordError),
}

impl Gateway {
    /// A supervisor that hands events to `events`; `stall` limits the time without a connection.
    pub fn new(
        api: DiscordApi,
        events: mpsc::UnboundedSender<GatewayEvent>,
        status: watch::Sender<GatewayStatus>,
        stall: Duration,
    ) -> Self {
        Self { api, events, status, stall, blind: Arc::default() }
    }

    /// Stays connected until `shutdown`.
    ///
    /// # Errors
    /// Only problems that a person has to fix: all others are retried.
    pub async fn run(self, shutdown: CancellationToken) -> Result<(), DiscordError> {
        let mut pause = Duration::from_secs(1);
        // The interval of the check whether the bot may read messages by now.
        let mut recheck = self.stall / 3;
        loop {
            let _ = self.status.send(GatewayStatus::Connecting);
            let begun = tokio::time::Instant::now();
            let end = self.client(&shutdown, recheck).await;
            let reason = match end {
                GatewayEnd::Shutdown => return Ok(()),
                GatewayEnd::Failed(problem @ DiscordError::MissingIntent) if !self.is_blind() => {
                    tracing::error!(
                        "{problem}; until then commands and buttons work, and messages are not read"
                    );
                    self.blind.store(true, Ordering::Relaxed);
                    continue;
                }
                GatewayEnd::Granted => {
                    self.blind.store(false, Ordering::Relaxed);
                    // If Discord says that it may and refuses it all the same, the interval grows.
                    recheck = (recheck * 2).min(LONGEST_RECHECK);
                    continue;
                }
                GatewayEnd::Failed(error) if !error.is_transient() => {
                    let _ = self.status.send(GatewayStatus::Stopped(error.clone()));
                    return Err(error);
                }
                GatewayEnd::Failed(error) => error.to_string(),
                GatewayEnd::Stalled => "the connection stood still".to_owned(),
            };
            if begun.elapsed() > Duration::from_secs(300) {
                pause = Duration::from_secs(1);
            }
            tracing::warn!(%reason, again_in_s = pause.as_secs(), "the gateway is started anew");
            tokio::select! {
                () = shutdown.cancelled() => return Ok(()),
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn client(&self, shutdown: &CancellationToken, recheck: Duration) -> GatewayEnd {
        let url = tokio::select! {
            () = shutdown.cancelled() => return GatewayEnd::Shutdown,
            url = self.address() => match url {
                Ok(url) => url,
                Err(error) => return GatewayEnd::Failed(error),
            },
        };
        let own = match GatewayRuntime::start() {
            Ok(own) => own,
            Err(error) => return GatewayEnd::Failed(DiscordError::SetUp(error.to_string())),
        };
        let blind = self.is_blind();
        let handler = Handler { events: self.events.clone(), status: self.status.clone(), blind };
        let builder = ClientBuilder::new_with_http(self.api.fresh_serenity(), intents(blind))
            .raw_event_handler(handler);
        let (manager_out, manager) = tokio::sync::oneshot::channel();
        let mut task = own.handle.spawn(async move {
            let mut client = builder.await?;
            *client.ws_url.lock().await = url;
            let _ = manager_out.send(Arc::clone(&client.shard_manager));
            client.start().await
        });
        let end = tokio::select! {
            () = shutdown.cancelled() => GatewayEnd::Shutdown,
            done = &mut task => match done {
                Ok(Ok(())) => GatewayEnd::Stalled,
                Ok(Err(error)) => GatewayEnd::Failed(gateway_problem(error)),
                Err(error) => GatewayEnd::Failed(DiscordError::Unreachable(error.to_string())),
            },
            () = self.stands_still(manager) => GatewayEnd::Stalled,
            () = self.granted(recheck), if blind => GatewayEnd::Granted,
        };
        task.abort();
        end
    }

    fn is_blind(&self) -> bool {
        self.blind.load(Ordering::Relaxed)
    }

    /// Returns once Discord says that the bot may read messages.
    async fn granted(&self, recheck: Duration) {
        loop {
            tokio::time::sleep(recheck).await;
            if bot_checks::may_read_messages(&self.api).await == Some(true) {
                return;
            }
        }
    }

    /// The gateway's address from Discord, with a host that may receive the token.
    async fn address(&self) -> Result<String, DiscordError> {
        let answer = self.api.get(Route::Gateway).await?;
        let url = answer["url"].as_str().unwrap_or_default();
        checked_address(url, self.api.is_local())
    }

    /// Returns once no shard has been connected for too long.
    async fn stands_still(&self, manager: tokio::sync::oneshot::Receiver<Arc<serenity::all::ShardManager>>) {
        let mut since = tokio::time::Instant::now();
        let tick = (self.stall / 10).max(Duration::from_millis(20));
        let manager = tokio::time::timeout(self.stall, manager).await;
        let Ok(Ok(manager)) = manager else { return };
        while since.elapsed() < self.stall {
            tokio::time::sleep(tick).await;
            let runners = manager.runners.lock().await;
            if runners.values().any(|runner| runner.stage == ConnectionStage::Connected) {
                since = tokio::time::Instant::now();
            }
        }
    }
}

/// The events that the bot subscribes to; the content of messages is privileged.
fn intents(blind: bool) -> GatewayIntents {
    let free = GatewayIntents::GUILDS | GatewayIntents::GUILD_MESSAGES | GatewayIntents::DIRECT_MESSAGES;
    if blind { free } else { free | GatewayIntents::MESSAGE_CONTENT }
}

/// The gateway's address, if its host may be dialled.
fn checked_address(url: &str, local: bool) -> Result<String, DiscordError> {
    let bad = |why| DiscordError::BadGateway(url.to_owned(), why);
    let parsed = reqwest::Url::parse(url).map_err(|_| bad("no address"))?;
    let host = parsed.host_str();
    match local {
        true if parsed.scheme() != "ws" || !is_loopback_address(host) => Err(bad("not on this machine")),
        false if parsed.scheme() != "wss" => Err(bad("not encrypted")),
        false if !host.is_some_and(|host| host == "discord.gg" || host.ends_with(".discord.gg")) => {
            Err(bad("not one of Discord's"))
        }
        // serenity appends `?v=10`.
        _ if parsed.query().is_some() => Err(bad("an address with a query")),
        _ => Ok(url.to_owned()),
    }
}

fn gateway_problem(error: serenity::Error) -> DiscordError {
    match error {
        serenity::Error::Gateway(GatewayError::InvalidAuthentication) => DiscordError::WrongToken,
        serenity::Error::Gateway(GatewayError::DisallowedGatewayIntents) => DiscordError::MissingIntent,
        serenity::Error::Gateway(GatewayError::InvalidGatewayIntents) => DiscordError::Rejected(4013),
        serenity::Error::Gateway(GatewayError::InvalidShardData) => DiscordError::Rejected(4010),
        serenity::Error::Gateway(GatewayError::OverloadedShard) => DiscordError::Rejected(4011),
        other => DiscordError::Unreachable(format!("the gateway: {other}")),
    }
}

struct Handler {
    events: mpsc::UnboundedSender<GatewayEvent>,
    status: watch::Sender<GatewayStatus>,
    blind: bool,
}

#[async_trait]
impl RawEventHandler for Handler {
    async fn raw_event(&self, _: serenity::all::Context, event: Event) {
        if matches!(event, Event::Ready(_) | Event::Resumed(_)) {
            // Problems stay until the next round of catch-up has checked them.
            self.status.send_if_modified(|status| {
                let fresh = *status == GatewayStatus::Connecting;
                if fresh {
                    *status = GatewayStatus::Ready;
                }
                fresh
            });
        }
        if let Some(event) = translate(event, self.blind) {
            let _ = self.events.send(event);
        }
    }
}

#[cfg(test)]
mod tests;
