//! Makes and removes the scratch folders of turns in the cache directory, and lists the paths of the vault that a
//! command may read.
//!
//! The first command of a turn makes the turn's folder; the end of the turn removes the folder. [`Scratch::in_cache`]
//! removes the folders that killed processes left behind ([`LockedFolder`]). A command writes only to the subfolder
//! `work`. This program writes to `vault` and `skill` next to `work`. Into `work` this program writes only new files,
//! which hold long outputs. So this program never follows a path that a command has changed.
//!
//! A command may read the whole vault except names that begin with a dot, because plugins and programs store keys
//! there. The box gets a list of entries of the vault's top folder, and a list of hidden paths below them
//! ([`Visibility`]). A folder that can't be listed, lies too deep or has too many hidden paths is hidden as a whole. A
//! symbolic link in the top folder is left out, since its target may lie outside of the vault; a deeper link is
//! resolved inside the box. If a path gets a name with a dot while a command runs, the path is hidden from the next
//! command on.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::agent::locked_folder::{LockedFolder, private, remove, sweep};

/// All scratch folders of one program.
#[derive(Debug)]
pub(super) struct Scratch {
    base: PathBuf,
    own: Mutex<Option<LockedFolder>>,
}

impl Scratch {
    /// In this cache; removes the folders of ended processes.
    pub fn in_cache(cache: &Path) -> Self {
        let base = cache.join("scratch");
        sweep(&base);
        Self { base, own: Mutex::default() }
    }

    /// The folder of a turn; with `once`, a folder in it for the command with this number alone.
    pub fn turn(&self, turn: &str, once: Option<u32>) -> io::Result<TurnFolder> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            *own = Some(LockedFolder::begin(&self.base)?);
        }
        let mut folder = own.as_ref().map(|own| own.folder.join(name(turn))).unwrap_or_default();
        folder.extend(once.map(|number| number.to_string()));
        let folder = TurnFolder(folder);
        private(&folder.work())?;
        Ok(folder)
    }

    /// Removes the folder of a turn.
    pub fn turn_ended(&self, turn: &str) {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = own.as_ref() {
            remove(&own.folder.join(name(turn)));
        }
    }
}

/// The folder of one turn.
#[derive(Debug)]
pub(super) struct TurnFolder(PathBuf);

impl TurnFolder {
    /// The directory that its commands write to.
    pub fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// A folder of links to the readable entries of the vault.
    pub fn view(&self, entries: &[PathBuf]) -> io::Result<PathBuf> {
        let view = self.0.join("vault");
        remove(&view);
        private(&view)?;
        for entry in entries {
            if let Some(name) = entry.file_name() {
                std::os::unix::fs::symlink(entry, view.join(name))?;
            }
        }
        Ok(view)
    }

    /// A copy of a skill's files, as they were approved.
    pub fn skill(&self, name: &str, files: &BTreeMap<String, Vec<u8>>) -> io::Result<PathBuf> {
        let skill = self.0.join("skill").join(name);
        remove(&skill);
        for (path, bytes) in files {
            let file = skill.join(path);
            if let Some(parent) = file.parent() {
                private(parent)?;
            }
            fs::write(&file, bytes)?;
            let mode = if path.starts_with("scripts/") { 0o700 } else { 0o600 };
            fs::set_permissions(&file, Permissions::from_mode(mode))?;
        }
        Ok(skill)
    }

    /// Removes it.
    pub fn remove(&self) {
        remove(&self.0);
    }
}

fn name(turn: &str) -> String {
    blake3::hash(turn.as_bytes()).to_hex()[..24].to_owned()
}

/// The most entries; folders first, so that a vault with very many notes in its top folder shows its folders.
const MAX_ENTRIES: usize = 400;
/// The most files and folders that are examined; the remaining folders are hidden.
const MOST_LOOKED: usize = 200_000;
/// A folder with more hidden paths below it is hidden whole.
const MOST_BELOW: usize = 100;
/// The most hidden paths in all; the remaining entries are left out.
const MOST_HIDDEN: usize = 1_000;
/// Deeper folders are hidden.
const DEEPEST: usize = 64;

/// The readable entries, and the hidden paths below them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Visibility {
    /// The entries of the top folder.
    pub entries: Vec<PathBuf>,
    /// Files and folders below them.
    pub hidden: Vec<PathBuf>,
}

/// Lists the paths of a vault that a command may read, as they are now. Opens no file.
pub(super) fn readable(root: &Path) -> Visibility {
    list(root, MOST_LOOKED, MOST_HIDDEN)
}

fn list(root: &Path, most_looked: usize, most_hidden: usize) -> Visibility {
    let Ok(listed) = std::fs::read_dir(root) else { return Visibility::default() };
    let mut found: Vec<(bool, PathBuf)> = listed
        .flatten()
        .filter(|entry| !has_dot(entry))
        .filter_map(|entry| {
            let kind = entry.file_type().ok().filter(|kind| kind.is_dir() || kind.is_file())?;
            Some((kind.is_file(), entry.path()))
        })
        .collect();
    found.sort();
    found.truncate(MAX_ENTRIES);
    let mut seen = Visibility::default();
    let mut left = most_looked;
    for (is_file, path) in found {
        let below = if is_file { Some(Vec::new()) } else { hidden_below(&path, DEEPEST, &mut left) };
        match below.filter(|below| seen.hidden.len() + below.len() <= most_hidden) {
            Some(below) => {
                seen.hidden.extend(below);
                seen.entries.push(path);
            }
            None => tracing::warn!("bash doesn't show `{}`: too much in it is hidden", path.display()),
        }
    }
    seen
}

