//! Defines what a tool is: its name, words, arguments and annotations, and its description for clients; and the named sets
//! of tools (`recall`, `deliver`, `full`).

use std::str::FromStr;
use std::sync::Arc;

use rmcp::model::{self, ToolAnnotations};
use serde_json::Value;

use super::{TOOLS, ToolFunction};
use crate::mcp::arguments::{self, Argument};
use crate::mcp::hosts::ServerPurpose;
use crate::mcp::shared_state::ToolSet;

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
    pub(super) output: fn(model::Tool) -> model::Tool,
    /// Does it.
    pub act: ToolFunction,
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
    let near = TOOLS
        .iter()
        .map(|tool| tool.name)
        .chain(ServerPurpose::NAMES)
        .min_by_key(|known| strsim::damerau_levenshtein(known, name))
        .filter(|known| strsim::damerau_levenshtein(known, name) <= 3);
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let all: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    format!("there is no tool `{name}`{near} There are `recall`, `deliver`, `full`, and: {}", all.join(", "))
}
