//! Fetches the branch at the remote, compares it with the state that this machine saw last, and pushes new states.

use std::fs::{File, OpenOptions};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};

use super::super::{AS_IT_IS, EngineError, Result};
use super::GitPlace;
use super::command::GitRepository;
use super::errors::{self, PushResponse};
use super::state_file::{FIRST, SeenState, StateFile, is_branch, next_branch};
use crate::config::git_address;
use crate::machines::identity::random;

/// The repository, in the state directory.
const FOLDER: &str = "machines.git";
/// The file of each commit.
const FILE: &str = "entries";
/// The ref of a fetched commit.
const FETCHED: &str = "refs/machines/fetched";
/// The ref of a commit that is to be pushed.
const NEW: &str = "refs/machines/new";
/// After so many commits the repository is made anew.
const KEPT: u32 = 200;
/// The most branches that are gone along, one for each month.
const MOST_BRANCHES: usize = 240;
/// The message of each commit.
const MESSAGE: &str = "What the machines of one vault agreed on; written by vault-agent";

/// The newest state of the branch at the remote.
#[derive(Debug, Clone)]
pub struct BranchHead {
    /// The branch.
    pub branch: String,
    /// The branch's commit; none where it isn't there yet.
    pub id: Option<String>,
    /// Its content.
    pub file: StateFile,
}

/// The outcome of a push.
#[derive(Debug)]
pub enum PushOutcome {
    /// It stands there.
    Taken(BranchHead),
    /// Others changed the branch, or are at it: then with their lock file, where the remote names it.
    Others(Option<String>),
    /// The answer was lost, with one sentence why.
    Lost(String),
}

/// The remote and our repository for it.
#[derive(Debug)]
pub struct Remote {
    place: GitPlace,
    git: GitRepository,
    seen: Option<SeenState>,
    commits: Option<u32>,
}

impl Remote {
    /// The remote of `place`.
    pub fn new(place: GitPlace) -> Self {
        let git = GitRepository::new(place.state.join(FOLDER), place.ssh.clone(), place.patience);
        Self { place, git, seen: None, commits: None }
    }

