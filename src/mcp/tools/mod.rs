//! Lists the MCP tools for models ([`TOOLS`]); the hook tool for hosts is not among them.
//!
//! A tool is a constant in its topic's file: description, arguments, effect and answer, and the function that carries
//! the tool out. Schemas, checks and annotations come from this constant, so they can't disagree. The doc comments of
//! an answer's fields become part of its schema, for models. The functions run on threads that may wait for a disk, and
//! don't depend on the protocol. A new tool is a constant and a function in its topic's file, and a line in [`TOOLS`].
//!
//! This file defines a tool, its call and its answer, and the named sets of tools (`recall`, `deliver`, `full`).
//! `search`, `reading`, `memory`, `pins`, `reminders`, `lcm` and `brains` hold the tools, one file for each topic.

#[cfg(feature = "assistant")]
pub mod brains;
#[cfg(feature = "assistant")]
mod lcm;
mod memory;
mod pins;
mod prelude;
mod reading;
mod reminders;
mod search;

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rmcp::model::{self, ToolAnnotations};
use rmcp::schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::arguments::{self, Argument, Arguments};
use super::failure::{Result, ToolFailure};
use super::hosts::ServerPurpose;
use super::shared_state::{ServerScopes, SharedState, ToolSet};
use super::untrusted;
use crate::format::{invisible, nearest, one_line};
use crate::memory::{Scope, ScopeError, accessible};
use crate::search::Progress;
use crate::vault::Origin;
use crate::workspace::Workspace;

/// All tools, those that only read first.
pub static TOOLS: &[ToolEntry] = &[
    search::SEARCH,
    search::RECALL,
    reading::GET,
    reading::LIST,
    reading::COMMITMENT_DUE,
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
    reading::COMMITMENT_DONE,
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
    fn saving_scope(&self) -> Result<Scope> {
        match self.arguments.text("memory_scope") {
            Some(text) => self.scope(text),
            None => Ok(self.shared.place.saved.clone()),
        }
    }

    /// The scopes that are read: the named ones, else what is global, this project's and the client's own.
    fn visible_scopes(&self) -> Result<Vec<Scope>> {
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
    fn scope(&self, text: &str) -> Result<Scope> {
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
pub type ToolOutcome = Result<ToolAnswer>;

/// A tool's function.
pub type ToolFunction = fn(&McpCall<'_>) -> ToolOutcome;

impl ToolAnswer {
    /// An answer about the server's own work.
    pub fn new(text: impl Into<String>, structured: &impl Serialize) -> Self {
        Self { text: text.into(), structured: value(structured), untrusted: false }
    }

    /// An answer in the server's own `words`, with lines of a note below them, which are marked as untrusted;
    /// invisible characters in them are left out.
    pub fn quoting(words: &str, lines: &str, structured: &impl Serialize) -> Self {
        let text = format!("{words}\n{}", untrusted::marked(&invisible::strip(lines)));
        Self { text, structured: value(structured), untrusted: true }
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

/// A tool's effect on the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It adds.
    Adds,
    /// It adds once: a second call with the same arguments changes nothing.
    AddsOnce,
    /// It changes what is there, and a second call changes nothing more.
    Changes,
    /// It changes what is there, and a second call may change it again: a time such as `in 20 minutes` goes on, and a
    /// line alone may be another memory's by then.
    ChangesEach,
    /// It takes away.
    Removes,
}

/// One tool.
#[derive(Clone, Copy)]
pub struct ToolEntry {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its description, for a model.
    pub doc: &'static str,
    /// Its arguments.
    pub arguments: &'static [Argument],
    /// Its effect on the vault.
    pub effect: Effect,
    output: fn(model::Tool) -> model::Tool,
    /// Does it.
    pub act: ToolFunction,
}

/// A tool that answers with a `T`. The caller adds its description and its arguments.
const fn tool<T: JsonSchema + 'static>(
    name: &'static str,
    title: &'static str,
    effect: Effect,
    act: ToolFunction,
) -> ToolEntry {
    let output = model::Tool::with_output_schema::<T>;
    ToolEntry { name, title, doc: "", arguments: &[], effect, output, act }
}

impl ToolEntry {
    /// Its description for clients.
    pub fn describe(&self) -> model::Tool {
        let reads = self.effect == Effect::Reads;
        let destructive = matches!(self.effect, Effect::Changes | Effect::ChangesEach | Effect::Removes);
        let idempotent = !matches!(self.effect, Effect::Adds | Effect::ChangesEach);
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(reads)
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(false);
        let tool = model::Tool::new(self.name, self.doc, Arc::new(arguments::schema(self.arguments)));
        let mut tool = (self.output)(tool.with_title(self.title).with_annotations(annotations));
        tool.output_schema = tool.output_schema.map(|schema| {
            let mut schema = Value::Object((*schema).clone());
            without_formats(&mut schema);
            Arc::new(schema.as_object().cloned().unwrap_or_default())
        });
        tool
    }
}

/// Removes number formats: clients' validators know no `uint32` or `double`, and some refuse the whole schema.
fn without_formats(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let is_width = |format: &Value| {
                let format = format.as_str().unwrap_or_default();
                ["int", "uint", "float", "double"].iter().any(|width| format.starts_with(width))
            };
            if fields.get("format").is_some_and(is_width) {
                fields.remove("format");
            }
            fields.values_mut().for_each(without_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        _ => {}
    }
}

/// The read-only tools of memory.
const RECALL: &[&str] =
    &["memory_search", "memory_recall", "memory_get", "memory_list", "memory_commitment_due"];
/// The tools that `deliver` has besides: they save, and notify the user.
const DELIVER: &[&str] =
    &["memory_save", "memory_promote", "memory_commitment_done", "reminder_add", "reminder_list"];

impl ToolSet {
    /// All of them.
    pub fn full() -> Self {
        Self::new("full", TOOLS.iter().map(|tool| tool.name).collect())
    }

    /// The tools, in the order of [`TOOLS`].
    pub fn tools(&self) -> impl Iterator<Item = &'static ToolEntry> + '_ {
        TOOLS.iter().filter(|tool| self.has(tool.name))
    }

    /// The tool of this name, if it is exposed.
    pub fn get(&self, name: &str) -> Option<&'static ToolEntry> {
        self.tools().find(|tool| tool.name == name)
    }
}

impl FromStr for ToolSet {
    type Err = String;

    /// `recall`, `deliver`, `full`, names of tools, or several with commas.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut wanted: Vec<&str> = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match ServerPurpose::named(word) {
                Some(ServerPurpose::Full) => wanted.extend(TOOLS.iter().map(|tool| tool.name)),
                Some(ServerPurpose::Recall) => wanted.extend(RECALL),
                Some(ServerPurpose::Deliver) => wanted.extend(RECALL.iter().chain(DELIVER)),
                None if TOOLS.iter().any(|tool| tool.name == word) => wanted.push(word),
                None => return Err(unknown(word)),
            }
        }
        if wanted.is_empty() {
            return Err("no tool is named; give `recall`, `deliver`, `full`, or names with commas".to_owned());
        }
        let names = TOOLS.iter().map(|tool| tool.name).filter(|name| wanted.contains(name)).collect();
        Ok(Self::new(text, names))
    }
}

fn unknown(name: &str) -> String {
    let all: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    let near = nearest(name, &[&all[..], &ServerPurpose::NAMES].concat());
    let near = near.map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{near}`?"));
    format!("there is no tool `{name}`{near} There are `recall`, `deliver`, `full`, and: {}", all.join(", "))
}
