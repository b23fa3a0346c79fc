//! Scans the vault's files for changes against the last snapshot, and for files that must be left out.
//!
//! It reads files and writes blobs, but moves no branch. A file that can't be read never counts as deleted: it keeps
//! the state of the last snapshot, and is listed with the reason.

use std::collections::BTreeSet;

use git2::{ObjectType, Oid};
use serde::{Deserialize, Serialize};

use super::entries::{FileEntries, FileEntry};
use super::select::{PathTreatment, Selection};
use crate::clock::{Clock, SystemClock};
use crate::history::error::{HistoryError, Result};
use crate::history::store::{FileMode, FileState, HistoryStore, ObjectWriter, TreeChange};
use crate::vault::{NotePath, SkipReason, Stat, Vault, VaultError, WalkOptions, WalkResult};

/// A file that no snapshot holds, with the reason in words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftOut {
    /// Relative to the vault; odd bytes replaced.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    /// New and changed files.
    pub changed: Vec<TreeChange>,
    /// Files that are gone.
    pub deleted: Vec<String>,
    /// New entries for the entry file; `None` for a path that is gone.
    pub new_entries: Vec<(String, Option<FileEntry>)>,
    pub left_out: Vec<LeftOut>,
    /// How many files the last snapshot knows; counted by a full scan only.
    pub known_files: Option<usize>,
}

/// A file to be read.
struct ScanCandidate {
    path: NotePath,
    stat: Stat,
    mode: FileMode,
    /// As the last snapshot holds it.
    known: Option<FileState>,
}

/// A file of the last snapshot, with what is remembered of reading it.
struct TrackedFile<'a> {
    path: &'a str,
    state: FileState,
    entry: Option<&'a FileEntry>,
}

/// Looks at files for one snapshot.
pub(crate) struct HistoryScanner<'a> {
    pub store: &'a HistoryStore,
    pub vault: &'a Vault,
    pub selection: &'a Selection,
    /// The tree of the last snapshot.
    pub base: Oid,
}

