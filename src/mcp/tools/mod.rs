//! Lists all MCP tools ([`TOOLS`]): each one's words, arguments, effect and answer as a constant beside the function that does
//! it.
//!
//! Schemas, checks, annotations and `--tools` all come from the table [`TOOLS`], so they can't disagree. The doc comments
//! of an answer's fields become part of its schema, for models. The functions run on threads that may wait for a disk,
//! and know nothing of the protocol. A new tool is a constant and a function in its topic's file, and a line in [`TOOLS`].
//!
//! - `search`, `notes`, `listing`, `memory`, `pins`, `reminders`, `lcm`, `brains`: one file a topic;
//! - `tool`: the definition of a tool, and sets of tools.

#[cfg(feature = "assistant")]
pub mod brains;
#[cfg(feature = "assistant")]
mod lcm;
mod listing;
mod memory;
mod notes;
mod pins;
mod reminders;
mod search;
mod tool;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::arguments::Arguments;
use super::failure::ToolFailure;
use super::shared_state::{ServerScopes, SharedState};
use super::untrusted;
use crate::format::{invisible, one_line};
use crate::memory::{Scope, ScopeError, accessible};
use crate::search::Progress;
use crate::vault::Origin;
use crate::workspace::Workspace;

#[cfg(feature = "assistant")]
pub use self::tool::Effect;
pub use self::tool::ToolEntry;

/// All tools, those that only read first.
pub static TOOLS: &[ToolEntry] = &[
    search::SEARCH,
    search::RECALL,
    notes::GET,
    listing::LIST,
    listing::COMMITMENT_DUE,
    reminders::LIST,
    #[cfg(feature = "assistant")]
    brains::CLASSIFY_TASK,
    #[cfg(feature = "assistant")]
    brains::ROUTE_TASK,
    #[cfg(feature = "assistant")]
    lcm::GREP,
    #[cfg(feature = "assistant")]
    lcm::DESCRIBE,
    #[cfg(feature = "assistant")]
    lcm::EXPAND,
    #[cfg(feature = "assistant")]
    brains::ASK_BRAIN,
    memory::SAVE,
    memory::EDIT,
    memory::FORGET,
    pins::PROMOTE,
    listing::COMMITMENT_DONE,
    reminders::ADD,
    reminders::UPDATE,
    reminders::DONE,
    reminders::SNOOZE,
    reminders::DELETE,
    pins::PIN,
    pins::UNPIN,
];

/// One call of a tool.
pub struct McpCall<'a> {
    /// The state that all sessions share.
    pub shared: &'a Arc<SharedState>,
    /// The vault, with the settings as they are now.
    pub workspace: Arc<Workspace>,
    /// The checked arguments.
    pub arguments: Arguments<'a>,
    /// The caller.
    pub origin: Origin,
    /// The brain that asks, and its turn, where it is one of ours.
    pub by: Option<(String, String)>,
    /// The tools of a brain that another asks.
    #[cfg(feature = "assistant")]
    pub tools_of_asked: fn(&Arc<SharedState>) -> Arc<dyn crate::agent::Toolbox>,
    /// Told how far a long call is.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Set when no caller waits for the answer any more.
    pub stop: &'a AtomicBool,
    /// The same for what waits for something else than a disk.
    pub cancel: CancellationToken,
}

impl McpCall<'_> {
    /// The scope of a save: the named one, else global.
    fn saving_scope(&self) -> Result<Scope, ToolFailure> {
        match self.arguments.text("memory_scope") {
            Some(text) => self.scope(text),
            None => Ok(self.shared.place.saved.clone()),
        }
    }

    /// The scopes that are read: the named ones, else what is global, this project's and the client's own.
    fn visible_scopes(&self) -> Result<Vec<Scope>, ToolFailure> {
        let ServerScopes { project: here, before, .. } = &self.shared.place;
        let Some(text) = self.arguments.text("memory_scope") else {
            // `claude-code 2.1` is the agent `claude-code`.
            let agent = self.origin.client.as_deref().and_then(|client| client.split(' ').next());
            return Ok(accessible(here, agent).into_iter().chain(before.clone()).collect());
        };
        let mut scopes = text.split(',').map(|one| self.scope(one)).collect::<Result<Vec<_>, _>>()?;
        if scopes.contains(here) {
            scopes.extend(before.clone());
        }
        Ok(scopes)
    }

    /// A scope as a client writes it; `here` is the project that the server runs in.
    fn scope(&self, text: &str) -> Result<Scope, ToolFailure> {
        match text.trim() {
            "here" => Ok(self.shared.place.project.clone()),
            text => text.parse().map_err(|error: ScopeError| {
                ToolFailure::new("unknown_scope", error.to_string()).of("memory_scope")
            }),
        }
    }
}

/// A tool's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// In words.
    pub text: String,
    /// The same as a structure.
    pub structured: Value,
    /// Whether it holds texts from notes.
    pub untrusted: bool,
}

/// The outcome of a call.
pub type ToolOutcome = Result<ToolAnswer, ToolFailure>;

/// A tool's function.
pub type ToolFunction = fn(&McpCall<'_>) -> ToolOutcome;

impl ToolAnswer {
    /// An answer about the server's own work.
    pub fn new(text: impl Into<String>, structured: &impl Serialize) -> Self {
        Self { text: text.into(), structured: value(structured), untrusted: false }
    }

    /// An answer with text from notes; `text` is marked as untrusted, and invisible characters in it are left out.
    pub fn from_notes(text: &str, structured: &impl Serialize) -> Self {
        Self {
            text: untrusted::marked(&invisible::strip(text)),
            structured: value(structured),
            untrusted: true,
        }
    }
}

fn value(structured: &impl Serialize) -> Value {
    serde_json::to_value(structured).unwrap_or_else(|error| Value::String(error.to_string()))
}
