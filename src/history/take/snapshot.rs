//! Takes snapshots: of the whole vault, or of some paths.
//!
//! [`Committer`] makes the commits of one snapshot, each on top of the last, and holds the history's lock until it is
//! dropped. A bulk deletion is held until a person confirms it: more than twenty deleted files that are more than a
//! tenth of the known files, or all files. Renamed files don't count.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::entries::FileEntries;
use super::history::History;
use super::pending::{self, PendingRestore};
use super::renames::{Rename, file_name, pairs, removed_and_added};
use super::scan::{LeftOut, ScanResult, read_left_out, replace_left_out, update_left_out};
use crate::history::error::Result;
use crate::history::prelude::*;
use crate::history::store::{
    BULK_DELETION, BranchLock, CommitMessage, FileStates, HistoryStore, ObjectWriter, PathChange, TreeChange,
    empty_tree, encode_commit, failpoint,
};

impl History {
    /// Compares the whole vault with the last snapshot and commits what differs.
    ///
    /// # Errors
    /// The vault isn't there, the history can't be written, or another process holds it too long.
    pub fn snapshot_all(&self, deletions: Deletions) -> Result<SnapshotResult> {
        let store = self.store();
        let mut commits = self.committer(&store)?;
        self.replaced.store(false, Ordering::SeqCst);
        let entries = FileEntries::load(&self.dir);
        let mut scan = self.scanner(&store, commits.tree, &mut commits.objects).scan_all(&entries)?;
        failpoint("history::scanned");
        let seen = std::mem::take(&mut scan.entries);
        commits.commit_scan(scan, deletions)?;
        replace_left_out(&self.dir, &commits.snapshot.left_out)?;
        if seen != entries {
            seen.save(&self.dir);
        }
        Ok(commits.snapshot)
    }

    /// Compares the given paths with the last snapshot and commits what differs.
    pub fn snapshot_paths(&self, paths: &BTreeSet<NotePath>, deletions: Deletions) -> Result<SnapshotResult> {
        let store = self.store();
        if self.replaced.load(Ordering::SeqCst) {
            drop(store);
            return self.snapshot_all(deletions);
        }
        let mut commits = self.committer(&store)?;
        let scan = self.scanner(&store, commits.tree, &mut commits.objects).scan_paths(paths)?;
        commits.commit_scan(scan, deletions)?;
        update_left_out(&self.dir, paths, &commits.snapshot.left_out)?;
        Ok(commits.snapshot)
    }

    /// The files that no snapshot holds, as of the last scan.
    pub fn left_out(&self) -> Result<Vec<LeftOut>> {
        read_left_out(&self.dir)
    }

    /// Deletions that wait for a person's confirmation, if any.
    pub fn held(&self) -> Result<Option<HeldDeletions>> {
        pending::read_json(&self.dir().join("held.json"))
    }

    /// The restore that is under way, or that was interrupted.
    pub fn pending_restore(&self) -> Result<Option<PendingRestore>> {
        pending::load(&self.dir)
    }

    /// Takes the history's lock.
    pub(in crate::history) fn committer<'s>(&'s self, store: &'s HistoryStore) -> Result<Committer<'s>> {
        let lock = store.lock()?;
        let (head, tree) = store.head_tree()?;
        let (objects, snapshot) = (store.objects(), SnapshotResult::default());
        Ok(Committer { history: self, store, lock, head, tree, objects, snapshot })
    }
}

/// More deletions at once are a commit of their own, flagged.
const BULK: usize = 20;

/// The treatment of many deletions at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deletions {
    /// More than 20 and more than a tenth of the known files, or all of them, wait for a person's word.
    #[default]
    Hold,
    /// The person has said that they are meant.
    Accept,
}

/// Deletions that wait for a person's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldDeletions {
    /// Since when, RFC 3339.
    pub since: jiff::Timestamp,
    /// How many files are known.
    pub known: usize,
    /// The files that are gone from the vault and still in the last snapshot.
    pub deleted: Vec<String>,
}

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

pub(in crate::history) struct Committer<'s> {
    pub history: &'s History,
    pub store: &'s HistoryStore,
    pub lock: BranchLock,
    /// The newest commit.
    pub head: Option<Oid>,
    /// Its tree.
    pub tree: Oid,
    pub objects: ObjectWriter<'s>,
    /// The snapshot so far.
    pub snapshot: SnapshotResult,
}

