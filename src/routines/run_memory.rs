//! Gives a run its memory: the gathered material, and recalled memories for the prompt.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::run_material;
use super::sections::{self, RunSection};
use crate::agent::{RecalledContext, TurnMemory};
use crate::format::log::FOUND_NOTHING;
use crate::workspace::Workspace;

/// The time limit of recall; the gathered material is given in any case.
const TIME: Duration = Duration::from_millis(200);

/// The memory of one run.
pub struct RunMemory {
    /// The vault's.
    pub inner: Arc<dyn TurnMemory>,
    /// The vault.
    pub workspace: Arc<Workspace>,
    /// The routine's prompt.
    pub prompt: String,
    /// The gathered material.
    pub sections: Vec<RunSection>,
    /// Whether it may have nothing to say.
    pub quiet: bool,
}

#[async_trait]
impl TurnMemory for RunMemory {
    async fn context_for(&self, _: &str, without: &[&str]) -> Result<RecalledContext, String> {
        let found = tokio::time::timeout(TIME, self.inner.context_for(&self.prompt, without)).await;
        let given = found.unwrap_or_else(|_| Ok(RecalledContext::default())).unwrap_or_default();
        Ok(RecalledContext {
            injection: sections::for_brain(&given.injection, &self.sections),
            links: given.links,
        })
    }

    async fn answer(&self, _: &str, own: &[&str]) -> Result<String, String> {
        let workspace = Arc::clone(&self.workspace);
        let now = workspace.clock.now();
        let agenda = tokio::task::spawn_blocking(move || run_material::agenda(&workspace, now));
        let agenda = agenda.await.map_err(|error| format!("it went wrong inside: {error}"))?;
        let agenda = agenda.map_err(|error| error.to_string())?;
        let mut sections = self.sections.clone();
        sections.extend(
            agenda
                .into_iter()
                .filter(|section| self.sections.iter().all(|known| known.title != section.title)),
        );
        let told = sections::for_people(&sections);
        let recalled = match self.inner.answer(&self.prompt, own).await {
            Ok(text) if text == FOUND_NOTHING => String::new(),
            Ok(text) => text,
            Err(problem) if told.is_empty() => return Err(problem),
            Err(_) => String::new(),
        };
        let parts = [told, recalled].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        Ok(match (parts.is_empty(), self.quiet) {
            (false, _) => parts.join("\n\n"),
            (true, true) => "NONE".to_owned(),
            (true, false) => {
                "Nothing is due, nothing was promised, and your notes say nothing about this.".to_owned()
            }
        })
    }
}
