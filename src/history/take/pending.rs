//! Keeps the journal of a restore or an undo: its writes, saved before the first of them.
//!
//! While the journal exists, a snapshot attributes a file in its target state to the restore and not to a person (an undo's
//! files are left to the one commit at its end). After a crash the next `restore` or `undo`, or the daemon, finishes the
//! rest or takes it back.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use git2::Oid;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::subjects::restored;
use crate::config::json_file;
use crate::history::error::{HistoryError, Result};
use crate::history::store::{FileState, Message, Mode, sync_dir};

const NAME: &str = "restore.json";

/// A restore that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingRestore {
    /// Which snapshot it brings back.
    pub from: String,
    /// The commit subject.
    pub subject: String,
    /// When it began.
    pub began: Timestamp,
    /// Every file that it writes or removes.
    pub steps: Vec<PendingStep>,
    /// The commits that it reverts, where it is an undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoing: Option<Undoing>,
}

/// The part of a pending restore that makes it an undo.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undoing {
    /// The commits that are taken back, newest first; none where an undo that could not be done goes back itself.
    pub undoes: Vec<String>,
    /// Further words of its commit.
    pub body: Option<String>,
}

/// One file of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingStep {
    /// Vault-relative.
    pub path: String,
    /// The state before, `None` where there was no file.
    pub before: Option<StoredState>,
    /// The state that it gets, `None` where it is removed.
    pub after: Option<StoredState>,
}

/// A [`FileState`] in JSON: the mode in octal and the content's id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredState(String, String);

impl From<FileState> for StoredState {
    fn from(state: FileState) -> Self {
        Self(state.mode.octal().to_owned(), state.id.to_string())
    }
}

impl StoredState {
    pub(crate) fn state(&self) -> Option<FileState> {
        let mode = i32::from_str_radix(&self.0, 8).ok().and_then(Mode::from_raw)?;
        Some(FileState { id: Oid::from_str(&self.1).ok()?, mode })
    }
}

impl PendingRestore {
    /// The state that the restore gives to each of its files.
    pub(crate) fn targets(&self) -> HashMap<&str, Option<FileState>> {
        let target = |step: &PendingStep| step.after.as_ref().and_then(StoredState::state);
        self.steps.iter().map(|step| (step.path.as_str(), target(step))).collect()
    }

    pub(crate) fn message(&self) -> Message {
        let paths: Vec<&str> = self.steps.iter().map(|step| step.path.as_str()).collect();
        restored(&self.subject, &self.from, &paths)
    }
}

pub(crate) fn load(dir: &Path) -> Result<Option<PendingRestore>> {
    read_json(&dir.join(NAME))
}

pub(crate) fn begin(dir: &Path, restore: &PendingRestore) -> Result<()> {
    write_json(&dir.join(NAME), restore)
}

pub(crate) fn end(dir: &Path) -> Result<()> {
    keep_or_remove::<()>(&dir.join(NAME), None)
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)
            .map_err(|error| tracing::warn!(path = %path.display(), %error, "unreadable note of the history, ignored"))
            .ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(HistoryError::io("read", path)(error)),
    }
}

/// Written beside, synced and renamed: a reader sees the old or the new file, never half of one.
pub(crate) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    json_file::replace(path, &bytes, true).map_err(HistoryError::io("write", path))?;
    path.parent().map(sync_dir);
    Ok(())
}

pub(crate) fn keep_or_remove<T: Serialize>(path: &Path, value: Option<&T>) -> Result<()> {
    match value {
        Some(value) => write_json(path, value),
        None => match fs::remove_file(path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(HistoryError::io("remove", path)(error)),
        },
    }
}