impl HistoryScanner<'_> {
    /// Compares the whole vault with the last snapshot. `entries` spare reading what hasn't changed.
    pub(crate) fn scan_all(
        &self,
        entries: &FileEntries,
        objects: &mut ObjectWriter<'_>,
    ) -> Result<ScanResult> {
        self.check_presence()?;
        let walk = self.walk(None)?;
        let from_tree;
        let known: Vec<TrackedFile<'_>> = if entries.tree == Some(self.base) {
            let known = entries.map.iter();
            known.map(|(path, entry)| TrackedFile { path, state: entry.state, entry: Some(entry) }).collect()
        } else {
            from_tree = self.store.files(self.base)?;
            let entry = |path: &String| entries.map.get(path.as_str());
            from_tree
                .iter()
                .map(|(path, state)| TrackedFile { path, state: *state, entry: entry(path) })
                .collect()
        };
        let mut scan = ScanResult { known_files: Some(known.len()), ..ScanResult::default() };
        let mut present = PresentPaths::default();
        let mut candidates = Vec::new();
        let mut unseen = Vec::new();
        // Both lists are sorted by path, so one walk through both finds every pair.
        let mut rest = known.iter().peekable();
        for entry in walk.entries {
            let (path, stat) = (entry.path, entry.stat);
            while let Some(gone) = rest.next_if(|known| known.path < path.as_str()) {
                unseen.push(gone.path);
            }
            let before = rest.next_if(|known| known.path == path.as_str());
            let mode = mode_of(&stat);
            if let Some(TrackedFile { state, entry: Some(entry), .. }) = before
                && entry.state == *state
                && entry.proves(&stat, mode)
                && !stat.is_placeholder
            {
                continue;
            }
            if let Some(original) = stub_original(&path) {
                if self.selection.verdict(original.as_str()) == PathTreatment::Keep {
                    present.not_here(&mut scan, original.as_str(), "in the cloud, not on this disk");
                }
                continue;
            }
            if self.takes(&path, &stat, &mut scan, &mut present) {
                candidates.push(ScanCandidate { path, stat, mode, known: before.map(|known| known.state) });
            }
        }
        unseen.extend(rest.map(|known| known.path));
        for skipped in walk.skipped {
            self.skipped(&skipped.path, &skipped.reason, &mut scan, &mut present, &mut candidates);
        }
        for mut candidate in candidates {
            if candidate.mode == FileMode::Link {
                present.add(candidate.path.as_str());
                let at = known.binary_search_by(|known| known.path.cmp(candidate.path.as_str()));
                candidate.known = at.ok().map(|at| known[at].state);
            }
            self.read(&candidate, objects, &mut scan)?;
        }
        for path in unseen {
            if !present.covers(path) && self.selection.verdict(path) == PathTreatment::Keep {
                scan.deleted.push(path.to_owned());
                scan.new_entries.push((path.to_owned(), None));
            }
        }
        Ok(scan)
    }

    /// Compares the given paths with the last snapshot. A path may be a file, a folder or gone.
    pub(crate) fn scan_paths(
        &self,
        paths: &BTreeSet<NotePath>,
        objects: &mut ObjectWriter<'_>,
    ) -> Result<ScanResult> {
        self.check_presence()?;
        let mut scan = ScanResult::default();
        let mut candidates = Vec::new();
        for path in paths {
            self.look(path, &mut scan, &mut candidates)?;
        }
        for mut candidate in candidates {
            candidate.known = self.store.file(self.base, candidate.path.as_str())?;
            self.read(&candidate, objects, &mut scan)?;
        }
        scan.deleted.sort_unstable();
        scan.deleted.dedup();
        Ok(scan)
    }

    fn look(
        &self,
        path: &NotePath,
        scan: &mut ScanResult,
        candidates: &mut Vec<ScanCandidate>,
    ) -> Result<()> {
        let mut present = PresentPaths::default();
        if let Some(candidate) = self.link(path) {
            if self.selection.verdict(path.as_str()) == PathTreatment::Keep {
                candidates.push(candidate);
            }
            return Ok(());
        }
        match self.vault.stat(path) {
            Ok(Some(stat)) => {
                if self.takes(path, &stat, scan, &mut present) {
                    candidates.push(ScanCandidate {
                        path: path.clone(),
                        mode: mode_of(&stat),
                        stat,
                        known: None,
                    });
                }
                // It may stand where a folder was.
                present.add(path.as_str());
                self.gone_below(path, &present, scan)
            }
            Ok(None) | Err(VaultError::NotFound(_)) => self.gone_below(path, &present, scan),
            Err(VaultError::NotAFile(_, "a folder")) => {
                let walk = self.walk(Some(path.clone()))?;
                for entry in walk.entries {
                    if self.takes(&entry.path, &entry.stat, scan, &mut present) {
                        present.add(entry.path.as_str());
                        let mode = mode_of(&entry.stat);
                        candidates.push(ScanCandidate {
                            path: entry.path,
                            mode,
                            stat: entry.stat,
                            known: None,
                        });
                    }
                }
                for skipped in walk.skipped {
                    self.skipped(&skipped.path, &skipped.reason, scan, &mut present, candidates);
                }
                self.gone_below(path, &present, scan)
            }
            Err(error) => {
                if self.selection.verdict(path.as_str()) == PathTreatment::Keep {
                    scan.left_out.push(LeftOut { path: path.to_string(), reason: error.to_string() });
                }
                Ok(())
            }
        }
    }

    /// All files but the trash, of the vault or of one folder.
    fn walk(&self, under: Option<NotePath>) -> Result<WalkResult> {
        let (wide, exclude) = (under.is_none(), NotePath::new(".trash").into_iter().collect());
        let options = WalkOptions { hidden: true, under, exclude, wide, ..WalkOptions::every_file() };
        Ok(self.vault.walk(&options)?)
    }

    fn check_presence(&self) -> Result<()> {
        if self.vault.is_present() {
            return Ok(());
        }
        let root = self.vault.root().display();
        Err(HistoryError::Failed(format!(
            "the vault `{root}` is not there (not mounted?); nothing was recorded"
        )))
    }

    /// Everything that the last snapshot knows at or under `path` and that isn't present is gone.
    fn gone_below(&self, path: &NotePath, present: &PresentPaths, scan: &mut ScanResult) -> Result<()> {
        for known in self.store.files_under(self.base, path.as_str())? {
            if present.covers(&known) || self.selection.verdict(&known) != PathTreatment::Keep {
                continue;
            }
            scan.new_entries.push((known.clone(), None));
            scan.deleted.push(known);
        }
        Ok(())
    }

    /// Whether a listed file is for the snapshot; what isn't but should be known about is noted.
    fn takes(&self, path: &NotePath, stat: &Stat, scan: &mut ScanResult, present: &mut PresentPaths) -> bool {
        match self.selection.verdict(path.as_str()) {
            PathTreatment::Ignore => false,
            PathTreatment::Reserved => {
                present.not_here(scan, path.as_str(), "git reserves this name");
                false
            }
            PathTreatment::Keep if stat.is_placeholder => {
                present.not_here(scan, path.as_str(), "in the cloud, not on this disk");
                false
            }
            PathTreatment::Keep if self.selection.is_too_large(path.as_str(), stat.size) => {
                let reason = self.selection.too_large(stat.size);
                present.not_here(scan, path.as_str(), &reason);
                false
            }
            PathTreatment::Keep => true,
        }
    }

    fn skipped(
        &self,
        path: &std::path::Path,
        reason: &SkipReason,
        scan: &mut ScanResult,
        present: &mut PresentPaths,
        candidates: &mut Vec<ScanCandidate>,
    ) {
        let shown = path.to_string_lossy().into_owned();
        match reason {
            SkipReason::Link => {
                let Ok(path) = NotePath::new(&shown) else { return };
                match self.link(&path) {
                    Some(candidate) if self.selection.verdict(&shown) == PathTreatment::Keep => {
                        candidates.push(candidate);
                    }
                    _ => {}
                }
            }
            SkipReason::Name if self.selection.verdict(&shown) != PathTreatment::Ignore => {
                scan.left_out.push(LeftOut { path: shown, reason: reason.to_string() });
            }
            SkipReason::TooDeep | SkipReason::Unreadable(_) => {
                present.folders.insert(format!("{shown}/"));
                present.not_here(scan, &shown, &reason.to_string());
            }
            SkipReason::Name | SkipReason::NotAFile(_) => {}
        }
    }

    /// A symbolic link at `path`; it is kept as what it is and never followed.
    fn link(&self, path: &NotePath) -> Option<ScanCandidate> {
        let metadata = std::fs::symlink_metadata(self.vault.absolute(path)).ok()?;
        let stat =
            Stat { size: 0, mtime_ns: 0, ctime_ns: 0, inode: 0, dev: 0, mode: 0, is_placeholder: false };
        metadata.is_symlink().then(|| ScanCandidate {
            path: path.clone(),
            stat,
            mode: FileMode::Link,
            known: None,
        })
    }

    fn read(
        &self,
        file: &ScanCandidate,
        objects: &mut ObjectWriter<'_>,
        scan: &mut ScanResult,
    ) -> Result<()> {
        let path = &file.path;
        let read_at = i64::try_from(SystemClock.now().as_nanosecond()).unwrap_or(0);
        let bytes = match file.mode {
            FileMode::Link => std::fs::read_link(self.vault.absolute(path))
                .map(|target| std::os::unix::ffi::OsStrExt::as_bytes(target.as_os_str()).to_vec())
                .map_err(|error| error.to_string()),
            _ => self.vault.read(path).map_err(|error| error.to_string()),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            // It may just have been removed; if so, the next look knows.
            Err(reason) => {
                scan.left_out.push(LeftOut { path: path.to_string(), reason });
                return Ok(());
            }
        };
        if let Some(known) = file.known {
            let id = Oid::hash_object(ObjectType::Blob, &bytes).map_err(self.store.git("hash a file"))?;
            if id == known.id && file.mode == known.mode {
                scan.new_entries.push((path.to_string(), Some(FileEntry::new(&file.stat, known, read_at))));
                return Ok(());
            }
        }
        let state = FileState { id: objects.write(ObjectType::Blob, &bytes)?, mode: file.mode };
        scan.new_entries.push((path.to_string(), Some(FileEntry::new(&file.stat, state, read_at))));
        scan.changed.push((path.to_string(), Some(state)));
        Ok(())
    }
}

