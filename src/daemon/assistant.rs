//! The daemon's assistant: whoever answers, with the settings as they are when a turn begins.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::part::Event;
#[cfg(feature = "mcp")]
use crate::agent::Colleagues;
use crate::agent::approval::Approvals;
#[cfg(unix)]
use crate::agent::bash::BashTool;
use crate::agent::skills::{SkillTool, Skills};
use crate::agent::{Boxes, Engine, EngineParts, NoTools, Permits, Toolbox, VaultApprovals, VaultMemory};
use crate::brain::wire::Watch;
#[cfg(feature = "mcp")]
use crate::config::{McpServer, ToolGroup};
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
    pub fn new(workspace: &Arc<Workspace>, journal: Arc<TurnJournal>, permits: Arc<Permits>) -> Self {
        let orphans = crate::brain::process::sweep(&workspace.dirs.state);
        if orphans > 0 {
            tracing::warn!("ended {orphans} processes that brains of an earlier run had left");
        }
        let approvals = Arc::new(VaultApprovals::new(workspace));
        let engine = RwLock::new(engine(workspace, &journal, &permits, &approvals));
        Self { engine, journal, permits, approvals }
    }

    /// Who asks the person.
    pub fn approvals(&self) -> &Arc<VaultApprovals> {
        &self.approvals
    }

    /// How far each turn came.
    pub fn journal(&self) -> &Arc<TurnJournal> {
        &self.journal
    }

    /// Who may call a brain now.
    pub fn permits(&self) -> &Arc<Permits> {
        &self.permits
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

/// What turns of the assistant may use, as the settings say: the vault's typed tools, over a workspace of their own, and
/// other MCP servers. Brains may ask each other beside these turns.
pub(crate) fn toolbox(
    workspace: &Workspace,
    turns: Option<(&Arc<TurnJournal>, &Arc<Permits>)>,
) -> Arc<dyn Toolbox> {
    toolbox_for(workspace, turns, ASSISTANT, &[], &[])
}

/// The purpose of a turn that is no routine's.
pub(crate) const ASSISTANT: &str = "assistant";

/// The same for `purpose`: [`ASSISTANT`], or `routine:NAME`; with these MCP servers, too, and only with these
/// skills, where any are named.
pub(crate) fn toolbox_for(
    workspace: &Workspace,
    turns: Option<(&Arc<TurnJournal>, &Arc<Permits>)>,
    purpose: &str,
    also: &[String],
    only_skills: &[String],
) -> Arc<dyn Toolbox> {
    let groups = &workspace.settings.assistant.tools;
    if groups.is_empty() {
        return Arc::new(NoTools);
    }
    let mut boxes: Vec<Arc<dyn Toolbox>> = Vec::new();
    #[cfg(feature = "mcp")]
    if groups.contains(&ToolGroup::Vault)
        && let Some(own) = again(workspace)
    {
        let beside = |(journal, permits)| Colleagues::beside(Arc::clone(journal), Arc::clone(permits));
        boxes.push(Arc::new(crate::mcp::VaultTools::beside(own, turns.map(beside).unwrap_or_default())));
    }
    let skills = Arc::new(Skills::of(workspace).only(only_skills));
    #[cfg(unix)]
    if groups.contains(&ToolGroup::Bash) {
        let bash = BashTool::of(workspace, Arc::clone(&skills));
        boxes.extend(bash.map(|bash| Arc::new(bash) as Arc<dyn Toolbox>));
    }
    boxes.push(Arc::new(SkillTool::new(skills)));
    #[cfg(all(feature = "mcp", unix))]
    if let Some(own) = again(workspace) {
        let is_meant = |server: &&McpServer| server.is_for(purpose) || also.contains(&server.name);
        let servers: Vec<McpServer> = workspace.settings.mcp.iter().filter(is_meant).cloned().collect();
        let servers = crate::agent::servers::Servers::of(Arc::new(own), servers);
        boxes.extend(servers.map(|servers| Arc::new(servers) as Arc<dyn Toolbox>));
    }
    #[cfg(not(feature = "mcp"))]
    let _ = (turns, purpose, also);
    Arc::new(Boxes(boxes))
}

/// The same vault once more, for tools.
#[cfg(feature = "mcp")]
fn again(workspace: &Workspace) -> Option<Workspace> {
    let (vault, dirs, clock) =
        (workspace.vault.clone(), workspace.dirs.clone(), Arc::clone(&workspace.clock));
    let opened = Workspace::open_in(vault, dirs, clock);
    opened.inspect_err(|error| tracing::error!("the assistant lacks tools: {error}")).ok()
}

/// Asks one question for the page, as `ask` does: nothing of it is logged, and what has to be approved is left in the note.
#[cfg(feature = "web")]
pub(crate) fn questions(permits: Arc<Permits>) -> crate::web::Questions {
    Arc::new(move |workspace, question| Box::pin(ask_once(workspace, Arc::clone(&permits), question)))
}

#[cfg(feature = "web")]
async fn ask_once(
    workspace: Arc<Workspace>,
    permits: Arc<Permits>,
    question: String,
) -> Result<String, String> {
    let journal = Arc::new(TurnJournal::in_memory().map_err(|error| error.to_string())?);
    let turn = crate::turn::NewTurn { message: 1, text: question, ..Default::default() };
    journal.accept(&turn, workspace.clock.now()).map_err(|error| error.to_string())?;
    let approvals = Arc::new(VaultApprovals::left_behind(&workspace));
    let engine = engine(&workspace, &journal, &permits, &approvals)?;
    let answered = engine.answer(1, &crate::turn::Nowhere, &CancellationToken::new()).await;
    let answer = answered.map_err(|halt| halt.to_string())?;
    Ok(format!("{}\n\n{}", answer.text, answer.facts.render()))
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
