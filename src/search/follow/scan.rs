//! Finds changed files: compares every file's stat with the recorded one, then the bytes of those that differ.
//!
//! A file counts as unchanged if its size, inode, modification time and change time are the same. A file system's clock
//! may be as coarse as two seconds, so a write directly after a reading may leave the times as they were. Therefore, if
//! a file was changed less than 2.1 seconds before it is read, its change time is recorded as unknown, and the next
//! scan compares its bytes. A file that can't be read gets the same mark. If no file is listed although the index knows
//! some (an unmounted vault), the scan is refused. Nothing here writes.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use rusqlite::Connection;
use rustc_hash::FxHashMap;

use crate::search::read::block::ParsedNote;
use crate::search::store::{Change, FileRow, FileStat, catalog};
use crate::search::{Index, IndexError, read};
use crate::vault::{NotePath, SkipReason, SkippedPath, Stat, VaultError, WalkOptions, WalkResult, conflict};

/// Fewer files than this don't pay for another core.
const WORTH_A_CORE: usize = 16;

/// A file that may have changed: as known, and as it is.
#[derive(Debug, Clone)]
pub struct ChangedFile {
    /// Its path.
    pub path: String,
    /// The index's row.
    pub known: Option<FileRow>,
    /// The file's stat; `None` if it is deleted.
    pub stat: Option<Stat>,
}

/// A listing of the vault.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The files to index.
    pub files: Vec<(NotePath, Stat)>,
    /// The files that are left out, with the reasons.
    pub skipped: Vec<(String, String)>,
    /// Those of them that can't be read, folders mostly.
    pub unread: Vec<UnreadPath>,
}

/// A folder or file that can't be read, with the reason.
pub type UnreadPath = (String, String);

impl Index {
    /// Lists the files that are indexed.
    ///
    /// # Errors
    /// The vault isn't there.
    pub(super) fn list(&self) -> Result<Listing, VaultError> {
        let walk: WalkResult = self.vault.walk(&WalkOptions::every_file())?;
        let unread = self.unread_in(&walk.skipped).collect();
        let mut listing =
            Listing { files: Vec::with_capacity(walk.entries.len()), skipped: Vec::new(), unread };
        for entry in walk.entries {
            match self.options.takes(entry.path.as_str()) {
                Ok(true) => listing.files.push((entry.path, entry.stat)),
                Ok(false) => {}
                Err(why) => listing.skipped.push((entry.path.to_string(), why.to_owned())),
            }
        }
        let skipped = walk.skipped.into_iter();
        listing
            .skipped
            .extend(skipped.map(|file| (file.path.to_string_lossy().into_owned(), file.reason.to_string())));
        Ok(listing)
    }

    /// The paths that a walk could not read and that no setting leaves out.
    fn unread_in(&self, skipped: &[SkippedPath]) -> impl Iterator<Item = UnreadPath> {
        let unread = skipped.iter().filter(|one| matches!(one.reason, SkipReason::Unreadable(_)));
        let unread = unread.map(|one| (one.path.to_string_lossy().into_owned(), one.reason.to_string()));
        // `folder/**` leaves out what is in the folder, which is all of it.
        unread.filter(|(path, _)| !self.options.exclude.matches(&format!("{path}/_")))
    }

    /// The files that may differ from their rows in `conn`, including missing ones. Unreadable paths go into `unread`.
    ///
    /// # Errors
    /// The vault isn't there or was emptied; SQLite's.
    pub(super) fn scan(
        &self,
        conn: &Connection,
        unread: &mut Vec<UnreadPath>,
    ) -> Result<Vec<ChangedFile>, IndexError> {
        fail::fail_point!("index-scan", |_| Err(IndexError::Interrupted));
        let Listing { files, unread: found, .. } = self.list()?;
        *unread = found;
        self.refuse_emptying(conn, files.len())?;
        let mut listed: FxHashMap<&str, Stat> = FxHashMap::default();
        listed.extend(files.iter().map(|(path, stat)| (path.as_str(), *stat)));
        let mut suspects = Vec::new();
        catalog::each_file(conn, |known| {
            let stat = listed.remove(&*known.path);
            if !stat.is_some_and(|stat| is_as_known(&known.look, &stat)) {
                suspects.push(ChangedFile { path: known.path.clone(), known: Some(known), stat });
            }
        })?;
        let new =
            |(path, stat): (&str, _)| ChangedFile { path: path.to_owned(), known: None, stat: Some(stat) };
        suspects.extend(listed.into_iter().map(new));
        suspects.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(suspects)
    }

