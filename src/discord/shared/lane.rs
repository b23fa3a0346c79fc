//! What is handed to the lane of a channel, and what kind of place that channel is.

use jiff::Timestamp;
use tokio::sync::oneshot;

use crate::discord::api::message::Incoming;
use crate::discord::log::logbook as log;
use crate::discord::log::logbook::Surface;
use crate::turn::NewTurn;

/// Something for a lane.
#[derive(Debug)]
pub(in crate::discord) enum LaneItem {
    /// A message, live or just posted by the bot itself.
    Message(Box<Incoming>),
    /// A message was edited.
    Edited { id: u64, content: String, at: Timestamp },
    /// A message was deleted.
    Deleted { id: u64 },
    /// Something may have been missed: what is said from now on waits until history was read. Whether edits and
    /// deletions may be among it.
    Hold { review: bool },
    /// Read what may have been missed; says when that was tried. What fails, the lane tries again by itself.
    CatchUp { done: oneshot::Sender<()> },
    /// Log what belongs to a turn; says when that, and all before it, is written.
    Write { entries: Vec<log::LogEntry>, done: Option<oneshot::Sender<()>> },
    /// A question by a slash command: log it and accept it; says when that is done.
    Ask { turn: NewTurn, done: oneshot::Sender<()> },
    /// End the window and begin the next; answers with the new file, or why not.
    NewWindow { who: String, done: oneshot::Sender<Result<Option<String>, String>> },
}

/// What kind of place a lane is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::discord) struct LaneKind {
    pub surface: Surface,
    pub dm: bool,
    pub title: Option<String>,
}