/// The hidden paths below a folder; none if all of it has to be hidden. `left` counts down [`MOST_LOOKED`].
fn hidden_below(folder: &Path, depth: usize, left: &mut usize) -> Option<Vec<PathBuf>> {
    let depth = depth.checked_sub(1)?;
    let mut hidden = Vec::new();
    for entry in std::fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        *left = left.checked_sub(1)?;
        let kind = entry.file_type().ok()?;
        if kind.is_symlink() {
            continue;
        }
        if has_dot(&entry) {
            hidden.push(entry.path());
        } else if kind.is_dir() {
            match hidden_below(&entry.path(), depth, left) {
                Some(below) => hidden.extend(below),
                None => hidden.push(entry.path()),
            }
        }
    }
    (hidden.len() <= MOST_BELOW).then_some(hidden)
}

fn has_dot(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_goes_with_its_turn_and_with_its_program() {
        let cache = tempfile::tempdir().unwrap();
        let scratch = Scratch::in_cache(cache.path());
        assert!(!cache.path().join("scratch").exists(), "nothing is made before it is needed");
        let folder = scratch.turn("A", None).unwrap();
        let outside = cache.path().join("outside");
        fs::write(&outside, "stays").unwrap();
        std::os::unix::fs::symlink(&outside, folder.work().join("link")).unwrap();
        private(&folder.work().join("locked")).unwrap();
        fs::write(folder.work().join("locked/file"), "x").unwrap();
        fs::set_permissions(folder.work().join("locked"), Permissions::from_mode(0o000)).unwrap();
        let other = scratch.turn("B", None).unwrap();
        // A process that starts meanwhile leaves the folders alone.
        drop(Scratch::in_cache(cache.path()));
        // A command that the turn's end broke off.
        let broken_off = scratch.turn("A", Some(3)).unwrap();
        scratch.turn_ended("A");
        assert!(!folder.0.exists() && !broken_off.0.exists() && other.0.exists() && outside.exists());
        drop(scratch);
        assert_eq!(fs::read_dir(cache.path().join("scratch")).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_program_left_is_swept() {
        let cache = tempfile::tempdir().unwrap();
        let base = cache.path().join("scratch");
        private(&base.join("01J/turn/work")).unwrap();
        fs::write(base.join("01J.lock"), "").unwrap();
        drop(Scratch::in_cache(cache.path()));
        assert_eq!(fs::read_dir(base).unwrap().count(), 0);
    }

    #[test]
    fn a_skill_s_scripts_can_be_run_and_nothing_old_is_left() {
        let cache = tempfile::tempdir().unwrap();
        let scratch = Scratch::in_cache(cache.path());
        let folder = scratch.turn("A", None).unwrap();
        let files = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), b"x".to_vec())).collect();
        folder.skill("web", &files(&["SKILL.md", "scripts/a.sh", "old"])).unwrap();
        let place = folder.skill("web", &files(&["SKILL.md", "scripts/a.sh"])).unwrap();
        assert!(!place.join("old").exists());
        let mode = fs::metadata(place.join("scripts/a.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    /// A vault of these files.
    fn vault(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        dir
    }

    fn names(dir: &tempfile::TempDir, paths: &[PathBuf]) -> Vec<String> {
        let name = |path: &PathBuf| path.strip_prefix(dir.path()).unwrap().display().to_string();
        let mut names: Vec<String> = paths.iter().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn what_begins_with_a_dot_is_hidden_wherever_it_is() {
        let dir = vault(&[
            ".obsidian/x",
            ".env",
            "MEMORY.md",
            "Work/a.md",
            "Work/.obsidian/plugins/p/data.json",
            "Code/app/.env",
            "Code/app/.git/hooks/.x",
            "Code/app/main.rs",
        ]);
        std::os::unix::fs::symlink("/etc", dir.path().join("out")).unwrap();
        std::os::unix::fs::symlink("/etc", dir.path().join("Work/.out")).unwrap();
        let seen = list(dir.path(), MOST_LOOKED, MOST_HIDDEN);
        assert_eq!(names(&dir, &seen.entries), ["Code", "MEMORY.md", "Work"]);
        assert_eq!(names(&dir, &seen.hidden), ["Code/app/.env", "Code/app/.git", "Work/.obsidian"]);
    }

    #[test]
    fn where_too_much_is_hidden_all_is() {
        let many: Vec<String> = (0..=MOST_BELOW).map(|n| format!("Code/modules/{n}/.npmignore")).collect();
        let mut files: Vec<&str> = many.iter().map(String::as_str).collect();
        files.extend(["Code/app/.env", "Code/app/main.rs", "Notes/a.md", "a.md"]);
        let dir = vault(&files);
        let seen = list(dir.path(), MOST_LOOKED, MOST_HIDDEN);
        assert_eq!(names(&dir, &seen.entries), ["Code", "Notes", "a.md"]);
        assert_eq!(names(&dir, &seen.hidden), ["Code/app/.env", "Code/modules"]);
        // Folders beyond the limit are not searched, so only notes of the top folder are listed.
        assert_eq!(names(&dir, &list(dir.path(), 3, MOST_HIDDEN).entries), ["a.md"]);
        assert_eq!(names(&dir, &list(dir.path(), MOST_LOOKED, 1).entries), ["Notes", "a.md"]);
    }

    #[test]
    fn a_folder_that_has_no_end_is_hidden_from_where_it_is_too_deep() {
        let deep = "a/".repeat(DEEPEST + 1) + "b.md";
        let dir = vault(&[&deep]);
        let seen = list(dir.path(), MOST_LOOKED, MOST_HIDDEN);
        assert_eq!(names(&dir, &seen.entries), ["a"]);
        assert_eq!(names(&dir, &seen.hidden), ["a/".repeat(DEEPEST) + "a"]);
    }
}
