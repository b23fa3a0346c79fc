//! Detects renames: a file that is gone was renamed if the same text, or nearly, stands at another path.
//!
//! A file is paired once: first with a file of the same content, preferably of the same name; otherwise with a file of
//! the same name whose lines are mostly the same, as when a folder was renamed and the links in its notes were updated.
//! Pure except for reading texts.
//!
//! Many files that are gone at once and were not renamed are a bulk deletion: more than twenty that are more than a tenth
//! of the known files, or all of them, are held until a person confirms.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use git2::Oid;
use serde::{Deserialize, Serialize};
use similar::DiffTag;

use super::history::History;
use super::pending;
use super::scan::ScanResult;
use crate::format::changes::changes;
use crate::history::error::Result;
use crate::history::store::{FileState, HistoryStore};

/// Larger texts are only compared as a whole, in bytes.
const MAX_COMPARED_BYTES: usize = 256 << 10;

/// A file that was renamed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Rename {
    /// Its old path.
    pub from: String,
    /// Its new path.
    pub to: String,
}

/// At most so many files of one name are compared with one that is removed.
const MAX_CANDIDATES: usize = 20;

/// The renames that lead from `removed` to `added`. `text` reads the content of a path.
pub(crate) fn pairs(
    removed: &BTreeMap<&str, FileState>,
    added: &BTreeMap<&str, FileState>,
    text: impl Fn(&str, Oid) -> Result<Vec<u8>>,
) -> Result<Vec<Rename>> {
    let mut out = Vec::new();
    let mut free: BTreeMap<(Oid, &str), BTreeSet<&str>> = BTreeMap::new();
    for (path, state) in added {
        free.entry((state.id, file_name(path))).or_default().insert(path);
    }
    let mut left: Vec<(&str, Oid)> = removed.iter().map(|(path, state)| (*path, state.id)).collect();
    // The same text under the same name, then the same text.
    left.retain(|(from, id)| {
        let to = free.get_mut(&(*id, file_name(from))).and_then(|paths| nearest(from, paths));
        out.extend(to.map(|to| Rename { from: (*from).to_owned(), to: to.to_owned() }));
        to.is_none()
    });
    left.retain(|(from, id)| {
        let mut same = free.range_mut((*id, "")..).take_while(|((other, _), _)| other == id);
        let to = same.find_map(|(_, paths)| paths.pop_first());
        out.extend(to.map(|to| Rename { from: (*from).to_owned(), to: to.to_owned() }));
        to.is_none()
    });
    let mut named: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for ((_, name), paths) in &free {
        named.entry(name).or_default().extend(paths);
    }
    for (from, id) in left {
        let Some(candidates) = named.get_mut(file_name(from)).filter(|paths| !paths.is_empty()) else {
            continue;
        };
        let old = text(from, id)?;
        for to in candidates.iter().copied().take(MAX_CANDIDATES).collect::<Vec<_>>() {
            if is_alike(&old, &text(to, added[to].id)?) {
                candidates.remove(to);
                out.push(Rename { from: from.to_owned(), to: to.to_owned() });
                break;
            }
        }
    }
    out.sort_unstable_by(|a, b| a.from.cmp(&b.from));
    Ok(out)
}

/// Takes the path that has most of its end in common with `from`.
fn nearest<'a>(from: &str, paths: &mut BTreeSet<&'a str>) -> Option<&'a str> {
    let common =
        |to: &str| from.split('/').rev().zip(to.split('/').rev()).take_while(|(a, b)| a == b).count();
    let to = paths.iter().copied().max_by_key(|to| common(to))?;
    paths.remove(to);
    Some(to)
}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether at least half of the lines are the same.
fn is_alike(old: &[u8], new: &[u8]) -> bool {
    if old.is_empty() || new.is_empty() || old.len().max(new.len()) > MAX_COMPARED_BYTES {
        return false;
    }
    let [a, b] = [old, new].map(|text| text.split(|byte| *byte == b'\n').collect::<Vec<&[u8]>>());
    let changes = changes(&a, &b);
    let same = changes.iter().filter(|op| op.tag() == DiffTag::Equal).flat_map(|op| &a[op.old_range()]);
    let same = same.filter(|line| !line.is_empty()).count();
    same * 2 >= a.len().max(b.len()).saturating_sub(1).max(1)
}

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
        let files = store.files(base)?;
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
        Ok(())
    }

    /// Deletions that wait for a person's word, if any.
    pub fn held(&self) -> Result<Option<HeldDeletions>> {
        pending::read_json(&self.dir().join("held.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::FileMode;

    fn found(removed: &[(&str, &str)], added: &[(&str, &str)]) -> Vec<String> {
        let id = |text: &str| Oid::hash_object(git2::ObjectType::Blob, text.as_bytes()).unwrap();
        let state = |text: &str| FileState { id: id(text), mode: FileMode::File };
        let map = |list: &[(&'static str, &'static str)]| -> BTreeMap<&'static str, FileState> {
            list.iter().map(|(path, text)| (*path, state(text))).collect()
        };
        let leak = |list: &[(&str, &str)]| -> Vec<(&'static str, &'static str)> {
            list.iter().map(|(a, b)| (&*a.to_string().leak(), &*b.to_string().leak())).collect()
        };
        let (removed, added) = (leak(removed), leak(added));
        let all: Vec<_> = removed.iter().chain(&added).copied().collect();
        let text = |_: &str, wanted: Oid| {
            Ok(all.iter().find(|(_, text)| id(text) == wanted).unwrap().1.as_bytes().to_vec())
        };
        let found = pairs(&map(&removed), &map(&added), text).unwrap();
        found.iter().map(|rename| format!("{} -> {}", rename.from, rename.to)).collect()
    }

    #[test]
    fn the_same_text_elsewhere_is_a_rename_and_each_file_is_paired_once() {
        assert_eq!(found(&[("a.md", "1")], &[("b.md", "1"), ("c.md", "1")]), ["a.md -> b.md"]);
        assert_eq!(found(&[("a.md", "1"), ("b.md", "1")], &[("c.md", "1")]), ["a.md -> c.md"]);
        assert_eq!(
            found(&[("o/a.md", "1"), ("o/b.md", "1")], &[("n/a.md", "1"), ("n/b.md", "1")]),
            ["o/a.md -> n/a.md", "o/b.md -> n/b.md"]
        );
        assert_eq!(found(&[("a.md", "1")], &[("b.md", "2")]), [""; 0]);
    }

    #[test]
    fn a_note_that_kept_its_name_and_most_lines_was_renamed_too() {
        let (old, new) = ("one\ntwo\n[[Old/b]]\nfour\n", "one\ntwo\n[[New/b]]\nfour\n");
        assert_eq!(found(&[("Old/a.md", old)], &[("New/a.md", new)]), ["Old/a.md -> New/a.md"]);
        assert_eq!(found(&[("Old/a.md", old)], &[("New/x.md", new)]), [""; 0]);
        assert_eq!(found(&[("Old/a.md", old)], &[("New/a.md", "quite\nanother\nnote\n")]), [""; 0]);
    }
}
