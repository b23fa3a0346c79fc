//! Looks up, lists and compares the trees of snapshots, and builds changed trees.

use git2::{ErrorClass, ErrorCode, ObjectType, Oid, TreeBuilder};

use super::{HistoryStore, ObjectWriter, empty_tree};
use crate::history::Result;
use crate::history::prelude::*;

/// The mode of a folder in a tree.
const FOLDER: i32 = 0o040_000;

/// The kinds of files that a snapshot holds, as git writes their modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileMode {
    /// An ordinary file.
    File,
    /// A file whose owner may execute it.
    Executable,
    /// A symbolic link; its content is the target.
    Link,
}

impl FileMode {
    pub(crate) fn octal(self) -> String {
        format!("{:o}", self.raw())
    }

    pub(crate) fn from_raw(raw: i32) -> Option<Self> {
        match raw {
            0o100_644 | 0o100_664 => Some(Self::File),
            0o100_755 => Some(Self::Executable),
            0o120_000 => Some(Self::Link),
            _ => None,
        }
    }

    pub(crate) fn raw(self) -> i32 {
        match self {
            Self::File => 0o100_644,
            Self::Executable => 0o100_755,
            Self::Link => 0o120_000,
        }
    }
}

/// One file as a snapshot holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "(String, String)", try_from = "(String, String)")]
pub struct FileState {
    /// The content's hash.
    pub id: Oid,
    /// Its kind.
    pub mode: FileMode,
}

/// In JSON: the mode in octal and the content's id.
impl From<FileState> for (String, String) {
    fn from(state: FileState) -> Self {
        (state.mode.octal(), state.id.to_string())
    }
}

impl TryFrom<(String, String)> for FileState {
    type Error = &'static str;

    fn try_from((mode, id): (String, String)) -> std::result::Result<Self, Self::Error> {
        let mode =
            i32::from_str_radix(&mode, 8).ok().and_then(FileMode::from_raw).ok_or("no mode of a file")?;
        Ok(Self { id: Oid::from_str(&id).map_err(|_| "no id of a content")?, mode })
    }
}

impl ObjectWriter<'_> {
    /// Writes a file's content, where there is a file, and returns its state.
    pub(crate) fn write_file(&mut self, bytes: Option<&[u8]>, mode: FileMode) -> Result<Option<FileState>> {
        let id = bytes.map(|bytes| self.write(ObjectType::Blob, bytes)).transpose()?;
        Ok(id.map(|id| FileState { id, mode }))
    }
}

/// A file or a folder in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeNode {
    File(FileState),
    Folder(Oid),
}

impl TreeNode {
    fn of(entry: &git2::TreeEntry<'_>) -> Option<Self> {
        match entry.kind() {
            Some(ObjectType::Tree) => Some(Self::Folder(entry.id())),
            _ => Some(Self::File(FileState { id: entry.id(), mode: FileMode::from_raw(entry.filemode())? })),
        }
    }
}

/// The files of a tree or of the vault, by path.
pub(crate) type FileStates = BTreeMap<String, FileState>;

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