    /// Refuses a scan that would remove all notes, because the vault may be unmounted.
    pub(super) fn refuse_emptying(&self, conn: &Connection, listed: usize) -> Result<(), IndexError> {
        match if listed == 0 { catalog::file_count(conn)? } else { 0 } {
            0 => Ok(()),
            known => Err(IndexError::VaultEmpty { root: self.vault.root().to_owned(), known }),
        }
    }

    /// The given files as suspects; a folder stands for all known or existing files below it. Unreadable paths go into
    /// `unread`.
    pub(super) fn suspects_at(
        &self,
        conn: &Connection,
        paths: &[String],
        unread: &mut Vec<UnreadPath>,
    ) -> Result<Vec<ChangedFile>, IndexError> {
        let mut found = BTreeMap::new();
        for path in paths.iter().filter_map(|path| NotePath::new(path).ok()) {
            self.look_at(conn, &path, &mut found, unread)?;
        }
        let mut suspects = Vec::new();
        for (path, stat) in found {
            let known = catalog::file(conn, &path)?;
            let is_same = match (&known, &stat) {
                (Some(known), Some(stat)) => is_as_known(&known.look, stat),
                (known, stat) => known.is_none() && stat.is_none(),
            };
            if !is_same {
                suspects.push(ChangedFile { path, known, stat });
            }
        }
        Ok(suspects)
    }

    /// Puts into `found` what stands at a path now, or below it; none where nothing does that could be read.
    fn look_at(
        &self,
        conn: &Connection,
        path: &NotePath,
        found: &mut BTreeMap<String, Option<Stat>>,
        unread: &mut Vec<UnreadPath>,
    ) -> Result<(), IndexError> {
        let unreadable =
            |error: &VaultError| (path.to_string(), SkipReason::Unreadable(error.to_string()).to_string());
        // The walk leaves links out.
        let stands = if self.is_behind_link(path) { Ok(None) } else { self.vault.stat(path) };
        match stands {
            Ok(Some(stat)) => {
                if self.takes(path) {
                    found.insert(path.to_string(), Some(stat));
                }
            }
            Err(VaultError::NotAFile { .. }) => {
                // It may have been a note.
                found.insert(path.to_string(), None);
                let under = Some(path.clone());
                let under = WalkOptions { extensions: Vec::new(), under, ..WalkOptions::default() };
                let walked = self.vault.walk_if_there(&under).unwrap_or_else(|error| {
                    unread.push(unreadable(&error));
                    WalkResult::default()
                });
                unread.extend(self.unread_in(&walked.skipped));
                let below = walked.entries.into_iter().filter(|entry| self.takes(&entry.path));
                found.extend(below.map(|entry| (entry.path.to_string(), Some(entry.stat))));
            }
            Err(error @ (VaultError::Gone(_) | VaultError::Root { .. })) => return Err(error.into()),
            gone => {
                if let Err(error @ VaultError::Io(..)) = &gone {
                    unread.push(unreadable(error));
                }
                // It may have been a folder.
                let below =
                    if gone.is_ok() { catalog::paths(conn, &format!("{path}/"))? } else { Vec::new() };
                found.extend(below.into_iter().map(|below| {
                    let stat = self.stat(&below);
                    (below, stat)
                }));
                found.insert(path.to_string(), None);
            }
        }
        Ok(())
    }

    /// The stat of a file, if one is there and behind no link.
    pub(super) fn stat(&self, path: &str) -> Option<Stat> {
        let path = NotePath::new(path).ok().filter(|path| !self.is_behind_link(path))?;
        self.vault.stat(&path).ok().flatten()
    }

    /// Whether a file of this name is indexed.
    fn takes(&self, path: &NotePath) -> bool {
        let is_temporary = conflict::is_temporary(path.file_name());
        !path.is_hidden() && !is_temporary && self.options.takes(path.as_str()) == Ok(true)
    }

