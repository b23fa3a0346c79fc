//! Implements the conversation of a run: its notes go into the run's log, and no person sees its progress.

use async_trait::async_trait;

use super::run_log::RunLog;
use crate::deliver::{self, Journal};
use crate::format::approval::Approval;
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
