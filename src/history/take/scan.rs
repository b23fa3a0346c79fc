//! Scans the vault's files for changes against the last snapshot, and for files that must be left out.
//!
//! A scan reads files and writes blobs, but moves no branch. A file that can't be read never counts as deleted: it
//! keeps the state of the last snapshot. `left-out.json` lists the files that no snapshot holds, each with its reason
//! (such as too large, in the cloud, unreadable).

use std::os::unix::ffi::OsStringExt;

use super::entries::{FileEntries, FileEntry};
use super::history::History;
use super::pending::{read_json, write_json};
use super::select::PathTreatment;
use crate::clock::{Clock, SystemClock};
use crate::history::error::{HistoryError, Result};
use crate::history::prelude::*;
use crate::history::store::{FileMode, FileState, HistoryStore, ObjectWriter, TreeChange};
use crate::vault::{NotePath, SkipReason, SkippedPath, Stat, VaultError, WalkEntry, WalkOptions, WalkResult};

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
    /// The entries of the files that were looked at.
    pub entries: FileEntries,
    pub left_out: Vec<LeftOut>,
}

/// Looks at files for one snapshot.
pub(crate) struct HistoryScanner<'a, 'o> {
    history: &'a History,
    store: &'a HistoryStore,
    objects: &'a mut ObjectWriter<'o>,
    /// The tree of the last snapshot.
    base: Oid,
    scan: ScanResult,
    /// Paths that must not be taken for deleted.
    present: BTreeSet<Box<str>>,
    /// Folders, with a `/` at the end, of which nothing is known below.
    unknown: Vec<String>,
}

impl History {
    /// A scanner that compares the vault with the tree `base`.
    pub(in crate::history) fn scanner<'a, 'o>(
        &'a self,
        store: &'a HistoryStore,
        base: Oid,
        objects: &'a mut ObjectWriter<'o>,
    ) -> HistoryScanner<'a, 'o> {
        let (scan, present, unknown) = (ScanResult::default(), BTreeSet::new(), Vec::new());
        HistoryScanner { history: self, store, objects, base, scan, present, unknown }
    }
}

impl HistoryScanner<'_, '_> {
    /// Compares the whole vault with the last snapshot. `entries` spare reading what hasn't changed.
    pub(crate) fn scan_all(mut self, entries: &FileEntries) -> Result<ScanResult> {
        self.check_presence()?;
        let walk = self.walk(None)?;
        let mut unseen = self.store.files(self.base)?;
        for WalkEntry { path, stat } in walk.entries {
            let before = unseen.remove(path.as_str());
            let entry = entries.map.get_key_value(path.as_str());
            if let Some((path, entry)) = entry.filter(|(_, entry)| before == Some(entry.state))
                && entry.proves(&stat, mode_of(&stat))
                && !stat.is_placeholder
            {
                self.scan.entries.map.insert(path.clone(), *entry);
                continue;
            }
            if let Some(original) = stub_original(&path) {
                if self.history.keeps(&original) {
                    self.not_here(original.as_str(), "in the cloud, not on this disk");
                }
                continue;
            }
            self.take(&path, &stat, before)?;
        }
        for skipped in &walk.skipped {
            self.skipped(skipped)?;
        }
        for path in unseen.keys() {
            self.unless_present_gone(path);
        }
        Ok(self.scan)
    }

    /// Compares the given paths with the last snapshot. A path may be a file, a folder or gone.
    pub(crate) fn scan_paths(mut self, paths: &BTreeSet<NotePath>) -> Result<ScanResult> {
        self.check_presence()?;
        for path in paths {
            self.look(path)?;
        }
        self.scan.deleted.sort_unstable();
        self.scan.deleted.dedup();
        Ok(self.scan)
    }

    fn look(&mut self, path: &NotePath) -> Result<()> {
        if self.take_link(path)? {
            return Ok(());
        }
        match self.history.vault.stat(path) {
            Ok(Some(stat)) => {
                self.take(path, &stat, None)?;
                // It may stand where a folder was.
                self.present.insert(path.as_str().into());
            }
            Ok(None) | Err(VaultError::NotFound(_)) => {}
            Err(VaultError::NotAFile(_, "a folder")) => {
                let walk = self.walk(Some(path.clone()))?;
                for entry in walk.entries {
                    self.take(&entry.path, &entry.stat, None)?;
                }
                for skipped in &walk.skipped {
                    self.skipped(skipped)?;
                }
            }
            Err(error) => {
                if self.history.keeps(path) {
                    self.not_here(path.as_str(), &error.to_string());
                }
                return Ok(());
            }
        }
        // Everything that the last snapshot knows at or under the path and that isn't present is gone.
        for known in self.store.files_under(self.base, path.as_str())? {
            self.unless_present_gone(&known);
        }
        Ok(())
    }

    /// All files but the trash, of the vault or of one folder.
    fn walk(&self, under: Option<NotePath>) -> Result<WalkResult> {
        let (wide, exclude) = (under.is_none(), NotePath::new(".trash").into_iter().collect());
        let options = WalkOptions { hidden: true, under, exclude, wide, ..WalkOptions::every_file() };
        Ok(self.history.vault.walk(&options)?)
    }

    fn check_presence(&self) -> Result<()> {
        let vault = &self.history.vault;
        if vault.is_present() {
            return Ok(());
        }
        let root = vault.root().display();
        Err(HistoryError::Failed(format!(
            "the vault `{root}` is not there (not mounted?); nothing was recorded"
        )))
    }

    fn verdict(&self, path: &str) -> PathTreatment {
        self.history.selection.verdict(path)
    }

    fn unless_present_gone(&mut self, path: &str) {
        let is_present =
            self.present.contains(path) || self.unknown.iter().any(|folder| path.starts_with(folder));
        if !is_present && self.verdict(path) == PathTreatment::Keep {
            self.scan.deleted.push(path.to_owned());
        }
    }

