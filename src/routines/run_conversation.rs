//! Gives a run what an engine asks for: its conversation, whose notes go into the run's log and whose progress no person
//! sees, and its memory: the gathered material, and recalled memories for the prompt.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::run_log::RunLog;
use super::run_material;
use super::run_texts::{self, RunSection};
use crate::agent::{RecalledContext, TurnMemory};
use crate::deliver::{self, Journal};
use crate::format::approval::Approval;
use crate::format::log::FOUND_NOTHING;
use crate::turn::{Conversation, TurnNote};
use crate::workspace::Workspace;

/// The conversation of a run: its log.
pub(super) struct RunConversation<'a> {
    pub workspace: &'a Workspace,
    pub log: &'a RunLog,
    pub journal: &'a Journal,
    pub routine: &'a str,
}

#[async_trait]
impl Conversation for RunConversation<'_> {
    fn note(&self, note: TurnNote) {
        // It is written again, from the journal, before the run is done.
        if let Err(error) = self.log.note(self.workspace, &note, self.workspace.clock.now()) {
            tracing::warn!("a routine's log can't be written: {error}");
        }
    }

    fn progress(&self, _: &str) {}

    async fn ask_approval(&self, asked: &Approval) {
        let note = &self.workspace.settings.paths.approvals;
        let text =
            format!("The routine `{}` asks for approval: tick `{}` in `{note}`.", self.routine, asked.id);
        let name = format!("approval {}", asked.id);
        if let Err(error) = deliver::notice_once(self.journal, &name, &text, self.workspace.clock.now()) {
            tracing::warn!("{error}");
        }
    }
}

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
            injection: run_texts::for_brain(&given.injection, &self.sections),
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
        let told = run_texts::for_people(&sections);
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
