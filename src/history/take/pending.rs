//! Stores the journal of a running restore or undo (`restore.json` of the history's directory). Also reads and replaces
//! the small JSON files of the history's other journals.
//!
//! All planned writes are saved in the journal before the first of them is made. While the journal exists, a file in
//! its planned state counts as written by the restore or undo, not by a person. If a snapshot finds such a file, the
//! snapshot commits a file of a restore as the restore's change. It leaves a file of an undo uncommitted: the undo
//! makes one commit of all its files when it ends.
//!
//! After a crash the next `restore` or `undo` finishes the remaining writes or takes all of them back; the daemon
//! finishes an undo.

use serde::de::DeserializeOwned;

use crate::config::json_file;
use crate::history::error::{HistoryError, Result, if_there};
use crate::history::prelude::*;
use crate::history::store::{CommitMessage, FileState, RESTORED_FROM, UNDOES, sync_dir};
use crate::vault::{Actor, BOOKKEEPING, ChangeReason, OPERATION};

const NAME: &str = "restore.json";

/// A restore that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingRestore {
    /// The snapshot that it restores.
    pub from: String,
    /// The commit subject.
    pub subject: String,
    /// When it began.
    pub began: Timestamp,
    /// Every file that it writes or removes.
    pub steps: Vec<RestoreStep>,
    /// The commits that it reverts, where it is an undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoing: Option<PendingUndo>,
}

/// The part of a pending restore that makes it an undo.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingUndo {
    /// The commits that are taken back, newest first; none where an undo that could not be done goes back itself.
    pub undoes: Vec<String>,
    /// Further words of its commit.
    pub body: Option<String>,
}

/// One file that a restore writes or removes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreStep {
    /// Vault-relative.
    pub path: String,
    /// The state before, `None` where there was no file.
    pub before: Option<FileState>,
    /// The state that it gets, `None` where it is removed.
    pub after: Option<FileState>,
}

impl RestoreStep {
    /// The way back.
    pub(crate) fn reversed(&self) -> Self {
        Self { path: self.path.clone(), before: self.after, after: self.before }
    }
}

impl PendingRestore {
    /// The state that the restore gives to each of its files.
    pub(crate) fn targets(&self) -> HashMap<&str, Option<FileState>> {
        self.steps.iter().map(|step| (step.path.as_str(), step.after)).collect()
    }

    /// The reason of the restore's writes. They are one operation, though snapshots may come between them.
    pub(crate) fn why(&self) -> ChangeReason {
        ChangeReason::new(Actor::Restore, self.subject.clone())
            .trailer(RESTORED_FROM, self.from.clone())
            .trailer(OPERATION, format!("restore-{}", self.began.as_nanosecond()))
    }

    /// The message of a commit that holds what the restore, or the undo, wrote to these paths.
    pub(crate) fn message<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> CommitMessage {
        let paths: Vec<&str> = paths.into_iter().collect();
        let some = format!("restored: {} of ", paths.len());
        let why = match &self.undoing {
            None if paths.len() < self.steps.len() => {
                ChangeReason { subject: self.subject.replacen("restored: ", &some, 1), ..self.why() }
            }
            None => self.why(),
            Some(undoing) => {
                let mut why = ChangeReason::new(Actor::Restore, self.subject.clone());
                why.body.clone_from(&undoing.body);
                why.trailers = undoing.undoes.iter().map(|id| (UNDOES.to_owned(), id.clone())).collect();
                if undoing.undoes.is_empty() { why.trailer(BOOKKEEPING, "undo") } else { why }
            }
        };
        CommitMessage::new(&why, paths)
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
    let bytes = if_there(fs::read(path)).map_err(HistoryError::io("read", path))?;
    Ok(bytes.and_then(|bytes| {
        let ignored = |error: serde_json::Error| {
            tracing::warn!(path = %path.display(), %error, "unreadable note of the history, ignored");
        };
        serde_json::from_slice(&bytes).map_err(ignored).ok()
    }))
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
        None => if_there(fs::remove_file(path)).map(drop).map_err(HistoryError::io("remove", path)),
    }
}
