//! The daemon's assistant: whoever answers, with the settings as they are when a turn begins.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::part::Event;
#[cfg(feature = "mcp")]
use crate::agent::Colleagues;
use crate::agent::approval::Approvals;
use crate::agent::{Engine, EngineParts, NoTools, Permits, Toolbox, VaultApprovals, VaultMemory};
use crate::brain::wire::Watch;
use crate::turn::{Answer, Halt, Place, Responder, TurnJournal};
use crate::workspace::Workspace;

/// Answers with the engine of the settings that are in force; a turn keeps the one that it began with.
pub struct Assistant {
    engine: RwLock<Result<Arc<Engine>, String>>,
    journal: Arc<TurnJournal>,
    permits: Arc<Permits>,
    approvals: Arc<VaultApprovals>,
}

impl Assistant {
    /// With these settings.
    pub fn new(workspace: &Arc<Workspace>, journal: Arc<TurnJournal>) -> Self {
        let orphans = crate::brain::process::sweep(&workspace.dirs.state);
        if orphans > 0 {
            tracing::warn!("ended {orphans} processes that brains of an earlier run had left");
        }
        let permits = Arc::new(Permits::default());
        let approvals = Arc::new(VaultApprovals::new(workspace));
        let engine = RwLock::new(engine(workspace, &journal, &permits, &approvals));
        Self { engine, journal, permits, approvals }
    }

    /// Who asks the person.
    pub fn approvals(&self) -> &Arc<VaultApprovals> {
        &self.approvals
    }

    /// What happened in the vault: where the note of approvals may have changed, whoever waits looks again.
    pub async fn hear(&self, event: &Event) {
        let may_differ = match event {
            Event::Changed(paths) => paths.iter().any(|path| self.approvals.is_note(path)),
            Event::Rescan(_) | Event::VaultBack => true,
            _ => false,
        };
        if may_differ {
            self.approvals.look_again();
            self.approvals.tidy().await;
        }
    }

    /// Takes on other settings for the turns that begin from now on.
    pub fn take_on(&self, workspace: &Arc<Workspace>) {
        self.approvals.take_on(workspace);
        let engine = engine(workspace, &self.journal, &self.permits, &self.approvals);
        *self.engine.write().unwrap_or_else(PoisonError::into_inner) = engine;
    }
}

fn engine(
    workspace: &Arc<Workspace>,
    journal: &Arc<TurnJournal>,
    permits: &Arc<Permits>,
    approvals: &Arc<VaultApprovals>,
) -> Result<Arc<Engine>, String> {
    let parts = EngineParts {
        workspace: Arc::clone(workspace),
        journal: Arc::clone(journal),
        tools: toolbox(workspace, Some((journal, permits))),
        approvals: Arc::clone(approvals) as Arc<dyn Approvals>,
        memory: Arc::new(VaultMemory::new(Arc::clone(workspace))),
        permits: Arc::clone(permits),
        watch: Watch::default(),
        files: Vec::new(),
        schema: None,
        why_apart: false,
        counted: false,
    };
    Engine::new(parts).map(Arc::new).map_err(|error| error.to_string())
}

/// The vault's typed tools, over a workspace of their own; brains may ask each other beside these turns.
#[cfg(feature = "mcp")]
pub(crate) fn toolbox(
    workspace: &Workspace,
    turns: Option<(&Arc<TurnJournal>, &Arc<Permits>)>,
) -> Arc<dyn Toolbox> {
    let (vault, dirs, clock) =
        (workspace.vault.clone(), workspace.dirs.clone(), Arc::clone(&workspace.clock));
    match Workspace::open_in(vault, dirs, clock) {
        Ok(own) => {
            let beside = |(journal, permits)| Colleagues::beside(Arc::clone(journal), Arc::clone(permits));
            Arc::new(crate::mcp::VaultTools::new(own, turns.map(beside).unwrap_or_default()))
        }
        Err(error) => {
            tracing::error!("the assistant has no tools: {error}");
            Arc::new(NoTools)
        }
    }
}

#[cfg(not(feature = "mcp"))]
pub(crate) fn toolbox(_: &Workspace, _: Option<(&Arc<TurnJournal>, &Arc<Permits>)>) -> Arc<dyn Toolbox> {
    Arc::new(NoTools)
}

#[async_trait]
impl Responder for Assistant {
    async fn answer(
        &self,
        message: u64,
        place: &dyn Place,
        stop: &CancellationToken,
    ) -> Result<Answer, Halt> {
        let engine = self.engine.read().unwrap_or_else(PoisonError::into_inner).clone();
        engine.map_err(Halt::Later)?.answer(message, place, stop).await
    }
}
