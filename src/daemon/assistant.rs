//! Holds the daemon's assistant, and makes a new one when the settings change. A turn (the work on one question) keeps
//! the assistant with which it began, so a turn's settings don't change in the middle.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::part::DaemonEvent;
use crate::agent::tools::Approvals;
use crate::agent::{AnswerEngine, CallPermits, EngineParts, VaultApprovals, Waiter};
use crate::toolbox::toolbox;
use crate::turn::{Conversation, Facts, Halt, Responder, TurnAnswer, TurnJournal};
use crate::workspace::Workspace;

/// Answers with an engine of the current settings; a turn keeps the engine that it began with.
pub struct AssistantService {
    engine: RwLock<Result<Arc<AnswerEngine>, String>>,
    /// How far each turn came.
    pub journal: Arc<TurnJournal>,
    /// The permits for calling a brain.
    pub permits: Arc<CallPermits>,
    /// The approvals that ask the person.
    pub approvals: Arc<VaultApprovals>,
}

impl AssistantService {
    /// With these settings.
    pub fn new(workspace: &Arc<Workspace>, journal: Arc<TurnJournal>, permits: Arc<CallPermits>) -> Self {
        let orphans = crate::brain::process::sweep(&workspace.dirs.state);
        if orphans > 0 {
            tracing::warn!("ended {orphans} processes that brains of an earlier run had left");
        }
        let approvals = Arc::new(VaultApprovals::new(workspace, Waiter::Call));
        let engine = RwLock::new(engine(workspace, &journal, &permits, &approvals));
        Self { engine, journal, permits, approvals }
    }

    /// Handles an event of the vault: if the note of approvals may have changed, waiting questions are checked again.
    pub async fn on_event(&self, event: &DaemonEvent) {
        if recheck(&self.approvals, event) {
            self.approvals.expire_questions().await;
        }
    }

    /// Takes on other settings for the turns that begin from now on.
    pub fn apply_settings(&self, workspace: &Arc<Workspace>) {
        self.approvals.set_workspace(workspace);
        let engine = engine(workspace, &self.journal, &self.permits, &self.approvals);
        *self.engine.write().unwrap_or_else(PoisonError::into_inner) = engine;
    }
}

/// Has waiting questions checked again if the note of approvals may have changed by this event, and says whether.
pub(super) fn recheck(approvals: &VaultApprovals, event: &DaemonEvent) -> bool {
    let may_differ = match event {
        DaemonEvent::Changed(paths) => paths.iter().any(|path| approvals.is_approvals_note(path)),
        DaemonEvent::Rescan | DaemonEvent::VaultBack => true,
        _ => false,
    };
    if may_differ {
        approvals.recheck();
    }
    may_differ
}

fn engine(
    workspace: &Arc<Workspace>,
    journal: &Arc<TurnJournal>,
    permits: &Arc<CallPermits>,
    approvals: &Arc<VaultApprovals>,
) -> Result<Arc<AnswerEngine>, String> {
    let parts = EngineParts {
        tools: toolbox(workspace, Some((journal, permits))),
        approvals: Arc::clone(approvals) as Arc<dyn Approvals>,
        permits: Arc::clone(permits),
        ..EngineParts::of(workspace, journal)
    };
    AnswerEngine::new(parts).map(Arc::new).map_err(|error| error.to_string())
}

#[async_trait]
impl Responder for AssistantService {
    async fn answer(
        &self,
        message: u64,
        place: &dyn Conversation,
        stop: &CancellationToken,
    ) -> Result<TurnAnswer, Halt> {
        let engine = self.engine.read().unwrap_or_else(PoisonError::into_inner).clone();
        engine.map_err(Halt::Later)?.answer(message, place, stop).await
    }

    fn spent(&self, message: u64) -> Result<Facts, Halt> {
        let engine = self.engine.read().unwrap_or_else(PoisonError::into_inner).clone();
        engine.map_err(Halt::Later)?.spent(message)
    }
}
