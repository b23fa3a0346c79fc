//! Defines the items that a channel's lane receives, and the kind of its channel.

use jiff::Timestamp;
use tokio::sync::oneshot;

use crate::discord::api::message::IncomingMessage;
use crate::discord::log::logbook as log;
use crate::discord::log::logbook::Surface;
use crate::turn::NewTurn;

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
