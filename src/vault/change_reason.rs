//! Holds the actor and reason of a change, which history records with each edit.

use std::error::Error;

use serde::{Deserialize, Serialize};

use super::path::NotePath;
use crate::words::words;

/// The trailer that writes of several notes share which are one operation: `undo` takes all of them back, or none.
pub const OPERATION: &str = "Operation";
/// The trailer of a write that only prepares an operation: `undo` passes over it.
pub const BOOKKEEPING: &str = "Bookkeeping";
/// The trailer of a write that brings a sync tool's conflict copy into its note: the copy is no reason to refuse it.
pub const MERGES: &str = "Merges";

words! {
    /// The author of a change.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Actor, as_str {
        /// The scheduler, after a delivery.
        Scheduler = "scheduler",
        /// A command that a person typed.
        Cli = "cli",
        /// A person, at the page.
        Page = "page",
        /// A model, through the MCP server.
        Mcp = "mcp",
        /// A conversation on Discord.
        Discord = "discord",
        /// The assistant, by a tool that a brain called.
        Assistant = "assistant",
        /// A hook of a coding agent.
        Hook = "hook",
        /// `restore` or `undo`.
        Restore = "restore",
        /// A person, with an editor or a sync tool.
        Human = "human",
    }
}

/// The reason for a change, in the words that history keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeReason {
    /// The author.
    pub actor: Actor,
    /// A description in one line: `fired: Call "Mum"`.
    pub subject: String,
    /// More words, if any.
    pub body: Option<String>,
    /// Further facts, as in `("Reminder", "rid_…")`.
    pub trailers: Vec<(String, String)>,
}

impl ChangeReason {
    /// A reason without body or trailers.
    pub fn new(actor: Actor, subject: impl Into<String>) -> Self {
        Self { actor, subject: subject.into(), body: None, trailers: Vec::new() }
    }

    /// The same with one more trailer.
    #[must_use]
    pub fn trailer(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.trailers.push((key.into(), value.into()));
        self
    }
}

/// One change of one note, for a [`ChangeObserver`].
#[derive(Debug, Clone, Copy)]
pub struct ObservedChange<'a> {
    /// Which note.
    pub path: &'a NotePath,
    /// Its bytes before, `None` where it did not exist.
    pub before: Option<&'a [u8]>,
    /// Its bytes after, `None` where it was removed.
    pub after: Option<&'a [u8]>,
    /// The author, and the reason.
    pub why: &'a ChangeReason,
}

/// An observer of every change that the editor makes, such as history.
pub trait ChangeObserver: Send + Sync {
    /// Called once the note has its new bytes and may be opened again, before the edit's journal entry is cleared.
    /// After a crash in between it is called again on recovery, so it must accept the same change twice. It must not
    /// call the editor.
    fn changed(&self, change: &ObservedChange<'_>) -> Result<(), Box<dyn Error + Send + Sync>>;
}
