//! Runs the daemon: watches the vault, and connects the parts of the program that run beside each other.
//!
//! Events of the watcher come in; passes, snapshots, answers and one small report file go out. [`serve`] takes the lock
//! of [`crate::instance`], watches, and runs one loop and the parts beside it:
//!
//! - [`scheduler`]: the loop, which runs a pass once a minute ([`ticker`]) and whenever a watched note changes;
//! - `phrasing`: asks a brain (a language model) for the wording of reminders that are soon due, beside the passes;
//! - [`part`]: the interface of a part, a task that gets the same events on a channel; [`parts`](mod@parts): one file
//!   for each part;
//! - [`assistant`]: the assistant that the Discord part answers with.
//!
//! A fault of a note, a message or a part is reported (log, `status`), and the loop goes on. A fault ends the process
//! only at the start, if the lock is held or can't be used or the vault can't be watched, and if the watcher's thread
//! ends: the service then starts it again. A stop (SIGTERM, Ctrl-C, a SIGHUP that isn't ignored, a reader of the console
//! that goes away) ends everything within a second. Nothing is cleaned up: the state on disk is enough for the next
//! start.
//!
//! Never here: rules about due items, texts of notifications, texts of answers. Other modules decide those.

#[cfg(feature = "assistant")]
mod assistant;
mod part;
mod parts;
#[cfg(feature = "assistant")]
mod phrasing;
mod scheduler;
mod ticker;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use crate::instance::{DaemonLock, DaemonStatus, LockError};
use crate::terminal::Ui;
use crate::vault::{WatchEvent, WatchTimes, Watcher};
use crate::workspace::Workspace;

pub use self::part::{DaemonEvent, PartContext, PartEvents, StatusBoard};
#[cfg(all(unix, feature = "assistant"))]
pub(crate) use self::parts::page::notify_pages;

/// Makes the allocator keep free memory for the steps of a question, or give it back at once. `main` sets it, which
/// alone knows the allocator.
pub static KEEP_FREE_MEMORY: OnceLock<fn(bool)> = OnceLock::new();

/// The longest time that a stop waits for running work.
const PATIENCE: Duration = Duration::from_millis(900);

/// Why the daemon can't start, or ends by itself.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// Another daemon serves the vault, or the lock can't be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The vault can't be watched, or not any more.
    #[error("can't watch the vault: {0}")]
    Watch(String),
}

/// Serves the vault until `stop`.
///
/// # Errors
/// The lock is held, or the vault can't be watched, or not any more.
pub async fn serve(workspace: Arc<Workspace>, ui: Ui, stop: CancellationToken) -> Result<(), DaemonError> {
    let _lock = DaemonLock::acquire(&workspace.dirs.state, workspace.vault.root())?;
    let board = StatusBoard::new(DaemonStatus::new(workspace.clock.now()), workspace.dirs.state.clone());
    workspace.recover_edits();
    let (sender, watched) = mpsc::unbounded_channel::<WatchEvent>();
    let (events, _) = broadcast::channel(256);
    let parts_hear = events.clone();
    let cookies = Some(crate::search::follow::follower::cookies(&workspace.dirs.cache));
    // The index hears the watcher by itself, and first: a question waits for its word.
    let (index_hears, for_index) = mpsc::unbounded_channel::<WatchEvent>();
    let on_event = move |event: WatchEvent| {
        let _ = index_hears.send(event.clone());
        // The parts get every event in order, and don't wait for the scheduler's pass. At the end there may be no
        // listener.
        let _ = DaemonEvent::of(&event).map(|event| parts_hear.send(event));
        if !matches!(event, WatchEvent::FirstChange(_) | WatchEvent::CaughtUp(_)) {
            let _ = sender.send(event);
        }
    };
    let _watcher = Watcher::start_with(&workspace.vault, WatchTimes::default(), cookies.as_deref(), on_event)
        .map_err(|error| DaemonError::Watch(error.to_string()))?;
    board.update(|status| "watching".clone_into(&mut status.watcher));
    ui.note(format!("watching {} (stop with Ctrl-C)", workspace.vault.root().display()));

    // One brain has one queue, for all callers of this process.
    let permits = Arc::default();
    let context = || PartContext {
        workspace: Arc::clone(&workspace),
        events: PartEvents::new(events.subscribe(), stop.clone()),
        board: board.clone(),
        stop: stop.clone(),
        permits: Arc::clone(&permits),
    };
    let parts = parts::start(context, &board, &events, for_index, ui.json);
    notify_systemd(true);
    scheduler::run(workspace, ui, watched, events, board, stop.clone()).await;
    // Without a stop it ends only when no more events can come.
    let ended = (!stop.is_cancelled()).then(|| DaemonError::Watch("the watcher ended by itself".into()));
    stop.cancel();
    notify_systemd(false);
    if tokio::time::timeout(PATIENCE, futures_util::future::join_all(parts)).await.is_err() {
        tracing::warn!("a part did not stop in time and is left behind");
    }
    ended.map_or(Ok(()), Err)
}

/// A token that SIGTERM, SIGHUP and Ctrl-C cancel. A SIGHUP that was ignored at the start, as under `nohup`, stays
/// ignored.
///
/// # Errors
/// The signals can't be caught.
pub fn stop_on_signals() -> std::io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let hangup = (!is_hangup_ignored()).then(SignalKind::hangup);
    for kind in [SignalKind::terminate(), SignalKind::interrupt()].into_iter().chain(hangup) {
        let (mut caught, cancel) = (signal(kind)?, stop.clone());
        tokio::spawn(async move {
            caught.recv().await;
            cancel.cancel();
        });
    }
    Ok(stop)
}

/// Whether this process ignores SIGHUP, as Linux says; elsewhere it is not known, and counts as no.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let signals = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The first bit is of signal 1.
    signals.is_some_and(|signals| signals & 1 == 1)
}

/// Tells systemd that the daemon is up, or that it stops, where systemd listens.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "there is no systemd"))]
fn notify_systemd(is_up: bool) {
    #[cfg(target_os = "linux")]
    let _ = sd_notify::notify(&[if is_up {
        sd_notify::NotifyState::Ready
    } else {
        sd_notify::NotifyState::Stopping
    }]);
}