impl Committer<'_> {
    /// Commits what a scan found, but for what waits: for a person's word, or for the end of an undo.
    fn commit_scan(&mut self, mut scan: ScanResult, deletions: Deletions) -> Result<()> {
        let (history, first) = (self.history, self.head.is_none());
        self.snapshot.left_out = std::mem::take(&mut scan.left_out);
        let renamed = self.renamed(&scan)?;
        let renamed: BTreeSet<&str> = renamed.iter().map(|rename| rename.from.as_str()).collect();
        let held = self.hold(&scan, &renamed, deletions)?;
        let mut waiting: BTreeSet<String> =
            held.iter().flat_map(|held| held.deleted.iter().cloned()).collect();
        // A write of ours that isn't reported yet waits for its report, or for the recovery, and for its reason.
        waiting.extend(history.note_being_edited());
        scan.deleted.retain(|path| !waiting.contains(path));
        scan.changed.retain(|(path, _)| !waiting.contains(path));
        let restored = pending::load(&history.dir)?;
        let targets = restored.as_ref().map(PendingRestore::targets).unwrap_or_default();
        let (ours, theirs): (Vec<_>, Vec<_>) = scan
            .changed
            .into_iter()
            .chain(scan.deleted.into_iter().map(|path| (path, None)))
            .partition(|(path, state)| targets.get(path.as_str()) == Some(state));
        if let Some(restore) = restored.as_ref().filter(|it| !ours.is_empty() && it.undoing.is_none()) {
            self.commit(&ours, &restore.message(ours.iter().map(|(path, _)| path.as_str())))?;
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
        Ok(())
    }

    /// The files that only have another path now, where so many are gone that it matters.
    fn renamed(&self, scan: &ScanResult) -> Result<Vec<Rename>> {
        if scan.deleted.len() < BULK {
            return Ok(Vec::new());
        }
        let deleted = scan.deleted.iter().map(|path| (path.clone(), None));
        let facts = self.facts(scan.changed.iter().cloned().chain(deleted))?;
        let [gone, come] = removed_and_added(&facts);
        // An object that was just written into a pack isn't readable yet.
        pairs(&gone, &come, |_, id| Ok(self.store.blob(id).unwrap_or_default()))
    }

    /// The deletions that wait for a person's word: of those that were not renamed.
    fn hold(
        &self,
        scan: &ScanResult,
        renamed: &BTreeSet<&str>,
        deletions: Deletions,
    ) -> Result<Option<HeldDeletions>> {
        let mut gone: Vec<&String> =
            scan.deleted.iter().filter(|path| !renamed.contains(path.as_str())).collect();
        if deletions == Deletions::Accept || gone.is_empty() {
            return Ok(None);
        }
        let files = self.store.files(self.tree)?;
        let known = files.len();
        let added = scan
            .changed
            .iter()
            .any(|(path, _)| self.store.file(self.tree, path).is_ok_and(|old| old.is_none()));
        let everything = gone.len() == known && !added;
        let many = |gone: usize| gone > BULK && gone * 10 > known;
        if !everything && many(gone.len()) {
            drop_files_found_elsewhere(&files, scan, &mut gone);
        }
        if !everything && !many(gone.len()) {
            return Ok(None);
        }
        let since = self.history.held()?.map_or_else(|| self.history.now(), |held| held.since);
        Ok(Some(HeldDeletions { since, known, deleted: gone.into_iter().cloned().collect() }))
    }

    /// Commits changes that the editor didn't report: transcripts first, the rest as people's.
    pub fn commit_changes_of_people(&mut self, changes: Vec<TreeChange>) -> Result<()> {
        let first = self.head.is_none();
        let changes = if first { changes } else { self.commit_logged(changes)? };
        self.commit(&changes, &human(&self.facts(changes.iter().cloned())?, first))
    }

    /// The changes with what the last commit holds.
    fn facts(&self, changes: impl Iterator<Item = TreeChange>) -> Result<Vec<PathChange>> {
        changes
            .map(|(path, new)| Ok(PathChange { old: self.store.file(self.tree, &path)?, path, new }))
            .collect()
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
        let parents: Vec<Oid> = self.head.into_iter().collect();
        self.commit_after(&parents, tree, message)
    }

    /// Commits `tree` with these `parents`, durably, and makes the commit the newest one.
    pub fn commit_after(&mut self, parents: &[Oid], tree: Oid, message: &CommitMessage) -> Result<()> {
        if tree == empty_tree() {
            self.objects.write(ObjectType::Tree, b"")?;
        }
        let now = self.history.now().to_zoned(self.history.zone().tz().clone());
        let id = self.objects.write(ObjectType::Commit, &encode_commit(parents, tree, message, &now))?;
        failpoint("history::objects-written");
        self.objects.sync()?;
        self.store.move_branch(&self.lock, id)?;
        failpoint("history::branch-moved");
        self.history.mine.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        (self.head, self.tree) = (Some(id), tree);
        self.snapshot.commits.push(id.to_string());
        Ok(())
    }
}

