//! Repairs what a killed process left in the repository. Each process does this after it has taken the repository's
//! lock, before its own work.
//!
//! Two checks take a few microseconds together:
//!
//! - whether git's own locks were left behind;
//! - whether the branch and the list of snapshots end with the same commit ([`ledger`](crate::history::store::ledger)).
//!
//! A difference that an interruption of this program explains is repaired, and a missing or damaged branch file is
//! written again. Any other difference is recorded and reported; the branch is left as it is.
//!
//! A program that writes `NAME` in a git repository first makes `NAME.lock`. If the program is killed then, the file
//! stays, and no program can write `NAME` again. Processes of this program write only while they hold the repository's
//! own lock, which the kernel releases when a process ends. So if the holder of that lock finds a `.lock` file, no
//! running process of this program made the file.
//!
//! A person's own git may have made the file. Therefore the file is left alone while a process has it open. It is also
//! left alone while it is young and a git process works in this repository (on systems other than Linux: while it is
//! younger than three seconds).

use std::fs::{self, File, OpenOptions, TryLockError};
use std::time::Duration;

use super::commit::short_id;
use super::ledger::{ExpectedHead, LineKind};
use super::repository::{BRANCH, BranchLock, HistoryStore};
use crate::history::error::{HistoryError, Result, if_there};
use crate::history::prelude::*;

/// The file that is locked during a restore or an undo. (Names that end in `.lock` are git's.)
const UNDER_WAY: &str = "under-way";
/// The longest wait for another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

impl HistoryStore {
    /// Takes the lock, waiting for other processes at most [`LOCK_TIMEOUT`], and repairs what a killed process left.
    pub(crate) fn lock(&self) -> Result<BranchLock> {
        let path = self.dir().join(OWN);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(HistoryError::io("lock", &path))?;
        let seconds = LOCK_TIMEOUT.as_secs();
        let mut waiting = LockBackoff::default();
        if !locked(&file, &path, &mut waiting)? {
            let dir = self.dir().display();
            return Err(HistoryError::Failed(format!(
                "the history `{dir}` has been in use by another process for {seconds} s; try again"
            )));
        }
        while let Some(lock) = clear(self.dir()) {
            if !waiting.wait_a_step() {
                return Err(HistoryError::Failed(format!(
                    "another program has had `{}` for {seconds} s; end the git that works in the history, or remove that file if none does",
                    lock.display()
                )));
            }
        }
        let lock = BranchLock(file);
        self.reconcile(&lock)?;
        Ok(lock)
    }

    /// Makes the list agree with the branch if an interruption explains the difference, and records the difference
    /// otherwise.
    fn reconcile(&self, lock: &BranchLock) -> Result<()> {
        if self.branch_is_torn() {
            self.rewrite_branch()?;
        }
        let (expected, next) = self.ledger.expected()?;
        if let Some(next) = next.filter(|next| self.follows(expected, *next))
            && let head = self.head()?
            && (head == Some(next) || head == expected.end())
        {
            self.set_branch(next)?;
            return self.ledger.add(LineKind::Kept, &[next]);
        }
        match (expected, self.head()?) {
            (ExpectedHead::NoList, Some(head)) => self.adopt(lock, head),
            (ExpectedHead::NoList | ExpectedHead::Nothing, None) => Ok(()),
            (ExpectedHead::At(end), Some(head)) if end == head => Ok(()),
            (ExpectedHead::At(end), None) if self.commit(end).is_ok() => {
                self.say(format!(
                    "the branch of the history was gone, and was put back to {}",
                    short_id(end)
                ));
                self.set_branch(end)?;
                self.ledger.add(LineKind::PutBack, &[end])
            }
            (ExpectedHead::At(end), None) => {
                self.say("the history was gone (`history.git`): a new one begins".to_owned());
                self.ledger.add(LineKind::Anew, &[end])
            }
            (ExpectedHead::At(_) | ExpectedHead::Nothing, Some(head)) => {
                self.say(format!(
                    "the history was changed by another program: it ends at {} where {} was; `vault-agent history verify` says more",
                    short_id(head),
                    expected.end().map_or_else(|| "nothing".to_owned(), short_id)
                ));
                self.ledger.add(LineKind::Moved, &[head])
            }
        }
    }

    /// Whether `next` is whole, and a snapshot right after the end of the list.
    fn follows(&self, expected: ExpectedHead, next: Oid) -> bool {
        let parents = self.parents(next);
        parents.is_ok_and(|parents| expected.end().is_none_or(|end| end == next || parents.contains(&end)))
    }

