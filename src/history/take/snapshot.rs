//! Takes snapshots: of the whole vault, of some paths, or of one write of the agent.

use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use git2::Oid;
use serde::Serialize;

use super::deletions::{BULK, Deletions, HeldDeletions};
use super::entries::{Entries, Entry, EntryFile};
use super::history::History;
use super::left_out;
use super::pending::{self, PendingRestore};
use super::scan::{LeftOut, Scan, Scanner};
use super::subjects::{Fact, bulk, human};
use crate::history::error::Result;
use crate::history::store::{Lock, Message, ObjectWriter, Store, TreeChange, failpoint};
use crate::vault::NotePath;

/// The result of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Snapshot {
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

impl History {
    /// Compares the whole vault with the last snapshot and commits what differs.
    ///
    /// # Errors
    /// The vault isn't there, the history can't be written, or another process holds it too long.
    pub fn snapshot_all(&self, deletions: Deletions) -> Result<Snapshot> {
        let store = self.store();
        let lock = store.lock()?;
        self.replaced.store(false, Ordering::SeqCst);
        let (head, base) = store.head_tree()?;
        let file = EntryFile::new(&self.dir);
        let mut entries = file.load();
        let scanner = Scanner { store: &store, vault: &self.vault, selection: &self.selection, base };
        let (mut scan, objects) = scanner.full(&entries)?;
        failpoint("history::scanned");
        let seen = std::mem::take(&mut scan.seen);
        let done = self.commit_scan(&store, &lock, head, base, scan, objects, deletions)?;
        left_out::all(&self.dir, &done.snapshot.left_out)?;
        if entries.tree != Some(done.tree) || !seen.is_empty() {
            self.entries_after_scan(&store, &mut entries, seen, &done)?;
            file.rewrite(&entries);
        }
        Ok(done.snapshot)
    }

    /// Compares the given paths with the last snapshot and commits what differs.
    ///
    /// # Errors
    /// As [`History::snapshot_all`].
    pub fn snapshot_paths(&self, paths: &BTreeSet<NotePath>, deletions: Deletions) -> Result<Snapshot> {
        if self.is_replaced() {
            return self.snapshot_all(deletions);
        }
        let store = self.store();
        let lock = store.lock()?;
        let (head, base) = store.head_tree()?;
        let scanner = Scanner { store: &store, vault: &self.vault, selection: &self.selection, base };
        let (scan, objects) = scanner.some(paths)?;
        let done = self.commit_scan(&store, &lock, head, base, scan, objects, deletions)?;
        left_out::update_paths(&self.dir, paths, &done.snapshot.left_out)?;
        Ok(done.snapshot)
    }

