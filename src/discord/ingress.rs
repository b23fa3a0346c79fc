//! One way in for everything that is said, live or from history: store first, then act.
//!
//! Each channel, thread and DM has a lane: one task that alone writes its log and alone reads its history, so that
//! order and "once" need no locks. A lane gathers what comes in the same moment and takes it in the order of the ids,
//! because serenity may hand events on in another. Only what was new in the log is acted on, and only if it was said
//! lately; the rest has been logged, and that is all.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::access::{self, Standing};
use super::answer;
use super::bot::Shared;
use super::error::ApiError;
use super::history;
use super::log::{self, LogError, Surface};
use super::mentions;
use super::message::Incoming;
use super::snowflake;

/// How long a lane gathers before it takes what came in the order of the ids.
const GATHER: Duration = Duration::from_millis(120);
/// How long a lane waits for a catch-up before it takes what it has.
const HELD: Duration = Duration::from_secs(30);
/// The most messages that a lane takes at once.
const BATCH: usize = 500;

/// Something for a lane.
#[derive(Debug)]
pub(super) enum Item {
    /// A message, live or just posted by the bot itself.
    Message(Box<Incoming>),
    /// A message was edited.
    Edited { id: u64, content: String, at: Timestamp },
    /// A message was deleted.
    Deleted { id: u64 },
    /// Something may have been missed: wait for the catch-up that follows.
    Hold,
    /// Read what may have been missed; says whether all of it was read.
    CatchUp { done: oneshot::Sender<bool> },
    /// End the window and begin the next; answers with the new file, or why not.
    NewWindow { who: String, done: oneshot::Sender<Result<Option<String>, String>> },
}

/// What kind of place a lane is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub surface: Surface,
    pub dm: bool,
    pub title: Option<String>,
}

/// Why a lane could not do what it was given.
#[derive(Debug, thiserror::Error)]
enum LaneError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Api(#[from] ApiError),
}

pub(super) struct Lane {
    shared: Arc<Shared>,
    id: u64,
    place: Place,
    /// Messages that were accepted for an answer in this process.
    asked: HashSet<u64>,
    asks: mpsc::UnboundedSender<Incoming>,
    /// Whether history has been read once since the process began.
    caught_up: bool,
    /// Until when what is said waits for the history before it.
    held: Option<Instant>,
}

impl Lane {
    /// Starts a lane; it ends when its sender is dropped.
    pub fn start(shared: Arc<Shared>, id: u64, place: Place) -> mpsc::UnboundedSender<Item> {
        let (sender, items) = mpsc::unbounded_channel();
        let asks = answer::worker(shared.clone(), id, sender.downgrade());
        let held = Some(Instant::now() + HELD);
        let lane = Self { shared, id, place, asked: HashSet::new(), asks, caught_up: false, held };
        tokio::spawn(lane.run(items));
        sender
    }

