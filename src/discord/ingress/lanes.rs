//! Runs the lane of a channel, thread or DM: one task that receives all of its messages, stores them in the log, and
//! then acts.
//!
//! Only the lane writes its log and reads its history, so messages are stored in order and once, without locks. The
//! lane gathers events for a moment and handles them in the order of their ids, since serenity may reorder them. After
//! a possible loss, new messages wait until history was read, however often that fails; only a final refusal ends the
//! wait. A message is acted on when it is new in the log, or after a restart if it may be unanswered. An old message in
//! a thread is acted on only if it addresses the bot.

mod backfill;
mod files;
mod message_action;

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::discord::api::message::IncomingMessage;
use crate::discord::log::logbook as log;
use crate::discord::shared::access::{self, MessagePolicy};
use crate::discord::shared::{BotState, FIRST_PAUSE, LaneItem, LaneKind, lock};
use crate::discord::turns::{approvals, conversation, worker};
use crate::vault::EditError;

/// How long a lane that is held waits for a round of catch-up before it reads history by itself.
const HOLD_TIMEOUT: Duration = Duration::from_secs(30);
/// The name of the step in the program's own log, if it fails.
const WRITE: &str = "write to the log";
/// The most messages that a lane handles at once.
const BATCH: usize = 500;

impl BotState {
    /// The lane of a channel, which is made where it is missing.
    pub fn open_lane(self: &Arc<Self>, channel: u64, place: LaneKind) -> mpsc::UnboundedSender<LaneItem> {
        let mut lanes = lock(&self.lanes);
        lanes.entry(channel).or_insert_with(|| ChannelLane::start(self.clone(), channel, place)).clone()
    }
}

pub(super) struct ChannelLane {
    shared: Arc<BotState>,
    id: u64,
    place: LaneKind,
    /// Wakes the worker that answers.
    asks: mpsc::UnboundedSender<()>,
    /// Whether history has been read once since the process began.
    caught_up: bool,
    /// New messages of history that may need an answer, until all of it was read.
    pending_actions: Vec<IncomingMessage>,
    /// The id up to which history was read.
    reached: u64,
    /// The newest id of the pages that were read: after a failure they aren't read again.
    last_read: u64,
    /// Whether new messages wait for the history before them.
    held: bool,
    /// Whether edits and deletions may have been missed.
    review_due: bool,
    /// When history is read without a request.
    next_read: Option<Instant>,
    /// The pause after the next failure.
    pause: Duration,
}

impl ChannelLane {
    /// Starts a lane; it ends with the bot. Messages that it hasn't stored by then, the next bot reads from history; what
    /// no history has is written first.
    pub fn start(shared: Arc<BotState>, id: u64, place: LaneKind) -> mpsc::UnboundedSender<LaneItem> {
        let (sender, mut items) = mpsc::unbounded_channel();
        let asks = worker::start(shared.clone(), id, sender.downgrade());
        let mut lane = Self {
            shared,
            id,
            place,
            asks,
            caught_up: false,
            pending_actions: vec![],
            reached: 0,
            last_read: 0,
            held: true,
            review_due: true,
            next_read: Some(Instant::now() + HOLD_TIMEOUT),
            pause: FIRST_PAUSE,
        };
        let (closing, tasks) = (lane.shared.closing.clone(), lane.shared.lane_tasks.clone());
        tasks.spawn(async move {
            let mut backlog = vec![];
            closing.run_until_cancelled(lane.run(&mut items, &mut backlog)).await;
            items.close();
            // The next bot reads on from here, also what was said while no history was read yet.
            lane.shared.cursors.set(id, lane.cursor());
            backlog.extend(std::iter::from_fn(|| items.try_recv().ok()));
            for item in backlog {
                // A caller that waits for a whole log gets no answer: it isn't whole.
                let LaneItem::Write { entries, .. } = item else { continue };
                if let Err(error) = lane.shared.log.record(id, &entries) {
                    tracing::error!(channel = id, %error, "can't {WRITE}");
                }
            }
        });
        sender
    }

