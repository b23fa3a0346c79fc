//! Watches subscribed notes and notifies clients of changes. Also notifies a client of the progress of a long call.
//!
//! The vault is watched while there is a subscription. An event says only that something may have changed, so a
//! client is notified only if the note's stat differs. The comparison runs on the watcher's thread, notifications on
//! the protocol's tasks. When a session ends, its subscriptions end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rmcp::model::{ErrorData, ProgressNotificationParam, ProgressToken, ResourceUpdatedNotificationParam};
use rmcp::service::SubscriptionSink;
use rmcp::{Peer, RoleServer};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::mcp::resources;
use crate::mcp::shared_state::SharedState;
use crate::search::Progress;
use crate::vault::{NotePath, Stat, WatchEvent, Watcher};

/// A connection to a client.
#[derive(Debug, Clone)]
pub enum Listener {
    /// A session that said `resources/subscribe`.
    Peer(Peer<RoleServer>),
    /// A stream that `subscriptions/listen` opened.
    Stream(SubscriptionSink),
}

impl Listener {
    /// Notifies the client; false where it is gone.
    async fn tell(&self, uri: &str) -> bool {
        match self {
            Self::Peer(peer) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_ok()
            }
            Self::Stream(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }
}

/// A note with subscribers.
#[derive(Debug)]
struct Watched {
    seen: Option<Stat>,
    listeners: Vec<Subscription>,
}

#[derive(Debug, Clone)]
struct Subscription {
    session: u64,
    /// As the client wrote it.
    uri: String,
    listener: Listener,
}

#[derive(Debug, Default)]
struct WatchState {
    watcher: Option<Watcher>,
    notes: BTreeMap<NotePath, Watched>,
}

/// All subscriptions of one server.
#[derive(Debug)]
pub struct Subscriptions {
    shared: Arc<SharedState>,
    state: Mutex<WatchState>,
    sessions: AtomicU64,
}

impl Subscriptions {
    /// With no subscription; nothing is watched yet.
    pub fn new(shared: Arc<SharedState>) -> Arc<Self> {
        Arc::new(Self { shared, state: Mutex::default(), sessions: AtomicU64::new(0) })
    }

    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn subscribe(self: &Arc<Self>, session: u64, uri: &str, listener: Listener) -> Result<(), ErrorData> {
        let vault = self.shared.workspace().vault.clone();
        let path = vault.with_names_on_disk(resources::path_of(uri)?);
        let mut state = self.lock();
        if state.watcher.is_none() {
            let (hub, runtime) = (Arc::downgrade(self), Handle::current());
            let watcher = Watcher::start(&vault, move |event| on_watch_event(&hub, &runtime, &event));
            let watcher = watcher.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            state.watcher = Some(watcher);
        }
        // Read after the watcher has begun: every later change has an event.
        let seen = vault.stat(&path).ok().flatten();
        let watched = state.notes.entry(path).or_insert_with(|| Watched { seen, listeners: Vec::new() });
        watched.listeners.retain(|one| one.session != session || one.uri != uri);
        watched.listeners.push(Subscription { session, uri: uri.to_owned(), listener });
        Ok(())
    }

    /// Forgets the subscriptions of a session: one, or all.
    fn forget(&self, session: u64, uri: Option<&str>) {
        let mut state = self.lock();
        for watched in state.notes.values_mut() {
            watched.listeners.retain(|one| one.session != session || uri.is_some_and(|uri| one.uri != uri));
        }
        state.notes.retain(|_, watched| !watched.listeners.is_empty());
        let idle = state.notes.is_empty().then(|| state.watcher.take());
        drop(state);
        // Stopping waits for the watcher's thread, which may be waiting for the lock.
        drop(idle);
    }

