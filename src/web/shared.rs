//! Holds the state that all requests of the page share.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::entry::codes::Codes;
use super::entry::store::Store;
use super::live::Live;
use crate::conflicts::Finder;
use crate::listen::Names;
use crate::tasks::Scanner;
use crate::workspace::Workspace;

/// A question that was written on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The id of its turn in the turn journal.
    pub message: u64,
    /// The question.
    pub text: String,
}

/// How a question is asked: the answer as a person reads it, or a sentence on why there is none.
pub type Questions =
    Arc<dyn Fn(Arc<Workspace>, Question) -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// The state that all requests share.
pub(super) struct Shared {
    pub names: Names,
    pub port: u16,
    pub store: Arc<Store>,
    pub codes: Codes,
    pub live: Live,
    pub stop: CancellationToken,
    /// Changes are made one after the other, so a form that is sent twice at once is sent twice in a row.
    pub changes: Mutex<()>,
    /// The tasks of other plugins as they were read last.
    pub tasks: Mutex<Scanner>,
    /// The copies of sync tools as they were found last.
    pub copies: Mutex<Finder>,
    /// How questions are asked.
    pub questions: Questions,
    workspace: RwLock<Arc<Workspace>>,
    reloads: bool,
}

impl Shared {
    /// With the names and the port that the listener has, and whether the settings are read again at each request.
    pub(super) fn new(
        (names, port): (Names, u16),
        store: Store,
        live: Live,
        (workspace, reloads): (Arc<Workspace>, bool),
        questions: Questions,
        stop: CancellationToken,
    ) -> Self {
        let store = Arc::new(store);
        let (codes, changes) = (Codes::default(), Mutex::default());
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
