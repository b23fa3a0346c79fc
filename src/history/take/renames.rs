//! Detects renames: a file that is gone was renamed if a new path has the same or nearly the same text.
//!
//! A file is paired once: first with a file of the same content, preferably of the same name. Otherwise it is paired
//! with a file of the same name whose lines are mostly the same. This is the case when a folder was renamed and the
//! links in its notes were updated. Pure except for reading texts.

use crate::format::changes::changes;
use crate::history::Result;
use crate::history::prelude::*;
use crate::history::store::{FileState, PathChange};

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

/// The files that changes removed, and those that they added, by path.
pub(crate) fn removed_and_added(changes: &[PathChange]) -> [BTreeMap<&str, FileState>; 2] {
    let removed = changes.iter().filter(|change| change.new.is_none());
    let added = changes.iter().filter(|change| change.old.is_none());
    [
        removed.filter_map(|change| Some((change.path.as_str(), change.old?))).collect(),
        added.filter_map(|change| Some((change.path.as_str(), change.new?))).collect(),
    ]
}

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