impl HistoryStore {
    /// A tree; none for the empty one, which need not be there as an object.
    fn tree(&self, id: Oid) -> Result<Option<git2::Tree<'_>>> {
        let read = |id| self.repo().find_tree(id).map_err(self.damaged(id));
        (id != empty_tree()).then_some(id).map(read).transpose()
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
        let Some(root) = self.tree(tree)? else { return Ok(None) };
        match root.get_path(Path::new(path)) {
            Ok(entry) => Ok(TreeNode::of(&entry)),
            // A folder whose object is missing is not found either, by another part of libgit2.
            Err(error) if error.code() == ErrorCode::NotFound && error.class() == ErrorClass::Tree => {
                Ok(None)
            }
            Err(error) => Err(self.damaged(tree)(error)),
        }
    }

    /// Every file of a tree, by path.
    pub(crate) fn files(&self, tree: Oid) -> Result<FileStates> {
        let mut out = BTreeMap::new();
        self.collect(tree, "", &mut |path, state| {
            out.insert(path, state);
        })?;
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
        let Some(folder) = self.tree(tree)? else { return Ok(()) };
        for entry in folder.iter() {
            let path = format!("{prefix}{}", String::from_utf8_lossy(entry.name_bytes()));
            match TreeNode::of(&entry) {
                Some(TreeNode::Folder(id)) => self.collect(id, &format!("{path}/"), take)?,
                Some(TreeNode::File(state)) => take(path, state),
                None => {}
            }
        }
        Ok(())
    }

    /// The paths that differ between two trees, ordered; equal folders are not entered.
    pub(crate) fn changes(&self, old: Oid, new: Oid) -> Result<Vec<PathChange>> {
        let trees = (self.tree(old)?, self.tree(new)?);
        let mut options = git2::DiffOptions::new();
        options.include_typechange(true);
        let diff = self.repo().diff_tree_to_tree(trees.0.as_ref(), trees.1.as_ref(), Some(&mut options));
        let diff = diff.map_err(self.damaged(new))?;
        let state = |file: git2::DiffFile<'_>| {
            let mode = i32::try_from(u32::from(file.mode())).ok().and_then(FileMode::from_raw)?;
            file.exists().then(|| FileState { id: file.id(), mode })
        };
        let mut out: Vec<PathChange> = diff
            .deltas()
            .map(|delta| {
                let path =
                    delta.new_file().path_bytes().or(delta.old_file().path_bytes()).unwrap_or_default();
                let path = String::from_utf8_lossy(path).into_owned();
                PathChange { path, old: state(delta.old_file()), new: state(delta.new_file()) }
            })
            .filter(|change| change.old != change.new)
            .collect();
        out.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(out)
    }

    /// The tree that `base` becomes with `changes`. A folder that ends up empty goes; a file gives way
    /// to a folder of its name and the other way round.
    pub(crate) fn update_tree(
        &self,
        base: Oid,
        changes: &[TreeChange],
        objects: &mut ObjectWriter<'_>,
    ) -> Result<Oid> {
        let mut sorted: Vec<(&str, Option<FileState>)> =
            changes.iter().map(|(p, s)| (p.as_str(), *s)).collect();
        sorted.sort_by(|a, b| a.0.cmp(b.0));
        Ok(self.update_folder(base, &sorted, objects)?.unwrap_or_else(empty_tree))
    }

    fn update_folder(
        &self,
        base: Oid,
        changes: &[(&str, Option<FileState>)],
        objects: &mut ObjectWriter<'_>,
    ) -> Result<Option<Oid>> {
        let base = self.tree(base)?;
        let mut builder = self.repo().treebuilder(base.as_ref()).map_err(self.git("change a tree"))?;
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
            if matches!(self.entry(&builder, name)?, Some(TreeNode::File(_))) {
                self.set(&mut builder, name, None)?;
            }
        }
        for (name, inside) in folders {
            let folder = match self.entry(&builder, name)? {
                Some(TreeNode::Folder(id)) => id,
                _ if inside.iter().all(|(_, state)| state.is_none()) => continue,
                _ => empty_tree(),
            };
            let folder = self.update_folder(folder, &inside, objects)?;
            self.set(&mut builder, name, folder.map(|id| (id, FOLDER)))?;
        }
        for (name, state) in files {
            if let Some(state) = state {
                self.set(&mut builder, name, Some((state.id, state.mode.raw())))?;
            }
        }
        if builder.is_empty() { Ok(None) } else { objects.write_whole(|_| builder.write()).map(Some) }
    }

    fn entry(&self, builder: &TreeBuilder<'_>, name: &str) -> Result<Option<TreeNode>> {
        let entry = builder.get(name).map_err(self.git("read a tree"))?;
        Ok(entry.as_ref().and_then(TreeNode::of))
    }

    fn set(&self, builder: &mut TreeBuilder<'_>, name: &str, entry: Option<(Oid, i32)>) -> Result<()> {
        let done = match entry {
            Some((id, mode)) => builder.insert(name, id, mode).map(drop),
            None if self.entry(builder, name)?.is_some() => builder.remove(name),
            None => Ok(()),
        };
        done.map_err(self.git("change a tree"))
    }
}
