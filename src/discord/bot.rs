//! Runs the Discord bot: passes the gateway's events to the lanes, and starts the reading of missed messages and the
//! handling of commands.
//!
//! A lane is the one task that handles a channel, thread or DM. An unknown channel is looked up: only the channel of
//! `[discord]`, its threads and the owners' direct messages get a lane (`BotState::lane_kind`). Messages from any other
//! channel are dropped. `discord::shared::access` decides which authors are answered. [`run`] returns when it is shut
//! down (at the daemon's end, or for changed settings), or earlier with a problem that a person has to fix.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use serenity::http::Route;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::api::message::IncomingMessage;
use super::api::{ApiError, DiscordError, Gateway, GatewayEvent, GatewayStatus, granted, message, snowflake};
use super::commands;
use super::ingress::catchup;
use super::log::logbook::Surface;
use super::shared::{BotParts, BotState, Cursors, LaneItem, LaneKind, lock};

/// Runs the bot until `shutdown`; `status` tells how it is.
///
/// # Errors
/// Only problems that a person has to fix. The caller goes on without the bot.
pub async fn run(
    parts: BotParts,
    status: watch::Sender<GatewayStatus>,
    shutdown: CancellationToken,
) -> Result<(), DiscordError> {
    let (events_in, events) = mpsc::unbounded_channel();
    let gateway = Gateway::new(parts.api.clone(), events_in, status.clone(), parts.times.stall);
    let sweep = parts.times.sweep;
    let (cursors, started) = (Cursors::load(&parts.state), parts.clock.now());
    let known_to = parts.settings.channel_id.and_then(|channel| cursors.get(channel));
    let shared = Arc::new(BotState {
        cursors,
        started,
        known_to: known_to.unwrap_or_else(|| snowflake::first_at(started)),
        blind: gateway.blind.clone(),
        closing: CancellationToken::new(),
        lane_tasks: TaskTracker::new(),
        interactions: Mutex::default(),
        name: tokio::sync::OnceCell::new(),
        application: AtomicU64::new(0),
        status,
        identity: RwLock::default(),
        parts,
        names: Mutex::default(),
        knows_names: AtomicBool::new(false),
        lanes: Mutex::default(),
    });
    let bot = Bot {
        shared: shared.clone(),
        catch_up: catchup::start(shared.clone(), sweep),
        foreign: HashSet::new(),
        pending: HashMap::new(),
        registered: false,
    };
    let result = tokio::select! {
        result = gateway.run(shutdown) => result,
        () = bot.listen(events) => Ok(()),
    };
    shared.closing.cancel();
    lock(&shared.lanes).clear();
    shared.lane_tasks.close();
    shared.lane_tasks.wait().await;
    result
}

struct Bot {
    shared: Arc<BotState>,
    catch_up: catchup::CatchupTrigger,
    /// Channels that were looked up and aren't the bot's.
    foreign: HashSet<u64>,
    /// Items that wait for the lookup of their channel, in order.
    pending: HashMap<u64, Vec<LaneItem>>,
    registered: bool,
}

/// The sender of looked-up channels: the kind of each, or none if it isn't the bot's.
type Resolved = mpsc::UnboundedSender<(u64, Result<Option<LaneKind>, ApiError>)>;

impl Bot {
    async fn listen(mut self, mut events: mpsc::UnboundedReceiver<GatewayEvent>) {
        let (resolved_in, mut resolved) = mpsc::unbounded_channel();
        loop {
            tokio::select! {
                Some(event) = events.recv() => self.handle_event(event, &resolved_in),
                Some((id, kind)) = resolved.recv() => self.open_resolved(id, kind),
                else => return,
            }
        }
    }

    /// Sends on the items that waited for the lookup of their channel.
    fn open_resolved(&mut self, id: u64, kind: Result<Option<LaneKind>, ApiError>) {
        let items = self.pending.remove(&id).unwrap_or_default();
        match kind {
            Ok(Some(kind)) => self.open_lane(id, kind, items),
            Ok(None) => drop(self.foreign.insert(id)),
            // A round of catch-up brings its messages, if it is ours.
            Err(error) => {
                tracing::debug!(channel = id, %error, "a channel could not be looked up");
                self.catch_up.now();
            }
        }
    }

