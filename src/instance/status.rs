//! Reads and writes the daemon's report about itself: one small file in the state directory, for `status` and `doctor`.
//! Also reads and writes the report of the last `tick` that ran without a daemon.
//!
//! The file is only a report. The daemon's lock decides whether a daemon runs, never this file. If a daemon holds the
//! lock and does nothing, the time of the last pass shows this.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::json_file;
use crate::machines::status::MachinesStatus;

/// The report's file, in the state directory.
pub const FILE_NAME: &str = "status.json";

/// The daemon's last report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DaemonStatus {
    /// The process.
    pub pid: u32,
    /// The program's version.
    pub version: String,
    /// When it started.
    pub started: Timestamp,
    /// When the last pass began.
    pub last_pass: Option<Timestamp>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// How many passes took longer than two seconds.
    pub slow_passes: u64,
    /// The number of reminders and commitments that were sent since the start.
    pub fired: u64,
    /// A problem of the last pass, if there was one.
    pub last_error: Option<String>,
    /// The reason why the settings on disk are not in force, if they aren't.
    pub settings_error: Option<String>,
    /// The state of the watcher: `watching`, or the reason why it isn't.
    pub watcher: String,
    /// The last time at which a poll of every file found nothing that the watcher had missed.
    #[serde(default)]
    pub agreed: Option<Timestamp>,
    /// The number of missed changes that such polls found since the start.
    #[serde(default)]
    pub unseen: u64,
    /// The machines that share the vault, as this one last saw them.
    #[serde(default)]
    pub machines: Option<MachinesStatus>,
    /// The status texts of the further parts: history, index, Discord.
    pub parts: std::collections::BTreeMap<String, String>,
}

impl DaemonStatus {
    /// A report of a daemon that has just started.
    pub fn new(now: Timestamp) -> Self {
        Self {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started: now,
            watcher: "starting".to_owned(),
            ..Self::default()
        }
    }

    /// Sets a part's status, in a few words; without any it has none.
    pub fn set_part(&mut self, part: &str, words: impl Into<String>) {
        let words = words.into();
        match words.is_empty() {
            true => self.parts.remove(part),
            false => self.parts.insert(part.to_owned(), words),
        };
    }

    /// Writes the report, whole or not at all.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn write(&self, state: &Path) -> std::io::Result<()> {
        json_file::save(&state.join(FILE_NAME), self)
    }

    /// The last report, if there is one that can be read.
    pub fn read(state: &Path) -> Option<Self> {
        json_file::load(&state.join(FILE_NAME))
    }
}

/// The last pass that `tick` made without a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastTick {
    /// When it was made.
    pub at: Timestamp,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Whether that is longer than a pass may take.
    pub slow: bool,
}

impl LastTick {
    const FILE_NAME: &str = "tick.json";

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn write(&self, state: &Path) -> std::io::Result<()> {
        json_file::save(&state.join(Self::FILE_NAME), self)
    }

    /// The last one, if it is known.
    pub fn read(state: &Path) -> Option<Self> {
        json_file::load(&state.join(Self::FILE_NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_back() {
        let state = tempfile::tempdir().unwrap();
        assert!(DaemonStatus::read(state.path()).is_none());
        let mut status = DaemonStatus::new("2026-12-01T09:00:00Z".parse().unwrap());
        status.fired = 3;
        status.write(state.path()).unwrap();
        let read = DaemonStatus::read(state.path()).unwrap();
        assert_eq!((read.fired, read.started, read.pid), (3, status.started, std::process::id()));
    }
}