    async fn run(&mut self, items: &mut mpsc::UnboundedReceiver<LaneItem>, backlog: &mut Vec<LaneItem>) {
        self.until_done("open a log", Self::open).await;
        loop {
            let next = match self.next_read {
                None => items.recv().await,
                Some(at) => match tokio::time::timeout_at(at, items.recv()).await {
                    Ok(next) => next,
                    Err(_) => {
                        self.read_history().await;
                        self.take(backlog).await;
                        continue;
                    }
                },
            };
            let Some(next) = next else { return };
            backlog.push(next);
            tokio::time::sleep(self.shared.times.gather).await;
            while self.held || backlog.len() < BATCH {
                match items.try_recv() {
                    Ok(item) => backlog.push(item),
                    Err(_) => break,
                }
            }
            self.take_history_items(backlog).await;
            self.take(backlog).await;
        }
    }

    /// Handles the items about history: whether to wait for it, and whether to read it now.
    async fn take_history_items(&mut self, backlog: &mut Vec<LaneItem>) {
        let mut waiting_for_read = vec![];
        for item in std::mem::take(backlog) {
            match item {
                LaneItem::Hold { review } => {
                    self.held = true;
                    self.review_due |= review;
                    let by_itself = Instant::now() + HOLD_TIMEOUT;
                    self.next_read = Some(self.next_read.map_or(by_itself, |at| at.min(by_itself)));
                }
                LaneItem::CatchUp { done } => waiting_for_read.push(done),
                other => backlog.push(other),
            }
        }
        if !waiting_for_read.is_empty() {
            self.read_history().await;
        }
        for done in waiting_for_read {
            let _ = done.send(());
        }
    }

    fn open(&mut self) -> Result<(), EditError> {
        let bot = self.shared.identity();
        let title = self.place.title.as_deref();
        self.shared.log.open(self.place.surface, self.id, title, |text| access::addresses_in_text(text, &bot))
    }

    /// Handles the gathered items, unless they wait for history: messages by id, then their changes.
    async fn take(&mut self, backlog: &mut Vec<LaneItem>) {
        if self.held {
            return;
        }
        let (mut messages, mut changes, mut windows, mut writes) = (vec![], vec![], vec![], vec![]);
        let mut asks = vec![];
        for item in std::mem::take(backlog) {
            match item {
                LaneItem::Message(message) => messages.push(self.named(*message)),
                LaneItem::Edited { id, content, at } => changes.push((id, Some((content, at)))),
                LaneItem::Deleted { id } => changes.push((id, None)),
                LaneItem::Write { entries, done } => writes.push((entries, done)),
                LaneItem::Ask { turn, done } => asks.push((turn, done)),
                LaneItem::NewWindow { who, done } => windows.push((who, done)),
                LaneItem::Hold { .. } | LaneItem::CatchUp { .. } => {}
            }
        }
        messages.sort_by_key(|message| message.id);
        // A turn's notes stand before its answer; a caller that waits for them waits for the answer, too.
        let mut waiting = vec![];
        for (entries, done) in writes {
            self.until_done(WRITE, |lane| lane.shared.log.record(lane.id, &entries)).await;
            waiting.extend(done);
        }
        asks.sort_by_key(|(turn, _)| turn.message);
        for (turn, done) in asks {
            let later = messages.split_off(messages.partition_point(|message| message.id < turn.message));
            self.store_and_act(&mut messages).await;
            messages = later;
            self.ask(turn).await;
            let _ = done.send(());
        }
        self.store_and_act(&mut messages).await;
        for done in waiting {
            let _ = done.send(());
        }
        for (id, change) in changes {
            self.until_done(WRITE, |lane| lane.change(id, change.as_ref())).await;
            self.shared.channel_lock.changed(self.id, id);
        }
        for (who, done) in windows {
            let _ = done.send(self.shared.log.new_window(self.id, &who).map_err(|error| error.to_string()));
        }
        if self.review_due && self.next_read.is_none() {
            let reviewed = self.review().await;
            self.settle(reviewed, |lane| lane.review_due = false);
        }
    }

