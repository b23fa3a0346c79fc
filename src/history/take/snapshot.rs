//! Takes snapshots: of the whole vault, or of some paths.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use git2::Oid;

use super::committer::{Committer, SnapshotResult};
use super::deletions::{BULK, Deletions};
use super::entries::{EntryFile, FileEntries, FileEntry};
use super::history::History;
use super::left_out;
use super::pending::{self, PendingRestore};
use super::scan::{HistoryScanner, LeftOut, ScanResult};
use super::subjects::{bulk, human};
use crate::history::error::Result;
use crate::history::store::{HistoryStore, failpoint};
use crate::vault::NotePath;

impl History {
    /// Compares the whole vault with the last snapshot and commits what differs.
    ///
    /// # Errors
    /// The vault isn't there, the history can't be written, or another process holds it too long.
    pub fn snapshot_all(&self, deletions: Deletions) -> Result<SnapshotResult> {
        let store = self.store();
        let mut commits = self.committer(&store)?;
        self.replaced.store(false, Ordering::SeqCst);
        let base = commits.tree;
        let file = EntryFile::new(&self.dir);
        let mut entries = file.load();
        let mut scan = self.scanner(&store, base).scan_all(&entries, &mut commits.objects)?;
        failpoint("history::scanned");
        let seen = std::mem::take(&mut scan.new_entries);
        let waiting = commits.commit_scan(scan, deletions)?;
        left_out::replace_list(&self.dir, &commits.snapshot.left_out)?;
        let tree = commits.tree;
        if entries.tree != Some(tree) || !seen.is_empty() {
            for (path, entry) in seen.into_iter().filter(|(path, _)| !waiting.contains(path)) {
                match entry {
                    Some(entry) => drop(entries.map.insert(path.into(), entry)),
                    None => drop(entries.map.remove(path.as_str())),
                }
            }
            if entries.tree != Some(base) {
                complete(&mut entries, &store, tree)?;
            }
            entries.tree = Some(tree);
            file.rewrite(&entries);
        }
        Ok(commits.snapshot)
    }

    /// Compares the given paths with the last snapshot and commits what differs.
    ///
    /// # Errors
    /// As [`History::snapshot_all`].
    pub fn snapshot_paths(&self, paths: &BTreeSet<NotePath>, deletions: Deletions) -> Result<SnapshotResult> {
        if self.is_replaced() {
            return self.snapshot_all(deletions);
        }
        let store = self.store();
        let mut commits = self.committer(&store)?;
        let scan = self.scanner(&store, commits.tree).scan_paths(paths, &mut commits.objects)?;
        commits.commit_scan(scan, deletions)?;
        left_out::update_paths(&self.dir, paths, &commits.snapshot.left_out)?;
        Ok(commits.snapshot)
    }

    /// A scanner that compares the vault with the tree `base`.
    pub(in crate::history) fn scanner<'s>(
        &'s self,
        store: &'s HistoryStore,
        base: Oid,
    ) -> HistoryScanner<'s> {
        HistoryScanner { store, vault: &self.vault, selection: &self.selection, base }
    }

    /// The files that no snapshot holds, as of the last scan.
    ///
    /// # Errors
    /// The list can't be read.
    pub fn left_out(&self) -> Result<Vec<LeftOut>> {
        left_out::read(&self.dir)
    }

    /// The restore that is under way, or that was interrupted.
    ///
    /// # Errors
    /// The note about it can't be read.
    pub fn pending_restore(&self) -> Result<Option<PendingRestore>> {
        pending::load(&self.dir)
    }
}

/// Makes the entries exactly the files of `tree`. Files that are in the tree without having been read (held, excluded, in
/// the cloud) are known by their content alone, so that no later walk takes the entries for the tree and misses them.
fn complete(entries: &mut FileEntries, store: &HistoryStore, tree: Oid) -> Result<()> {
    let files = store.files(tree)?;
    entries.map.retain(|path, _| files.contains_key(&**path));
    for (path, state) in files {
        let same = entries.map.get(path.as_str()).is_some_and(|entry| entry.state == state);
        if !same {
            entries.map.insert(path.into(), FileEntry { size: 0, mtime_ns: 0, inode: 0, state });
        }
    }
    Ok(())
}

impl Committer<'_> {
    /// Commits what a scan found, and returns the files whose change waits: for a person's word, or for the end of an undo.
    fn commit_scan(&mut self, mut scan: ScanResult, deletions: Deletions) -> Result<BTreeSet<String>> {
        let (history, first) = (self.history, self.head.is_none());
        self.snapshot.left_out = std::mem::take(&mut scan.left_out);
        let renamed = history.renamed(self.store, self.tree, &scan)?;
        let renamed: BTreeSet<&str> = renamed.iter().map(|rename| rename.from.as_str()).collect();
        let held = history.hold(self.store, self.tree, &scan, &renamed, deletions)?;
        let mut waiting: BTreeSet<String> =
            held.iter().flat_map(|held| held.deleted.iter().cloned()).collect();
        scan.deleted.retain(|path| !waiting.contains(path));
        let restored = pending::load(&history.dir)?;
        let targets = restored.as_ref().map(PendingRestore::targets).unwrap_or_default();
        let (ours, theirs): (Vec<_>, Vec<_>) = scan
            .changed
            .into_iter()
            .chain(scan.deleted.into_iter().map(|path| (path, None)))
            .partition(|(path, state)| targets.get(path.as_str()) == Some(state));
        match restored.as_ref().filter(|_| !ours.is_empty()) {
            Some(undo) if undo.undoing.is_some() => waiting.extend(ours.into_iter().map(|(path, _)| path)),
            Some(restore) => self.commit(&ours, &restore.message())?,
            None => {}
        }
        let (gone, kept): (Vec<_>, Vec<_>) = theirs.into_iter().partition(|(_, state)| state.is_none());
        // A mass deletion is a commit of its own, so that it can be restored alone.
        let (gone, moved): (Vec<_>, Vec<_>) =
            gone.into_iter().partition(|(path, _)| !renamed.contains(path.as_str()));
        let (together, alone) =
            if gone.len() >= BULK { (moved, gone) } else { ([moved, gone].concat(), Vec::new()) };
        self.commit_changes_of_people(kept.into_iter().chain(together).collect())?;
        self.commit(&alone, &bulk(&alone))?;
        if first && self.snapshot.commits.is_empty() {
            // Even an empty vault has a first snapshot, for restores to begin from.
            self.commit_tree(self.tree, &human(&[], true))?;
        }
        pending::keep_or_remove(&history.dir.join("held.json"), held.as_ref())?;
        self.snapshot.held = held;
        Ok(waiting)
    }
}
