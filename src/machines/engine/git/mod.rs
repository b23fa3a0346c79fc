//! Implements the engine, the store that machines share, on a git server.
//!
//! If the server allows forced pushes, a branch has one commit. A push replaces that commit only if the commit is still
//! the one that the push names. If the server forbids forced pushes, each commit is added to the one before, and a new
//! branch begins each month. The last commit of the old branch names the new branch and closes the old one, so no
//! machine writes to both.
//!
//! Each state lists the states before it (`state_file`). So a branch that was rewound is detected, and a push whose
//! answer was lost is found again.
//!
//! - `state_file`: the file of a state, names of branches, and the state that this machine saw last;
//! - `errors`: the meaning of git's messages. Pure;
//! - `command`: runs git; `remote`: fetch and push; this file: the engine.

mod command;
mod errors;
mod remote;
mod state_file;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;

use super::{EngineError, Entries, EntryChange, Result, StoreEngine, SwapOutcome, apply, check_changes};
use crate::clock::Clock;
use crate::config::git_address;
use crate::machines::identity::random;
use remote::{BranchHead, PushOutcome, Remote};
use state_file::StateFile;

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
    /// The state that was last read or written.
    known: Option<BranchHead>,
}

/// The place of a git engine.
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
    /// The remote's address is none that may be used, see [`git_address::check`].
    pub fn new(remote: &str, state: PathBuf) -> Result<Self> {
        let refused = |why| EngineError::Refused(format!("`{}` {why}", git_address::shown(remote)));
        git_address::check(remote).map_err(refused)?;
        Ok(Self { remote: remote.to_owned(), state, ssh: None, patience: command::PATIENCE })
    }
}

impl GitEngine {
    /// An engine at `place`; nothing is started yet.
    pub fn new(place: GitPlace, clock: Arc<dyn Clock>) -> Self {
        Self { inner: Mutex::new(Inner { remote: Remote::new(place), known: None }), clock }
    }
}

impl Inner {
    async fn fetch(&mut self) -> Result<&BranchHead> {
        self.known = None;
        let state = self.remote.fetch().await?;
        Ok(self.known.insert(state))
    }

    async fn swap(&mut self, changes: &[EntryChange], clock: &dyn Clock) -> Result<SwapOutcome> {
        let mut tried: Vec<String> = Vec::new();
        let mut locked = None;
        for _ in 0..TRIES {
            let state = match self.known.take() {
                Some(state) => state,
                None => self.fetch().await?.clone(),
            };
            // A try of ours that got no answer, or "another was first", may have been taken.
            if tried.iter().any(|nonce| state.file.recent.contains(nonce)) {
                self.known = Some(state);
                return Ok(SwapOutcome::Done);
            }
            let mut file = state.file.clone();
            if apply(&mut file.entries, changes) != SwapOutcome::Done {
                // The known state may be old: only the present one decides.
                let answer = apply(&mut self.fetch().await?.file.entries.clone(), changes);
                if answer != SwapOutcome::Done {
                    return Ok(answer);
                }
                continue;
            }
            let state =
                if state.file.grows { self.remote.rolled_over(state, clock.now()).await? } else { state };
            let nonce = random();
            let next = StateFile { entries: file.entries, ..state.file.following(nonce.clone()) };
            tried.push(nonce);
            match self.remote.push(&state, next).await? {
                PushOutcome::Taken(taken) => {
                    self.known = Some(taken);
                    return Ok(SwapOutcome::Done);
                }
                PushOutcome::Others(lock) => locked = lock,
                PushOutcome::Lost(why) => {
                    let read = self.fetch().await.map_err(|_| EngineError::Unknown(why.clone()))?;
                    if read.id == state.id {
                        return Err(EngineError::Unknown(why));
                    }
                }
            }
        }
        Err(match locked {
            Some(lock) => EngineError::Unreachable(format!(
                "the server's file `{lock}` keeps all machines from writing: if no git runs there, a git that was cut \
                 off left it, so remove it"
            )),
            None => EngineError::Unreachable("other machines kept changing the shared branch".to_owned()),
        })
    }
}

#[async_trait]
impl StoreEngine for GitEngine {
    async fn read(&self) -> Result<Entries> {
        Ok(self.inner.lock().await.fetch().await?.file.entries.clone())
    }

    async fn swap(&self, changes: &[EntryChange]) -> Result<SwapOutcome> {
        check_changes(changes)?;
        self.inner.lock().await.swap(changes, &*self.clock).await
    }

    async fn standing(&self) -> Option<Entries> {
        Some(self.inner.lock().await.known.as_ref()?.file.entries.clone())
    }

    async fn forget(&self) -> Result<()> {
        let mut inner = self.inner.lock().await;
        inner.known = None;
        inner.remote.forget()
    }
}
