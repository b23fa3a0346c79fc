//! Removes git's lock files that a killed process left behind.
//!
//! A program that writes `NAME` in a git repository first makes `NAME.lock`. If it is killed then, the file stays, and
//! no program can write `NAME` again. Processes of this program write only while they hold the repository's own lock,
//! which the kernel releases when a process ends. So the holder of that lock knows that no running process of this
//! program made a `.lock` that it finds. A person's own git may have made it: such a file is left alone while a process
//! has it open, or while it is young and a git process works in this repository.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Our own lock, which is never removed.
pub(super) const OWN: &str = "vault-agent.lock";

/// Held while the branch may move; released when dropped.
#[derive(Debug)]
pub(crate) struct BranchLock(#[expect(dead_code, reason = "holds the lock until it is dropped")] File);

impl BranchLock {
    /// The lock that `file` holds.
    pub(in crate::history) fn new(file: File) -> Self {
        Self(file)
    }
}

/// Some versions of git close a lock before they are done with it, but not for longer than this.
#[cfg(target_os = "linux")]
const GRACE: Duration = Duration::from_secs(60);
/// On systems that can't list open files, an older lock counts as left behind.
#[cfg(not(target_os = "linux"))]
const GRACE: Duration = Duration::from_secs(3);

/// Removes all of git's locks in the repository `dir` that no living process holds, and returns one that a process
/// does hold. Our own lock must be held.
pub(in crate::history) fn clear(dir: &Path) -> Option<PathBuf> {
    let mut held = None;
    for lock in find(dir) {
        if is_held(&lock, dir) {
            held = Some(lock);
        } else if fs::remove_file(&lock).is_ok() {
            tracing::info!(lock = %lock.display(), "removed a lock that a killed process had left");
        }
    }
    held
}

/// Every lock of git's: of the branches, `HEAD`, `packed-refs`, `config`, the index, and of packs.
fn find(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "objects/info", "objects/pack"] {
        list(&dir.join(folder), false, &mut found);
    }
    for folder in ["refs", "logs", "worktrees"] {
        list(&dir.join(folder), true, &mut found);
    }
    found
}

fn list(folder: &Path, deep: bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name();
        if kind.is_dir() && deep {
            list(&entry.path(), deep, found);
        } else if kind.is_file() && name != OWN && name.as_encoded_bytes().ends_with(b".lock") {
            found.push(entry.path());
        }
    }
}

fn is_young(lock: &Path) -> bool {
    let age =
        fs::metadata(lock).and_then(|metadata| metadata.modified()).ok().and_then(|at| at.elapsed().ok());
    age.is_none_or(|age| age < GRACE)
}

#[cfg(not(target_os = "linux"))]
fn is_held(lock: &Path, _: &Path) -> bool {
    is_young(lock)
}

#[cfg(target_os = "linux")]
fn is_held(lock: &Path, dir: &Path) -> bool {
    let (Ok(lock), Ok(dir)) = (lock.canonicalize(), dir.canonicalize()) else { return false };
    let young = is_young(&lock);
    processes().any(|process| {
        let open = open_files(&process);
        open.contains(&lock) || young && is_git(&process) && works_in(&process, &open, &dir)
    })
}

/// The folders in `/proc` of the other processes.
#[cfg(target_os = "linux")]
fn processes() -> impl Iterator<Item = PathBuf> {
    let own = std::process::id();
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(move |entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        (pid != own).then(|| entry.path())
    })
}

#[cfg(target_os = "linux")]
fn open_files(process: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_link(file.path()).ok()).collect()
}

#[cfg(target_os = "linux")]
fn is_git(process: &Path) -> bool {
    fs::read(process.join("comm")).is_ok_and(|name| name.starts_with(b"git"))
}

/// Whether a git is about this repository: by its folder, its open files, its arguments or `GIT_DIR`.
#[cfg(target_os = "linux")]
fn works_in(process: &Path, open: &[PathBuf], dir: &Path) -> bool {
    let inside = |path: &PathBuf| path.starts_with(dir);
    let name = dir.file_name().unwrap_or_default().as_encoded_bytes();
    let names =
        |file| fs::read(process.join(file)).is_ok_and(|text| memchr::memmem::find(&text, name).is_some());
    fs::read_link(process.join("cwd")).is_ok_and(|at| inside(&at))
        || open.iter().any(inside)
        || names("cmdline")
        || names("environ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_goes_and_our_own_stays() {
        let dir = tempfile::tempdir().unwrap();
        let left = [
            "HEAD.lock",
            "config.lock",
            "packed-refs.lock",
            "index.lock",
            "refs/heads/main.lock",
            "refs/remotes/a/main.lock",
            "objects/pack/pack-1.idx.lock",
        ];
        for path in left.iter().chain(&[OWN, "HEAD", "refs/heads/main"]) {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
            let old = std::time::SystemTime::now() - Duration::from_secs(3600);
            fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        }
        assert_eq!(clear(dir.path()), None);
        assert_eq!(find(dir.path()), Vec::<PathBuf>::new());
        for path in [OWN, "HEAD", "refs/heads/main"] {
            assert!(dir.path().join(path).exists(), "{path}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_lock_that_a_process_holds_stays_until_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let lock = dir.path().join("HEAD.lock");
        fs::write(&lock, "").unwrap();
        let file = fs::File::open(&lock).unwrap();
        let mut holder = std::process::Command::new("sleep").arg("600").stdin(file).spawn().unwrap();
        let held = clear(dir.path());
        holder.kill().unwrap();
        holder.wait().unwrap();
        assert_eq!(held, Some(lock));
        assert_eq!(clear(dir.path()), None);
        assert_eq!(find(dir.path()), Vec::<PathBuf>::new());
    }
}
