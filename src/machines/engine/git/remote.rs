//! The branch at the remote: fetched, checked against what was seen before, and pushed.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::super::EngineError;
use super::GitPlace;
use super::book::{Book, Mark};
use super::branch::{FIRST, due, is_branch};
use super::command::{Failed, Git};
use super::words::{self, Pushed};

/// The repository, in the state directory.
const FOLDER: &str = "machines.git";
/// What was seen, in the state directory.
const SEEN: &str = "machines-git.json";
/// The file of each commit.
const FILE: &str = "entries";
/// Where a fetched commit stands.
const FETCHED: &str = "refs/machines/fetched";
/// Where a commit stands that is to be pushed.
const NEW: &str = "refs/machines/new";
/// After so many commits the repository is made anew.
const KEPT: u32 = 200;
/// The most branches that are gone along, one for each month.
const MOST_BRANCHES: usize = 240;
/// What a commit is called.
const MESSAGE: &str = "What the machines of one vault agreed on; written by vault-agent";

/// What stands at the remote.
#[derive(Debug, Clone)]
pub struct State {
    /// The branch.
    pub branch: String,
    /// The branch's commit; none where it isn't there yet.
    pub id: Option<String>,
    /// What is in it.
    pub book: Book,
}

/// What became of a push.
#[derive(Debug)]
pub enum Push {
    /// It stands there.
    Taken(State),
    /// Others changed the branch.
    Others,
    /// The answer was lost, with one sentence why.
    Lost(String),
}

/// What this machine has seen, on disk.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Seen {
    remote: String,
    branch: Option<String>,
    mark: Option<Mark>,
}

/// The remote and our repository for it.
#[derive(Debug)]
pub struct Remote {
    place: GitPlace,
    git: Git,
    seen: Option<Seen>,
    commits: Option<u32>,
}

impl Remote {
    /// The remote of `place`.
    pub fn new(place: GitPlace) -> Self {
        let git = Git::new(place.state.join(FOLDER), place.ssh.clone(), place.patience);
        Self { place, git, seen: None, commits: None }
    }

