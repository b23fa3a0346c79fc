//! Defines the interface of a daemon's part, a task that runs beside the scheduler, such as history, index or Discord.
//!
//! A part receives events until its stop token is cancelled. It reports faults and goes on. It never ends the daemon,
//! and the scheduler never waits for it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

#[cfg(feature = "assistant")]
pub use crate::agent::CallPermits;
use crate::instance::DaemonStatus;
use crate::vault::{NotePath, WatchEvent};
use crate::workspace::Workspace;

/// Without brains there is nothing to permit.
#[cfg(not(feature = "assistant"))]
#[derive(Debug, Default)]
pub struct CallPermits;

/// An event of the vault.
#[derive(Debug, Clone)]
pub enum DaemonEvent {
    /// These notes changed.
    Changed(Arc<BTreeSet<NotePath>>),
    /// Anything may have changed: events were lost, or much time went by.
    Rescan,
    /// The vault's folder can't be reached.
    VaultGone,
    /// It can be reached again.
    VaultBack,
    /// Watching doesn't work as it should: changes may go unseen.
    Unwatched,
    /// This machine became the voice among several machines, or stopped being it.
    Voice,
    /// The settings changed and are in force: this is the vault with the new ones.
    Settings(Arc<Workspace>),
}

impl DaemonEvent {
    /// Converts an event of the watcher to an event for the parts. None for first changes and cookies: only the index
    /// uses them, and it gets the watcher's events itself.
    pub fn of(event: &WatchEvent) -> Option<Self> {
        Some(match event {
            WatchEvent::Dirty(paths) => Self::Changed(Arc::new(paths.clone())),
            WatchEvent::Rescan(_) => Self::Rescan,
            WatchEvent::VaultGone => Self::VaultGone,
            WatchEvent::VaultBack => Self::VaultBack,
            WatchEvent::Error(_) => Self::Unwatched,
            WatchEvent::FirstChange(_) | WatchEvent::CaughtUp(_) | WatchEvent::Polled { .. } => return None,
        })
    }
}

/// The input of a part. The part runs until `stop`; an error ends that part alone, and stands in `status`.
#[derive(Debug)]
pub struct PartContext {
    /// The vault as the daemon was started.
    pub workspace: Arc<Workspace>,
    /// The events of the vault, until `stop`.
    pub events: PartEvents,
    /// The daemon's report.
    pub board: StatusBoard,
    /// Ends the part.
    pub stop: CancellationToken,
    /// The permits for calling a brain.
    pub permits: Arc<CallPermits>,
}

/// The events of one part.
#[derive(Debug)]
pub struct PartEvents {
    events: broadcast::Receiver<DaemonEvent>,
    stop: CancellationToken,
    is_vault_gone: bool,
}

impl PartEvents {
    /// The events that come on this channel, until `stop`.
    pub fn new(events: broadcast::Receiver<DaemonEvent>, stop: CancellationToken) -> Self {
        Self { events, stop, is_vault_gone: false }
    }

    /// Whether the vault's folder can't be reached, by the events so far.
    pub fn is_vault_gone(&self) -> bool {
        self.is_vault_gone
    }

    /// The next event; [`DaemonEvent::Rescan`] if events were lost, `None` when the part has to stop.
    pub async fn next(&mut self) -> Option<DaemonEvent> {
        let event = tokio::select! {
            biased;
            () = self.stop.cancelled() => return None,
            event = self.events.recv() => event,
        };
        match event {
            Ok(event) => {
                self.is_vault_gone = match event {
                    DaemonEvent::VaultGone => true,
                    DaemonEvent::VaultBack => false,
                    _ => self.is_vault_gone,
                };
                Some(event)
            }
            Err(RecvError::Lagged(_)) => {
                // That the vault is back may be among what was lost.
                self.is_vault_gone = false;
                Some(DaemonEvent::Rescan)
            }
            Err(RecvError::Closed) => None,
        }
    }
}

/// The daemon's report, shared by its parts and written to the state directory.
#[derive(Debug, Clone)]
pub struct StatusBoard {
    status: Arc<Mutex<DaemonStatus>>,
    state: Arc<PathBuf>,
}

impl StatusBoard {
    /// A board over the report's file in `state`.
    pub fn new(status: DaemonStatus, state: PathBuf) -> Self {
        Self { status: Arc::new(Mutex::new(status)), state: Arc::new(state) }
    }

    /// Changes the report, and writes it if it differs. A report that can't be written is no reason to stop.
    pub fn update(&self, change: impl FnOnce(&mut DaemonStatus)) {
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        let before = status.clone();
        change(&mut status);
        if *status != before
            && let Err(error) = status.write(&self.state)
        {
            tracing::debug!(%error, "can't write the status file");
        }
    }

    /// Sets a part's status, in a few words.
    pub fn set_part(&self, part: &str, words: impl Into<String>) {
        self.update(|status| status.set_part(part, words));
    }
}

/// Runs work that waits for files on a thread for blocking calls.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let done = tokio::task::spawn_blocking(work);
    done.await.map_err(|error| anyhow::anyhow!("internal error: {error}"))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_told_that_events_were_lost() {
        let overflow = WatchEvent::Rescan("the system's queue of changes overflowed".to_owned());
        assert!(matches!(DaemonEvent::of(&overflow), Some(DaemonEvent::Rescan)));
        assert!(matches!(DaemonEvent::of(&WatchEvent::VaultBack), Some(DaemonEvent::VaultBack)));
        assert!(matches!(DaemonEvent::of(&WatchEvent::Error(String::new())), Some(DaemonEvent::Unwatched)));
    }
}
