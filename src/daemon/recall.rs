//! The daemon's recall: kept warm for whoever asks, and its vectors kept complete, on start, after changes
//! and every hour.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

use super::part::{Board, Event, Part};
use crate::recall::Recall;
use crate::workspace::Workspace;

/// A pass comes at least this often: what failed is tried again.
const EVERY: Duration = Duration::from_secs(3600);
/// Changes are collected for so long before a pass.
const SETTLE: Duration = Duration::from_secs(20);

/// Answers questions and keeps the vectors complete.
#[derive(Debug)]
pub struct RecallPart;

#[async_trait]
impl Part for RecallPart {
    fn name(&self) -> &'static str {
        "recall"
    }

    async fn run(
        self: Box<Self>,
        mut workspace: Arc<Workspace>,
        mut events: broadcast::Receiver<Event>,
        board: Board,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        let mut recall = Arc::new(Recall::of(&workspace)?);
        let mut answers = open(&workspace, &recall, &board);
        let mut wait = SETTLE;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                event = events.recv() => match event {
                    Ok(Event::Settings(changed)) => {
                        if changed.settings != workspace.settings {
                            recall = Arc::new(Recall::of(&changed)?);
                            // One door at a time: the old one's socket goes first.
                            drop(answers);
                            answers = open(&changed, &recall, &board);
                            wait = SETTLE;
                        }
                        workspace = changed;
                    }
                    Ok(Event::VaultGone) => wait = EVERY,
                    Ok(_) | Err(RecvError::Lagged(_)) => wait = wait.min(SETTLE),
                    Err(RecvError::Closed) => return Ok(()),
                },
                () = tokio::time::sleep(wait) => {
                    let pass = tokio::select! {
                        () = stop.cancelled() => return Ok(()),
                        pass = recall.reconcile() => pass,
                    };
                    board.say("vectors", words(&pass));
                    wait = EVERY;
                }
            }
        }
    }
}

/// Opens the door for questions; without one, whoever asks answers itself.
#[cfg(unix)]
fn open(workspace: &Arc<Workspace>, recall: &Arc<Recall>, board: &Board) -> Option<super::answers::Answers> {
    match super::answers::Answers::open(Arc::clone(workspace), Arc::clone(recall)) {
        Ok(answers) => Some(answers),
        Err(error) => {
            tracing::warn!(%error, "other processes can't ask this daemon; they answer themselves");
            board.say("answers", format!("nobody can ask: {error}"));
            None
        }
    }
}

#[cfg(not(unix))]
fn open(_: &Arc<Workspace>, _: &Arc<Recall>, _: &Board) {}

fn words(pass: &Result<crate::recall::reconcile::Reconciled, crate::recall::RecallError>) -> String {
    match pass {
        Ok(done) => {
            let counts = done.counts;
            let error = done.error.as_ref().map_or_else(String::new, |error| format!("; {error}"));
            format!("{} embedded, {} pending, {} failed{error}", counts.ok, counts.pending, counts.failed)
        }
        Err(error) => error.to_string(),
    }
}
