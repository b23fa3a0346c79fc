//! Stores, in the state directory, what this machine has seen of the branch at a remote.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::EngineError;
use super::state_file::StateMark;
use crate::config::json_file;

/// The file, in the state directory.
const FILE: &str = "machines-git.json";

/// The newest state that was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeenState {
    /// At which remote.
    pub remote: String,
    /// The branch that was the last one.
    pub branch: Option<String>,
    /// Its newest state.
    pub mark: Option<StateMark>,
}

impl SeenState {
    /// Loads what was seen at `remote`; nothing of another one.
    pub fn load(state: &Path, remote: &str) -> Self {
        let read: Option<Self> = json_file::load(&state.join(FILE));
        read.filter(|seen| seen.remote == remote).unwrap_or_default()
    }

    /// Keeps it.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn save(&self, state: &Path) -> Result<(), EngineError> {
        let path = state.join(FILE);
        json_file::save(&path, self)
            .map_err(|error| EngineError::Refused(format!("{} can't be written: {error}", path.display())))
    }
}
