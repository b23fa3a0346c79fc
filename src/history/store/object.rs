//! Writes the objects of a snapshot, and makes them durable.
//!
//! Bytes come in; ids go out. libgit2 writes loose objects without waiting for the disk; [`ObjectWriter::sync`] waits for all
//! of them, before the branch moves: for each of a few, for the whole file system where there are many (the first snapshot of
//! a vault).

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid, Repository};

use crate::history::error::{HistoryError, Result, if_there};

/// Writes the objects of one snapshot.
pub(crate) struct ObjectWriter<'r> {
    repo: &'r Repository,
    /// Whether nothing is written and only the ids are wanted.
    is_dry: bool,
    /// The files of what was written.
    written: Vec<PathBuf>,
}

impl<'r> ObjectWriter<'r> {
    /// Writes into `repo`; with `is_dry` nothing is written, and only the ids are wanted.
    pub(super) fn new(repo: &'r Repository, is_dry: bool) -> Self {
        Self { repo, is_dry, written: Vec::new() }
    }

    pub(crate) fn write(&mut self, kind: ObjectType, bytes: &[u8]) -> Result<Oid> {
        if self.is_dry {
            return Oid::hash_object(kind, bytes).map_err(self.failed("hash an object"));
        }
        self.write_whole(|repo| repo.odb()?.write(kind, bytes))
    }

    /// Writes the tree that `builder` describes.
    pub(super) fn write_tree(&mut self, builder: &git2::TreeBuilder<'_>) -> Result<Oid> {
        self.write_whole(|_| builder.write())
    }

    /// Writes an object. libgit2 takes a file that is there for one that is whole, and never writes it again: one that a
    /// power cut tore is removed first.
    fn write_whole(
        &mut self,
        write: impl Fn(&Repository) -> std::result::Result<Oid, git2::Error>,
    ) -> Result<Oid> {
        let id = write(self.repo).map_err(self.failed("write an object"))?;
        let path = loose_path(self.repo.path(), id);
        let odb = self.repo.odb().map_err(self.failed("open the objects"))?;
        if odb.read(id).is_err() {
            fs::remove_file(&path).map_err(HistoryError::io("remove", &path))?;
            write(self.repo).map_err(self.failed("write an object anew"))?;
        }
        self.written.push(path);
        Ok(id)
    }

    fn failed(&self, doing: &str) -> impl FnOnce(git2::Error) -> HistoryError {
        HistoryError::git(doing, self.repo.path())
    }

    /// Waits until all that was written is on the disk.
    pub(crate) fn sync(&mut self) -> Result<()> {
        sync_files(&self.repo.path().join("objects"), &std::mem::take(&mut self.written))
    }
}

/// The file of a loose object in the repository `dir`.
pub(crate) fn loose_path(dir: &Path, id: Oid) -> PathBuf {
    let hex = id.to_string();
    dir.join("objects").join(&hex[..2]).join(&hex[2..])
}

/// The id of a tree without entries.
pub(crate) fn empty_tree() -> Oid {
    Oid::from_str("4b825dc642cb6eb9a060e54bf8d69288fbee4904").unwrap_or(Oid::ZERO_SHA1)
}

/// Makes a renamed or created name durable; a file system that can't is left alone.
pub(crate) fn sync_dir(dir: &Path) {
    if let Ok(dir) = File::open(dir) {
        let _ = dir.sync_all();
    }
}

/// Waits until files that were created in `dir` are on the disk, with their names; those that are gone are left out.
/// Linux syncs the file system instead of more than a few files.
pub(crate) fn sync_files(dir: &Path, files: &[PathBuf]) -> Result<()> {
    /// The most files that are synced one by one.
    #[cfg(target_os = "linux")]
    const MAX_SINGLE_SYNCS: usize = 32;
    #[cfg(target_os = "linux")]
    if files.len() > MAX_SINGLE_SYNCS {
        let synced = File::open(dir).and_then(|dir| Ok(rustix::fs::syncfs(dir)?));
        return synced.map_err(HistoryError::io("sync", dir));
    }
    let mut folders = BTreeSet::from([dir]);
    for path in files {
        if_there(File::open(path).and_then(|file| file.sync_all()))
            .map_err(HistoryError::io("sync", path))?;
        folders.extend(path.parent());
    }
    folders.into_iter().for_each(sync_dir);
    Ok(())
}

/// A place where a test may end the process.
pub(crate) fn failpoint(name: &'static str) {
    fail::eval(name, |_| std::process::abort());
}
