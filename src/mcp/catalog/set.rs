//! Defines the named sets of tools (`recall`, `deliver`, `full`), and parses a list of sets and tools into a `ToolSet`.

use std::str::FromStr;

use super::{TOOLS, ToolEntry};
use crate::mcp::tool_set::ToolSet;

/// The read-only tools of memory.
const RECALL: &[&str] =
    &["memory_search", "memory_recall", "memory_get", "memory_list", "memory_commitment_due"];
/// Memory, and tools that notify the user.
const DELIVER: &[&str] = &[
    "memory_search",
    "memory_recall",
    "memory_get",
    "memory_list",
    "memory_commitment_due",
    "memory_save",
    "memory_promote",
    "memory_commitment_done",
    "reminder_add",
    "reminder_list",
];

impl ToolSet {
    /// All of them.
    pub fn full() -> Self {
        Self::new("full", TOOLS.iter().map(|tool| tool.name).collect())
    }

    /// The tools, in the catalog's order.
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
            match word {
                "full" => wanted.extend(TOOLS.iter().map(|tool| tool.name)),
                "recall" => wanted.extend(RECALL),
                "deliver" => wanted.extend(DELIVER),
                name if TOOLS.iter().any(|tool| tool.name == name) => wanted.push(name),
                name => return Err(unknown(name)),
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
        .chain(["recall", "deliver", "full"])
        .min_by_key(|known| strsim::damerau_levenshtein(known, name))
        .filter(|known| strsim::damerau_levenshtein(known, name) <= 3);
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let all: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    format!("there is no tool `{name}`{near} There are `recall`, `deliver`, `full`, and: {}", all.join(", "))
}
