//! Holds the state that all tasks of the bot share: the API, the logs, the journals, the lanes and the cursors.
//!
//! A lane is the one task that handles a channel, thread or DM. A cursor is the id up to which a channel's history was
//! read.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serenity::http::Route;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use unicode_normalization::UnicodeNormalization;

use super::access::BotIdentity;
use super::channel_lock::{ChannelLock, LONGEST_PAUSE, SHORTEST_PAUSE, lock};
use super::vault_operations::VaultOperations;
use crate::agent::{CallPermits, VaultApprovals};
use crate::clock::Clock;
use crate::config;
use crate::config::json_file;
use crate::defaults::defaults;
use crate::deliver::AnswerSender;
use crate::discord::api::message::IncomingMessage;
use crate::discord::api::{ApiError, DiscordApi, DiscordError, GatewayStatus, message, snowflake};
use crate::discord::log::logbook as log;
use crate::discord::log::logbook::{Logbook, Surface};
use crate::turn::{NewTurn, Responder, TurnJournal};

/// How many interactions are remembered.
const KEPT_INTERACTIONS: usize = 500;

defaults! {
    /// The times of the bot, which tests shorten.
    #[derive(Debug, Clone, Copy)]
    pub struct BotTimes {
        /// The interval of the regular sweep: the library drops events that it can't decode.
        pub sweep: Duration = Duration::from_secs(10 * 60),
        /// How long a lane gathers events before it handles them in the order of their ids: events that the library
        /// passed on in another order are closer than that.
        pub gather: Duration = Duration::from_millis(15),
        /// How long the gateway may be without a connection before it is restarted.
        pub stall: Duration = Duration::from_secs(180),
        /// The delay of the progress message; shorter work shows the typing sign alone.
        pub progress_after: Duration = Duration::from_secs(20),
        /// The least time between two edits of the progress message.
        pub progress_every: Duration = Duration::from_secs(5),
    }
}

/// The parts of the bot.
pub struct BotParts {
    /// The REST API.
    pub api: DiscordApi,
    /// `[discord]` of the settings.
    pub settings: config::DiscordSettings,
    /// The logs.
    pub log: Logbook,
    /// The vault's operations for commands.
    pub operations: VaultOperations,
    /// The responder.
    pub responder: Arc<dyn Responder>,
    /// How far each turn came.
    pub turns: Arc<TurnJournal>,
    /// The permits for calling a brain.
    pub permits: Arc<CallPermits>,
    /// The note of approvals.
    pub approvals: Arc<VaultApprovals>,
    /// Fixes and sends answers.
    pub answers: Arc<AnswerSender>,
    /// Outlives a bot that restarts with other settings.
    pub channel_lock: Arc<ChannelLock>,
    /// Cancelled when running turns are to end with the bot: at the daemon's end, and when another machine takes over.
    pub cut_off: CancellationToken,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The state directory.
    pub state: PathBuf,
    /// The intervals.
    pub times: BotTimes,
}

/// The state that all tasks of the bot share: its parts, and the values that change while it runs.
pub(in crate::discord) struct BotState {
    pub parts: BotParts,
    /// Cancelled when the bot ends; a brain that was asked may still answer.
    pub closing: CancellationToken,
    /// The tasks of the lanes; the next bot may write to the logs once they have ended.
    pub lane_tasks: TaskTracker,
    /// The newest interactions that were taken up, each of which Discord may deliver twice.
    pub(in crate::discord) interactions: Mutex<VecDeque<u64>>,
    pub(in crate::discord) name: tokio::sync::OnceCell<String>,
    pub cursors: Cursors,
    pub application: AtomicU64,
    pub status: watch::Sender<GatewayStatus>,
    pub(in crate::discord) identity: RwLock<BotIdentity>,
    pub started: Timestamp,
    /// The bound channel's cursor when the process began.
    pub(in crate::discord) known_to: u64,
    pub(in crate::discord) blind: Arc<AtomicBool>,
    /// The names of the owners and the bot, without case and signs, with their ids.
    pub(in crate::discord) names: Mutex<HashMap<String, u64>>,
    /// Whether the server was asked for all of them; until then anyone else may have one.
    pub(in crate::discord) knows_names: AtomicBool,
    /// The lanes by their channels.
    pub(in crate::discord) lanes: Mutex<HashMap<u64, mpsc::UnboundedSender<LaneItem>>>,
}

impl Deref for BotState {
    type Target = BotParts;

    fn deref(&self) -> &BotParts {
        &self.parts
    }
}