    /// The entries after a full scan: exactly the files of the new tree.
    fn entries_after_scan(
        &self,
        store: &Store,
        entries: &mut Entries,
        seen: Vec<(String, Option<Entry>)>,
        done: &Done,
    ) -> Result<()> {
        for (path, entry) in seen {
            match entry {
                _ if done.held.contains(&path) => {}
                Some(entry) => drop(entries.map.insert(path.into(), entry)),
                None => drop(entries.map.remove(path.as_str())),
            }
        }
        // Files that are in the tree without having been read (held, excluded, in the cloud) are known
        // by their content alone, so that no later walk takes the entries for the tree and misses them.
        if entries.tree != Some(done.base) {
            let files = store.files(done.tree)?;
            entries.map.retain(|path, _| files.contains_key(&**path));
            for (path, state) in files {
                let same = entries.map.get(path.as_str()).is_some_and(|entry| entry.state == state);
                if !same {
                    entries.map.insert(path.into(), Entry { size: 0, mtime_ns: 0, inode: 0, state });
                }
            }
        }
        entries.tree = Some(done.tree);
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "one snapshot's parts, called from two places")]
    fn commit_scan<'s>(
        &self,
        store: &'s Store,
        lock: &Lock,
        head: Option<Oid>,
        base: Oid,
        mut scan: Scan,
        objects: ObjectWriter<'s>,
        deletions: Deletions,
    ) -> Result<Done> {
        let mut snapshot = Snapshot { left_out: std::mem::take(&mut scan.left_out), ..Snapshot::default() };
        let renamed = self.renamed(store, base, &scan)?;
        let renamed: BTreeSet<&str> = renamed.iter().map(|rename| rename.from.as_str()).collect();
        let held = self.hold(store, base, &scan, &renamed, deletions)?;
        let mut waits: BTreeSet<String> = held.iter().flat_map(|held| held.deleted.iter().cloned()).collect();
        scan.deleted.retain(|path| !waits.contains(path));
        let mut at = SnapshotProgress { head, tree: base, objects: Some(objects) };
        let restored = pending::load(&self.dir)?;
        let targets = restored.as_ref().map(PendingRestore::targets).unwrap_or_default();
        let (ours, theirs): (Vec<_>, Vec<_>) = scan
            .changed
            .into_iter()
            .chain(scan.deleted.into_iter().map(|path| (path, None)))
            .partition(|(path, state)| targets.get(path.as_str()) == Some(state));
        match restored.as_ref().filter(|_| !ours.is_empty()) {
            Some(undo) if undo.undoing.is_some() => waits.extend(ours.into_iter().map(|(path, _)| path)),
            Some(restore) => {
                self.commit(store, lock, &mut at, &ours, &restore.message(), &mut snapshot)?;
            }
            None => {}
        }
        let (gone, kept): (Vec<_>, Vec<_>) = theirs.into_iter().partition(|(_, state)| state.is_none());
        // A mass deletion is a commit of its own, so that it can be restored alone.
        let (gone, moved): (Vec<_>, Vec<_>) =
            gone.into_iter().partition(|(path, _)| !renamed.contains(path.as_str()));
        let (together, alone) =
            if gone.len() >= BULK { (moved, gone) } else { ([moved, gone].concat(), Vec::new()) };
        let together = kept.into_iter().chain(together).collect();
        self.commit_changes_of_people(store, lock, &mut at, together, &mut snapshot)?;
        self.commit(store, lock, &mut at, &alone, &bulk(&alone), &mut snapshot)?;
        if head.is_none() && snapshot.commits.is_empty() {
            // Even an empty vault has a first snapshot, for restores to begin from.
            self.commit_always(store, lock, &mut at, &human(&[], true), &mut snapshot)?;
        }
        pending::keep_or_remove(&self.dir.join("held.json"), held.as_ref())?;
        snapshot.held = held;
        Ok(Done { snapshot, base, tree: at.tree, held: waits })
    }

    /// Commits changes that the editor didn't report: transcripts first, the rest as people's.
    pub(super) fn commit_changes_of_people<'s>(
        &self,
        store: &'s Store,
        lock: &Lock,
        at: &mut SnapshotProgress<'s>,
        changes: Vec<TreeChange>,
        snapshot: &mut Snapshot,
    ) -> Result<()> {
        let first = at.head.is_none();
        let changes = if first { changes } else { self.commit_logged(store, lock, at, changes, snapshot)? };
        let message = human(&self.facts(store, at.tree, &changes)?, first);
        self.commit(store, lock, at, &changes, &message, snapshot)
    }

    /// The files that no snapshot holds, as of the last scan.
    ///
    /// # Errors
    /// The list can't be read.
    pub fn left_out(&self) -> Result<Vec<LeftOut>> {
        left_out::read(&self.dir)
    }

    /// For each change, whether the path is new, changed or gone, and what its content was.
    fn facts(&self, store: &Store, tree: Oid, changes: &[TreeChange]) -> Result<Vec<Fact>> {
        changes
            .iter()
            .map(|(path, new)| Ok(Fact { path: path.clone(), old: store.file(tree, path)?, new: *new }))
            .collect()
    }

    pub(in crate::history) fn commit<'s>(
        &self,
        store: &'s Store,
        lock: &Lock,
        at: &mut SnapshotProgress<'s>,
        changes: &[TreeChange],
        message: &Message,
        snapshot: &mut Snapshot,
    ) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        for (path, new) in changes {
            match (store.file(at.tree, path)?, new) {
                (None, Some(_)) => snapshot.added += 1,
                (Some(_), Some(_)) => snapshot.changed += 1,
                (_, None) => snapshot.deleted += 1,
            }
        }
        let mut objects = at.objects.take().unwrap_or_else(|| store.objects());
        let tree = store.update_tree(at.tree, changes, &mut objects)?;
        at.objects = Some(objects);
        if tree == at.tree {
            return Ok(());
        }
        at.tree = tree;
        self.commit_always(store, lock, at, message, snapshot)
    }

    pub(super) fn commit_always<'s>(
        &self,
        store: &'s Store,
        lock: &Lock,
        at: &mut SnapshotProgress<'s>,
        message: &Message,
        snapshot: &mut Snapshot,
    ) -> Result<()> {
        let objects = at.objects.take().unwrap_or_else(|| store.objects());
        let id = store.commit_tree(lock, at.head, at.tree, message, self.clock.now(), &self.zone, objects)?;
        self.mine.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        at.head = Some(id);
        snapshot.commits.push(id.to_string());
        Ok(())
    }

    /// The restore that is under way, or that was interrupted.
    ///
    /// # Errors
    /// The note about it can't be read.
    pub fn pending_restore(&self) -> Result<Option<PendingRestore>> {
        pending::load(&self.dir)
    }
}

/// The state between the commits of one snapshot.
pub(in crate::history) struct SnapshotProgress<'r> {
    pub head: Option<Oid>,
    pub tree: Oid,
    pub objects: Option<ObjectWriter<'r>>,
}

struct Done {
    snapshot: Snapshot,
    base: Oid,
    tree: Oid,
    /// The files whose change waits: for a person's word, or for the end of an undo.
    held: BTreeSet<String>,
}

impl Snapshot {
    /// Whether nothing had changed.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.held.is_none()
    }
}