    /// The notifications after an event.
    fn changed(&self, event: &WatchEvent) -> Vec<Subscription> {
        let concerns = |path: &NotePath| match event {
            WatchEvent::Dirty(dirty) => dirty.iter().any(|one| path == one || path.is_within(one)),
            WatchEvent::Rescan(_) | WatchEvent::VaultBack => true,
            _ => false,
        };
        let vault = self.shared.workspace().vault.clone();
        let mut out = Vec::new();
        for (path, watched) in &mut self.lock().notes {
            if !concerns(path) {
                continue;
            }
            let now = vault.stat(path).ok().flatten();
            if now != watched.seen {
                watched.seen = now;
                out.extend(watched.listeners.iter().cloned());
            }
        }
        out
    }
}

/// Handles an event on the watcher's thread.
fn on_watch_event(hub: &Weak<Subscriptions>, runtime: &Handle, event: &WatchEvent) {
    let Some(hub) = hub.upgrade() else { return };
    let tell = hub.changed(event);
    if tell.is_empty() {
        return;
    }
    runtime.spawn(async move {
        for one in tell {
            if !one.listener.tell(&one.uri).await {
                let hub = Arc::clone(&hub);
                let _ = tokio::task::spawn_blocking(move || hub.forget(one.session, None)).await;
            }
        }
    });
}

/// The subscriptions of one session; dropped with it.
#[derive(Debug)]
pub struct SessionSubscriptions {
    /// The registry of its subscriptions.
    pub hub: Arc<Subscriptions>,
    id: u64,
}

impl SessionSubscriptions {
    /// A session without subscriptions.
    pub fn new(hub: Arc<Subscriptions>) -> Self {
        let id = hub.sessions.fetch_add(1, Ordering::Relaxed);
        Self { hub, id }
    }

    /// Subscribes to a note; idempotent.
    ///
    /// # Errors
    /// The URI names no note, or the vault can't be watched.
    pub fn subscribe(&self, uri: &str, listener: Listener) -> Result<(), ErrorData> {
        self.hub.subscribe(self.id, uri, listener)
    }

    /// Ends a subscription. May wait for the watcher's thread.
    ///
    /// # Errors
    /// The URI names no note.
    pub fn unsubscribe(&self, uri: &str) -> Result<(), ErrorData> {
        resources::path_of(uri)?;
        self.hub.forget(self.id, Some(uri));
        Ok(())
    }
}

impl Drop for SessionSubscriptions {
    /// Ends its subscriptions, on a thread that may wait: a task often drops the session.
    fn drop(&mut self) {
        let (hub, id) = (Arc::clone(&self.hub), self.id);
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || hub.forget(id, None))),
            Err(_) => hub.forget(id, None),
        }
    }
}

/// The shortest time between two reports.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// Forwards the newest progress to the client until its sender, which the working thread has, is gone; without a token
/// nothing is reported.
pub async fn forward_progress(
    mut newest: watch::Receiver<Option<Progress>>,
    token: Option<ProgressToken>,
    peer: Peer<RoleServer>,
) {
    let Some(token) = token else { return };
    let mut told = 0;
    while newest.changed().await.is_ok() {
        let Some(Progress { done, total }) = *newest.borrow_and_update() else { continue };
        if done <= told {
            continue;
        }
        told = done;
        let word = ProgressNotificationParam::new(token.clone(), done as f64)
            .with_total(total as f64)
            .with_message("indexing the vault's notes for the first time");
        if peer.notify_progress(word).await.is_err() {
            return;
        }
        if done == total {
            // The last one: the answer waits for no pause behind it.
            return;
        }
        tokio::time::sleep(MIN_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::config::Dirs;
    use crate::mcp::shared_state::{ServerScopes, ToolSet};
    use crate::memory::Scope;
    use crate::vault::Vault;
    use crate::workspace::Workspace;

    /// The watcher's thread holds the lock while it looks at the files.
    #[tokio::test]
    async fn a_session_that_ends_waits_for_no_look_at_the_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("vault")).unwrap();
        let vault = Vault::open(&folder.path().join("vault")).unwrap();
        let dirs = Dirs { state: folder.path().join("state"), cache: folder.path().join("cache") };
        let clock = Arc::new(ManualClock::new("2026-12-01T09:30:00Z".parse().unwrap()));
        let workspace = Workspace::open_in(vault, dirs, clock).unwrap();
        let place = ServerScopes { saved: Scope::Global, project: Scope::Global, before: None };
        let hub = Subscriptions::new(Arc::new(SharedState::new(workspace, ToolSet::full(), place)));
        let session = SessionSubscriptions::new(Arc::clone(&hub));
        let looking = hub.lock();
        drop(session);
        drop(looking);
    }
}
