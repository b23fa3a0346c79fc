//! Writes the objects of a snapshot, and makes them durable.
//!
//! Bytes come in; ids go out. libgit2 writes loose objects without waiting for the disk; [`ObjectWriter::sync`] waits for all
//! of them, before the branch moves: for each of a few, for the whole file system where there are many (the first snapshot of
//! a vault).

use std::fs;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid, Repository};

use super::durability::sync_files;
use crate::history::error::{HistoryError, Result};

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
fn loose_path(dir: &Path, id: Oid) -> PathBuf {
    let hex = id.to_string();
    dir.join("objects").join(&hex[..2]).join(&hex[2..])
}

/// The id of a tree without entries.
pub(crate) fn empty_tree() -> Oid {
    const EMPTY: [u8; 20] = [
        0x4b, 0x82, 0x5d, 0xc6, 0x42, 0xcb, 0x6e, 0xb9, 0xa0, 0x60, 0xe5, 0x4b, 0xf8, 0xd6, 0x92, 0x88, 0xfb,
        0xee, 0x49, 0x04,
    ];
    Oid::from_bytes(&EMPTY).unwrap_or(Oid::ZERO_SHA1)
}
