//! Asks a brain (a language model) for the wording of reminders and follow-ups that are soon due. The scheduler passes
//! these items on after a pass and doesn't wait.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::agent::{CallPermits, Phraser};
use crate::deliver::PendingSend;
use crate::workspace::Workspace;

/// The most reminders of one minute that get a phrase; the others keep the plain text.
const MAX_PHRASED: usize = 20;

/// Requests phrases beside the scheduler. Dropping it ends the calls that still run.
#[derive(Default)]
pub struct Phrasing {
    permits: Arc<CallPermits>,
    running: JoinSet<()>,
}

impl Phrasing {
    /// Starts the requests; returns at once.
    pub fn begin(&mut self, workspace: &Arc<Workspace>, upcoming: Vec<PendingSend>) {
        while self.running.try_join_next().is_some() {}
        if upcoming.is_empty() || workspace.reason_for_rest().is_some() {
            return;
        }
        let phraser = match Phraser::new(Arc::clone(workspace), Arc::clone(&self.permits)) {
            Ok(phraser) => Arc::new(phraser),
            Err(error) => return tracing::warn!("no words can be looked for: {error}"),
        };
        for one in upcoming.into_iter().take(MAX_PHRASED) {
            let phraser = Arc::clone(&phraser);
            self.running.spawn(async move {
                match phraser.phrase(&one).await {
                    Ok(ended) => tracing::debug!(key = one.key, ?ended, "words were looked for"),
                    Err(error) => tracing::warn!(key = one.key, "no words could be looked for: {error}"),
                }
            });
        }
    }
}
