//! Finds the notes that a restore or an undo leaves alone until a person has merged them. Such a note has a sync tool's
//! conflict copy beside it, or the markers of a merge in it. Also finds the files whose present text can't be kept: a
//! restore names them and they aren't on this disk, or they are too large for a snapshot. Writes nothing.
//!
//! A copy counts only if its name alone shows that it is a copy: a restore may be of any note, and `Chapter 2.md`
//! beside `Chapter.md` is a person's own. An empty note has no line that could be lost. If the same restore writes or
//! removes a copy, the restore merges the copy or undoes its merge.

use std::collections::{HashMap, HashSet};

use super::plan::{BlockedFile, RestorePlan};
use crate::history::store::FileMode;
use crate::history::take::History;
use crate::vault::{EditRefusal, NotePath, Vault, VaultError, conflict};

/// Looks for conflict copies, and reads each folder once.
pub(super) struct MergeCheck<'a> {
    vault: &'a Vault,
    /// The conflict copies in each folder that was read.
    copies: HashMap<Option<NotePath>, Vec<NotePath>>,
}

impl<'a> MergeCheck<'a> {
    pub fn new(vault: &'a Vault) -> Self {
        Self { vault, copies: HashMap::new() }
    }

    /// The refusal of a note with these bytes because of a conflict copy beside it.
    pub fn copy(&mut self, path: &NotePath, now: &[u8]) -> Option<EditRefusal> {
        if now.is_empty() {
            return None;
        }
        let vault = self.vault;
        let copies = self.copies.entry(path.parent()).or_insert_with(|| vault.conflict_copies_beside(path));
        let is_of =
            |copy: &&NotePath| conflict::original_of(copy.file_name()).as_deref() == Some(path.file_name());
        let copy = copies.iter().find(is_of)?.clone();
        Some(EditRefusal::ConflictCopy { path: path.clone(), copy })
    }
}

/// The refusal of a note with these bytes because of the markers of a merge.
pub(super) fn markers(path: &NotePath, now: &[u8]) -> Option<EditRefusal> {
    Some(EditRefusal::ConflictMarkers(path.clone(), conflict::conflict_markers(now)?))
}

/// The path of the note whose conflict copy a path is by its name alone.
pub(super) fn note_of_copy(path: &str) -> Option<String> {
    let path = NotePath::new(path).ok().filter(|path| conflict::is_conflict_copy(path.file_name()))?;
    let note = path.beside(&conflict::original_of(path.file_name())?)?;
    Some(note.as_str().to_owned())
}

impl History {
    /// Turns the steps of notes that a person has to merge first into blocked files of the plan, and those of files that
    /// are too large for a snapshot. Such files, and files that aren't on this disk, are blocked where they are named in
    /// `scopes`, too: nothing can be compared with them.
    pub(super) fn block_unmerged(&self, plan: &mut RestorePlan, scopes: &[String]) {
        let mut check = MergeCheck::new(&self.vault);
        let RestorePlan { steps, blocked, .. } = plan;
        let merged: HashSet<String> = steps.iter().filter_map(|step| note_of_copy(&step.path)).collect();
        steps.retain(|step| {
            let is_file = step.before.is_some_and(|before| before.mode != FileMode::Link);
            let Some(path) = NotePath::new(&step.path).ok().filter(|_| is_file) else { return true };
            if let Some(reason) = self.cant_keep(&path) {
                blocked.push(BlockedFile { path: step.path.clone(), reason });
                return false;
            }
            // A note that can't be read can't be written either; the write reports it.
            let now = self.vault.read(&path).unwrap_or_default();
            let copy = if merged.contains(&step.path) { None } else { check.copy(&path, &now) };
            let Some(refusal) = markers(&path, &now).or(copy) else { return true };
            blocked.push(BlockedFile { path: step.path.clone(), reason: refusal.to_string() });
            false
        });
        for path in scopes.iter().filter_map(|scope| NotePath::new(scope).ok()) {
            let is_known = steps.iter().any(|step| step.path == path.as_str())
                || blocked.iter().any(|file| file.path == path.as_str());
            if let Some(reason) = self.cant_keep(&path).filter(|_| !is_known) {
                blocked.push(BlockedFile { path: path.to_string(), reason });
            }
        }
    }

    /// Why no snapshot can keep the present text of a file before it is replaced.
    fn cant_keep(&self, path: &NotePath) -> Option<String> {
        let stat = self.vault.stat(path).ok()??;
        if stat.is_placeholder {
            return Some(VaultError::Placeholder(path.clone()).to_string());
        }
        let is_too_large = self.keeps(path) && self.selection.is_too_large(path.as_str(), stat.size);
        let size = self.selection.too_large(stat.size);
        is_too_large
            .then(|| format!("its present text can't be kept ({size}); move it away or raise the limit"))
    }
}