    /// Forgets what was seen.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn forget(&mut self) -> Result<(), EngineError> {
        self.seen = Some(Seen { remote: self.place.remote.clone(), ..Seen::default() });
        self.save()
    }

    /// What stands at the remote now.
    ///
    /// # Errors
    /// It can't be read, isn't ours, or doesn't come of what this machine saw there before.
    pub async fn fetch(&mut self) -> Result<State, EngineError> {
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
            let Some(next) = state.book.next.clone() else {
                self.check(&state)?;
                return Ok(state);
            };
            if next <= branch {
                return Err(EngineError::Broken(
                    "a branch of the machines names an older one as its next".to_owned(),
                ));
            }
            if !self.branches().await?.contains(&next) {
                // Closed, and nobody went on: what is in it is what the next one begins with.
                self.check(&state)?;
                let book = Book { next: None, ..state.book };
                return Ok(State { branch: next, id: None, book });
            }
            branch = next;
        }
        Err(EngineError::Broken("the branches of the machines have no end".to_owned()))
    }

    /// Our branches at the remote.
    async fn branches(&self) -> Result<Vec<String>, EngineError> {
        let ours = format!("refs/heads/{FIRST}*");
        let said = self.talk(&["ls-remote", "--", &self.place.remote, &ours]).await?;
        if !said.is_ok {
            return Err(words::fetching(&self.place.remote, &said.words));
        }
        let out = String::from_utf8_lossy(&said.out).into_owned();
        let names =
            out.lines().filter_map(|line| line.split_once("\trefs/heads/").map(|(_, name)| name.to_owned()));
        Ok(names.filter(|name| is_branch(name)).collect())
    }

    async fn newest(&self) -> Result<Option<String>, EngineError> {
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

    async fn fetch_branch(&self, branch: &str) -> Result<State, EngineError> {
        let refs = format!("+refs/heads/{branch}:{FETCHED}");
        let args = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--depth=1",
            "--",
            &self.place.remote,
            &refs,
        ];
        let said = self.talk(&args).await?;
        if !said.is_ok && words::is_no_branch(&said.words) {
            return Ok(State { branch: branch.to_owned(), id: None, book: Book::default() });
        }
        if !said.is_ok {
            return Err(words::fetching(&self.place.remote, &said.words));
        }
        let wanted = format!("{FETCHED}\n{FETCHED}:{FILE}\n");
        let said = self.git.run(&["cat-file", "--batch"], wanted.as_bytes()).await?;
        let (id, book) = self.taken_apart(&said.out)?;
        Ok(State { branch: branch.to_owned(), id: Some(id), book })
    }

    /// The commit's id and its file, of what `cat-file --batch` says.
    fn taken_apart(&self, out: &[u8]) -> Result<(String, Book), EngineError> {
        let object = |out: &[u8]| -> Option<(String, usize, usize)> {
            let end = out.iter().position(|byte| *byte == b'\n')?;
            let head = std::str::from_utf8(&out[..end]).ok()?;
            let mut words = head.split(' ');
            let (id, _, size) = (words.next()?, words.next()?, words.next()?.parse().ok()?);
            Some((id.to_owned(), end + 1, size))
        };
        let foreign = || {
            EngineError::Refused(format!(
                "{}: its branch `{FIRST}` holds something else than what machines share: give them a repository of their own",
                words::shown(&self.place.remote)
            ))
        };
        let (id, start, size) = object(out).ok_or_else(foreign)?;
        let rest = out.get(start + size + 1..).ok_or_else(foreign)?;
        let (_, start, size) = object(rest).ok_or_else(foreign)?;
        let end = rest.len().min(start + size);
        Ok((id, Book::parse(rest.get(start..end).ok_or_else(foreign)?)?))
    }

    /// Pushes `book` in the place of `state`.
    ///
    /// # Errors
    /// Surely nothing was pushed: the remote isn't reached, or refuses for good.
    pub async fn push(&mut self, state: &State, book: Book) -> Result<Push, EngineError> {
        let _lock = self.lock().await?;
        let pushed = match self.push_once(state, &book).await? {
            // From here on each commit is added to the one before.
            Once::NoForce => self.push_once(state, &Book { grows: true, ..book }).await?,
            pushed => pushed,
        };
        Ok(match pushed {
            Once::Taken(state) => Push::Taken(state),
            Once::Others | Once::NoForce => Push::Others,
            Once::Lost(why) => Push::Lost(why),
        })
    }

    async fn push_once(&mut self, state: &State, book: &Book) -> Result<Once, EngineError> {
        let Some(id) = self.commit(state, book).await? else { return Ok(Once::Others) };
        let head = format!("refs/heads/{}", state.branch);
        let lease = format!("--force-with-lease={head}:{}", state.id.as_deref().unwrap_or_default());
        let refs = format!("{NEW}:{head}");
        let remote = self.place.remote.clone();
        let args = ["push", "--porcelain", "--no-verify", &lease, "--", &remote, &refs];
        let said = match self.git.talk(&args).await {
            Ok(said) => said,
            Err(Failed::NotStarted(why)) => return Err(EngineError::Refused(why)),
            Err(Failed::TooLong) => return Ok(Once::Lost(self.too_long())),
        };
        let out = String::from_utf8_lossy(&said.out).into_owned();
        match words::pushed(said.is_ok, &out) {
            Pushed::Taken => {
                let taken = State { branch: state.branch.clone(), id: Some(id), book: book.clone() };
                self.remember(&taken)?;
                Ok(Once::Taken(taken))
            }
            Pushed::Late => Ok(Once::Others),
            Pushed::Rejected if words::is_force_forbidden(&out, &said.words) && !book.grows => {
                Ok(Once::NoForce)
            }
            Pushed::Rejected => Err(words::forbidden(&remote, &out, &said.words)),
            Pushed::Lost => match words::before(&remote, &said.words) {
                Some(error) => Err(error),
                None => Ok(Once::Lost(format!("{}: the answer to a push was lost", words::shown(&remote)))),
            },
        }
    }

    /// Makes the commit of `book` in our repository: its id, or `None` where the one before is gone from the remote.
    async fn commit(&mut self, state: &State, book: &Book) -> Result<Option<String>, EngineError> {
        let text = book.text();
        let mut parent = String::new();
        if let Some(id) = state.id.as_ref().filter(|_| book.grows) {
            // Another process may have made our repository anew.
            let is_here = self.git.run(&["cat-file", "-e", id], &[]).await?.is_ok;
            if !is_here && self.fetch_branch(&state.branch).await?.id.as_ref() != Some(id) {
                return Ok(None);
            }
            parent = format!("from {id}\n");
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
                said.words
            )));
        }
        let said = self.git.run(&["rev-parse", NEW], &[]).await?;
        Ok(Some(String::from_utf8_lossy(&said.out).trim().to_owned()))
    }

    /// The state to go on with at `now`: in a new month that of a new branch, with the old one closed.
    ///
    /// # Errors
    /// As [`Remote::push`]; nothing of the caller's was pushed.
    pub async fn rolled_over(&mut self, state: State, now: Timestamp) -> Result<State, EngineError> {
        let Some(next) = due(&state.branch, now).filter(|_| state.id.is_some()) else { return Ok(state) };
        let closed = Book { next: Some(next.clone()), ..state.book.following(super::nonce()?) };
        match self.push(&state, closed).await? {
            Push::Taken(closed) => {
                self.remove_before(&closed.branch).await;
                let book = Book { next: None, ..closed.book };
                Ok(State { branch: next, id: None, book })
            }
            // The caller's push at the closed branch comes to nothing, and it reads anew.
            Push::Others | Push::Lost(_) => Ok(state),
        }
    }

    async fn talk(&self, args: &[&str]) -> Result<super::command::Said, EngineError> {
        self.git.talk(args).await.map_err(|failed| match failed {
            Failed::NotStarted(why) => EngineError::Refused(why),
            Failed::TooLong => EngineError::Unreachable(self.too_long()),
        })
    }

    fn too_long(&self) -> String {
        format!("{}: no answer within {} s", words::shown(&self.place.remote), self.place.patience.as_secs())
    }

    /// Refuses a state that doesn't come of what was seen, and remembers any other.
    fn check(&mut self, state: &State) -> Result<(), EngineError> {
        if let Some(mark) = &self.seen().mark
            && !state.book.came_of(mark)
        {
            return Err(EngineError::Broken(format!(
                "{}: its branch is older than what this machine has seen there, somebody rewound or removed it, and \
                 what stood there is forgotten",
                words::shown(&self.place.remote)
            )));
        }
        self.remember(state)
    }

    fn remember(&mut self, state: &State) -> Result<(), EngineError> {
        let remote = self.place.remote.clone();
        self.seen = Some(Seen { remote, branch: Some(state.branch.clone()), mark: state.book.mark() });
        self.save()
    }

    fn seen(&mut self) -> &Seen {
        let remote = &self.place.remote;
        let path = self.path();
        self.seen.get_or_insert_with(|| {
            let read = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Seen>(&bytes).ok());
            read.filter(|seen| seen.remote == *remote).unwrap_or_default()
        })
    }

    fn path(&self) -> PathBuf {
        self.place.state.join(SEEN)
    }

    fn save(&self) -> Result<(), EngineError> {
        let path = self.path();
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let bytes = serde_json::to_vec(&self.seen).unwrap_or_default();
        std::fs::write(&new, bytes)
            .and_then(|()| std::fs::rename(&new, &path))
            .map_err(|error| EngineError::Refused(format!("{} can't be written: {error}", path.display())))
    }

    /// Our repository, for us alone while the lock is held: a command and the daemon may work at once.
    async fn lock(&mut self) -> Result<File, EngineError> {
        let path = self.place.state.join(format!("{FOLDER}.lock"));
        let locked = tokio::task::spawn_blocking(move || {
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            flock(&file, FlockOperation::LockExclusive)?;
            Ok::<File, std::io::Error>(file)
        });
        let file = locked.await.map_err(std::io::Error::other).flatten().map_err(|error| {
            EngineError::Refused(format!("{} can't be locked: {error}", self.place.state.display()))
        })?;
        // What another process has seen counts, too.
        self.seen = None;
        match self.commits {
            Some(commits) if commits < KEPT && self.git.dir().join("HEAD").exists() => {
                self.commits = Some(commits + 1)
            }
            _ => {
                self.git.renew().await?;
                self.commits = Some(0);
            }
        }
        Ok(file)
    }
}

/// What became of one push.
enum Once {
    Taken(State),
    Others,
    Lost(String),
    /// The server takes fast-forwards alone.
    NoForce,
}
