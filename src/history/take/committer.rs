//! Makes the commits of one snapshot, each on top of the last. [`Committer`] holds the history's lock until it is dropped.

use std::sync::PoisonError;

use git2::Oid;
use serde::Serialize;

use super::deletions::HeldDeletions;
use super::history::History;
use super::scan::LeftOut;
use super::subjects::human;
use crate::history::error::Result;
use crate::history::store::{BranchLock, CommitMessage, HistoryStore, ObjectWriter, PathChange, TreeChange};

/// The result of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SnapshotResult {
    /// The new commits' ids, oldest first; none where nothing had changed.
    pub commits: Vec<String>,
    /// How many files were added.
    pub added: usize,
    /// How many had changed.
    pub changed: usize,
    /// How many were deleted.
    pub deleted: usize,
    /// Deletions that were not recorded and wait for a person's word.
    pub held: Option<HeldDeletions>,
    /// The files that were looked at and left out.
    pub left_out: Vec<LeftOut>,
}

impl SnapshotResult {
    /// Whether nothing had changed.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.held.is_none()
    }
}

pub(in crate::history) struct Committer<'s> {
    pub history: &'s History,
    pub store: &'s HistoryStore,
    lock: BranchLock,
    /// The newest commit.
    pub head: Option<Oid>,
    /// Its tree.
    pub tree: Oid,
    pub objects: ObjectWriter<'s>,
    /// The snapshot so far.
    pub snapshot: SnapshotResult,
}

impl History {
    /// Takes the history's lock.
    pub(in crate::history) fn committer<'s>(&'s self, store: &'s HistoryStore) -> Result<Committer<'s>> {
        let lock = store.lock()?;
        let (head, tree) = store.head_tree()?;
        let (objects, snapshot) = (store.objects(), SnapshotResult::default());
        Ok(Committer { history: self, store, lock, head, tree, objects, snapshot })
    }
}

impl Committer<'_> {
    /// Commits changes that the editor didn't report: transcripts first, the rest as people's.
    pub fn commit_changes_of_people(&mut self, changes: Vec<TreeChange>) -> Result<()> {
        let first = self.head.is_none();
        let changes = if first { changes } else { self.commit_logged(changes)? };
        let fact = |(path, new): &TreeChange| {
            Ok(PathChange { path: path.clone(), old: self.store.file(self.tree, path)?, new: *new })
        };
        let facts = changes.iter().map(fact).collect::<Result<Vec<_>>>()?;
        self.commit(&changes, &human(&facts, first))
    }

    /// Commits `changes`, unless they change nothing.
    pub fn commit(&mut self, changes: &[TreeChange], message: &CommitMessage) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        for (path, new) in changes {
            match (self.store.file(self.tree, path)?, new) {
                (None, Some(_)) => self.snapshot.added += 1,
                (Some(_), Some(_)) => self.snapshot.changed += 1,
                (_, None) => self.snapshot.deleted += 1,
            }
        }
        let tree = self.store.update_tree(self.tree, changes, &mut self.objects)?;
        if tree == self.tree { Ok(()) } else { self.commit_tree(tree, message) }
    }

    /// Commits `tree`, also where it is the tree of the last commit.
    pub fn commit_tree(&mut self, tree: Oid, message: &CommitMessage) -> Result<()> {
        let now = self.history.now().to_zoned(self.history.zone().clone());
        let parents = self.head.as_slice();
        let id = self.store.commit_tree(&self.lock, parents, tree, message, &now, &mut self.objects)?;
        self.history.mine.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        (self.head, self.tree) = (Some(id), tree);
        self.snapshot.commits.push(id.to_string());
        Ok(())
    }
}