    /// Takes a listed file if it is for the snapshot; what isn't but should be known about is noted.
    fn take(&mut self, path: &NotePath, stat: &Stat, known: Option<FileState>) -> Result<()> {
        let selection = &self.history.selection;
        match selection.verdict(path.as_str()) {
            PathTreatment::Ignore => {}
            PathTreatment::Reserved => self.not_here(path.as_str(), "git reserves this name"),
            PathTreatment::Keep if stat.is_placeholder => {
                self.not_here(path.as_str(), "in the cloud, not on this disk");
            }
            PathTreatment::Keep if selection.is_too_large(path.as_str(), stat.size) => {
                self.not_here(path.as_str(), &selection.too_large(stat.size));
            }
            PathTreatment::Keep => {
                self.present.insert(path.as_str().into());
                self.read(path, stat, mode_of(stat), known)?;
            }
        }
        Ok(())
    }

    /// Takes a symbolic link as what it is, and never follows it; false where none stands at `path`.
    fn take_link(&mut self, path: &NotePath) -> Result<bool> {
        let metadata = fs::symlink_metadata(self.history.vault.absolute(path));
        let is_link = metadata.is_ok_and(|metadata| metadata.is_symlink());
        if is_link && self.history.keeps(path) {
            self.present.insert(path.as_str().into());
            self.read(path, &Stat::default(), FileMode::Link, None)?;
        }
        Ok(is_link)
    }

    fn skipped(&mut self, SkippedPath { path, reason }: &SkippedPath) -> Result<()> {
        let shown = path.to_string_lossy().into_owned();
        match reason {
            SkipReason::Link => {
                if let Ok(path) = NotePath::new(&shown) {
                    self.take_link(&path)?;
                }
            }
            SkipReason::Name if self.verdict(&shown) != PathTreatment::Ignore => {
                self.scan.left_out.push(LeftOut { path: shown, reason: reason.to_string() });
            }
            SkipReason::TooDeep | SkipReason::Unreadable(_) => {
                self.unknown.push(format!("{shown}/"));
                self.not_here(&shown, &reason.to_string());
            }
            SkipReason::Name | SkipReason::NotAFile(_) => {}
        }
        Ok(())
    }

    /// Notes a file that is there and that no snapshot can hold.
    fn not_here(&mut self, path: &str, reason: &str) {
        self.present.insert(path.into());
        self.scan.left_out.push(LeftOut { path: path.to_owned(), reason: reason.to_owned() });
    }

    /// Reads a file; `known` is its state in the last snapshot, where that was looked up already.
    fn read(&mut self, path: &NotePath, stat: &Stat, mode: FileMode, known: Option<FileState>) -> Result<()> {
        let vault = &self.history.vault;
        let read_at = i64::try_from(SystemClock.now().as_nanosecond()).unwrap_or(0);
        let bytes = match mode {
            FileMode::Link => fs::read_link(vault.absolute(path))
                .map(|target| target.into_os_string().into_vec())
                .map_err(|error| error.to_string()),
            _ => vault.read(path).map_err(|error| error.to_string()),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            // It may just have been removed; if so, the next look knows.
            Err(reason) => {
                self.scan.left_out.push(LeftOut { path: path.to_string(), reason });
                return Ok(());
            }
        };
        let known =
            known.map_or_else(|| self.store.file(self.base, path.as_str()), |known| Ok(Some(known)))?;
        let id = Oid::hash_object(ObjectType::Blob, &bytes).map_err(self.store.git("hash a file"))?;
        let mut state = FileState { id, mode };
        if known != Some(state) {
            state.id = self.objects.write(ObjectType::Blob, &bytes)?;
            self.scan.changed.push((path.to_string(), Some(state)));
        }
        self.scan.entries.map.insert(path.as_str().into(), FileEntry::new(stat, state, read_at));
        Ok(())
    }
}

/// git keeps one permission: whether the owner may execute the file.
pub(in crate::history) fn mode_of(stat: &Stat) -> FileMode {
    if stat.mode & 0o100 != 0 { FileMode::Executable } else { FileMode::File }
}

/// The file that the stub `.NAME.icloud` stands for.
fn stub_original(path: &NotePath) -> Option<NotePath> {
    path.beside(path.file_name().strip_prefix('.')?.strip_suffix(".icloud")?)
}

const LEFT_OUT_FILE: &str = "left-out.json";

/// The list in the state directory `state`, without opening the history; empty where there is none.
pub fn left_out_in(state: &Path) -> Vec<LeftOut> {
    read_left_out(&state.join("history.git")).unwrap_or_default()
}

pub(super) fn read_left_out(dir: &Path) -> Result<Vec<LeftOut>> {
    Ok(read_json(&dir.join(LEFT_OUT_FILE))?.unwrap_or_default())
}

/// Replaces the list, after a scan of everything.
pub(super) fn replace_left_out(dir: &Path, left: &[LeftOut]) -> Result<()> {
    write_json(&dir.join(LEFT_OUT_FILE), &left)
}

/// Updates the list for `paths`; the rest stays.
pub(super) fn update_left_out(dir: &Path, paths: &BTreeSet<NotePath>, left: &[LeftOut]) -> Result<()> {
    let mut list = read_left_out(dir)?;
    let before = list.clone();
    let looked = |path: &str| {
        let mut rests = paths.iter().filter_map(|at| path.strip_prefix(at.as_str()));
        rests.any(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    list.retain(|file| !looked(&file.path));
    list.extend_from_slice(left);
    list.sort_unstable();
    list.dedup();
    if list == before { Ok(()) } else { replace_left_out(dir, &list) }
}