impl BotState {
    pub fn identity(&self) -> BotIdentity {
        self.identity.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_identity(&self, change: impl FnOnce(&mut BotIdentity)) {
        change(&mut self.identity.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Takes up an interaction; false if it was taken up before.
    pub fn is_new_interaction(&self, id: u64) -> bool {
        let mut known = lock(&self.interactions);
        if known.contains(&id) {
            return false;
        }
        if known.len() == KEPT_INTERACTIONS {
            known.pop_front();
        }
        known.push_back(id);
        true
    }

    /// The bot's own name, looked up once.
    pub async fn bot_name(&self) -> Result<String, ApiError> {
        let ask = async {
            let me = self.api.get(Route::UserMe).await?;
            let name = me["global_name"].as_str().or_else(|| me["username"].as_str()).unwrap_or("assistant");
            Ok(name.to_owned())
        };
        self.name.get_or_try_init(|| ask).await.cloned()
    }

    /// The start of the history of an unknown channel: now, a day before among several machines, or the
    /// beginning of a young thread.
    pub fn history_start(&self, channel: u64) -> u64 {
        // Among several machines another one may have been the voice until a moment ago.
        let hours_back = if self.answers.machines.is_alone() { 0 } else { 24 };
        let begun = self.started.checked_sub(SignedDuration::from_hours(hours_back)).unwrap_or(self.started);
        let now = snowflake::first_at(begun);
        if self.is_young(snowflake::time_of(channel)) { channel.saturating_sub(1) } else { now }
    }

    /// Whether a thread of this time is younger than a day, or than its channel's cursor.
    pub fn is_young(&self, made: Timestamp) -> bool {
        let day = self.started.checked_sub(SignedDuration::from_hours(24)).unwrap_or(self.started);
        made >= day.min(snowflake::time_of(self.known_to))
    }

    /// Whether this user is one of `[discord] owner_ids`.
    pub fn is_owner(&self, user: u64) -> bool {
        self.settings.owner_ids.contains(&user)
    }

    /// The name under which a person stands in the logs. Whose words a text is, is known by that name alone: a name
    /// that an owner or the bot has, or may have, is followed by the id of anyone else.
    pub fn log_name(&self, user: u64, name: &str) -> String {
        let is_ours = self.is_owner(user) || user == self.identity().user;
        if !is_ours && !self.knows_names.load(Ordering::Relaxed) {
            return format!("{name} ({user})");
        }
        let bare: String = name.nfkd().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        let bare = if bare.is_empty() { name.to_owned() } else { bare };
        let holder = match lock(&self.names).entry(bare) {
            Entry::Occupied(held) => *held.get(),
            Entry::Vacant(free) if is_ours => *free.insert(user),
            Entry::Vacant(_) => user,
        };
        if holder == user { name.to_owned() } else { self.log_name(user, &format!("{name} ({user})")) }
    }

    /// Whether the bot may not read messages.
    pub fn is_blind(&self) -> bool {
        self.blind.load(Ordering::Relaxed)
    }

    /// Shows in the status what a person has to fix; nothing once it is fixed.
    pub fn report_problems(&self, problems: Vec<DiscordError>) {
        let now = if problems.is_empty() { GatewayStatus::Ready } else { GatewayStatus::Degraded(problems) };
        let is_new = self.status.send_if_modified(|status| {
            let connected = matches!(status, GatewayStatus::Ready | GatewayStatus::Degraded(_));
            let is_new = connected && *status != now;
            if is_new {
                status.clone_from(&now);
            }
            is_new
        });
        if let (true, GatewayStatus::Degraded(problems)) = (is_new, &now) {
            problems.iter().for_each(|problem| tracing::error!("Discord: {problem}"));
        }
    }

    /// Runs file work in a thread for blocking calls.
    pub async fn blocking<T: Send + 'static, E: std::fmt::Display>(
        &self,
        work: impl FnOnce(&VaultOperations) -> Result<T, E> + Send + 'static,
    ) -> Result<T, String> {
        let operations = self.operations.clone();
        // Boxed: the runtime's code for it is compiled once for each type of result, not for each command.
        let work: Box<dyn FnOnce() -> Result<T, String> + Send> =
            Box::new(move || work(&operations).map_err(|error| error.to_string()));
        tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
    }

    /// Waits until `at` before something is sent again: at least a moment, and a minute at most.
    pub async fn wait_until(&self, at: Timestamp) {
        let wait = Duration::try_from(self.clock.now().duration_until(at)).unwrap_or_default();
        tokio::time::sleep(wait.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)).await;
    }

    /// The lane of a channel, if it has one.
    pub fn lane(&self, channel: u64) -> Option<mpsc::UnboundedSender<LaneItem>> {
        lock(&self.lanes).get(&channel).cloned()
    }

    /// Makes every lane wait for its history before new messages, since a new session replays nothing.
    pub fn hold_lanes(&self, review: bool) {
        for lane in lock(&self.lanes).values() {
            let _ = lane.send(LaneItem::Hold { review });
        }
    }

    /// The kind of a channel object; none if it isn't the bot's.
    pub fn lane_kind(&self, channel: &serde_json::Value) -> Option<LaneKind> {
        let id = message::id(&channel["id"])?;
        let title = channel["name"].as_str().map(str::to_owned);
        match channel["type"].as_u64()? {
            _ if Some(id) == self.settings.channel_id => {
                Some(LaneKind { surface: Surface::Channel, dm: false, title })
            }
            1 => {
                let person = &channel["recipients"][0];
                let owner = message::id(&person["id"]).is_some_and(|user| self.is_owner(user));
                let name =
                    person["global_name"].as_str().or_else(|| person["username"].as_str()).unwrap_or("owner");
                owner.then(|| LaneKind {
                    surface: Surface::Channel,
                    dm: true,
                    title: Some(format!("Messages with {name}")),
                })
            }
            10..=12 if message::id(&channel["parent_id"]) == self.settings.channel_id => {
                Some(LaneKind { surface: Surface::Thread, dm: false, title })
            }
            _ => None,
        }
    }
}

/// An item for a lane.
#[derive(Debug)]
pub(in crate::discord) enum LaneItem {
    /// A message, live or just posted by the bot itself.
    Message(Box<IncomingMessage>),
    /// A message was edited.
    Edited { id: u64, content: String, at: Timestamp },
    /// A message was deleted.
    Deleted { id: u64 },
    /// Events may have been missed: new messages wait until history was read. `review`: whether edits and
    /// deletions may be among it.
    Hold { review: bool },
    /// Read missed messages; `done` is sent after the attempt. A failed one is retried by the lane itself.
    CatchUp { done: oneshot::Sender<()> },
    /// Log a turn's notes; `done` is sent once these, and all before them, are written.
    Write { entries: Vec<log::LogEntry>, done: Option<oneshot::Sender<()>> },
    /// A question by a slash command: log it and accept it; then `done` is sent.
    Ask { turn: NewTurn, done: oneshot::Sender<()> },
    /// End the window and begin the next; answers with the new file, or why not.
    NewWindow { who: String, done: oneshot::Sender<Result<Option<String>, String>> },
}

/// The kind of a lane's channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::discord) struct LaneKind {
    pub surface: Surface,
    pub dm: bool,
    pub title: Option<String>,
}

