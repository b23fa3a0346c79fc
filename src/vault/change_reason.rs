//! Defines the reason of a change and the origin of a write (actor, client, conversation). The history records both
//! with each edit.

use std::error::Error;

use serde::{Deserialize, Serialize};

use super::path::NotePath;
use crate::words::words;

/// The trailer that marks writes of several notes as one operation. `undo` takes all of them back, or none.
pub const OPERATION: &str = "Operation";
/// The trailer of a write that the program makes by itself, such as an id for a line, or to prepare an operation.
/// `undo` skips it, because no person asked for it.
pub const BOOKKEEPING: &str = "Bookkeeping";
/// The trailer of a write that merges a sync tool's conflict copy into its note, so that the copy is no reason to
/// refuse the write.
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

/// The longest value of a trailer, in characters: names and ids are short, and a client may send any length.
const MAX_TRAILER_CHARS: usize = 200;

/// The author of a write and its context: becomes the snapshot's trailers `Actor:`, `Client:` and `Conversation:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The front door that the change came through.
    pub actor: Actor,
    /// The program that asked, in its own words: `claude-code 2.1`.
    pub client: Option<String>,
    /// The conversation that caused it.
    pub conversation: Option<String>,
}

/// The variable that names the brain in the environment of a program that works for a turn of the assistant; history
/// records it with the program's changes.
pub const BRAIN_VARIABLE: &str = "VAULT_AGENT_BRAIN";
/// The variable that names the turn in the environment of a program that works for a turn of the assistant.
pub const TURN_VARIABLE: &str = "VAULT_AGENT_TURN";

impl Origin {
    /// The assistant as the origin, if the environment says that this program works for a turn of it.
    pub fn of_turn(env: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let turn = env(TURN_VARIABLE).filter(|turn| !turn.trim().is_empty())?;
        let origin = Self::new(Actor::Assistant).conversation(format!("turn {turn}"));
        Some(origin.client(env(BRAIN_VARIABLE).unwrap_or_default()))
    }

    /// A front door by itself.
    pub fn new(actor: Actor) -> Self {
        Self { actor, client: None, conversation: None }
    }

    /// The same for a program; a blank name is none.
    #[must_use]
    pub fn client(mut self, name: impl Into<String>) -> Self {
        self.client = Some(name.into());
        self
    }

    /// The same for a conversation; a blank id is none.
    #[must_use]
    pub fn conversation(mut self, id: impl Into<String>) -> Self {
        self.conversation = Some(id.into());
        self
    }

    /// The reason for a change, with its trailers.
    pub fn why(&self, subject: impl Into<String>) -> ChangeReason {
        let mut why = ChangeReason::new(self.actor, subject);
        for (key, value) in [("Client", &self.client), ("Conversation", &self.conversation)] {
            let value: String =
                value.iter().flat_map(|value| value.trim().chars()).take(MAX_TRAILER_CHARS).collect();
            if !value.is_empty() {
                why = why.trailer(key, value);
            }
        }
        why
    }
}

impl From<Actor> for Origin {
    fn from(actor: Actor) -> Self {
        Self::new(actor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_told_by_the_environment() {
        let of = |turn: &'static str| {
            Origin::of_turn(move |name| match name {
                TURN_VARIABLE => Some(turn.to_owned()),
                BRAIN_VARIABLE => Some("cc".to_owned()),
                _ => None,
            })
        };
        assert_eq!(of(" "), None);
        let origin = of("01ABC").unwrap();
        assert_eq!((origin.actor, origin.client.as_deref()), (Actor::Assistant, Some("cc")));
        assert_eq!(origin.conversation.as_deref(), Some("turn 01ABC"));
    }

    #[test]
    fn what_is_blank_is_no_trailer() {
        let origin = Origin::new(Actor::Mcp).client("  ").conversation("c".repeat(300));
        let why = origin.why("saved: x");
        assert_eq!(why.trailers, [("Conversation".to_owned(), "c".repeat(200))]);
    }
}
