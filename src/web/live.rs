//! Reports changes to open pages as they happen (`GET /events`).
//!
//! The watcher reports changes of notes. Files of the state directory (journals, history, brains) are polled for
//! changes while a page is open. The number of open streams is limited, so that connections for other requests are
//! left.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

use crate::listen::MOST_CONNECTIONS;

/// The interval at which the files of the state directory are polled while a page is open.
const EVERY: Duration = Duration::from_secs(2);
/// The interval of a message on a silent connection, so that either end notices when the other has closed.
const ALIVE: Duration = Duration::from_secs(30);
/// The most pages that are followed at once.
const MOST_STREAMS: usize = MOST_CONNECTIONS as usize / 2;
/// The files of the state directory that pages show.
const FILES: [&str; 7] = [
    "deliveries.sqlite",
    "deliveries.sqlite-wal",
    "turns.sqlite",
    "turns.sqlite-wal",
    "history.log",
    "brains.json",
    "mcp.json",
];

/// Something changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageChange {
    /// Notes, by their paths; none named means that any may have.
    Notes(Vec<String>),
    /// The journals or the history changed.
    State,
    /// The vault's folder vanished, or is back.
    Vault(bool),
}

/// The sender of changes to open pages.
#[derive(Debug, Clone)]
pub struct LiveUpdates {
    sender: broadcast::Sender<PageChange>,
}

impl Default for LiveUpdates {
    fn default() -> Self {
        Self { sender: broadcast::channel(64).0 }
    }
}

impl LiveUpdates {
    /// Reports a change to the open pages.
    pub fn send(&self, changed: PageChange) {
        let _ = self.sender.send(changed);
    }

    /// The stream for one page, as long as `is_let_in` is true. Places for other requests are left free.
    pub(super) fn stream(
        &self,
        stop: CancellationToken,
        is_let_in: impl Fn() -> bool + Send + 'static,
    ) -> Response {
        if self.sender.receiver_count() >= MOST_STREAMS {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        let receiver = self.sender.subscribe();
        let events =
            stream::unfold((receiver, stop, is_let_in), |(mut receiver, stop, is_let_in)| async move {
                let changed = tokio::select! {
                    biased;
                    () = stop.cancelled() => return None,
                    changed = receiver.recv() => match changed {
                        Ok(changed) => changed,
                        Err(RecvError::Lagged(_)) => PageChange::Notes(Vec::new()),
                        Err(RecvError::Closed) => return None,
                    },
                };
                is_let_in().then(|| (Ok::<_, Infallible>(event(&changed)), (receiver, stop, is_let_in)))
            });
        let events = Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE));
        ([("cache-control", "no-store")], events).into_response()
    }

    /// Polls the files of the state directory while pages are open, until `stop`.
    pub(super) async fn follow_state(self, state: Arc<PathBuf>, stop: CancellationToken) {
        let mut before = None;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
            if self.sender.receiver_count() == 0 {
                before = None;
                continue;
            }
            let now = FILES.map(|name| stamp(&state.join(name)));
            if before.replace(now).is_some_and(|before| before != now) {
                self.send(PageChange::State);
            }
        }
    }
}

fn stamp(file: &std::path::Path) -> Option<(u64, SystemTime)> {
    let meta = std::fs::metadata(file).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

fn event(changed: &PageChange) -> Event {
    match changed {
        PageChange::Notes(paths) => {
            Event::default().event("notes").data(serde_json::to_string(paths).unwrap_or_default())
        }
        PageChange::State => Event::default().event("state").data("[]"),
        PageChange::Vault(is_there) => Event::default().event("vault").data(is_there.to_string()),
    }
}