    /// Whether a path is that of a symbolic link, or leads through one.
    fn is_behind_link(&self, path: &NotePath) -> bool {
        let names = path.as_str().split('/').count();
        self.vault.absolute(path).ancestors().take(names).any(Path::is_symlink)
    }

    /// Looks at the suspects' bytes, on all cores where there are many. Unreadable files go into `unread`.
    pub(super) fn inspect(&self, suspects: Vec<ChangedFile>, unread: &mut Vec<UnreadPath>) -> Vec<Change> {
        let (suspects, now) = (suspects.into_par_iter().with_min_len(WORTH_A_CORE), self.now_ns());
        let look = |suspect| {
            let mut missed = Vec::new();
            (self.look(suspect, now, &mut missed), missed)
        };
        let (changes, missed): (Vec<_>, Vec<_>) = suspects.map(look).unzip();
        unread.extend(missed.into_iter().flatten());
        changes.into_iter().flatten().collect()
    }

    /// The result of one suspect; `None` without a change. `now` is in nanoseconds since 1970. If it can't be read, that
    /// goes into `unread`.
    pub(super) fn look(
        &self,
        suspect: ChangedFile,
        now: i64,
        unread: &mut Vec<UnreadPath>,
    ) -> Option<Change> {
        let ChangedFile { path, known, stat } = suspect;
        let Some(stat) = stat else { return known.map(Change::Removed) };
        // A change time that later scans may trust, else 0.
        let ctime = if stat.has_settled(now) { stat.ctime_ns } else { 0 };
        let mut look = FileStat { ctime, ..look_of(&stat) };
        let note = NotePath::new(&path).ok()?;
        let bytes = match self.reason_to_leave(&note, &stat) {
            Some(why) => Err(why),
            None => match self.vault.read(&note) {
                Err(error) if error.is_not_found() => return known.map(Change::Removed),
                Err(error) => {
                    look.ctime = 0;
                    let why = match error {
                        VaultError::Io(_, source) => source.to_string(),
                        error => error.to_string(),
                    };
                    let why = SkipReason::Unreadable(why).to_string();
                    unread.push((path.clone(), why.clone()));
                    Err(why)
                }
                Ok(bytes) => Ok(bytes),
            },
        };
        let hash = bytes.as_ref().map_or([0; 32], |bytes| *blake3::hash(bytes).as_bytes());
        if let Some(known) = known.as_ref().filter(|known| bytes.is_ok() && known.hash == hash) {
            let touched = FileRow { look, ..known.clone() };
            return (touched != *known).then_some(Change::Touched(touched));
        }
        let (hash, skipped, note) = match bytes.and_then(|bytes| read::parse(&path, &bytes, &self.options)) {
            Ok(note) => (hash, None, note),
            Err(why) => ([0; 32], Some(why), ParsedNote::default()),
        };
        let findings = note.findings.iter().map(|(line, why)| format!("{line}\t{why}"));
        let findings = Some(findings.collect::<Vec<_>>().join("\n")).filter(|findings| !findings.is_empty());
        let file = FileRow { path, look, hash, skipped, findings };
        (known.as_ref() != Some(&file)).then_some(Change::Content { file, note })
    }

    /// Why a file is left out without a look at its bytes, if it is.
    fn reason_to_leave(&self, path: &NotePath, stat: &Stat) -> Option<String> {
        let (most, megabytes) = (self.options.max_file_bytes, |bytes: u64| bytes as f64 / 1e6);
        if stat.is_placeholder {
            Some(VaultError::Placeholder(path.clone()).to_string())
        } else if conflict::is_conflict_copy(path.file_name()) {
            Some("it is a conflict copy; merge it with its original, then remove it".to_owned())
        } else if stat.size > most {
            Some(format!(
                "it has {:.1} MB, more than the {:.1} MB of `[index] max_file_bytes`",
                megabytes(stat.size),
                megabytes(most)
            ))
        } else {
            None
        }
    }
}

/// Whether the file system says of a file what the index recorded.
fn is_as_known(look: &FileStat, stat: &Stat) -> bool {
    look.ctime != 0 && *look == look_of(stat)
}

fn look_of(stat: &Stat) -> FileStat {
    FileStat { size: stat.size, mtime: stat.mtime_ns, ctime: stat.ctime_ns, inode: stat.inode }
}
