//! The engine on a git server: one branch whose one commit is replaced by a push that names the commit it replaces.
//!
//! Where a server forbids forced pushes each commit is added to the one before, and each month begins a new branch: the
//! old one is closed by a commit that names the new one, so both are never written. A state names the states before it
//! (`book`), so a branch that somebody rewound is refused, and a push whose answer was lost is found again.
//!
//! - `book`: the file of a state; `branch`: names; [`address`]: which remotes there may be; `words`: what git's words mean. Pure;
//! - `command`: runs git; `remote`: fetch and push; this file: the engine.

pub mod address;
mod book;
mod branch;
mod command;
mod remote;
mod words;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;

use super::{Change, Engine, EngineError, Entries, Swapped, apply, check_changes, standing};
use crate::clock::Clock;
use book::Book;
use remote::{Push, Remote, State};

/// How often a swap is tried anew where others changed something else in the meantime.
const TRIES: usize = 8;

/// A branch on a git server.
#[derive(Debug)]
pub struct GitEngine {
    inner: Mutex<Inner>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug)]
struct Inner {
    remote: Remote,
    /// What was last read or written.
    known: Option<State>,
    /// The commit that the caller knows of; `None` before it read.
    told: Option<Option<String>>,
}

/// Where a git engine works.
#[derive(Debug, Clone)]
pub struct GitPlace {
    /// The remote, as the settings checked it.
    pub remote: String,
    /// The vault's state directory.
    pub state: PathBuf,
    /// The command for ssh remotes in the place of `GIT_SSH_COMMAND` and of our own.
    pub ssh: Option<String>,
    /// How long one git may take; 15 seconds in use.
    pub patience: Duration,
}

impl GitPlace {
    /// The usual place of `remote`, for the vault whose state directory is `state`.
    ///
    /// # Errors
    /// The remote's address is none that may be used, see [`address::check`].
    pub fn new(remote: &str, state: PathBuf) -> Result<Self, EngineError> {
        let refused = |why| EngineError::Refused(format!("`{}` {why}", words::shown(remote)));
        address::check(remote).map_err(refused)?;
        Ok(Self { remote: remote.to_owned(), state, ssh: None, patience: command::PATIENCE })
    }
}

impl GitEngine {
    /// An engine at `place`; nothing is started yet.
    pub fn new(place: GitPlace, clock: Arc<dyn Clock>) -> Self {
        Self { inner: Mutex::new(Inner { remote: Remote::new(place), known: None, told: None }), clock }
    }

    /// Forgets what was seen at the remote, so that a branch that was rewound is taken as it is: a person said so.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub async fn forget(&self) -> Result<(), EngineError> {
        let mut inner = self.inner.lock().await;
        inner.known = None;
        inner.remote.forget()
    }
}

impl Inner {
    async fn fetch(&mut self) -> Result<&State, EngineError> {
        self.known = None;
        let state = self.remote.fetch().await?;
        Ok(self.known.insert(state))
    }

    async fn swap(&mut self, changes: &[Change], clock: &dyn Clock) -> Result<Swapped, EngineError> {
        let mut tried: Vec<String> = Vec::new();
        for _ in 0..TRIES {
            let state = match self.known.take() {
                Some(state) => state,
                None => self.fetch().await?.clone(),
            };
            // What came of a try of ours that was answered by nobody, or by "somebody was first".
            if tried.iter().any(|nonce| state.book.recent.contains(nonce)) {
                self.known = Some(state);
                return Ok(Swapped::Done);
            }
            let mut book = state.book.clone();
            if !apply(&mut book.entries, changes) {
                // What is known may be old: only what stands there now decides.
                let state = self.fetch().await?;
                if !apply(&mut state.book.entries.clone(), changes) {
                    return Ok(Swapped::Lost(standing(&state.book.entries, changes)));
                }
                continue;
            }
            let state =
                if state.book.grows { self.remote.rolled_over(state, clock.now()).await? } else { state };
            let nonce = nonce()?;
            let next = book_after(&state.book, book.entries, nonce.clone());
            tried.push(nonce);
            match self.remote.push(&state, next).await? {
                Push::Taken(taken) => {
                    if self.told == Some(state.id) {
                        self.told = Some(taken.id.clone());
                    }
                    self.known = Some(taken);
                    return Ok(Swapped::Done);
                }
                Push::Others => {}
                Push::Lost(why) => {
                    let read = self.fetch().await.map_err(|_| EngineError::Unknown(why.clone()))?;
                    if read.id == state.id {
                        return Err(EngineError::Unknown(why));
                    }
                }
            }
        }
        Err(EngineError::Unreachable("other machines changed what is shared all the time".to_owned()))
    }
}

fn book_after(before: &Book, entries: Entries, nonce: String) -> Book {
    Book { entries, ..before.following(nonce) }
}

/// 16 hexadecimal digits that nobody else has.
fn nonce() -> Result<String, EngineError> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| EngineError::Unreachable(format!("this machine has no random numbers: {error}")))?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

#[async_trait]
impl Engine for GitEngine {
    async fn read(&self, prefix: &str) -> Result<Entries, EngineError> {
        let mut inner = self.inner.lock().await;
        let state = inner.fetch().await?.clone();
        inner.told = Some(state.id);
        Ok(state
            .book
            .entries
            .iter()
            .filter(|(key, _)| key.starts_with(prefix))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect())
    }

    async fn swap(&self, changes: &[Change]) -> Result<Swapped, EngineError> {
        check_changes(changes)?;
        self.inner.lock().await.swap(changes, &*self.clock).await
    }

    async fn changed(&self, _prefix: &str, at_most: Duration) -> Result<bool, EngineError> {
        // A git server tells nobody of changes: it is asked once, at the end.
        tokio::time::sleep(at_most).await;
        let mut inner = self.inner.lock().await;
        let now = inner.fetch().await?.id.clone();
        Ok(inner.told != Some(now))
    }
}