    fn open_lane(&self, id: u64, kind: LaneKind, items: Vec<LaneItem>) {
        let fresh = self.shared.lane(id).is_none();
        let lane = self.shared.open_lane(id, kind);
        // Messages from before the lane began.
        let before = fresh.then(|| LaneItem::CatchUp { done: tokio::sync::oneshot::channel().0 });
        for item in items.into_iter().chain(before) {
            let _ = lane.send(item);
        }
    }

    fn handle_event(&mut self, event: GatewayEvent, resolved: &Resolved) {
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
            GatewayEvent::Lost { channel, change } => self.recover_lost(channel, change),
            GatewayEvent::Message(message) => {
                let (channel, stranger) = (message.channel, self.is_strangers_dm(&message));
                if !stranger {
                    self.route_item(channel, LaneItem::Message(message), resolved);
                }
            }
            GatewayEvent::Edited { channel, id, author, content, extras, at } => {
                let own = author == Some(self.shared.identity().user);
                let content = message::words(&content, if own { "" } else { &extras });
                self.send_to_lane(channel, LaneItem::Edited { id, content, at });
            }
            GatewayEvent::Deleted { channel, ids } => {
                for id in ids {
                    self.send_to_lane(channel, LaneItem::Deleted { id });
                }
            }
            GatewayEvent::Thread { id, parent, name } => {
                if parent.is_some() && parent == self.shared.settings.channel_id {
                    self.foreign.remove(&id);
                    let kind = LaneKind { surface: Surface::Thread, dm: false, title: Some(name) };
                    self.open_lane(id, kind, Vec::new());
                }
            }
            GatewayEvent::Interaction(interaction) => {
                tokio::spawn(commands::handle(self.shared.clone(), *interaction));
            }
        }
    }

    /// After an event that can't be read: new messages of its channel wait, and history is read at once.
    fn recover_lost(&self, channel: Option<u64>, review: bool) {
        let is_foreign = channel.is_some_and(|channel| self.foreign.contains(&channel));
        match channel.and_then(|channel| self.shared.lane(channel)) {
            Some(lane) => {
                let _ = lane.send(LaneItem::Hold { review });
                let _ = lane.send(LaneItem::CatchUp { done: tokio::sync::oneshot::channel().0 });
            }
            None if is_foreign => {}
            None => {
                if channel.is_none() {
                    self.shared.hold_lanes(review);
                }
                self.catch_up.now();
            }
        }
    }

    fn is_strangers_dm(&self, message: &IncomingMessage) -> bool {
        let known = self.shared.lane(message.channel).is_some();
        let is_known_author =
            message.author.id == self.shared.identity().user || self.shared.is_owner(message.author.id);
        message.guild.is_none() && !known && !is_known_author
    }

    fn send_to_lane(&self, channel: u64, item: LaneItem) {
        if let Some(lane) = self.shared.lane(channel) {
            let _ = lane.send(item);
        }
    }

    /// Sends an item to the channel's lane; an unknown channel is looked up first.
    fn route_item(&mut self, channel: u64, item: LaneItem, resolved: &Resolved) {
        if let Some(waiting) = self.pending.get_mut(&channel) {
            waiting.push(item);
            return;
        }
        if let Some(lane) = self.shared.lane(channel) {
            let _ = lane.send(item);
            return;
        }
        if self.foreign.contains(&channel) {
            return;
        }
        self.pending.insert(channel, vec![item]);
        let (shared, resolved) = (self.shared.clone(), resolved.clone());
        tokio::spawn(async move {
            let route = Route::Channel { channel_id: channel.into() };
            let found = granted(shared.api.get(route).await);
            let kind = found.map(|found| found.and_then(|found| shared.lane_kind(&found)));
            let _ = resolved.send((channel, kind));
        });
    }
}