/// Paths that must not be taken for deleted.
#[derive(Default)]
struct PresentPaths {
    files: BTreeSet<Box<str>>,
    /// With a `/` at the end: nothing is known about what is below.
    folders: BTreeSet<String>,
}

impl PresentPaths {
    fn add(&mut self, path: &str) {
        self.files.insert(path.into());
    }

    fn not_here(&mut self, scan: &mut ScanResult, path: &str, reason: &str) {
        self.add(path);
        scan.left_out.push(LeftOut { path: path.to_owned(), reason: reason.to_owned() });
    }

    fn covers(&self, path: &str) -> bool {
        self.files.contains(path) || self.folders.iter().any(|folder| path.starts_with(folder.as_str()))
    }
}

/// git keeps one permission: whether the owner may execute the file.
fn mode_of(stat: &Stat) -> FileMode {
    if stat.mode & 0o100 != 0 { FileMode::Executable } else { FileMode::File }
}

/// The file that the stub `.NAME.icloud` stands for.
fn stub_original(path: &NotePath) -> Option<NotePath> {
    let name = path.file_name().strip_prefix('.')?.strip_suffix(".icloud")?;
    match path.parent() {
        Some(parent) => parent.join(name).ok(),
        None => NotePath::new(name).ok(),
    }
}
