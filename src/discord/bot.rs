//! The bot: the gateway's events in, lanes for the conversations, catch-up, and commands.
//!
//! [`run`] owns all of it for as long as the daemon lives. It decides which channels are its own (the bound one, its
//! threads, the owners' DMs), and hands everything said there to the lane of that channel ([`ingress`](super::ingress)).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use serenity::http::Route;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::api::Api;
use super::api::message;
use super::api::message::Incoming;
use super::api::snowflake;
use super::api::{ApiError, DiscordError};
use super::api::{Gateway, GatewayEvent, GatewayStatus};
use super::commands;
use super::ingress::{GATHER, catchup};
use super::log::logbook::{Logbook, Surface};
use super::shared::ChannelLock;
use super::shared::Cursors;
use super::shared::VaultOperations;
use super::shared::access::Owners;
use super::shared::{BotState, Pace};
use super::shared::{LaneItem, LaneKind};
use crate::agent::VaultApprovals;
use crate::clock::Clock;
use crate::config;
use crate::deliver::Answers;
use crate::turn::{Responder, TurnJournal};

/// How often history is read though nothing seems to be missing: the library drops what it can't decode.
const SWEEP: Duration = Duration::from_secs(10 * 60);

/// What the bot is made of.
pub struct BotParts {
    /// The way to Discord.
    pub api: Api,
    /// `[discord]` of the settings.
    pub settings: config::Discord,
    /// The logs.
    pub log: Logbook,
    /// What commands work on.
    pub desk: VaultOperations,
    /// Who answers.
    pub responder: Arc<dyn Responder>,
    /// How far each turn came.
    pub turns: Arc<TurnJournal>,
    /// Who asks the person, and takes what a button says.
    pub approvals: Arc<VaultApprovals>,
    /// Fixes and sends answers.
    pub answers: Arc<Answers>,
    /// What outlives a bot that starts anew with other settings.
    pub turnstile: Arc<ChannelLock>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The state directory.
    pub state: PathBuf,
    /// How often history is read though nothing seems to be missing; [`BotParts::SWEEP`] unless a test says otherwise.
    pub sweep: Duration,
    /// How long a lane gathers before it takes what came in the order of the ids; [`BotParts::GATHER`] unless a test says
    /// otherwise.
    pub gather: Duration,
    /// How long the gateway may stand still before it is started anew; none for the default.
    pub stall: Option<Duration>,
    /// When long work says what it is doing.
    pub pace: Pace,
}

impl BotParts {
    /// The usual time between sweeps.
    pub const SWEEP: Duration = SWEEP;
    /// The usual time that a lane gathers.
    pub const GATHER: Duration = GATHER;
}

impl std::fmt::Debug for BotParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Runs the bot until `shutdown`; `status` tells how it is.
///
/// # Errors
/// Only what a person has to mend. The caller goes on without the bot.
pub async fn run(
    parts: BotParts,
    status: watch::Sender<GatewayStatus>,
    shutdown: CancellationToken,
) -> Result<(), DiscordError> {
    let (events_in, events) = mpsc::unbounded_channel();
    let mut gateway = Gateway::new(parts.api.clone(), events_in, status.clone());
    if let Some(stall) = parts.stall {
        gateway = gateway.with_stall(stall);
    }
    let sweep = parts.sweep;
    let (cursors, started) = (Cursors::load(&parts.state), parts.clock.now());
    let known_to = parts.settings.channel_id.and_then(|channel| cursors.get(channel));
    let shared = Arc::new(BotState {
        owners: Owners::new(&parts.settings.owner_ids),
        cursors,
        started,
        known_to: known_to.unwrap_or_else(|| snowflake::first_at(started)),
        blind: gateway.blind(),
        api: parts.api,
        settings: parts.settings,
        log: parts.log,
        desk: parts.desk,
        responder: parts.responder,
        turns: parts.turns,
        approvals: parts.approvals,
        answers: parts.answers,
        turnstile: parts.turnstile,
        pace: parts.pace,
        gather: parts.gather,
        closing: CancellationToken::new(),
        name: tokio::sync::OnceCell::new(),
        clock: parts.clock,
        application: AtomicU64::new(0),
        status,
        identity: RwLock::default(),
        lanes: Mutex::default(),
    });
    let bot = Bot {
        shared: shared.clone(),
        catch_up: catchup::start(shared.clone(), sweep),
        places: HashMap::new(),
        pending: HashMap::new(),
        registered: false,
    };
    let result = tokio::select! {
        result = gateway.run(shutdown) => result,
        () = bot.listen(events) => Ok(()),
    };
    shared.closing.cancel();
    // Lanes end with their senders.
    shared.lanes().clear();
    result
}

struct Bot {
    shared: Arc<BotState>,
    catch_up: catchup::Trigger,
    /// Channels that were asked about: whether they are ours.
    places: HashMap<u64, bool>,
    /// What waits for the answer about its channel, in the order in which it came.
    pending: HashMap<u64, Vec<LaneItem>>,
    registered: bool,
}

/// What the listener waits for.
enum ListenerEvent {
    Event(GatewayEvent),
    /// A channel was looked up: what it is to us, if that could be learned.
    Resolved(u64, Result<Option<LaneKind>, ApiError>),
}

type Resolved = mpsc::UnboundedSender<(u64, Result<Option<LaneKind>, ApiError>)>;

