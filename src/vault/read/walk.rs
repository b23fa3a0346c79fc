//! Lists every note of the vault exactly once, by its path with all links resolved.
//!
//! The walk goes from open folder to open folder and follows no link. The target of a link inside the vault is listed
//! at its real place; targets outside don't belong to the vault. So no loop and no duplicate is possible. An unreadable
//! folder or file is reported, never left out in silence.

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::folder_names::names_in;
use super::{describe, stat_of};
use crate::defaults::defaults;
use crate::vault::{NotePath, Stat, Vault, VaultError, conflict};

/// Folders deeper than this are not entered.
const MAX_DEPTH: usize = 100;
/// The number of waiting folders from which a second thread is worth it.
const MANY: usize = 4;

defaults! {
    /// Which files to list.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct WalkOptions {
        /// Extensions in lower case, without the dot; none means all files.
        pub extensions: Vec<String> = vec!["md".to_owned()],
        /// Whether names that begin with a dot are listed and entered too. `.git` never is, nor are the
        /// temporary files of sync tools.
        pub hidden: bool,
        /// Only this folder.
        pub under: Option<NotePath>,
        /// Files and folders to leave out.
        pub exclude: Vec<NotePath>,
        /// As many threads as there are cores, for callers that need all of a large vault before they can answer.
        pub wide: bool,
    }
}

impl WalkOptions {
    /// All files with no hidden part, whatever they end in, listed on all cores.
    pub fn every_file() -> Self {
        Self { extensions: Vec::new(), wide: true, ..Self::default() }
    }

    /// Whether a file of that path would be listed.
    pub fn takes(&self, path: &NotePath) -> bool {
        self.under.as_ref().is_none_or(|under| path.is_within(under))
            && path.as_str().split('/').all(|part| self.enters(part))
            && self.takes_extension(path)
            && !self.exclude.iter().any(|excluded| path.is_within(excluded))
            && !conflict::is_temporary(path.file_name())
    }

    fn enters(&self, name: &str) -> bool {
        name != ".git" && (self.hidden || !name.starts_with('.'))
    }

    fn takes_extension(&self, path: &NotePath) -> bool {
        self.extensions.is_empty()
            || path
                .extension()
                .is_some_and(|extension| self.extensions.contains(&extension.to_ascii_lowercase()))
    }
}

/// A listed file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkEntry {
    /// Its path.
    pub path: NotePath,
    /// Its size, times and identity.
    pub stat: Stat,
}

/// The reason why a name was not listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// The name is not UTF-8, or has a character that no note's path may have.
    #[error("its name is not UTF-8, or has a control character or a backslash; rename it")]
    Name,
    /// A link; its target inside the vault is listed at its real place.
    #[error("it is a symbolic link; a target in the vault is listed at its own place")]
    Link,
    /// A folder, pipe, socket or device in the place of a note, with its article.
    #[error("it is {0}, not a file")]
    NotAFile(&'static str),
    /// Deeper than 100 folders.
    #[error("it lies more than 100 folders deep")]
    TooDeep,
    /// It can't be read.
    #[error("it can't be read: {0}")]
    Unreadable(String),
}

/// A name that was not listed, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedPath {
    /// Its path, relative to the vault; may be no UTF-8.
    pub path: PathBuf,
    /// Why.
    pub reason: SkipReason,
}

/// The result of a walk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalkResult {
    /// The files, ordered by path.
    pub entries: Vec<WalkEntry>,
    /// The folders that were entered, without the first, ordered by path.
    pub folders: Vec<WalkEntry>,
    /// The names that were not listed, for a reason that a person may want to know.
    pub skipped: Vec<SkippedPath>,
}

impl Vault {
    /// The notes below a folder; none if there is no such folder.
    ///
    /// # Errors
    /// The vault isn't there, or the folder can't be opened.
    pub fn notes_below(&self, folder: NotePath) -> Result<Vec<WalkEntry>, VaultError> {
        Ok(self.walk_if_there(&WalkOptions { under: Some(folder), ..WalkOptions::default() })?.entries)
    }

    /// As [`Vault::walk`]; empty where the folder to begin in is not there.
    ///
    /// # Errors
    /// As there, but for a missing folder.
    pub fn walk_if_there(&self, options: &WalkOptions) -> Result<WalkResult, VaultError> {
        match self.walk(options) {
            Err(VaultError::NotFound(_)) => Ok(WalkResult::default()),
            walk => walk,
        }
    }

    /// Lists the files that `options` take.
    ///
    /// # Errors
    /// The vault isn't there, or the folder to begin in can't be opened. Anything below that can't
    /// be read is in [`WalkResult::skipped`].
    pub fn walk(&self, options: &WalkOptions) -> Result<WalkResult, VaultError> {
        let mut walk = WalkResult::default();
        let dir = match &options.under {
            None => self.root_fd()?,
            Some(under) => {
                let place = self.locate(under)?;
                open_folder(&place.dir, &place.name).map_err(|error| match error {
                    Errno::NOTDIR | Errno::LOOP => VaultError::NotFound(under.clone()),
                    _ => VaultError::io(under, error.into()),
                })?
            }
        };
        let mut folders = Vec::new();
        list_folder(dir, options.under.as_ref(), options, 0, &mut walk, &mut folders)
            .map_err(|error| VaultError::Root(self.root().to_owned(), error.into()))?;
        while let Some(folder) = folders.pop() {
            enter(folder, options, &mut walk, &mut folders);
            if options.wide && folders.len() >= MANY {
                walk = walk.with(walk_wide(std::mem::take(&mut folders), options));
            }
        }
        walk.entries.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        walk.folders.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        walk.skipped.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        Ok(walk)
    }
}

