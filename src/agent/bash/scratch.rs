//! Makes and removes the scratch folders of turns in the cache directory: one for a turn's first command, removed with
//! the turn.
//!
//! A killed program leaves its folder behind. So each folder has a lock file that its program holds, and each start
//! removes the folders whose lock is free. The folder that commands write to (`work`) is apart from those that are
//! prepared here (`vault`, `skill`): this program never writes through a path that a command could have changed.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, flock};
use ulid::Ulid;

/// All scratch folders of one program.
#[derive(Debug)]
pub(super) struct Scratch {
    base: PathBuf,
    own: Mutex<Option<LockedFolder>>,
}

/// A process's own folder, and the lock that it holds while it runs.
#[derive(Debug)]
struct LockedFolder {
    folder: PathBuf,
    lock: PathBuf,
    _held: File,
}

impl Scratch {
    /// In this cache; removes the folders of ended processes.
    pub fn in_cache(cache: &Path) -> Self {
        let base = cache.join("scratch");
        sweep(&base);
        Self { base, own: Mutex::default() }
    }

    /// The folder of a turn; `once` for a command that shares it with no other.
    pub fn turn(&self, turn: &str, once: Option<u32>) -> io::Result<TurnFolder> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            *own = Some(LockedFolder::begin(&self.base)?);
        }
        let folder = own.as_ref().map(|own| own.folder.clone()).unwrap_or_default();
        let suffix = once.map(|number| format!("-{number}")).unwrap_or_default();
        let folder = TurnFolder(folder.join(format!("{}{suffix}", name(turn))));
        private(&folder.0)?;
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

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(own) = self.own.lock().unwrap_or_else(PoisonError::into_inner).take() {
            remove(&own.folder);
            let _ = fs::remove_file(&own.lock);
        }
    }
}

impl LockedFolder {
    fn begin(base: &Path) -> io::Result<Self> {
        private(base)?;
        loop {
            let id = Ulid::generate().to_string();
            let (folder, lock) = (base.join(&id), base.join(format!("{id}.lock")));
            let held = File::create(&lock)?;
            flock(&held, FlockOperation::NonBlockingLockExclusive)?;
            // Another process that starts now may have removed the file before it was locked.
            if lock.exists() {
                private(&folder)?;
                return Ok(Self { folder, lock, _held: held });
            }
        }
    }
}

/// Removes the folders whose lock is free.
fn sweep(base: &Path) {
    let Ok(listed) = fs::read_dir(base) else { return };
    for path in listed.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "lock") {
            continue;
        }
        let free = File::open(&path)
            .and_then(|file| Ok(flock(&file, FlockOperation::NonBlockingLockExclusive).map(|()| file)?));
        if free.is_ok() {
            remove(&path.with_extension(""));
            let _ = fs::remove_file(&path);
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
                DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
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

fn private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Removes a folder, even if a command took away rights in it. Links are not followed.
fn remove(folder: &Path) {
    let first = fs::remove_dir_all(folder);
    if !matches!(&first, Err(error) if error.kind() == io::ErrorKind::PermissionDenied) {
        return;
    }
    let mut open = vec![folder.to_path_buf()];
    while let Some(dir) = open.pop() {
        let _ = fs::set_permissions(&dir, Permissions::from_mode(0o700));
        let listed = fs::read_dir(&dir).into_iter().flatten().flatten();
        let folders = listed.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        open.extend(folders.map(|entry| entry.path()));
    }
    if let Err(error) = fs::remove_dir_all(folder) {
        tracing::warn!("the scratch folder `{}` can't be removed: {error}", folder.display());
    }
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
        scratch.turn_ended("A");
        assert!(!folder.0.exists() && other.0.exists() && outside.exists());
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
}
