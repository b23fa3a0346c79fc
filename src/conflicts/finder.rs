//! Searches the vault for conflict copies. A folder that two searches in a row have listed with the same modification
//! time isn't listed again until that time changes.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::SystemTime;

use super::{ConflictCopy, copy_of};
use crate::vault::{NotePath, Vault, conflict};

/// The deepest folder that is searched.
const DEEPEST: usize = 64;

/// The state of the vault's folders between two searches.
#[derive(Debug, Default)]
pub struct Finder {
    folders: HashMap<String, SeenFolder>,
}

/// A folder as it was read last.
#[derive(Debug)]
struct SeenFolder {
    modified: SystemTime,
    /// Whether it was read a second time with the same modification time: only then an entry is surely seen that came
    /// within the same step of the clock.
    is_settled: bool,
    folders: Vec<String>,
    copies: Vec<NotePath>,
}

impl Finder {
    /// All conflict copies of notes as the folders list them now, by their paths. A folder that can't be read has none.
    pub fn find_all(&mut self, vault: &Vault) -> Vec<ConflictCopy> {
        let mut found = Vec::new();
        let mut kept = HashMap::with_capacity(self.folders.len());
        let mut open = vec![(String::new(), 0)];
        while let Some((path, depth)) = open.pop() {
            let known = self.folders.remove(&path);
            let Some(folder) = SeenFolder::read(vault.root(), &path, known) else { continue };
            if depth < DEEPEST {
                open.extend(folder.folders.iter().map(|folder| (folder.clone(), depth + 1)));
            }
            found.extend(folder.copies.iter().filter_map(|copy| copy_of(vault, copy)));
            kept.insert(path, folder);
        }
        self.folders = kept;
        found.retain(ConflictCopy::is_meant);
        found.sort_by(|a, b| a.copy.cmp(&b.copy));
        found
    }
}

impl SeenFolder {
    fn read(root: &Path, path: &str, known: Option<Self>) -> Option<Self> {
        let at = root.join(path);
        let meta = std::fs::symlink_metadata(&at).ok().filter(std::fs::Metadata::is_dir)?;
        let modified = meta.modified().ok()?;
        let is_same = known.as_ref().is_some_and(|known| known.modified == modified);
        if let Some(known) = known.filter(|known| is_same && known.is_settled) {
            return Some(known);
        }
        let mut folder = Self { modified, is_settled: is_same, folders: Vec::new(), copies: Vec::new() };
        let mut names = HashSet::new();
        for entry in std::fs::read_dir(at).ok()?.flatten() {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
            if name.starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                folder.folders.push(inside(path, &name));
            } else if kind.is_file() {
                names.insert(name);
            }
        }
        // A number at the end of a name without a namesake is a name: no file is read for it.
        let is_copy = |name: &&String| {
            let is_certain = || conflict::is_conflict_copy(name);
            conflict::original_of(name).is_some_and(|original| names.contains(&original) || is_certain())
        };
        folder.copies =
            names.iter().filter(is_copy).filter_map(|name| NotePath::new(&inside(path, name)).ok()).collect();
        Some(folder)
    }
}

fn inside(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_found_as_soon_as_it_is_there_and_no_longer() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(dir.path()).unwrap();
        let write = |path: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "text").unwrap();
        };
        let mut finder = Finder::default();
        let mut found =
            || finder.find_all(&vault).into_iter().map(|copy| copy.copy.to_string()).collect::<Vec<_>>();
        write("a/b/Plan.md");
        write(".trash/Plan.sync-conflict-20261201-093000-ABCDEFG.md");
        assert_eq!((found(), found(), found()), (vec![], vec![], vec![]));
        let copy = "a/b/Plan.sync-conflict-20261201-093000-ABCDEFG.md";
        write(copy);
        // A number at the end of a name without a namesake is a name.
        write("a/Chapter 2.md");
        assert_eq!((found(), found()), (vec![copy.to_owned()], vec![copy.to_owned()]));
        std::fs::remove_file(dir.path().join(copy)).unwrap();
        assert!(found().is_empty());
    }
}
