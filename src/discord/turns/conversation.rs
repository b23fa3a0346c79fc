//! Implements [`Conversation`] on Discord: writes a turn's recalled memories and tool calls into the channel's log, and
//! shows the turn's progress in one message.
//!
//! Also downloads files, shows questions for approval, and shows that the bot is typing. The progress message appears
//! after 20 s, is edited as the work goes on, at most every 5 s, and is deleted before the answer is sent. Its nonce is
//! made from the turn, so a post that is repeated after a restart makes no second message while Discord's nonce window
//! is open. The progress message is not part of the conversation: the log never holds it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Value, json};
use serenity::http::{LightMethod, Request, Route};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

use super::approvals;
use crate::deliver::MessageKind;
use crate::deliver::notifier::nonce;
use crate::discord::api::snowflake::BlockEvent;
use crate::discord::api::{ApiError, DiscordApi, message};
use crate::discord::log::logbook::LogEntry;
use crate::discord::shared::{BotState, END_TIME, FIRST_PAUSE, LONGEST_PAUSE, LaneItem};
use crate::format::approval::Approval;
use crate::format::log::EventKind;
use crate::turn::{Conversation, TurnNote, TurnRow};

/// Sends notes to the channel's log, and progress to the progress message.
pub(super) struct ChannelConversation<'a> {
    pub lane: mpsc::WeakUnboundedSender<LaneItem>,
    pub turn: &'a TurnRow,
    pub text: watch::Sender<String>,
    pub shared: &'a BotState,
}

#[async_trait]
impl Conversation for ChannelConversation<'_> {
    async fn fetch(&self, link: &str, most: u64) -> Result<Vec<u8>, String> {
        self.shared.api.download(link, most).await.map_err(|error| error.to_string())
    }

    fn note(&self, note: TurnNote) {
        let entries = vec![entry(self.turn.question.message, note, self.shared.clock.now())];
        if let Some(lane) = self.lane.upgrade() {
            let _ = lane.send(LaneItem::Write { entries, done: None });
        }
    }

    fn progress(&self, words: &str) {
        self.text.send_replace(words.to_owned());
    }

    async fn ask_approval(&self, request: &Approval) {
        approvals::show(self.shared, self.turn, request).await;
    }

    async fn approval_over(&self, request: &Approval, words: &str) {
        approvals::show_end(self.shared, self.turn, request, words).await;
    }
}

/// A note as an entry of the log.
pub(super) fn entry(message: u64, note: TurnNote, at: Timestamp) -> LogEntry {
    let (part, kind, author, content) = match note {
        TurnNote::Recall(text) => (BlockEvent::Recall, EventKind::Recall, String::new(), text),
        TurnNote::Tool { number, name, text } => (BlockEvent::tool(number), EventKind::Tool, name, text),
    };
    LogEntry { message, part, kind, at, author, content }
}

/// The beginning of a progress message; own messages that begin so are never logged.
const MARK: &str = "-# ⏳ ";
/// The stored id of a message that may have been posted; its nonce decides.
const POSTING: u64 = 0;

/// Whether a text of ours is such a message.
pub(in crate::discord) fn is_progress(text: &str) -> bool {
    text.starts_with(MARK)
}

/// Shows the progress until it is ended or dropped.
pub(super) struct ProgressMessage {
    ended: DropGuard,
    task: tokio::task::JoinHandle<()>,
}

impl ProgressMessage {
    /// Starts to wait; `words` holds the current step.
    pub fn start(shared: Arc<BotState>, channel: u64, turn: u64, words: watch::Receiver<String>) -> Self {
        let ended = CancellationToken::new();
        let task = tokio::spawn(show(shared, channel, turn, words, ended.clone()));
        Self { ended: ended.drop_guard(), task }
    }

    /// Deletes the message, if there is one.
    pub async fn end(self) {
        drop(self.ended);
        let _ = tokio::time::timeout(END_TIME, self.task).await;
    }
}