    async fn run(mut self, mut items: mpsc::UnboundedReceiver<Item>) {
        while let Err(error) = self.open() {
            tracing::error!(channel = self.id, %error, "a log can't be read; trying again");
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
        let mut backlog = vec![];
        loop {
            let next = match self.held {
                None => items.recv().await,
                Some(until) => match tokio::time::timeout_at(until, items.recv()).await {
                    Ok(next) => next,
                    Err(_) => {
                        self.held = None;
                        self.take(std::mem::take(&mut backlog)).await;
                        continue;
                    }
                },
            };
            let Some(next) = next else { return };
            backlog.push(next);
            tokio::time::sleep(GATHER).await;
            while backlog.len() < BATCH {
                match items.try_recv() {
                    Ok(item) => backlog.push(item),
                    Err(_) => break,
                }
            }
            if backlog.iter().any(|item| matches!(item, Item::Hold)) {
                backlog.retain(|item| !matches!(item, Item::Hold));
                self.held = Some(Instant::now() + HELD);
            }
            let history = backlog.iter().any(|item| matches!(item, Item::CatchUp { .. }));
            if self.held.is_none() || history {
                self.held = None;
                self.take(std::mem::take(&mut backlog)).await;
            }
        }
    }

    fn open(&self) -> Result<(), LogError> {
        let bot = self.shared.identity();
        let title = self.place.title.as_deref();
        self.shared
            .log
            .open(self.place.surface, self.id, title, |text| mentions::addresses_in_text(text, &bot))
    }

    /// What came in one moment: history first, then messages by id, then what happened to them.
    async fn take(&mut self, batch: Vec<Item>) {
        let (mut messages, mut changes, mut windows) = (vec![], vec![], vec![]);
        let mut waiting = vec![];
        for item in batch {
            match item {
                Item::Message(message) => messages.push(*message),
                Item::Edited { id, content, at } => changes.push((id, Some((content, at)))),
                Item::Deleted { id } => changes.push((id, None)),
                Item::CatchUp { done } => waiting.push(done),
                Item::NewWindow { who, done } => windows.push((who, done)),
                Item::Hold => {}
            }
        }
        if !waiting.is_empty() {
            let whole = self.catch_up().await;
            if let Err(error) = &whole {
                tracing::warn!(channel = self.id, %error, "history could not be read to its end; it will be again");
            }
            // What is refused (a deleted thread, one that the bot was shut out of) has no end to wait for.
            let whole = matches!(whole, Ok(()) | Err(LaneError::Api(ApiError::Refused { .. })));
            for done in waiting {
                let _ = done.send(whole);
            }
        }
        messages.sort_by_key(|message| message.id);
        self.store_and_act(&messages).await;
        for (id, change) in changes {
            self.until_written(|lane| lane.change(id, change.as_ref())).await;
        }
        for (who, done) in windows {
            let _ = done.send(self.shared.log.new_window(self.id, &who).map_err(|error| error.to_string()));
        }
    }

    async fn store_and_act(&mut self, messages: &[Incoming]) {
        if messages.is_empty() {
            return;
        }
        let new = self.until_written(|lane| lane.store(messages)).await;
        for (message, _) in messages.iter().zip(new).filter(|(_, new)| *new) {
            self.act(message);
        }
    }

    /// Tries until the log takes it: a full disk or a conflict copy must not lose what was said.
    async fn until_written<T>(&mut self, mut write: impl FnMut(&mut Self) -> Result<T, LogError>) -> T {
        let mut pause = Duration::from_millis(200);
        loop {
            match write(self) {
                Ok(value) => return value,
                Err(error) => {
                    tracing::error!(channel = self.id, %error, "the log can't be written; trying again");
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(30));
        }
    }

    fn standing(&self, message: &Incoming) -> Standing {
        let shared = &self.shared;
        let log_others = shared.settings.log_others;
        access::standing(message, shared.identity().user, &shared.owners, self.place.dm, log_others)
    }

    /// Appends what the log doesn't hold yet; says for each message whether it was new.
    fn store(&mut self, messages: &[Incoming]) -> Result<Vec<bool>, LogError> {
        let bot = self.shared.identity().user;
        let mut entries = vec![];
        let mut firsts = vec![];
        for message in messages {
            if !message.is_text() || self.standing(message) == Standing::Dropped {
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
            firsts.push(Some(entries.len()));
            entries.extend(log::entries(message, bot, answered.as_deref()));
        }
        let new = self.shared.log.record(self.id, &entries)?;
        Ok(firsts.into_iter().map(|at| at.is_some_and(|at| new[at])).collect())
    }

    fn change(&mut self, id: u64, change: Option<&(String, Timestamp)>) -> Result<(), LogError> {
        // What isn't in the log was dropped, or comes with its newest text from history.
        if !self.shared.log.holds(self.id, id) {
            return Ok(());
        }
        let link = self.shared.log.link(self.id, id);
        let entry = match change {
            Some((content, at)) => log::edit(id, "", content, *at, link.as_deref()),
            None => log::deletion(id, self.shared.clock.now(), link.as_deref()),
        };
        self.shared.log.record(self.id, &[entry]).map(|_| ())
    }

    /// Accepts a message for an answer, if it is one for us and not too old.
    fn act(&mut self, message: &Incoming) {
        if self.standing(message) != Standing::Owner || !message.is_text() {
            return;
        }
        let bot = self.shared.identity();
        let spoken_to = mentions::addresses(message, &bot);
        if spoken_to {
            self.shared.log.bind(self.id, message.at());
        }
        let bound = self.place.surface == Surface::Thread && self.is_bound(message.at());
        if !(spoken_to || bound || self.place.dm) {
            return;
        }
        if self.is_stale(message)
            || self.shared.log.is_answered(self.id, message.id)
            || !self.asked.insert(message.id)
        {
            return;
        }
        if self.asked.len() > 10_000 {
            self.asked = HashSet::from([message.id]);
        }
        let _ = self.asks.send(message.clone());
    }

    /// Whether follow-ups in this thread are answered without a mention.
    fn is_bound(&self, at: Timestamp) -> bool {
        let idle = SignedDuration::from_hours(24 * i64::from(self.shared.settings.thread_idle_days));
        self.shared.log.bound_at(self.id).is_some_and(|bound| at.duration_since(bound) <= idle)
    }

    fn is_stale(&self, message: &Incoming) -> bool {
        let within = SignedDuration::from_mins(i64::from(self.shared.settings.act_within_minutes));
        self.shared.clock.now().duration_since(message.at()) > within
    }

    /// The lane's part of a round of [`catchup`](super::catchup): reads the history from where it is known to be whole, oldest first, until a short page.
    async fn catch_up(&mut self) -> Result<(), LaneError> {
        let cursor = self.shared.cursors.get(self.id).unwrap_or_else(|| self.begin());
        let mut after = cursor;
        if !self.caught_up && self.shared.log.newest(self.id).is_some() {
            // After a restart, what was logged but perhaps not answered any more is looked at once again.
            let within = SignedDuration::from_mins(i64::from(self.shared.settings.act_within_minutes));
            let lately = self.shared.clock.now().checked_sub(within);
            after = after.min(lately.map_or(0, snowflake::first_at));
        }
        let mut to_act: Vec<Incoming> = vec![];
        loop {
            let page = history::page(&self.shared.api, self.id, after).await?;
            // What is looked at again is either in the log, or was left out of it on purpose.
            let (again, missed): (Vec<_>, Vec<_>) = page.messages.into_iter().partition(|m| m.id <= cursor);
            to_act.extend(
                again.into_iter().filter(|m| self.shared.log.holds(self.id, m.id) && !self.is_stale(m)),
            );
            if !missed.is_empty() {
                let new = self.until_written(|lane| lane.store(&missed)).await;
                let first = !self.caught_up;
                let pairs = missed.into_iter().zip(new);
                to_act.extend(pairs.filter(|(m, new)| (*new || first) && !self.is_stale(m)).map(|(m, _)| m));
            }
            if let Some(last) = page.last {
                after = after.max(last);
                self.shared.cursors.set(self.id, after.max(cursor));
            }
            if page.next.is_none() {
                break;
            }
        }
        self.shared.cursors.set(self.id, after.max(cursor));
        self.caught_up = true;
        for message in &to_act {
            self.act(message);
        }
        Ok(())
    }

    /// Where history begins for a channel without a cursor: a day before the newest message in its log, because the
    /// log alone can't tell whether one before that was missed; without a log, now, or a thread's own beginning.
    fn begin(&self) -> u64 {
        match self.shared.log.newest(self.id) {
            Some(newest) => {
                let day_before = snowflake::time_of(newest).checked_sub(SignedDuration::from_hours(24));
                day_before.map_or(0, snowflake::first_at)
            }
            None => self.shared.born(self.id),
        }
    }
}