    /// Writes the branch's file anew: at the snapshot that it was about to move to, else at the end of the list. Where
    /// neither is known, the file is left to a person.
    fn rewrite_branch(&self) -> Result<()> {
        let (expected, next) = self.ledger.expected()?;
        let listed = expected.end().filter(|end| self.commit(*end).is_ok());
        let next = next.filter(|next| self.follows(expected, *next));
        let Some(end) = next.or(listed) else { return Ok(()) };
        // libgit2 doesn't replace a file that it can't read; and without the file an older state of it may be packed.
        let (path, new) = (self.dir().join(BRANCH), self.dir().join("branch.new"));
        let write = std::fs::write(&new, format!("{end}\n")).and_then(|()| std::fs::rename(&new, &path));
        write.map_err(HistoryError::io("mend", &path))?;
        self.say(format!(
            "the history's branch file was damaged, and was written anew: it ends at {}",
            short_id(end)
        ));
        if listed != Some(end) {
            self.ledger.add(LineKind::Kept, &[end])?;
        }
        self.ledger.add(LineKind::Mended, &[end])
    }

    /// Lists all snapshots up to `head` that aren't listed yet, as found.
    pub(in crate::history) fn adopt(&self, _lock: &BranchLock, head: Oid) -> Result<()> {
        let listed: HashSet<Oid> = self.ledger.lines()?.iter().map(|line| line.id).collect();
        let mut found: Vec<Oid> = self.ancestry(head).filter(|id| !listed.contains(id)).collect();
        found.reverse();
        self.ledger.add(LineKind::Adopted, &found)
    }

    /// Accepts the present history as the expected one.
    pub(in crate::history) fn accept(&self, _lock: &BranchLock) -> Result<()> {
        let head = self.head()?;
        let mut found: Vec<Oid> = head.into_iter().flat_map(|head| self.ancestry(head)).collect();
        found.reverse();
        self.ledger.add(LineKind::Accepted, &[head.unwrap_or(Oid::ZERO_SHA1)])?;
        self.ledger.add(LineKind::Adopted, &found)
    }

    /// Writes as a snapshot would, where it can be taken back: a file among the objects, the list, and the
    /// branch, which git locks before it sees that nothing changes.
    pub(in crate::history) fn check_writable(&self, _lock: &BranchLock) -> Result<()> {
        let place = self.dir().join("objects").join(format!("tmp_probe_{}", std::process::id()));
        std::fs::write(&place, b"probe")
            .and_then(|()| std::fs::remove_file(&place))
            .map_err(HistoryError::io("write", &place))?;
        let list = self.dir().with_extension("log");
        if_there(OpenOptions::new().append(true).open(&list)).map_err(HistoryError::io("write", &list))?;
        self.head()?.map_or(Ok(()), |head| self.set_branch(head))
    }

    fn say(&self, words: String) {
        let before = self.notice.take();
        let words = [Some(words), before].into_iter().flatten().collect::<Vec<_>>().join("; ");
        tracing::warn!("{words}");
        *self.notice.borrow_mut() = Some(words);
    }
}

/// Whether a process holds the lock of the repository `dir` now.
pub(in crate::history) fn is_locked(dir: &Path) -> bool {
    File::open(dir.join(OWN)).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Takes the lock of a file, which a child that is just being started may hold for a moment longer than its parent.
/// False where it has been waited for long enough.
fn locked(file: &File, path: &Path, waiting: &mut LockBackoff) -> Result<bool> {
    while let Err(error) = file.try_lock() {
        match error {
            TryLockError::WouldBlock if waiting.wait_a_step() => {}
            TryLockError::WouldBlock => return Ok(false),
            TryLockError::Error(error) => return Err(HistoryError::io("lock", path)(error)),
        }
    }
    Ok(true)
}

/// The lock of restores and undos in the repository `dir`, until it is dropped.
pub(in crate::history) fn operation_lock(dir: &Path) -> Result<File> {
    let path = dir.join(UNDER_WAY);
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(HistoryError::io("lock", &path))?;
    let taken = locked(&file, &path, &mut LockBackoff::default())?;
    taken.then_some(file).ok_or(HistoryError::UnderWay)
}

/// Waits in steps that grow.
#[derive(Default)]
struct LockBackoff(Duration, Duration);

impl LockBackoff {
    /// Waits one step; false after the longest wait.
    fn wait_a_step(&mut self) -> bool {
        let Self(step, waited) = self;
        if *waited >= LOCK_TIMEOUT {
            return false;
        }
        *step = (*step * 2).clamp(Duration::from_millis(1), Duration::from_millis(100));
        std::thread::sleep(*step);
        *waited += *step;
        true
    }
}

/// Our own lock, which is never removed.
const OWN: &str = "vault-agent.lock";

/// Some versions of git close a lock before they are done with it, but not for longer than this.
#[cfg(target_os = "linux")]
const GRACE: Duration = Duration::from_secs(60);
/// On systems that can't list open files, an older lock counts as left behind.
#[cfg(not(target_os = "linux"))]
const GRACE: Duration = Duration::from_secs(3);

/// Removes all of git's locks in the repository `dir` that no living process holds, and returns one that a process
/// does hold. Our own lock must be held.
fn clear(dir: &Path) -> Option<PathBuf> {
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

/// The time since a file was changed; none if that is unknown.
pub(in crate::history) fn age(file: &Path) -> Option<Duration> {
    fs::metadata(file).and_then(|metadata| metadata.modified()).ok()?.elapsed().ok()
}

fn is_young(lock: &Path) -> bool {
    age(lock).is_none_or(|age| age < GRACE)
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
