//! A quick check instead of a look at every file. A caller with a few milliseconds uses it, and may miss an edit.
//!
//! A full look leaves a note of itself in the cache: the folders of the vault and the files that were
//! changed last. For ten minutes after it a glance looks at these alone, and at the agent's
//! own notes. A folder whose own time is newer got, lost or renamed something: then a full look is due. What a
//! glance can miss until the next full look is an edit in place of a note that nobody touched for long.
//!
//! Only hooks glance, and only without a daemon: [`crate::search::Freshness`] says so.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use crate::search::follow::scan;
use crate::search::follow::scan::{Listing, Suspect};
use crate::search::store::seal;
use crate::search::{Index, IndexError};

/// The note of the last full look, in the cache.
const NAME: &str = "looked";
/// So long it counts.
const COUNTS: Duration = Duration::from_secs(600);
/// Files whose last change is so near to the look are looked at again: the grain of file systems' clocks.
const GRAIN: Duration = Duration::from_secs(3);
/// So many of the files that were changed last are looked at.
const NEWEST: usize = 200;
/// A vault of more folders than this is looked at whole.
const MOST_FOLDERS: usize = 5000;

/// What a full look found is not in the index: the next look is a full one, too.
pub(in crate::search) fn forget(root: &Path) {
    let _ = std::fs::remove_file(root.join(NAME));
}

/// Leaves a note of a full look that began at `began`; without it the next look is a full one, too.
pub(in crate::search) fn note(root: &Path, listing: &Listing, began: SystemTime) {
    let mut folders: BTreeSet<&str> = BTreeSet::from([""]);
    for (path, _) in &listing.files {
        let mut path = path.as_str();
        while let Some((folder, _)) = path.rsplit_once('/') {
            if !folders.insert(folder) {
                break;
            }
            path = folder;
        }
    }
    let file = root.join(NAME);
    if folders.len() > MOST_FOLDERS {
        let _ = std::fs::remove_file(file);
        return;
    }
    let mut newest: Vec<(i64, &str)> =
        listing.files.iter().map(|(path, stat)| (stat.mtime_ns, path.as_str())).collect();
    newest.sort_unstable_by(|a, b| b.cmp(a));
    let folders = folders.into_iter().map(|folder| format!("{folder}/\n"));
    let newest = newest.into_iter().take(NEWEST).map(|(_, path)| format!("{path}\n"));
    let text: String = folders.chain(newest).collect();
    let new = root.join(format!("{NAME}.{}", std::process::id()));
    let written = std::fs::write(&new, seal::signed(&text))
        .and_then(|()| std::fs::File::options().write(true).open(&new)?.set_modified(began))
        .and_then(|()| std::fs::rename(&new, &file));
    if written.is_err() {
        let _ = std::fs::remove_file(new);
    }
}

impl Index {
    /// What a glance finds changed; none where a full look is due.
    pub(in crate::search) fn glance(&self, conn: &Connection) -> Option<Result<Vec<Suspect>, IndexError>> {
        if !self.glancing {
            return None;
        }
        let file = self.root.join(NAME);
        let looked = std::fs::metadata(&file).ok()?.modified().ok()?;
        // A look in the future is one of another clock.
        if SystemTime::now().duration_since(looked).ok()? > COUNTS {
            return None;
        }
        let text = std::fs::read_to_string(&file).ok()?;
        let text = seal::unsigned(&text)?;
        let since = looked - GRAIN;
        let root = self.vault.root();
        let modified = |path: &str| std::fs::metadata(root.join(path)).ok()?.modified().ok();
        let mut changed: Vec<String> = Vec::new();
        for line in text.lines() {
            if let Some(folder) = line.strip_suffix('/') {
                if modified(folder)? > since {
                    return None;
                }
            } else if modified(line).is_none_or(|at| at > since) {
                changed.push(line.to_owned());
            }
        }
        changed.extend(self.options.own_notes(self.clock.now()));
        Some(scan::suspects_at(conn, &self.vault, &self.options, &changed))
    }

    /// Whether one of these files is not as the index has it.
    ///
    /// # Errors
    /// The cache or the vault can't be read.
    pub fn is_behind(&self, paths: &[String]) -> Result<bool, IndexError> {
        let store = self.store()?;
        let suspects = scan::suspects_at(&*store.conn()?, &self.vault, &self.options, paths)?;
        Ok(!suspects.is_empty())
    }

    /// The same index for who glances.
    #[must_use]
    pub fn glancing(mut self) -> Self {
        self.glancing = true;
        self
    }
}