async fn show(
    shared: Arc<BotState>,
    channel: u64,
    turn: u64,
    mut words: watch::Receiver<String>,
    ended: CancellationToken,
) {
    let body = |text: &str| json!({ "content": text, "allowed_mentions": { "parse": [] } });
    let text = |words: &str| format!("{MARK}{}", if words.is_empty() { "working on it" } else { words });
    // A program that was killed left its message behind, and perhaps without having read its id.
    let before = shared.turns.progress_message(turn).unwrap_or_default();
    let mut shown = before.filter(|id| *id != POSTING);
    if shown.is_none() {
        if before.is_none() {
            tokio::select! {
                () = ended.cancelled() => return,
                () = tokio::time::sleep(shared.times.progress_after) => {}
            }
            note(&shared, turn, Some(POSTING));
        }
        let mut first = body(&text(&words.borrow_and_update()));
        first["nonce"] = Value::from(nonce(MessageKind::Notice, &format!("progress:{turn}"), 0, 0));
        first["enforce_nonce"] = Value::from(true);
        first["message_reference"] = json!({ "message_id": turn.to_string(), "fail_if_not_exists": false });
        shown = post(&shared, channel, first, before.is_some(), &ended).await;
        note(&shared, turn, shown);
    }
    let Some(id) = shown else { return };
    let own = Route::ChannelMessage { channel_id: channel.into(), message_id: id.into() };
    loop {
        let over = async {
            tokio::join!(tokio::time::sleep(shared.times.progress_every), words.changed()).1.is_err()
        };
        let over = tokio::select! {
            () = ended.cancelled() => break,
            over = over => over,
        };
        if over {
            break;
        }
        let now = body(&text(&words.borrow_and_update()));
        if let Err(error) = shared.api.send(LightMethod::Patch, own, &now).await {
            tracing::debug!(channel, %error, "what is going on could not be shown");
        }
    }
    remove(&shared, channel, turn, id).await;
}

/// Posts the message: its id, if it stands there. `may_stand`: whether an earlier attempt may have posted it. After an
/// unknown outcome the next attempt with the same nonce finds it, so that it can be deleted.
async fn post(
    shared: &BotState,
    channel: u64,
    first: Value,
    mut may_stand: bool,
    ended: &CancellationToken,
) -> Option<u64> {
    let mut pause = FIRST_PAUSE;
    while pause < LONGEST_PAUSE && (may_stand || !ended.is_cancelled()) {
        match shared.api.post(channel, first.clone()).await {
            Ok(posted) => return message::id(&posted["id"]),
            Err(ApiError::Refused { .. }) => return None,
            Err(error) => may_stand |= matches!(error, ApiError::Unknown(_)),
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    None
}

/// Deletes a progress message, in several attempts. Its id stays in the journal until it is gone.
async fn remove(shared: &BotState, channel: u64, turn: u64, id: u64) {
    let own = Route::ChannelMessage { channel_id: channel.into(), message_id: id.into() };
    let mut pause = FIRST_PAUSE;
    while pause < LONGEST_PAUSE {
        match shared.api.call(Request::new(own, LightMethod::Delete)).await {
            Ok(_) => return note(shared, turn, None),
            Err(error) if matches!(error.code(), Some(10_003 | 10_008)) => return note(shared, turn, None),
            Err(error) => {
                tracing::debug!(channel, %error, "a word on what was going on could not be taken away");
            }
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
}

/// Deletes the progress messages that finished turns left in a channel.
pub(super) async fn remove_left(shared: Arc<BotState>, channel: u64) {
    for (turn, id) in shared.turns.left_progress_messages(channel).unwrap_or_default() {
        remove(&shared, channel, turn, id).await;
    }
}

fn note(shared: &BotState, turn: u64, shown: Option<u64>) {
    if let Err(error) = shared.turns.set_progress_message(turn, shown, shared.clock.now()) {
        tracing::warn!("{error}");
    }
}

/// The interval of renewals.
const EVERY: Duration = Duration::from_millis(7500);
/// The longest time that it is shown, in case an answer hangs.
const MAX_SHOWN: Duration = Duration::from_secs(15 * 60);

/// Shows the typing sign, at once, until the value is dropped.
pub(super) fn show_typing(api: DiscordApi, channel: u64) -> AbortOnDropHandle<()> {
    let show = async move {
        loop {
            let route = Route::ChannelTyping { channel_id: channel.into() };
            if let Err(error) = api.send(LightMethod::Post, route, &json!({})).await {
                tracing::debug!(channel, %error, "the typing sign could not be shown");
            }
            tokio::time::sleep(EVERY).await;
        }
    };
    AbortOnDropHandle::new(tokio::spawn(async move {
        let _ = tokio::time::timeout(MAX_SHOWN, show).await;
    }))
}
