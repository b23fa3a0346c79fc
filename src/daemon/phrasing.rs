//! Asks a brain for the wording of reminders that are soon due. The scheduler hands them over after a pass and goes on.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::agent::{CallPermits, Phraser};
use crate::deliver::PendingSend;
use crate::workspace::Workspace;

/// The most reminders of one minute that get a phrase; the others keep the plain text.
const MAX_PHRASED: usize = 20;

/// Looks for words while the scheduler does its work. Dropping it ends the calls that still run.
#[derive(Default)]
pub struct Phrasing {
    phraser: Option<Arc<Phraser>>,
    permits: Arc<CallPermits>,
    running: JoinSet<()>,
}

impl Phrasing {
    /// Applies changed settings to the next phrases.
    pub fn apply_settings(&mut self) {
        self.phraser = None;
    }

    /// Begins to look for words; returns at once.
    pub fn begin(&mut self, workspace: &Arc<Workspace>, upcoming: Vec<PendingSend>) {
        while self.running.try_join_next().is_some() {}
        if upcoming.is_empty() || workspace.at_rest().is_some() {
            return;
        }
        let Some(phraser) = self.phraser(workspace) else { return };
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

    fn phraser(&mut self, workspace: &Arc<Workspace>) -> Option<Arc<Phraser>> {
        if self.phraser.is_none() {
            let made = Phraser::new(Arc::clone(workspace), Arc::clone(&self.permits));
            let told = made.inspect_err(|error| tracing::warn!("no words can be looked for: {error}"));
            self.phraser = told.ok().map(Arc::new);
        }
        self.phraser.clone()
    }
}
