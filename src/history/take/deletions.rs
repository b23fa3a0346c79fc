//! Detects bulk deletions: many files that are gone at once and were not renamed.
//!
//! More than twenty that are more than a tenth of the known files, or all of them, are held until a person confirms.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use git2::Oid;
use serde::{Deserialize, Serialize};

use super::history::History;
use super::pending;
use super::renames::{Rename, pairs};
use super::scan::ScanResult;
use crate::history::error::Result;
use crate::history::store::HistoryStore;

/// More deletions at once are a commit of their own, flagged.
pub(super) const BULK: usize = 20;

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

impl History {
    /// The files that only have another path now, where so many are gone that it matters.
    pub(in crate::history) fn renamed(
        &self,
        store: &HistoryStore,
        base: Oid,
        scan: &ScanResult,
    ) -> Result<Vec<Rename>> {
        if scan.deleted.len() < BULK {
            return Ok(Vec::new());
        }
        let (mut gone, mut come) = (BTreeMap::new(), BTreeMap::new());
        for path in &scan.deleted {
            gone.extend(store.file(base, path)?.map(|state| (path.as_str(), state)));
        }
        for (path, state) in &scan.changed {
            if store.file(base, path)?.is_none() {
                come.extend(state.map(|state| (path.as_str(), state)));
            }
        }
        // An object that was just written into a pack isn't readable yet.
        pairs(&gone, &come, |_, id| Ok(store.blob(id).unwrap_or_default()))
    }

    pub(super) fn hold(
        &self,
        store: &HistoryStore,
        base: Oid,
        scan: &ScanResult,
        renamed: &BTreeSet<&str>,
        deletions: Deletions,
    ) -> Result<Option<HeldDeletions>> {
        let mut gone: Vec<&String> =
            scan.deleted.iter().filter(|path| !renamed.contains(path.as_str())).collect();
        if deletions == Deletions::Accept || gone.is_empty() {
            return Ok(None);
        }
        let known = match scan.known_files {
            Some(known) => known,
            None if scan.deleted.len() > BULK => store.files(base)?.len(),
            // A few deletions can only be all of them in a tiny vault.
            None => store.count_up_to(base, scan.deleted.len() + 1)?,
        };
        let added =
            scan.changed.iter().any(|(path, _)| store.file(base, path).is_ok_and(|old| old.is_none()));
        let everything = gone.len() == known && !added;
        let many = |gone: usize| gone > BULK && gone * 10 > known;
        if !everything && many(gone.len()) {
            self.drop_files_found_elsewhere(store, base, scan, &mut gone)?;
        }
        if !everything && !many(gone.len()) {
            return Ok(None);
        }
        let since = self.held()?.map_or_else(|| self.now(), |held| held.since);
        Ok(Some(HeldDeletions { since, known, deleted: gone.into_iter().cloned().collect() }))
    }

    /// Leaves out of `gone` what stands elsewhere under the same name: a folder that was copied first and
    /// deleted later.
    fn drop_files_found_elsewhere(
        &self,
        store: &HistoryStore,
        base: Oid,
        scan: &ScanResult,
        gone: &mut Vec<&String>,
    ) -> Result<()> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let files = store.files(base)?;
        let deleted: HashSet<&String> = scan.deleted.iter().collect();
        let mut copies: BTreeMap<(Oid, String), usize> = BTreeMap::new();
        for (path, state) in files.iter().filter(|(path, _)| !deleted.contains(path)) {
            *copies.entry((state.id, name(path))).or_default() += 1;
        }
        gone.retain(|path| {
            let copy = files.get(*path).and_then(|state| copies.get_mut(&(state.id, name(path))));
            copy.is_none_or(|left| {
                *left == 0 || {
                    *left -= 1;
                    false
                }
            })
        });
        Ok(())
    }

    /// Deletions that wait for a person's word, if any.
    ///
    /// # Errors
    /// The note about them can't be read.
    pub fn held(&self) -> Result<Option<HeldDeletions>> {
        pending::read_json(&self.dir().join("held.json"))
    }
}
