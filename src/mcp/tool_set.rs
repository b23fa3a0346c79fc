//! Defines the set of tools that a server exposes, by name. The catalog defines the tools.

use std::fmt;

/// Which tools a server exposes.
#[derive(Debug, Clone)]
pub struct ToolSet {
    name: String,
    names: Vec<&'static str>,
}

impl ToolSet {
    /// These tools, under the name that the set was asked for by.
    pub(super) fn new(name: impl Into<String>, names: Vec<&'static str>) -> Self {
        Self { name: name.into(), names }
    }

    /// The same without these tools.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let left = self.names.iter().copied().filter(|name| !names.contains(name)).collect();
        Self { name: self.name.clone(), names: left }
    }

    /// Whether a tool of this name is exposed.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}

impl fmt::Display for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