impl WalkResult {
    /// Both together, in no order.
    fn with(mut self, other: Self) -> Self {
        self.entries.extend(other.entries);
        self.folders.extend(other.folders);
        self.skipped.extend(other.skipped);
        self
    }
}

/// A folder that waits to be listed.
struct OpenFolder {
    above: Arc<OwnedFd>,
    name: CString,
    path: NotePath,
    stat: Stat,
    depth: usize,
}

/// Lists `folders` and all below them on all cores.
fn walk_wide(folders: Vec<OpenFolder>, options: &WalkOptions) -> WalkResult {
    let walks = folders.into_par_iter().map(|folder| {
        let (mut walk, mut below) = (WalkResult::default(), Vec::new());
        enter(folder, options, &mut walk, &mut below);
        walk.with(walk_wide(below, options))
    });
    walks.reduce(WalkResult::default, WalkResult::with)
}

/// Lists one folder; those in it are put into `folders`.
fn enter(folder: OpenFolder, options: &WalkOptions, walk: &mut WalkResult, folders: &mut Vec<OpenFolder>) {
    let OpenFolder { above, name, path, stat, depth } = folder;
    let skipped = |path: &NotePath, error: Errno| SkippedPath {
        path: path.as_str().into(),
        reason: SkipReason::Unreadable(error.to_string()),
    };
    match open_folder(&above, &name) {
        Ok(dir) => {
            drop(above);
            if let Err(error) = list_folder(dir, Some(&path), options, depth, walk, folders) {
                walk.skipped.push(skipped(&path, error));
            }
            walk.folders.push(WalkEntry { path, stat });
        }
        Err(Errno::NOENT) => {}
        Err(error) => walk.skipped.push(skipped(&path, error)),
    }
}

fn open_folder<N: rustix::path::Arg>(dir: impl AsFd, name: N) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

fn list_folder(
    dir: OwnedFd,
    at: Option<&NotePath>,
    options: &WalkOptions,
    depth: usize,
    walk: &mut WalkResult,
    folders: &mut Vec<OpenFolder>,
) -> Result<(), Errno> {
    let mut inside = Vec::new();
    for name in names_in(&dir)? {
        let mut skip = |reason| {
            let shown = PathBuf::from(at.map_or("", NotePath::as_str))
                .join(std::ffi::OsStr::from_bytes(name.to_bytes()));
            walk.skipped.push(SkippedPath { path: shown, reason });
        };
        let Some(path) = name.to_str().ok().and_then(|name| NotePath::child(at, name)) else {
            skip(SkipReason::Name);
            continue;
        };
        if !options.enters(path.file_name()) || options.exclude.contains(&path) {
            continue;
        }
        let stat = match rustix::fs::statat(&dir, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            // Removed since the folder was read.
            Err(Errno::NOENT) => continue,
            Err(error) => {
                skip(SkipReason::Unreadable(error.to_string()));
                continue;
            }
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if depth + 1 >= MAX_DEPTH => skip(SkipReason::TooDeep),
            FileType::Directory => {
                if options.takes_extension(&path) && !options.extensions.is_empty() {
                    skip(SkipReason::NotAFile("a folder"));
                }
                inside.push((name, path, stat_of(&stat)));
            }
            _ if !options.takes_extension(&path) || conflict::is_temporary(path.file_name()) => {}
            FileType::RegularFile => walk.entries.push(WalkEntry { path, stat: stat_of(&stat) }),
            FileType::Symlink => skip(SkipReason::Link),
            kind => skip(SkipReason::NotAFile(describe(kind).unwrap_or("something else"))),
        }
    }
    let above = Arc::new(dir);
    folders.extend(inside.into_iter().map(|(name, path, stat)| {
        let above = Arc::clone(&above);
        OpenFolder { above, name, path, stat, depth: depth + 1 }
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cores_list_what_one_does() {
        let root = tempfile::tempdir().unwrap();
        for n in 0..120 {
            let folder = root.path().join(format!("{}/{}/{n}", n % 40, n % 3));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(format!("note{n}.md")), "x").unwrap();
        }
        std::os::unix::fs::symlink("0", root.path().join("link.md")).unwrap();
        let vault = Vault::open(root.path()).unwrap();
        let walk = |wide| vault.walk(&WalkOptions { wide, ..WalkOptions::default() }).unwrap();
        let (one, all) = (walk(false), walk(true));
        assert_eq!((one.entries.len(), one.skipped.len()), (120, 1));
        assert_eq!(one, all);
    }
}