/// Leaves out of `gone` what stands elsewhere under the same name: a folder that was copied first and
/// deleted later.
fn drop_files_found_elsewhere(files: &FileStates, scan: &ScanResult, gone: &mut Vec<&String>) {
    let deleted: HashSet<&String> = scan.deleted.iter().collect();
    let mut copies: BTreeMap<(Oid, &str), usize> = BTreeMap::new();
    for (path, state) in files.iter().filter(|(path, _)| !deleted.contains(path)) {
        *copies.entry((state.id, file_name(path))).or_default() += 1;
    }
    gone.retain(|path| {
        let copy = files.get(*path).and_then(|state| copies.get_mut(&(state.id, file_name(path))));
        match copy.filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => return true,
        }
        false
    });
}

/// The message for what people changed: one note by its name, a move as one, more by their numbers.
fn human(facts: &[PathChange], first: bool) -> CommitMessage {
    let [mut gone, mut added] = removed_and_added(facts);
    let changed = facts.iter().filter(|fact| fact.old.is_some() == fact.new.is_some());
    // The names and what was the same to the byte are enough for words.
    let moved = pairs(&gone, &added, |_, _| Ok(Vec::new())).unwrap_or_default();
    for rename in &moved {
        gone.remove(rename.from.as_str());
        added.remove(rename.to.as_str());
    }
    let groups: [(&str, Vec<String>); 4] = [
        ("changed", changed.map(|fact| fact.path.clone()).collect()),
        ("added", added.into_keys().map(str::to_owned).collect()),
        ("deleted", gone.into_keys().map(str::to_owned).collect()),
        ("moved", moved.iter().map(|it| format!("{} to {}", it.from, it.to)).collect()),
    ];
    let named =
        groups.iter().flat_map(|(verb, names)| names.iter().map(move |name| format!("{verb} {name}")));
    let words: Vec<String> = named.collect();
    let numbers = groups.iter().filter(|(_, names)| !names.is_empty());
    let numbers: Vec<String> = numbers.map(|(verb, names)| format!("{} {verb}", names.len())).collect();
    let count = words.len();
    let (subject, body) = match count {
        _ if first => (format!("first snapshot: {count} {}", plural(count, "file")), None),
        1 => (words.join(""), None),
        _ => {
            let more = words.len().saturating_sub(20);
            let mut body = words[..words.len() - more].join("\n");
            if more > 0 {
                body.push_str(&format!("\nand {more} more"));
            }
            (format!("{count} notes: {}", numbers.join(", ")), Some(body))
        }
    };
    let notes = facts.iter().map(|fact| fact.path.as_str());
    CommitMessage::new(&ChangeReason { body, ..ChangeReason::new(Actor::Human, subject) }, notes)
}

fn bulk(gone: &[TreeChange]) -> CommitMessage {
    let count = gone.len();
    let body = "Many files went in one sweep, as a sync tool does it. `restore` brings them back.";
    let mut why = ChangeReason::new(Actor::Human, format!("{count} notes deleted at once"))
        .trailer(BULK_DELETION, count.to_string());
    why.body = Some(body.to_owned());
    CommitMessage::new(&why, gone.iter().map(|(path, _)| path.as_str()))
}

pub(crate) fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}
