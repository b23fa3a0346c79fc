//! The place of a turn on Discord.

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

use super::approvals;
use crate::discord::api::snowflake::Part;
use crate::discord::log::logbook::Entry;
use crate::discord::shared::{Item, Shared};
use crate::format::log::EventKind;
use crate::turn::{ApprovalRequest, Note, Place, Turn};

/// Its notes go into the channel's log, its progress to whoever shows it.
pub(super) struct Beside<'a> {
    pub lane: mpsc::WeakUnboundedSender<Item>,
    pub turn: &'a Turn,
    pub words: watch::Sender<String>,
    pub shared: &'a Shared,
}

#[async_trait]
impl Place for Beside<'_> {
    async fn fetch(&self, link: &str, most: u64) -> Result<Vec<u8>, String> {
        self.shared.api.download(link, most).await.map_err(|error| error.to_string())
    }

    fn note(&self, note: Note) {
        let entry = entry(self.turn.asked.message, note, self.shared.clock.now());
        if let Some(lane) = self.lane.upgrade() {
            let _ = lane.send(Item::Write { entries: vec![entry], done: None });
        }
    }

    fn progress(&self, words: &str) {
        self.words.send_replace(words.to_owned());
    }

    async fn ask_approval(&self, request: &ApprovalRequest) {
        approvals::show(self.shared, self.turn, request).await;
    }

    async fn approval_over(&self, request: &ApprovalRequest, words: &str) {
        approvals::over(self.shared, self.turn, request, words).await;
    }
}

/// A note as the log has it.
pub(super) fn entry(message: u64, note: Note, at: Timestamp) -> Entry {
    let (part, kind, author, content) = match note {
        Note::Recall(text) => (Part::Recall, EventKind::Recall, String::new(), text),
        Note::Tool { number, name, text } => (Part::tool(number), EventKind::Tool, name, text),
    };
    Entry { message, part, kind, at, author, content }
}

/// A sentence of the program's below a question in the log.
pub(super) fn system(message: u64, content: &str, at: Timestamp) -> Entry {
    Entry {
        message,
        part: Part::Stopped,
        kind: EventKind::System,
        at,
        author: String::new(),
        content: content.to_owned(),
    }
}
