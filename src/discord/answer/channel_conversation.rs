//! Implements the conversation of a turn on Discord: its notes go into the channel's log, its progress into a message.

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

use super::approvals;
use crate::discord::api::snowflake::BlockEvent;
use crate::discord::log::logbook::LogEntry;
use crate::discord::shared::{BotState, LaneItem};
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
        let entry = entry(self.turn.question.message, note, self.shared.clock.now());
        if let Some(lane) = self.lane.upgrade() {
            let _ = lane.send(LaneItem::Write { entries: vec![entry], done: None });
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
