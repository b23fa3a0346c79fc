//! Reports the progress of a long call from its worker thread to the client.
//!
//! A client that gave a progress token gets a few reports a second at most, each with a larger figure, as the protocol
//! asks.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::search::Progress;

/// The shortest time between two reports.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// The end that the working thread has.
#[derive(Debug)]
pub struct ProgressReporter {
    sender: Option<UnboundedSender<Progress>>,
    last: Mutex<Option<Instant>>,
}

impl ProgressReporter {
    /// Reports the progress of the work, if the client asked for it and not too often.
    pub fn report(&self, progress: Progress) {
        let Some(sender) = &self.sender else { return };
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= MIN_INTERVAL) || progress.done == progress.total {
            *last = Some(Instant::now());
            // No receiver is left: the call was cancelled.
            let _ = sender.send(progress);
        }
    }
}

/// The end that the protocol's task has.
#[derive(Debug)]
pub struct Progresses {
    receiver: UnboundedReceiver<Progress>,
    token: Option<ProgressToken>,
    told: f64,
}

/// Both ends of a channel; without a token nothing is reported.
pub fn channel(token: Option<ProgressToken>) -> (ProgressReporter, Progresses) {
    let (sender, receiver) = unbounded_channel();
    let sender = token.is_some().then_some(sender);
    (ProgressReporter { sender, last: Mutex::default() }, Progresses { receiver, token, told: 0.0 })
}

impl Progresses {
    /// Forwards reports to the client until the sender is gone.
    pub async fn forward(mut self, peer: Peer<RoleServer>) {
        let Some(token) = self.token.take() else { return };
        while let Some(Progress { done, total }) = self.receiver.recv().await {
            let (done, total) = (done as f64, total as f64);
            if done <= self.told {
                continue;
            }
            self.told = done;
            let word = ProgressNotificationParam::new(token.clone(), done)
                .with_total(total)
                .with_message("indexing the vault's notes for the first time");
            if peer.notify_progress(word).await.is_err() {
                return;
            }
        }
    }
}
