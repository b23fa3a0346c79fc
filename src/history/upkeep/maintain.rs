//! Packs the repository now and then, so that ten years of snapshots stay small and quick.
//!
//! Many loose objects become a pack; many small packs become one. A new pack is synced before the objects that it replaces
//! are removed, so a kill leaves duplicates at worst.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use git2::Oid;

use crate::history::error::{HistoryError, Result};
use crate::history::store::{HistoryStore, failpoint, sync_files};
use crate::history::take::History;

/// When to pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackPolicy {
    /// From so many loose objects on.
    pub loose: usize,
    /// From so many small packs on.
    pub packs: usize,
    /// Larger packs are left as they are, in bytes.
    pub small_bytes: u64,
}

impl Default for PackPolicy {
    fn default() -> Self {
        Self { loose: 2_000, packs: 20, small_bytes: 24 << 20 }
    }
}

/// The result of packing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MaintenanceReport {
    /// How many loose objects went into a pack.
    pub packed: usize,
    /// How many packs became one.
    pub joined: usize,
}

impl History {
    /// Packs if it is time to.
    ///
    /// # Errors
    /// The repository can't be written; it is as good as before.
    pub fn maintain(&self) -> Result<MaintenanceReport> {
        self.maintain_with(PackPolicy::default())
    }

    /// Packs by another policy.
    ///
    /// # Errors
    /// As [`History::maintain`].
    pub fn maintain_with(&self, policy: PackPolicy) -> Result<MaintenanceReport> {
        let store = self.store();
        let lock = store.lock()?;
        let mut report = MaintenanceReport::default();
        remove_leftovers(store.dir());
        let loose = store.loose_objects()?;
        if loose.len() >= policy.loose {
            pack(&store, loose.iter().map(|(id, _)| *id))?;
            failpoint("history::packed");
            for (_, path) in &loose {
                let _ = fs::remove_file(path);
            }
            report.packed = loose.len();
        }
        let small = small_packs(store.dir(), policy.small_bytes)?;
        if small.len() >= policy.packs {
            let mut ids = BTreeSet::new();
            for idx in &small {
                ids.extend(pack_ids(idx)?);
            }
            let new = pack(&store, ids.into_iter())?;
            failpoint("history::joined");
            for idx in small.iter().filter(|idx| idx.file_stem() != new.file_stem()) {
                // The index goes first: a pack without one is ignored, the other way round is an error.
                let _ = fs::remove_file(idx);
                let _ = fs::remove_file(idx.with_extension("pack"));
            }
            report.joined = small.len();
        }
        drop(lock);
        if report != MaintenanceReport::default() {
            store.refresh()?;
        }
        Ok(report)
    }
}

/// Writes one pack with `ids`, durably, and names its index file.
fn pack(store: &HistoryStore, ids: impl Iterator<Item = Oid>) -> Result<PathBuf> {
    let git = |error| HistoryError::git("pack the history", store.dir())(error);
    let folder = store.dir().join("objects/pack");
    let mut builder = store.repo().packbuilder().map_err(git)?;
    builder.set_threads(1);
    for id in ids {
        builder.insert_object(id, None).map_err(git)?;
    }
    builder.write(&folder, 0o444).map_err(git)?;
    let name = builder.name().map_err(git)?.unwrap_or_default().to_owned();
    let [pack, idx] = ["pack", "idx"].map(|kind| folder.join(format!("pack-{name}.{kind}")));
    sync_files(&folder, &[pack, idx.clone()])?;
    Ok(idx)
}

fn small_packs(dir: &Path, max: u64) -> Result<Vec<PathBuf>> {
    let folder = dir.join("objects/pack");
    let listed = fs::read_dir(&folder).map_err(HistoryError::io("list", &folder))?;
    let mut out: Vec<PathBuf> = listed
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "idx"))
        .filter(|path| fs::metadata(path.with_extension("pack")).is_ok_and(|metadata| metadata.len() <= max))
        .collect();
    out.sort();
    Ok(out)
}

/// The ids in a pack's index (version 2 of gitformat-pack: a header of 8 bytes, 256 counts, then ids).
fn pack_ids(idx: &Path) -> Result<Vec<Oid>> {
    let bytes = fs::read(idx).map_err(HistoryError::io("read", idx))?;
    let damaged = || {
        let words = format!("`{}` is no index of version 2", idx.display());
        HistoryError::Failed(format!("the history is damaged: {words}"))
    };
    let count = bytes.get(8 + 255 * 4..8 + 256 * 4).filter(|_| bytes.starts_with(b"\xfftOc\0\0\0\x02"));
    let count = count.and_then(|count| count.try_into().ok()).map(u32::from_be_bytes).ok_or_else(damaged)?;
    let ids = bytes.get(1_032..1_032 + 20 * count as usize).ok_or_else(damaged)?;
    ids.chunks_exact(20).map(|id| Oid::from_bytes(id).map_err(|_| damaged())).collect()
}

/// Temporary files that a killed process left, once they are a day old.
fn remove_leftovers(dir: &Path) {
    let old = |path: &Path| {
        let age =
            fs::metadata(path).and_then(|metadata| metadata.modified()).ok().and_then(|at| at.elapsed().ok());
        age.is_some_and(|age| age.as_secs() > 86_400)
    };
    let folders = [dir.join("objects/pack"), dir.join("objects")];
    let inside = fs::read_dir(dir.join("objects")).into_iter().flatten().flatten().map(|entry| entry.path());
    for folder in folders.into_iter().chain(inside.filter(|path| path.is_dir())) {
        for file in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let temporary = name.starts_with("tmp_") || name.contains("_git2_");
            if temporary && old(&file.path()) {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}
