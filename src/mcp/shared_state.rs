//! Holds the state that all sessions of one server share ([`SharedState`]): the opened vault, and parts that are opened
//! at their first use.

use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio_util::task::TaskTracker;

use super::failure::Result;
use crate::deliver;
use crate::deliver::pass::flush_confirmations;
use crate::memory::{self, Scope};
use crate::search::{Progress, SearchClient};
use crate::workspace::Workspace;

/// The longest time for unsent confirmations when the client leaves or a turn ends, as long as one message may take; the
/// rest waits for the next pass.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(30);

/// The scopes of a server's memories, by the folder and the environment that it runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerScopes {
    /// The scope of a save that names none: global, unless the environment names another.
    pub saved: Scope,
    /// The project that it runs in, or global.
    pub project: Scope,
    /// The project's name before ids told projects of one name apart.
    pub before: Option<Scope>,
}

impl ServerScopes {
    /// The place of a program that runs in the folder `cwd`, with this environment.
    pub fn of(cwd: &Path, env: impl Fn(&str) -> Option<String> + Copy) -> Self {
        // In no folder, only the environment counts.
        let saved = memory::derive(Path::new("/"), env);
        Self { saved, project: memory::derive(cwd, env), before: memory::legacy_scope(cwd, env) }
    }
}

/// The state that the sessions of one server share.
#[derive(Debug)]
pub struct SharedState {
    workspace: RwLock<Arc<Workspace>>,
    search_client: Mutex<Option<Arc<SearchClient>>>,
    /// The tools that are exposed.
    pub(super) tools: ToolSet,
    /// The scopes that this server reads and writes unless a call names another.
    pub(super) place: ServerScopes,
    /// Whether the user reads this process's standard error, as that of the daemon; a host keeps it in a log.
    pub(super) has_console: bool,
    /// By which brains ask each other.
    #[cfg(feature = "assistant")]
    pub(super) other_brains: crate::agent::OtherBrains,
    indexing: Mutex<()>,
    sending: TaskTracker,
}

impl SharedState {
    /// The state for an opened vault and these scopes; nothing else is opened yet.
    pub fn new(workspace: Workspace, tools: ToolSet, place: ServerScopes) -> Self {
        // No person looks at the notes when a model writes.
        workspace.editor.count_as_settled(false);
        Self {
            workspace: RwLock::new(Arc::new(workspace)),
            search_client: Mutex::default(),
            tools,
            place,
            has_console: false,
            #[cfg(feature = "assistant")]
            other_brains: crate::agent::OtherBrains::default(),
            indexing: Mutex::default(),
            sending: TaskTracker::new(),
        }
    }

    /// The vault with the settings as they stand on disk; the last valid ones where they are wrong now.
    pub fn workspace(&self) -> Arc<Workspace> {
        let (workspace, wrong) = Workspace::present(&self.workspace);
        if let Some(error) = wrong {
            tracing::warn!("the settings on disk are invalid, the old ones stay in use: {error}");
        }
        workspace
    }

    /// The client that answers searches: through the daemon if one runs, otherwise in this process, which keeps its
    /// index open.
    pub fn search_client(&self, workspace: &Arc<Workspace>) -> Arc<SearchClient> {
        let mut search_client = self.search_client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(search_client) = &*search_client
            && Arc::ptr_eq(search_client.workspace(), workspace)
        {
            return Arc::clone(search_client);
        }
        Arc::clone(search_client.insert(Arc::new(SearchClient::new(Arc::clone(workspace)))))
    }

    /// Indexes the vault if it was never indexed. Simultaneous calls index it once.
    ///
    /// # Errors
    /// The vault can't be read, the cache can't be written, or `stop` was set.
    pub fn index_first(
        &self,
        search_client: &SearchClient,
        progress: &(dyn Fn(Progress) + Sync),
        stop: &AtomicBool,
    ) -> Result<()> {
        let recall = search_client.own()?;
        let index = recall.index();
        if index.is_empty()? {
            let _alone = self.indexing.lock().unwrap_or_else(PoisonError::into_inner);
            if index.is_empty()? {
                index.reindex(progress, stop)?;
            }
        }
        Ok(())
    }

    /// Notifies the user that a reminder was changed (`what` is the verb), with its exact line. The notification is on
    /// disk when this returns, and is sent while the tool answers. If this process can't use the notifier (a host
    /// rarely has its secret, and a server has no console), the daemon or the next `tick` sends it.
    pub fn confirm(&self, workspace: &Arc<Workspace>, what: &str, line: &str) {
        let queued = workspace
            .journal()
            .and_then(|journal| deliver::confirm(&journal, what, line, workspace.clock.now()));
        if let Err(error) = queued {
            // The note is written; a confirmation that can't be sent doesn't undo that.
            tracing::warn!("{what}, but not confirmed: {error}");
            return;
        }
        let (workspace, has_console) = (Arc::clone(workspace), self.has_console);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let inside = runtime.clone();
        self.sending.spawn_blocking_on(
            move || {
                if let Err(error) = send(&workspace, has_console, &inside) {
                    tracing::warn!("a confirmation waits for the next pass: {error}");
                }
            },
            &runtime,
        );
    }

    /// Waits until what was to be sent is sent, within bounds.
    pub async fn finish_sends(&self) {
        self.sending.close();
        if tokio::time::timeout(FLUSH_TIMEOUT, self.sending.wait()).await.is_err() {
            tracing::warn!("a confirmation is still being sent; it waits for the next pass");
        }
    }
}

/// Sends the queued confirmations, if this process can.
fn send(workspace: &Workspace, has_console: bool, runtime: &tokio::runtime::Handle) -> Result<(), String> {
    let Some(delivery_order) = workspace.confirming_order(has_console) else { return Ok(()) };
    let journal = workspace.journal().map_err(|error| error.to_string())?;
    let settings = workspace.pass_settings();
    let pass = workspace.pass_context(&journal, &delivery_order, &settings);
    runtime.block_on(flush_confirmations(&pass)).map(drop).map_err(|error| error.to_string())
}

/// The tools that a server exposes.
#[derive(Debug, Clone)]
pub struct ToolSet {
    name: String,
    names: Vec<&'static str>,
}

impl ToolSet {
    /// These tools, under the name that the set was asked for by.
    pub(super) fn new(name: impl Into<String>, names: Vec<&'static str>) -> Self {
        Self { name: name.into(), names }
    }

    /// The same without these tools.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let left = self.names.iter().copied().filter(|name| !names.contains(name)).collect();
        Self { name: self.name.clone(), names: left }
    }

    /// Whether a tool of this name is exposed.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Whether a host's hooks are answered: they give memories, and write logs of sessions.
    pub fn takes_hooks(&self) -> bool {
        self.has("memory_recall") && self.has("memory_save")
    }
}

impl fmt::Display for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
