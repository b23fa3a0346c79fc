//! Keeps the health of MCP servers at their last use, in `mcp.json` of the state directory, for `status`.
//!
//! If the file is deleted, nothing else is lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::json_file;

/// The file's name.
pub const FILE_NAME: &str = "mcp.json";

/// The health of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerRecord {
    /// When it last answered.
    pub last_ok: Option<Timestamp>,
    /// When it last failed.
    pub failed: Option<Timestamp>,
    /// The problem at that time.
    pub last_error: Option<String>,
}

impl ServerRecord {
    /// Whether its last use went well; none if it was never used.
    pub fn is_well(&self) -> Option<bool> {
        match (self.last_ok, self.failed) {
            (None, None) => None,
            (ok, failed) => Some(ok >= failed),
        }
    }
}

/// The file.
#[derive(Debug, Clone)]
pub struct ServerHealth(PathBuf);

impl ServerHealth {
    /// In this state directory.
    pub fn new(state: &Path) -> Self {
        Self(state.join(FILE_NAME))
    }

    /// The health of all servers; empty if the file can't be read.
    pub fn load(&self) -> BTreeMap<String, ServerRecord> {
        json_file::load(&self.0).unwrap_or_default()
    }

    pub(super) fn record_success(&self, server: &str, now: Timestamp) {
        self.update(server, |seen| seen.last_ok = Some(now));
    }

    pub(super) fn record_failure(&self, server: &str, why: &str, now: Timestamp) {
        self.update(server, |seen| {
            seen.failed = Some(now);
            seen.last_error = Some(why.to_owned());
        });
    }

    fn update(&self, server: &str, change: impl FnOnce(&mut ServerRecord)) {
        let mut all = self.load();
        change(all.entry(server.to_owned()).or_default());
        if let Err(error) = json_file::save(&self.0, &all) {
            tracing::debug!("how MCP servers are can't be kept: {error}");
        }
    }
}