    async fn store_and_act(&mut self, messages: &mut [IncomingMessage]) {
        if messages.is_empty() {
            return;
        }
        self.keep_files(messages).await;
        let messages: &[IncomingMessage] = messages;
        let new = self.until_done(WRITE, |lane| lane.store(messages)).await;
        for (message, _) in messages.iter().zip(new).filter(|(_, new)| *new) {
            self.accept_message(message);
        }
    }

    /// Retries until `step` is done: a full disk or a conflict copy must not lose a message.
    async fn until_done<T, E: Display>(
        &mut self,
        what: &str,
        mut step: impl FnMut(&mut Self) -> Result<T, E>,
    ) -> T {
        let mut pause = Duration::from_millis(200);
        loop {
            match step(self) {
                Ok(value) => return value,
                Err(error) => tracing::error!(channel = self.id, %error, "can't {what}; trying again"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(30));
        }
    }

    /// The message with its author's name in the logs.
    fn named(&self, mut message: IncomingMessage) -> IncomingMessage {
        message.author.name = self.shared.log_name(message.author.id, &message.author.name);
        message
    }

    fn policy(&self, message: &IncomingMessage) -> MessagePolicy {
        let settings = &self.shared.settings;
        let (bot, owners) = (self.shared.identity().user, &settings.owner_ids);
        access::policy(message, bot, owners, self.place.dm, settings.log_others)
    }

    /// Appends the messages that the log doesn't hold yet; returns for each whether it was new.
    fn store(&mut self, messages: &[IncomingMessage]) -> Result<Vec<bool>, EditError> {
        let bot = self.shared.identity().user;
        let mut entries = vec![];
        let mut firsts = vec![];
        let mut newest = self.shared.log.newest_in_window(self.id);
        for message in messages {
            let unseen = self.is_blind() && message.is_blank();
            let policy = self.policy(message);
            let is_own = policy == MessagePolicy::Own;
            let answer = match is_own && !message.is_starter() {
                true => worker::logged_text(&self.shared, message),
                false => None,
            };
            // An answer may look like a progress message.
            let passing = is_own
                && answer.is_none()
                && (conversation::is_progress(&message.content)
                    || approvals::is_question(&self.shared, message));
            if !message.is_text() || unseen || passing || policy == MessagePolicy::Dropped {
                firsts.push(None);
                continue;
            }
            let answered = message.reply_to.and_then(|to| {
                let in_batch = messages.iter().any(|m| m.id == to);
                self.shared
                    .log
                    .link(self.id, to)
                    .or_else(|| if in_batch { self.shared.log.future_link(self.id, to) } else { None })
            });
            // Later messages stand in the log already.
            let is_late = newest.is_some_and(|newest| message.id < newest)
                && !self.shared.log.holds(self.id, message.id);
            newest = newest.max(Some(message.id));
            firsts.push(Some(entries.len()));
            let at = entries.len();
            entries.extend(log::entries(message, bot, answered.as_deref(), is_late));
            if let (Some(text), Some(entry)) = (answer, entries.get_mut(at)) {
                entry.content = text;
            }
        }
        let new = self.shared.log.record(self.id, &entries)?;
        Ok(firsts.into_iter().map(|at| at.is_some_and(|at| new[at])).collect())
    }

    fn change(&mut self, id: u64, change: Option<&(String, Timestamp)>) -> Result<(), EditError> {
        // A message that isn't in the log was dropped, or comes with its newest text from history.
        if !self.shared.log.holds(self.id, id) {
            return Ok(());
        }
        if change.is_some_and(|(content, at)| !self.shared.log.differs(self.id, id, *at, content)) {
            return Ok(());
        }
        let link = self.shared.log.link(self.id, id);
        let entry = match change {
            Some((content, at)) => log::edit(id, content, *at, link.as_deref()),
            None => log::deletion(id, self.shared.clock.now(), link.as_deref()),
        };
        self.shared.log.record(self.id, &[entry]).map(|_| ())
    }

    /// Whether Discord hides the texts of this channel: a server's channel, without the intent to read messages.
    fn is_blind(&self) -> bool {
        !self.place.dm && self.shared.is_blind()
    }
}
