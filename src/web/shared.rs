//! Holds the state that all requests of the page share.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::entry::codes::LoginCodes;
use super::entry::store::PageStore;
use super::live::LiveUpdates;
use crate::conflicts::Finder;
use crate::listen::HostNames;
use crate::tasks::Scanner;
use crate::workspace::Workspace;

/// A question that was written on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageQuestion {
    /// The id of its turn in the turn journal.
    pub message: u64,
    /// The question.
    pub text: String,
}

/// How a question is asked: the answer as a person reads it, or a sentence on why there is none.
pub type AskQuestion =
    Arc<dyn Fn(Arc<Workspace>, PageQuestion) -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// The state that all requests share.
pub(super) struct PageShared {
    pub names: HostNames,
    pub port: u16,
    pub store: Arc<PageStore>,
    pub codes: LoginCodes,
    pub live: LiveUpdates,
    pub stop: CancellationToken,
    /// Changes are made one after the other, so a form that is sent twice at once is sent twice in a row.
    pub changes: Mutex<()>,
    /// The tasks of other plugins as they were read last.
    pub tasks: Mutex<Scanner>,
    /// The copies of sync tools as they were found last.
    pub copies: Mutex<Finder>,
    /// How questions are asked.
    pub questions: AskQuestion,
    workspace: RwLock<Arc<Workspace>>,
    reloads: bool,
}

impl PageShared {
    /// With the names and the port that the listener has, and whether the settings are read again at each request.
    pub(super) fn new(
        (names, port): (HostNames, u16),
        store: PageStore,
        live: LiveUpdates,
        (workspace, reloads): (Arc<Workspace>, bool),
        questions: AskQuestion,
        stop: CancellationToken,
    ) -> Self {
        let store = Arc::new(store);
        let (codes, changes) = (LoginCodes::default(), Mutex::default());
        let (tasks, copies) = (Mutex::default(), Mutex::default());
        let workspace = RwLock::new(workspace);
        Self { names, port, store, codes, live, stop, changes, tasks, copies, questions, workspace, reloads }
    }

    /// The settings changed and are in force.
    pub(super) fn set_workspace(&self, workspace: Arc<Workspace>) {
        *self.workspace.write().unwrap_or_else(PoisonError::into_inner) = workspace;
    }

    /// The vault with the settings in force, and what is wrong with those on disk.
    pub(super) fn workspace(&self) -> (Arc<Workspace>, Option<String>) {
        if self.reloads {
            let (workspace, wrong) = Workspace::present(&self.workspace);
            return (workspace, wrong.map(|error| error.to_string()));
        }
        (Arc::clone(&self.workspace.read().unwrap_or_else(PoisonError::into_inner)), None)
    }
}
