//! Commits each write that the editing engine reports. If a person changed the note before the write, that change is
//! committed first, as the person's.
//!
//! [`History::together`] makes one commit of all writes of a closure; a person's change between them is part of that
//! commit. If snapshots leave out the written note, an empty commit records the write for `undo`, unless `undo` skips
//! writes of that kind. The writes of a restore or an undo are committed at its end.

use std::collections::{BTreeSet, HashMap};
use std::sync::{MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use super::pending;
use super::scan::update_left_out;
use super::select::PathTreatment;
use super::snapshot::Committer;
use crate::format::summary;
use crate::history::store::{
    CONVERSATION, CommitMessage, FileState, LEFT_OUT, TEMPLATE, TRANSCRIPT, TreeChange,
};
use crate::history::{Commit, FileMode, History, LeftOut, Result};
use crate::vault::{
    Actor, BOOKKEEPING, ChangeObserver, ChangeReason, NotePath, OPERATION, ObservedChange, edited_note,
};

impl History {
    /// Commits one write of the agent; what a person had changed before it is a commit of its own first.
    /// Idempotent: the same write may be reported again after a crash.
    ///
    /// # Errors
    /// The history can't be written, or another process holds it too long.
    pub fn record(&self, change: &ObservedChange<'_>) -> Result<()> {
        let path = self.real_path(change.path);
        let size = change.after.map_or(0, <[u8]>::len) as u64;
        // All writes of a restore, or of an undo, are committed at its end.
        if change.why.actor == Actor::Restore && pending::load(self.dir())?.is_some() {
            return Ok(());
        }
        if self.selection.verdict(path.as_str()) != PathTreatment::Keep {
            return self.record_left_out(&path, change.why);
        }
        if self.selection.is_too_large(path.as_str(), size) {
            tracing::warn!(note = %path, size, "larger than `[history] max_file_bytes`; not kept in history");
            let left = LeftOut { path: path.to_string(), reason: self.selection.too_large(size) };
            self.record_left_out(&path, change.why)?;
            return update_left_out(self.dir(), &[path].into(), &[left]);
        }
        if let Some(paths) = self.grouped().get_mut(&thread::current().id()) {
            paths.insert(path);
            return Ok(());
        }
        let store = self.store();
        let mut commits = self.committer(&store)?;
        let message = CommitMessage::new(change.why, [path.as_str()]);
        let known = store.file(commits.tree, path.as_str())?;
        let mode = match known {
            Some(FileState { mode: FileMode::Executable, .. }) => FileMode::Executable,
            _ => FileMode::File,
        };
        let before = commits.objects.write_file(change.before, mode)?;
        let after = commits.objects.write_file(change.after, mode)?;
        if known == after && commits.is_reported_again(&message)? {
            return Ok(());
        }
        // A change by a person, or by a restore that was killed.
        if known != before {
            let earlier = vec![(path.to_string(), before)];
            let restore = pending::load(self.dir())?;
            match restore.filter(|restore| restore.targets().get(path.as_str()) == Some(&before)) {
                Some(restore) => commits.commit(&earlier, &restore.message([path.as_str()]))?,
                None => commits.commit_changes_of_people(earlier)?,
            }
        }
        commits.commit(&[(path.to_string(), after)], &message)
    }

    /// Records in an empty snapshot that the agent wrote a note that no snapshot holds: else `undo` would take back
    /// half of an operation, or the write before it. No content is kept.
    fn record_left_out(&self, path: &NotePath, why: &ChangeReason) -> Result<()> {
        if is_skipped_by_undo(&CommitMessage::new(why, [])) {
            return Ok(());
        }
        let store = self.store();
        let mut commits = self.committer(&store)?;
        let of_unit = |(key, _): &&(String, String)| [OPERATION, CONVERSATION].contains(&key.as_str());
        let subject = format!("wrote `{path}`, which is in no snapshot");
        let trailers = why.trailers.iter().filter(of_unit).cloned().collect();
        let why = ChangeReason { trailers, ..ChangeReason::new(why.actor, subject) }
            .trailer(LEFT_OUT, path.as_str());
        let message = CommitMessage::new(&why, []);
        if commits.head.is_none() || commits.is_reported_again(&message)? {
            return Ok(());
        }
        commits.commit_tree(commits.tree, &message)
    }

    /// Makes one commit, for `why`, of all that `write` does to notes, on this thread.
    ///
    /// # Errors
    /// Beside what `write` returns: the history can't be written, or another process holds it too long.
    pub fn together<T>(&self, why: &ChangeReason, write: impl FnOnce() -> T) -> (T, Result<()>) {
        let thread = thread::current().id();
        self.grouped().insert(thread, BTreeSet::new());
        let done = write();
        let paths = self.grouped().remove(&thread).unwrap_or_default();
        (done, self.record_group(&paths, why))
    }

    fn record_group(&self, paths: &BTreeSet<NotePath>, why: &ChangeReason) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let store = self.store();
        let mut commits = self.committer(&store)?;
        let scan = self.scanner(&store, commits.tree, &mut commits.objects).scan_paths(paths)?;
        let deleted = scan.deleted.into_iter().map(|path| (path, None));
        let changes: Vec<TreeChange> = scan.changed.into_iter().chain(deleted).collect();
        let message = CommitMessage::new(why, changes.iter().map(|(path, _)| path.as_str()));
        commits.commit(&changes, &message)
    }

    /// The notes of the writes of each thread that are to be one commit, while that goes on.
    fn grouped(&self) -> MutexGuard<'_, HashMap<ThreadId, BTreeSet<NotePath>>> {
        self.grouped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The note of a write that has not been reported yet. The caller holds the history's lock, so a report waits.
    pub(super) fn note_being_edited(&self) -> Option<String> {
        let path = edited_note(self.dir().parent()?)?;
        Some(self.real_path(&path).to_string())
    }

    /// The note's path with links resolved, as snapshots know it.
    fn real_path(&self, path: &NotePath) -> NotePath {
        self.vault.resolved(path).unwrap_or_else(|| path.clone())
    }
}

impl Committer<'_> {
    /// Whether another run has committed the same write recently: it was reported before a crash.
    fn is_reported_again(&self, message: &CommitMessage) -> Result<bool> {
        let mine = self.history.mine.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_committed(message, 64, |commit| !mine.contains(&commit.id))
    }

    /// Whether one of the newest `most` commits has the same message, before the first that isn't looked at.
    pub fn is_committed(
        &self,
        message: &CommitMessage,
        most: usize,
        looks_at: impl Fn(&Commit) -> bool,
    ) -> Result<bool> {
        for commit in self.store.commits(self.head).take(most) {
            let commit = commit?;
            if !looks_at(&commit) {
                break;
            }
            if commit.message == *message {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether `undo` skips a write: transcripts and the template can't be undone, a summary comes back by itself, and
/// bookkeeping is no work that a person asked for.
pub(in crate::history) fn is_skipped_by_undo(message: &CommitMessage) -> bool {
    [TRANSCRIPT, TEMPLATE, BOOKKEEPING, summary::TRAILER].iter().any(|key| message.trailer(key).is_some())
}

impl ChangeObserver for History {
    fn changed(&self, change: &ObservedChange<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.record(change)?)
    }
}
