//! Trees: the files of a snapshot looked up, listed, compared, and made anew with changes.

use std::collections::BTreeMap;

use git2::{ObjectType, Oid};

use super::object::{FileState, Mode, Sink, TreeEntries, TreeNode, empty_tree};
use super::repository::Store;
use crate::history::error::Result;

/// One change of a tree: the new state of a path, `None` to remove it.
pub(crate) type TreeChange = (String, Option<FileState>);

/// A path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathChange {
    /// Vault-relative.
    pub path: String,
    /// Before; `None` where it was added.
    pub old: Option<FileState>,
    /// After; `None` where it was deleted.
    pub new: Option<FileState>,
}

impl Store {
    fn tree(&self, id: Oid) -> Result<TreeEntries> {
        if id == empty_tree() {
            return Ok(TreeEntries::default());
        }
        let tree = self.repo().find_tree(id).map_err(self.damaged(id))?;
        Ok(TreeEntries::read(&tree))
    }

    /// The file at `path` in a tree.
    pub(crate) fn file(&self, tree: Oid, path: &str) -> Result<Option<FileState>> {
        Ok(match self.node(tree, path)? {
            Some(TreeNode::File(file)) => Some(file),
            _ => None,
        })
    }

    /// The file or folder at `path` in a tree.
    pub(crate) fn node(&self, tree: Oid, path: &str) -> Result<Option<TreeNode>> {
        let mut at = tree;
        if at == empty_tree() {
            return Ok(None);
        }
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            let folder = self.repo().find_tree(at).map_err(self.damaged(at))?;
            let Some(entry) = folder.get_name_bytes(part.as_bytes()) else { return Ok(None) };
            let is_folder = entry.kind() == Some(ObjectType::Tree);
            if parts.peek().is_none() {
                return Ok(if is_folder {
                    Some(TreeNode::Folder(entry.id()))
                } else {
                    Mode::from_raw(entry.filemode())
                        .map(|mode| TreeNode::File(FileState { id: entry.id(), mode }))
                });
            }
            if !is_folder {
                return Ok(None);
            }
            at = entry.id();
        }
        Ok(None)
    }

    /// Every file of a tree, by path.
    pub(crate) fn files(&self, tree: Oid) -> Result<BTreeMap<String, FileState>> {
        let mut out = BTreeMap::new();
        if tree != empty_tree() {
            self.collect(tree, "", &mut |path, state| {
                out.insert(path, state);
            })?;
        }
        Ok(out)
    }

    /// The paths of the files at or under `path` in a tree.
    pub(crate) fn files_under(&self, tree: Oid, path: &str) -> Result<Vec<String>> {
        let mut out = Vec::new();
        match self.node(tree, path)? {
            Some(TreeNode::File(_)) => out.push(path.to_owned()),
            Some(TreeNode::Folder(id)) => {
                self.collect(id, &format!("{path}/"), &mut |path, _| out.push(path))?;
            }
            None => {}
        }
        Ok(out)
    }

    fn collect(&self, tree: Oid, prefix: &str, take: &mut impl FnMut(String, FileState)) -> Result<()> {
        let folder = self.repo().find_tree(tree).map_err(self.damaged(tree))?;
        for entry in folder.iter() {
            let path = format!("{prefix}{}", String::from_utf8_lossy(entry.name_bytes()));
            match entry.kind() {
                Some(ObjectType::Tree) => self.collect(entry.id(), &format!("{path}/"), take)?,
                _ => {
                    if let Some(mode) = Mode::from_raw(entry.filemode()) {
                        take(path, FileState { id: entry.id(), mode });
                    }
                }
            }
        }
        Ok(())
    }

    /// The paths that differ between two trees, ordered; equal folders are not entered.
    pub(crate) fn changes(&self, old: Oid, new: Oid) -> Result<Vec<PathChange>> {
        let mut out = Vec::new();
        self.compare(Some(old), Some(new), "", &mut out)?;
        out.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(out)
    }

    fn compare(
        &self,
        old: Option<Oid>,
        new: Option<Oid>,
        prefix: &str,
        out: &mut Vec<PathChange>,
    ) -> Result<()> {
        if old == new {
            return Ok(());
        }
        let read = |id: Option<Oid>| id.map_or(Ok(TreeEntries::default()), |id| self.tree(id));
        for (name, old, new) in TreeEntries::differences(&read(old)?, &read(new)?) {
            let path = format!("{prefix}{}", String::from_utf8_lossy(&name));
            let folders = [old, new].map(|node| match node {
                Some(TreeNode::Folder(id)) => Some(id),
                _ => None,
            });
            let files = [old, new].map(|node| match node {
                Some(TreeNode::File(file)) => Some(file),
                _ => None,
            });
            if files[0] != files[1] {
                out.push(PathChange { path: path.clone(), old: files[0], new: files[1] });
            }
            self.compare(folders[0], folders[1], &format!("{path}/"), out)?;
        }
        Ok(())
    }

    /// The tree that `base` becomes with `changes`. A folder that ends up empty goes; a file gives way
    /// to a folder of its name and the other way round.
    pub(crate) fn update_tree(&self, base: Oid, changes: &[TreeChange], sink: &mut Sink<'_>) -> Result<Oid> {
        let mut sorted: Vec<(&str, Option<FileState>)> =
            changes.iter().map(|(p, s)| (p.as_str(), *s)).collect();
        sorted.sort_by(|a, b| a.0.cmp(b.0));
        Ok(self.update_folder(Some(base), &sorted, sink)?.unwrap_or_else(empty_tree))
    }

    fn update_folder(
        &self,
        base: Option<Oid>,
        changes: &[(&str, Option<FileState>)],
        sink: &mut Sink<'_>,
    ) -> Result<Option<Oid>> {
        let mut entries = base.map_or(Ok(TreeEntries::default()), |base| self.tree(base))?;
        let mut folders: BTreeMap<&str, Vec<(&str, Option<FileState>)>> = BTreeMap::new();
        let mut files = Vec::new();
        for (path, state) in changes {
            match path.split_once('/') {
                Some((folder, rest)) => folders.entry(folder).or_default().push((rest, *state)),
                None => files.push((*path, *state)),
            }
        }
        // Removals first: a name may change from file to folder in one snapshot.
        for (name, _) in files.iter().filter(|(_, state)| state.is_none()) {
            if entries.is_file(name.as_bytes()) {
                entries.set(name.as_bytes(), None);
            }
        }
        for (name, inside) in folders {
            let base = entries.folder(name.as_bytes());
            let only_removals = inside.iter().all(|(_, state)| state.is_none());
            if base.is_none() && only_removals {
                continue;
            }
            let folder = self.update_folder(base, &inside, sink)?;
            entries.set(name.as_bytes(), folder.map(TreeNode::Folder));
        }
        for (name, state) in files {
            if let Some(state) = state {
                entries.set(name.as_bytes(), Some(TreeNode::File(state)));
            }
        }
        if entries.is_empty() {
            return Ok(None);
        }
        sink.write(ObjectType::Tree, &entries.encode()).map(Some)
    }

    /// How many files a tree has, counted up to `limit`.
    pub(crate) fn count_up_to(&self, tree: Oid, limit: usize) -> Result<usize> {
        if tree == empty_tree() {
            return Ok(0);
        }
        let mut count = 0;
        let mut folders = vec![tree];
        while let Some(id) = folders.pop() {
            let folder = self.repo().find_tree(id).map_err(self.damaged(id))?;
            for entry in folder.iter() {
                match entry.kind() {
                    Some(ObjectType::Tree) => folders.push(entry.id()),
                    _ => count += 1,
                }
                if count >= limit {
                    return Ok(count);
                }
            }
        }
        Ok(count)
    }
}
