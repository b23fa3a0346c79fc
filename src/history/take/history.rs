//! Defines [`History`], the history of one vault: its repository, the vault, and the rules for snapshots.
//!
//! Other files in `history` add methods to [`History`]: snapshots, records of writes, queries, restores.
//! [`LazyHistory`] opens the history at its first use, because most commands never need it. A repository that was
//! deleted or replaced while it is in use is opened again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::ThreadId;

use super::select::{PathTreatment, Selection};
use crate::clock::Clock;
use crate::config::Settings;
use crate::history::error::Result;
use crate::history::prelude::*;
use crate::history::store::{HistoryStore, is_locked};
use crate::vault::{ChangeObserver, NotePath, ObservedChange, Vault};

/// The history of one vault.
pub struct History {
    store: Mutex<HistoryStore>,
    pub(in crate::history) vault: Vault,
    pub(in crate::history) selection: Selection,
    pub(in crate::history) zone: Zone,
    pub(in crate::history) clock: Arc<dyn Clock>,
    pub(in crate::history) dir: PathBuf,
    /// Commits that this value made: a write that is told again after a crash is none of them.
    pub(super) mine: Mutex<HashSet<Oid>>,
    /// While several writes of a thread are one commit: their notes.
    pub(super) grouped: Mutex<HashMap<ThreadId, BTreeSet<NotePath>>>,
    /// The folder of the logs.
    pub(in crate::history) logs: String,
    /// The repository was deleted or replaced since a snapshot last compared everything.
    pub(in crate::history) replaced: AtomicBool,
}

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("History").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl History {
    /// Opens the history of `vault` in the state directory, making it where there is none.
    ///
    /// # Errors
    /// The repository can't be made or opened.
    pub fn open(vault: &Vault, settings: &Settings, state: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        let dir = state.join("history.git");
        let selection = Selection::new(settings);
        let store = HistoryStore::open(&dir)?;
        let zone =
            Zone::get(&settings.timezone).or_else(|_| Zone::get("UTC")).expect("the bundled zones have UTC");
        Ok(Self {
            store: Mutex::new(store),
            vault: vault.clone(),
            selection,
            zone,
            clock,
            dir,
            mine: Mutex::default(),
            grouped: Mutex::default(),
            logs: settings.paths.logs.trim_end_matches('/').to_owned(),
            replaced: AtomicBool::new(false),
        })
    }

    /// The repository's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The zone that times are shown and read in.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The time.
    pub fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    /// Whether snapshots keep the file at `path`.
    pub fn keeps(&self, path: &NotePath) -> bool {
        self.selection.verdict(path.as_str()) == PathTreatment::Keep
    }

    pub(crate) fn store(&self) -> MutexGuard<'_, HistoryStore> {
        // The store has no state that a panic could leave half-changed: it reads the disk anew.
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if !store.is_current() {
            // The repository was deleted, or another one was put in its place.
            match HistoryStore::open(&self.dir) {
                Ok(opened) => {
                    *store = opened;
                    self.replaced.store(true, Ordering::SeqCst);
                }
                Err(error) => tracing::warn!("the history can't be opened again: {error}"),
            }
        }
        store
    }

    /// Whether a thread or a process uses the repository now, such as for a snapshot.
    pub(in crate::history) fn is_busy(&self) -> bool {
        matches!(self.store.try_lock(), Err(TryLockError::WouldBlock)) || is_locked(&self.dir)
    }

    /// A message for the person about the repository, returned once: that it was gone, or changed by another program.
    pub fn take_notice(&self) -> Option<String> {
        self.store().notice.take()
    }
}

/// Opens the history when it is first needed, and passes the reports of edits on to it.
#[derive(Debug)]
pub struct LazyHistory {
    vault: Vault,
    settings: Settings,
    state: PathBuf,
    clock: Arc<dyn Clock>,
    opened: Mutex<Option<Arc<History>>>,
}

impl LazyHistory {
    /// The history of `vault` in the state directory `state`.
    pub fn new(vault: Vault, settings: Settings, state: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self { vault, settings, state, clock, opened: Mutex::new(None) }
    }

    /// The history.
    ///
    /// # Errors
    /// It can't be opened or made; the next call tries again.
    pub fn get(&self) -> Result<Arc<History>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(history) = &*opened {
            return Ok(Arc::clone(history));
        }
        let history = History::open(&self.vault, &self.settings, &self.state, Arc::clone(&self.clock))?;
        Ok(Arc::clone(opened.insert(Arc::new(history))))
    }
}

impl ChangeObserver for LazyHistory {
    fn changed(
        &self,
        change: &ObservedChange<'_>,
    ) -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.get()?.changed(change)
    }
}
