//! Repairs what a killed process left in the repository. Each process does this after it has taken the repository's
//! lock, before its own work.
//!
//! There are two checks, a few microseconds together: git's own locks ([`locks`]), and whether the branch ends where
//! our list of snapshots ends ([`ledger`](crate::history::store::ledger)). A difference that an interruption of this
//! program explains is repaired; any other is recorded, reported, and left as it is.

use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use git2::Oid;

use super::commit::short_id;
use super::git_locks as locks;
use super::git_locks::BranchLock;
use super::ledger::{ExpectedHead, LineKind};
use super::repository::{BRANCH, HistoryStore};
use crate::history::error::{HistoryError, Result};

/// The file that is locked during a restore or an undo. (Names that end in `.lock` are git's.)
const UNDER_WAY: &str = "under-way";
/// The longest wait for another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

impl HistoryStore {
    /// Waits for other processes, at most [`LOCK_TIMEOUT`], and sets right what a killed one left.
    pub(crate) fn lock(&self) -> Result<BranchLock> {
        let lock = self.lock_only()?;
        self.reconcile(&lock)?;
        Ok(lock)
    }

    /// The lock, with git's own locks cleared, and nothing compared.
    pub(super) fn lock_only(&self) -> Result<BranchLock> {
        let path = self.dir().join(locks::OWN);
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
        while let Some(lock) = locks::clear(self.dir()) {
            if !waiting.wait_a_step() {
                return Err(HistoryError::Failed(format!(
                    "another program has had `{}` for {seconds} s; end the git that works in the history, or remove that file if none does",
                    lock.display()
                )));
            }
        }
        Ok(BranchLock::new(file))
    }

    /// Makes the list agree with the branch where an interruption explains the difference, and writes the
    /// difference down where nothing does.
    pub(super) fn reconcile(&self, lock: &BranchLock) -> Result<()> {
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
        let mut found = Vec::new();
        self.ancestry(head, |id| {
            if !listed.contains(&id) {
                found.push(id);
            }
            ControlFlow::Continue(())
        });
        found.reverse();
        self.ledger.add(LineKind::Adopted, &found)
    }

    /// Accepts the present history as the expected one.
    pub(in crate::history) fn accept(&self, _lock: &BranchLock) -> Result<()> {
        let head = self.head()?;
        let mut found = Vec::new();
        if let Some(head) = head {
            self.ancestry(head, |id| {
                found.push(id);
                ControlFlow::Continue(())
            });
        }
        found.reverse();
        self.ledger.add(LineKind::Accepted, &[head.unwrap_or(Oid::ZERO_SHA1)])?;
        self.ledger.add(LineKind::Adopted, &found)
    }

    /// Shows `take` every commit that can be reached and read from `head`, newest first, each once.
    pub(in crate::history) fn ancestry(&self, head: Oid, mut take: impl FnMut(Oid) -> ControlFlow<()>) {
        let mut seen = HashSet::from([head]);
        let mut next = vec![head];
        while let Some(id) = next.pop() {
            if take(id).is_break() {
                return;
            }
            let parents = self.parents(id).unwrap_or_default();
            // The first parent comes first.
            next.extend(parents.into_iter().rev().filter(|parent| seen.insert(*parent)));
        }
    }

    /// Writes as a snapshot would, where it can be taken back: a file among the objects, the list, and the
    /// branch, which git locks before it sees that nothing changes.
    pub(in crate::history) fn probe(&self, _lock: &BranchLock) -> Result<()> {
        let place = self.dir().join("objects").join(format!("tmp_probe_{}", std::process::id()));
        std::fs::write(&place, b"probe")
            .and_then(|()| std::fs::remove_file(&place))
            .map_err(HistoryError::io("write", &place))?;
        let list = self.dir().with_extension("log");
        match OpenOptions::new().append(true).open(&list) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(HistoryError::io("write", &list)(error));
            }
            _ => {}
        }
        self.head()?.map_or(Ok(()), |head| self.set_branch(head))
    }

    fn say(&self, words: String) {
        tracing::warn!("{words}");
        *self.notice.borrow_mut() = Some(words);
    }
}

/// Takes the lock of a file, which a child that is just being started may hold for a moment longer than its parent. False
/// where it has been waited for long enough.
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