/// The cursors of all channels.
#[derive(Debug)]
pub struct Cursors {
    path: PathBuf,
    known: Mutex<BTreeMap<u64, u64>>,
}

impl Cursors {
    /// Reads them from the state directory; none if the file is missing or broken.
    pub fn load(state: &Path) -> Self {
        let path = state.join("discord-cursors.json");
        let known = json_file::load(&path).unwrap_or_default();
        Self { path, known: Mutex::new(known) }
    }

    /// A channel's cursor.
    pub fn get(&self, channel: u64) -> Option<u64> {
        lock(&self.known).get(&channel).copied()
    }

    /// The channels that have one.
    pub fn channels(&self) -> Vec<u64> {
        lock(&self.known).keys().copied().collect()
    }

    /// Moves a channel's cursor forward.
    pub fn set(&self, channel: u64, to: u64) {
        let mut known = lock(&self.known);
        let now = known.get(&channel).copied();
        if now.is_some_and(|now| now >= to) {
            return;
        }
        known.insert(channel, to);
        if let Err(error) = json_file::save(&self.path, &*known) {
            tracing::warn!(path = %self.path.display(), %error, "the place reached in Discord's history can't be kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_only_moves_forward_and_survives() {
        let dir = tempfile::tempdir().unwrap();
        let cursors = Cursors::load(dir.path());
        cursors.set(1, 10);
        cursors.set(1, 5);
        assert_eq!(Cursors::load(dir.path()).get(1), Some(10));
        std::fs::write(dir.path().join("discord-cursors.json"), "{").unwrap();
        assert_eq!(Cursors::load(dir.path()).get(1), None);
    }
}
