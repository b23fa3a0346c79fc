//! Pushes and fetches the history with the user's own git, and joins a remote's history to the local one.
//!
//! The user's keys, helpers and settings apply. `git` runs without a terminal. The daemon pushes in a thread of its
//! own; a failed push is tried again later. Without git, only pushing and fetching fail.

use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use jiff::{SignedDuration, Timestamp};

use crate::config::git_address;
use crate::history::prelude::*;
use crate::history::store::{BRANCH, CommitMessage, HistoryStore};
use crate::history::{History, HistoryError, Result};
use crate::vault::{Actor, BOOKKEEPING, ChangeReason};

const FETCHED: &str = "refs/remotes/remote/main";

/// Pushes the branch `main` of the repository `dir` to `remote`. Of several machines with one remote the first one has
/// its `main`; the history of another `machine`, which can't follow it, becomes the branch `main-MACHINE`.
///
/// # Errors
/// There is no git, or it failed; its own last words are in the error.
pub fn push(dir: &Path, remote: &str, machine: Option<&str>) -> Result<()> {
    let to = |branch: &str| git(dir, &["push", "--quiet", "--", remote, &format!("{BRANCH}:{branch}")]);
    let safe = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    match (to(BRANCH), machine) {
        (Err(_), Some(machine)) => to(&format!("{BRANCH}-{}", safe(machine))),
        (pushed, _) => pushed,
    }
}

/// The file in the history's folder that says why it could not be pushed.
const PUSH_ERROR: &str = "push-error";

/// Why the history in the state directory `state` could not be pushed to its `remote` last; nothing where it could.
pub fn not_pushed(state: &Path, remote: Option<&str>) -> Option<String> {
    remote?;
    std::fs::read_to_string(state.join("history.git").join(PUSH_ERROR)).ok()
}

fn record_push(dir: &Path, pushed: &Result<()>) {
    let file = dir.join(PUSH_ERROR);
    // Only a report suffers from a full disk.
    let _ = match pushed {
        Ok(()) => std::fs::remove_file(file),
        Err(error) => std::fs::write(file, error.to_string()),
    };
}

/// Fetches the branch `main` of `remote` into the repository `dir` and names its newest commit.
///
/// # Errors
/// As [`push`], or there is nothing at the remote.
pub fn fetch_into(dir: &Path, remote: &str) -> Result<Oid> {
    git(dir, &["fetch", "--quiet", "--no-tags", "--", remote, &format!("+{BRANCH}:{FETCHED}")])?;
    let store = HistoryStore::open(dir)?;
    store.repo().refname_to_id(FETCHED).map_err(store.git("find what was fetched"))
}

fn git(dir: &Path, args: &[&str]) -> Result<()> {
    let mut command = Command::new("git");
    command
        .arg("--git-dir")
        .arg(dir)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    // No person is there to answer; a hook or a repository around the caller is none of ours.
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"] {
        command.env_remove(name);
    }
    if std::env::var_os("GIT_SSH_COMMAND").is_none() {
        command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
    }
    let output = command.output().map_err(|error| {
        let words = "install git to use `[history] remote` (everything else works without it)";
        HistoryError::Failed(format!("`git` could not be started: {error}; {words}"))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let mut last: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).rev().take(3).collect();
    last.reverse();
    Err(HistoryError::Failed(format!("`git {}` failed: {}", args[0], git_address::shown(&last.join("; ")))))
}

/// The wait after so many failures in a row: a minute, doubling up to six hours.
fn wait_after(failures: u32) -> SignedDuration {
    SignedDuration::from_mins((1_i64 << failures.saturating_sub(1).min(9)).min(360))
}

/// Pushes in the background, one at a time.
#[derive(Debug)]
pub(crate) struct Pusher {
    dir: PathBuf,
    remote: String,
    machine: Option<String>,
    failures: u32,
    not_before: Option<Timestamp>,
    running: Option<JoinHandle<(Option<Oid>, Result<()>)>>,
    pushed: Option<Oid>,
}

impl Pusher {
    pub(crate) fn new(dir: PathBuf, remote: String, machine: Option<String>) -> Self {
        Self { dir, remote, machine, failures: 0, not_before: None, running: None, pushed: None }
    }

    /// Starts a push if there is something new and no push is running; never waits.
    pub(crate) fn push_if_behind(&mut self, now: Timestamp) {
        self.collect(now);
        if self.running.is_some() || self.not_before.is_some_and(|at| now < at) {
            return;
        }
        let head = HistoryStore::open(&self.dir).and_then(|store| store.head()).ok().flatten();
        if head.is_none() || head == self.pushed {
            return;
        }
        let (dir, remote, machine) = (self.dir.clone(), self.remote.clone(), self.machine.clone());
        let thread = std::thread::Builder::new().name("history-push".into());
        let work = move || {
            let pushed = push(&dir, &remote, machine.as_deref());
            record_push(&dir, &pushed);
            (head, pushed)
        };
        self.running = thread.spawn(work).ok();
    }

    fn collect(&mut self, now: Timestamp) {
        let Some(ended) = self.running.take_if(|running| running.is_finished()) else { return };
        let failed = |_| (None, Err(HistoryError::Failed("the push ended early".to_owned())));
        match ended.join().unwrap_or_else(failed) {
            (head, Ok(())) => (self.pushed, self.failures, self.not_before) = (head, 0, None),
            (_, Err(error)) => {
                if self.failures == 0 {
                    tracing::warn!(%error, "the history was not pushed; it will be tried again");
                }
                self.failures += 1;
                self.not_before = now.checked_add(wait_after(self.failures)).ok();
            }
        }
    }
}

impl History {
    /// Adopts the remote's history: on a new machine as its own, otherwise as a past that is joined to the present
    /// history, so that both are kept and a later push is accepted. The join itself changes nothing: its first parent
    /// is this machine's newest commit. Returns the remote's newest commit.
    ///
    /// # Errors
    /// As [`fetch_into`], or the history can't be written.
    pub fn adopt_remote(&self, remote: &str) -> Result<Oid> {
        let fetched = fetch_into(self.dir(), remote)?;
        let store = self.store();
        let mut commits = self.committer(&store)?;
        store.refresh()?;
        store.adopt(&commits.lock, fetched)?;
        match commits.head {
            Some(head) if store.is_ancestor(fetched, head)? => {}
            Some(head) if !store.is_ancestor(head, fetched)? => {
                let why = ChangeReason::new(Actor::Restore, "joined this machine's history to the remote's")
                    .trailer(BOOKKEEPING, "join")
                    .trailer("Joins", head.to_string());
                let message = CommitMessage::new(&why, []);
                commits.commit_after(&[head, fetched], commits.tree, &message)?;
            }
            _ => store.move_branch(&commits.lock, fetched)?,
        }
        Ok(fetched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_get_rarer() {
        let waits: Vec<i64> = (1..=11).map(|failures| wait_after(failures).as_mins()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
    }
}
