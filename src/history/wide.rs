//! Listing a large vault with more than one thread: the file system's answers, one a file, are all that
//! a full walk waits for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::error::{HistoryError, Result};
use crate::vault::{NotePath, SkipReason, Skipped, Vault, VaultError, Walk, WalkOptions};

/// More threads only wait for each other's folders.
const MOST: usize = 4;

/// Every file of the vault, hidden ones too, ordered by path; the top folders are shared out.
pub(crate) fn walk(vault: &Vault, exclude: &[NotePath]) -> Result<Walk> {
    let folders = top_folders(vault, exclude)?;
    let options = |under: Option<NotePath>, exclude: Vec<NotePath>| WalkOptions {
        extensions: Vec::new(),
        hidden: true,
        under,
        exclude,
        wide: false,
    };
    let top = [exclude, &folders].concat();
    let all = Mutex::new(vault.walk(&options(None, top))?);
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    let work = || {
        while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
            let walked = vault.walk(&options(Some(folder.clone()), exclude.to_vec()));
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            match walked {
                Ok(walk) => {
                    all.entries.extend(walk.entries);
                    all.skipped.extend(walk.skipped);
                }
                // Removed since the vault was listed.
                Err(VaultError::NotFound(_)) => {}
                Err(error @ VaultError::Gone(_)) => {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
                Err(error) => {
                    let reason = SkipReason::Unreadable(error.to_string());
                    all.skipped.push(Skipped { path: folder.as_str().into(), reason });
                }
            }
        }
    };
    let threads =
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MOST).min(folders.len());
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error.into());
    }
    let mut walk = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Every folder's own list is in order, which this sort makes use of.
    walk.entries.sort_by(|left, right| left.path.cmp(&right.path));
    walk.skipped.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(walk)
}

/// The folders at the vault's top that a walk would enter.
fn top_folders(vault: &Vault, exclude: &[NotePath]) -> Result<Vec<NotePath>> {
    let root = vault.root();
    let listed = std::fs::read_dir(root).map_err(|_| HistoryError::VaultGone(root.to_owned()))?;
    let folders = listed.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(folders
        .filter_map(|entry| NotePath::new(entry.file_name().to_str()?).ok())
        .filter(|path| path.as_str() != ".git" && !exclude.contains(path))
        .collect())
}