impl Bot {
    async fn listen(mut self, mut events: mpsc::UnboundedReceiver<GatewayEvent>) {
        let (resolved_in, mut resolved) = mpsc::unbounded_channel();
        loop {
            let heard = tokio::select! {
                Some(event) = events.recv() => ListenerEvent::Event(event),
                Some((id, place)) = resolved.recv() => ListenerEvent::Resolved(id, place),
                else => return,
            };
            match heard {
                ListenerEvent::Event(event) => self.take(event, &resolved_in),
                ListenerEvent::Resolved(id, place) => self.settle(id, place),
            }
        }
    }

    /// Hands on what waited for the answer about its channel.
    fn settle(&mut self, id: u64, place: Result<Option<LaneKind>, ApiError>) {
        let items = self.pending.remove(&id).unwrap_or_default();
        let place = match place {
            Ok(place) => place,
            // The next catch-up brings it, if it is ours.
            Err(error) => return tracing::debug!(channel = id, %error, "a channel could not be looked up"),
        };
        self.places.insert(id, place.is_some());
        let Some(place) = place else { return };
        let fresh = self.shared.lane(id).is_none();
        let lane = self.shared.open_lane(id, place);
        for item in items {
            let _ = lane.send(item);
        }
        if fresh {
            // What was said before the lane was there.
            let _ = lane.send(LaneItem::CatchUp { done: tokio::sync::oneshot::channel().0 });
        }
    }

    fn take(&mut self, event: GatewayEvent, resolved: &Resolved) {
        match event {
            GatewayEvent::Ready { user, application } => {
                self.shared.set_identity(|identity| identity.user = user);
                self.shared.application.store(application, Ordering::Relaxed);
                self.shared.hold_lanes(true);
                self.catch_up.now();
                // READY comes again with each new session; the commands are registered once a process.
                if !std::mem::replace(&mut self.registered, true) {
                    tokio::spawn(commands::register(self.shared.clone()));
                }
            }
            GatewayEvent::Resumed => {
                // Edits and deletions were among the events that came again.
                self.shared.hold_lanes(false);
                self.catch_up.now();
            }
            GatewayEvent::Lost { channel, change } => self.fetch(channel, change),
            GatewayEvent::Message(message) => {
                let (channel, stranger) = (message.channel, self.is_strangers_dm(&message));
                if !stranger {
                    self.give(channel, LaneItem::Message(message), resolved);
                }
            }
            // An edit without an instant is Discord adding a preview.
            GatewayEvent::Edited { channel, id, author, content, beside, at: Some(at) } => {
                let own = author == Some(self.shared.identity().user);
                let content = message::words(&content, if own { "" } else { &beside });
                self.give_known(channel, LaneItem::Edited { id, content, at });
            }
            GatewayEvent::Edited { .. } => {}
            GatewayEvent::Deleted { channel, ids } => {
                for id in ids {
                    self.give_known(channel, LaneItem::Deleted { id });
                }
            }
            GatewayEvent::Thread { id, parent, name } => {
                if parent.is_some() && parent == self.shared.settings.channel_id {
                    self.places.insert(id, true);
                    let place = LaneKind { surface: Surface::Thread, dm: false, title: Some(name) };
                    let fresh = self.shared.lane(id).is_none();
                    let lane = self.shared.open_lane(id, place);
                    if fresh {
                        // What was said before the lane was there.
                        let _ = lane.send(LaneItem::CatchUp { done: tokio::sync::oneshot::channel().0 });
                    }
                }
            }
            GatewayEvent::Interaction(interaction) => {
                tokio::spawn(commands::handle(self.shared.clone(), *interaction));
            }
        }
    }

    /// Something came that can't be read: what is said in its channel waits, and history says at once what it was.
    fn fetch(&self, channel: Option<u64>, review: bool) {
        let none_of_ours = channel.is_some_and(|channel| self.places.get(&channel) == Some(&false));
        match channel.and_then(|channel| self.shared.lane(channel)) {
            Some(lane) => {
                let _ = lane.send(LaneItem::Hold { review });
                let _ = lane.send(LaneItem::CatchUp { done: tokio::sync::oneshot::channel().0 });
            }
            None if none_of_ours => {}
            None => {
                if channel.is_none() {
                    self.shared.hold_lanes(review);
                }
                self.catch_up.now();
            }
        }
    }

    fn is_strangers_dm(&self, message: &Incoming) -> bool {
        let known = self.shared.lane(message.channel).is_some();
        let ours =
            message.author.id == self.shared.identity().user || self.shared.owners.has(message.author.id);
        message.guild.is_none() && !known && !ours
    }

    fn give_known(&self, channel: u64, item: LaneItem) {
        if let Some(lane) = self.shared.lane(channel) {
            let _ = lane.send(item);
        }
    }

    /// To the channel's lane; a channel that nothing is known of is looked up first.
    fn give(&mut self, channel: u64, item: LaneItem, resolved: &Resolved) {
        if let Some(waiting) = self.pending.get_mut(&channel) {
            waiting.push(item);
            return;
        }
        if let Some(lane) = self.shared.lane(channel) {
            let _ = lane.send(item);
            return;
        }
        if self.places.get(&channel) == Some(&false) {
            return;
        }
        self.pending.insert(channel, vec![item]);
        let (shared, resolved) = (self.shared.clone(), resolved.clone());
        tokio::spawn(async move {
            let route = Route::Channel { channel_id: channel.into() };
            let place = match shared.api.get(route, vec![]).await {
                Ok(found) => Ok(shared.place_of(&found)),
                Err(ApiError::Refused { .. }) => Ok(None),
                Err(error) => Err(error),
            };
            let _ = resolved.send((channel, place));
        });
    }
}