    /// Forgets what was seen.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn forget(&mut self) -> Result<()> {
        let seen = SeenState { remote: self.place.remote.clone(), ..SeenState::default() };
        seen.save(&self.place.state)?;
        self.seen = Some(seen);
        Ok(())
    }

    /// Fetches the present state of the branch at the remote.
    ///
    /// # Errors
    /// It can't be read, isn't ours, or doesn't come of what this machine saw there before.
    pub async fn fetch(&mut self) -> Result<BranchHead> {
        let fetched = self.fetch_newest().await;
        if fetched.is_err() {
            // Our repository may be damaged.
            self.commits = None;
        }
        fetched
    }

    async fn fetch_newest(&mut self) -> Result<BranchHead> {
        let _lock = self.lock().await?;
        let mut branch = match self.seen().branch.clone() {
            Some(branch) => branch,
            None => self.newest().await?.unwrap_or_else(|| FIRST.to_owned()),
        };
        for _ in 0..MOST_BRANCHES {
            let state = self.fetch_branch(&branch).await?;
            if state.id.is_none()
                && let Some(newest) = self.newest().await?.filter(|newest| *newest > branch)
            {
                // That month was a while ago, and its branch was removed.
                branch = newest;
                continue;
            }
            let Some(next) = state.file.next.clone() else {
                self.check(&state)?;
                return Ok(state);
            };
            if next <= branch {
                return Err(EngineError::Broken(
                    "a branch of the machines names an older one as its next".to_owned(),
                ));
            }
            if !self.branches().await?.contains(&next) {
                // Closed, and no machine went on: the next one begins with its content.
                self.check(&state)?;
                let file = StateFile { next: None, ..state.file };
                return Ok(BranchHead { branch: next, id: None, file });
            }
            branch = next;
        }
        Err(EngineError::Broken("the branches of the machines have no end".to_owned()))
    }

    /// Our branches at the remote.
    async fn branches(&self) -> Result<Vec<String>> {
        let ours = format!("refs/heads/{FIRST}*");
        let said = self.talk(&["ls-remote", "--", &self.place.remote, &ours]).await?;
        if !said.is_ok {
            return Err(errors::fetching(&self.place.remote, &said.stderr));
        }
        let out = String::from_utf8_lossy(&said.stdout).into_owned();
        let names =
            out.lines().filter_map(|line| line.split_once("\trefs/heads/").map(|(_, name)| name.to_owned()));
        Ok(names.filter(|name| is_branch(name)).collect())
    }

    async fn newest(&self) -> Result<Option<String>> {
        Ok(self.branches().await?.into_iter().max())
    }

    /// Removes the branches before `closed`, where the server lets us.
    async fn remove_before(&self, closed: &str) {
        let Ok(branches) = self.branches().await else { return };
        for old in branches.iter().filter(|name| name.as_str() < closed) {
            let refs = format!(":refs/heads/{old}");
            let _ = self.git.talk(&["push", "--quiet", "--no-verify", "--", &self.place.remote, &refs]).await;
        }
    }

    async fn fetch_branch(&self, branch: &str) -> Result<BranchHead> {
        let refs = format!("+refs/heads/{branch}:{FETCHED}");
        let mut args = vec!["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", "--"];
        args.extend([self.place.remote.as_str(), &refs]);
        let said = self.talk(&args).await?;
        // The branch isn't there yet.
        if !said.is_ok && said.stderr.contains("couldn't find remote ref") {
            return Ok(BranchHead { branch: branch.to_owned(), id: None, file: StateFile::default() });
        }
        if !said.is_ok {
            return Err(errors::fetching(&self.place.remote, &said.stderr));
        }
        let said = self.git.run(&["cat-file", "blob", &format!("{FETCHED}:{FILE}")], &[]).await?;
        if !said.is_ok {
            return Err(EngineError::Refused(format!(
                "{}: its branch `{FIRST}` holds something else than what machines share: give them a repository of their own",
                git_address::shown(&self.place.remote)
            )));
        }
        let (branch, id) = (branch.to_owned(), Some(self.id_of(FETCHED).await?));
        Ok(BranchHead { branch, id, file: StateFile::parse(&said.stdout)? })
    }

    /// The commit that a ref of our repository names.
    async fn id_of(&self, name: &str) -> Result<String> {
        let said = self.git.run(&["rev-parse", name], &[]).await?;
        Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
    }

    /// Pushes `state_file` as the replacement of `state`.
    ///
    /// # Errors
    /// Surely nothing was pushed: the remote isn't reached, or refuses for good.
    pub async fn push(&mut self, state: &BranchHead, file: StateFile) -> Result<PushOutcome> {
        let _lock = self.lock().await?;
        if let Some(pushed) = self.push_once(state, &file).await? {
            return Ok(pushed);
        }
        // From here on each commit is added to the one before.
        let pushed = self.push_once(state, &StateFile { grows: true, ..file }).await?;
        Ok(pushed.unwrap_or(PushOutcome::Others(None)))
    }

    /// None if the server takes fast-forwards alone.
    async fn push_once(&mut self, state: &BranchHead, file: &StateFile) -> Result<Option<PushOutcome>> {
        let Some(id) = self.commit(state, file).await? else { return Ok(Some(PushOutcome::Others(None))) };
        let head = format!("refs/heads/{}", state.branch);
        let lease = format!("--force-with-lease={head}:{}", state.id.as_deref().unwrap_or_default());
        let refs = format!("{NEW}:{head}");
        let remote = self.place.remote.clone();
        let args = ["push", "--porcelain", "--no-verify", &lease, "--", &remote, &refs];
        if let Some(id) = state.id.as_deref().filter(|_| !file.grows) {
            self.git.mark_edge(id);
        }
        let Some(said) = self.git.talk(&args).await? else {
            return Ok(Some(PushOutcome::Lost(self.too_long())));
        };
        let out = String::from_utf8_lossy(&said.stdout).into_owned();
        match errors::read_push(said.is_ok, &out) {
            PushResponse::Taken => {
                let taken = BranchHead { branch: state.branch.clone(), id: Some(id), file: file.clone() };
                self.remember(&taken)?;
                Ok(Some(PushOutcome::Taken(taken)))
            }
            PushResponse::Late => Ok(Some(PushOutcome::Others(errors::lock_file(&said.stderr)))),
            PushResponse::Rejected if errors::is_force_forbidden(&out, &said.stderr) && !file.grows => {
                Ok(None)
            }
            PushResponse::Rejected => Err(errors::forbidden(&remote, &out, &said.stderr)),
            PushResponse::Lost => match errors::error_before_sending(&remote, &said.stderr) {
                Some(error) => Err(error),
                None => Ok(Some(PushOutcome::Lost(format!(
                    "{}: the answer to a push was lost",
                    git_address::shown(&remote)
                )))),
            },
        }
    }

    /// Makes the commit of `state_file` in our repository: its id, or `None` where the one before is gone from the
    /// remote.
    async fn commit(&mut self, state: &BranchHead, file: &StateFile) -> Result<Option<String>> {
        let text = file.text();
        let mut parent = String::new();
        if let Some(id) = &state.id {
            // Another process may have made our repository anew.
            let is_here = self.git.run(&["cat-file", "-e", id], &[]).await?.is_ok;
            if !is_here && self.fetch_branch(&state.branch).await?.id.as_ref() != Some(id) {
                return Ok(None);
            }
            if file.grows {
                parent = format!("from {id}\n");
            }
        }
        let stream = format!(
            "reset {NEW}\n\ncommit {NEW}\ncommitter vault-agent <vault-agent> 0 +0000\ndata {}\n{MESSAGE}\n{parent}deleteall\n\
             M 100644 inline {FILE}\ndata {}\n{text}\ndone\n",
            MESSAGE.len(),
            text.len(),
        );
        let args = ["fast-import", "--quiet", "--force", "--done", "--date-format=raw"];
        let said = self.git.run(&args, stream.as_bytes()).await?;
        if !said.is_ok {
            self.commits = None;
            return Err(EngineError::Unreachable(format!(
                "git on this machine can't make a commit: {}",
                said.stderr
            )));
        }
        self.id_of(NEW).await.map(Some)
    }

    /// The state to continue from at `now`: in a new month, the state of a new branch, after closing the old branch.
    ///
    /// # Errors
    /// As [`Remote::push`]; nothing of the caller's was pushed.
    pub async fn rolled_over(&mut self, state: BranchHead, now: Timestamp) -> Result<BranchHead> {
        let Some(next) = next_branch(&state.branch, now).filter(|_| state.id.is_some()) else {
            return Ok(state);
        };
        let closed = StateFile { next: Some(next.clone()), ..state.file.following(random()) };
        match self.push(&state, closed).await? {
            PushOutcome::Taken(closed) => {
                self.remove_before(&closed.branch).await;
                let file = StateFile { next: None, ..closed.file };
                Ok(BranchHead { branch: next, id: None, file })
            }
            // The caller's push at the closed branch comes to nothing, and it reads anew.
            PushOutcome::Others(_) | PushOutcome::Lost(_) => Ok(state),
        }
    }

    async fn talk(&self, args: &[&str]) -> Result<super::command::GitOutput> {
        self.git.talk(args).await?.ok_or_else(|| EngineError::Unreachable(self.too_long()))
    }

    fn too_long(&self) -> String {
        format!(
            "{}: no answer within {} s",
            git_address::shown(&self.place.remote),
            self.place.patience.as_secs()
        )
    }

    /// Refuses a state that doesn't come of what was seen, and remembers any other.
    fn check(&mut self, state: &BranchHead) -> Result<()> {
        if let Some(mark) = &self.seen().mark
            && !state.file.descends_from(mark)
        {
            return Err(EngineError::Broken(format!(
                "{}: its branch is older than what this machine has seen there, somebody rewound or removed it, so its claims are lost; {AS_IT_IS}",
                git_address::shown(&self.place.remote)
            )));
        }
        self.remember(state)
    }

    fn remember(&mut self, state: &BranchHead) -> Result<()> {
        let remote = self.place.remote.clone();
        let seen = SeenState { remote, branch: Some(state.branch.clone()), mark: state.file.mark() };
        if self.seen.as_ref() != Some(&seen) {
            seen.save(&self.place.state)?;
        }
        self.seen = Some(seen);
        Ok(())
    }

    fn seen(&mut self) -> &SeenState {
        let Self { place, seen, .. } = self;
        seen.get_or_insert_with(|| SeenState::load(&place.state, &place.remote))
    }

    /// Our repository, for us alone while the lock is held: a command and the daemon may work at once.
    async fn lock(&mut self) -> Result<File> {
        let path = self.place.state.join(format!("{FOLDER}.lock"));
        let locked = tokio::task::spawn_blocking(move || {
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            flock(&file, FlockOperation::LockExclusive)?;
            Ok::<File, std::io::Error>(file)
        });
        let file = locked.await.map_err(std::io::Error::other).flatten().map_err(|error| {
            EngineError::Refused(format!("{} can't be locked: {error}", self.place.state.display()))
        })?;
        // Another process may have seen more.
        self.seen = None;
        match self.commits {
            Some(commits) if commits < KEPT && self.git.dir().join("HEAD").exists() => {
                self.commits = Some(commits + 1);
            }
            _ => {
                self.git.renew().await?;
                self.commits = Some(0);
            }
        }
        Ok(file)
    }
}
