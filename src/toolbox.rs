//! Builds the set of tools for a turn of the assistant, or for a run of a routine, as the settings allow.
//!
//! `mcp` defines the vault's typed tools, which other hosts may call, too; `agent` defines the shell, skills and other
//! MCP servers. A caller asks for the toolbox of a purpose: the assistant's, or a routine's.

use std::sync::Arc;

use crate::agent::bash::BashTool;
use crate::agent::rebuild_request::ASSISTANT;
use crate::agent::skills::{SkillTool, Skills};
use crate::agent::{CallPermits, CombinedToolbox, OtherBrains, Toolbox, VaultApprovals, VaultMemory};
use crate::brain::ToolSpec;
use crate::config::{McpServer, ToolGroup};
use crate::deliver::DeliveryOrder;
use crate::routines::{RunError, Runner, RunnerParts, ToolsOf};
use crate::turn::TurnJournal;
use crate::workspace::Workspace;

/// The tools for turns of the assistant, by the settings: the vault's typed tools, over a workspace of their own, and
/// other MCP servers. Brains may ask each other beside these turns.
pub fn toolbox(
    workspace: &Arc<Workspace>,
    turns: Option<(&Arc<TurnJournal>, &Arc<CallPermits>)>,
) -> Arc<dyn Toolbox> {
    toolbox_for(workspace, turns, ASSISTANT, &[], &[])
}

/// The tools for `purpose` ([`ASSISTANT`] or `routine:NAME`), with these further MCP servers; if skills are named, with
/// these alone.
pub fn toolbox_for(
    workspace: &Arc<Workspace>,
    turns: Option<(&Arc<TurnJournal>, &Arc<CallPermits>)>,
    purpose: &str,
    also: &[String],
    only_skills: &[String],
) -> Arc<dyn Toolbox> {
    let groups = &workspace.settings.assistant.tools;
    if groups.is_empty() {
        return Arc::new(CombinedToolbox::default());
    }
    let mut boxes: Vec<Arc<dyn Toolbox>> = Vec::new();
    if groups.contains(&ToolGroup::Vault) {
        let beside = |(journal, permits)| OtherBrains::with_journal(Arc::clone(journal), Arc::clone(permits));
        let brains = turns.map(beside).unwrap_or_default();
        boxes.push(Arc::new(crate::mcp::VaultTools::beside_turns(workspace.for_tools(), brains)));
    }
    let skills = Arc::new(Skills::of(workspace).only(only_skills));
    if groups.contains(&ToolGroup::Bash) {
        let bash = BashTool::of(workspace, Arc::clone(&skills));
        boxes.extend(bash.map(|bash| Arc::new(bash) as Arc<dyn Toolbox>));
    }
    boxes.push(Arc::new(SkillTool(skills)));
    let is_meant = |server: &&McpServer| server.is_for(purpose) || also.contains(&server.name);
    let servers: Vec<McpServer> = workspace.settings.mcp.iter().filter(is_meant).cloned().collect();
    let servers = crate::agent::servers::Servers::of(Arc::clone(workspace), servers);
    boxes.extend(servers.map(|servers| Arc::new(servers) as Arc<dyn Toolbox>));
    Arc::new(CombinedToolbox(boxes))
}

/// The descriptions of the tools of `purpose` for a brain, with these MCP servers.
pub fn specs(workspace: &Arc<Workspace>, purpose: &str, also: &[String]) -> Vec<ToolSpec> {
    toolbox_for(workspace, None, purpose, also, &[]).specs()
}

/// The tools of each routine.
fn tools(workspace: &Arc<Workspace>, turns: &Arc<TurnJournal>, permits: &Arc<CallPermits>) -> ToolsOf {
    let (workspace, turns, permits) = (Arc::clone(workspace), Arc::clone(turns), Arc::clone(permits));
    Arc::new(move |name, routine| {
        let (purpose, turns) = (format!("routine:{name}"), Some((&turns, &permits)));
        toolbox_for(&workspace, turns, &purpose, &routine.mcp, &routine.skills)
    })
}

/// The runner of a vault's routines, with these notifiers.
///
/// # Errors
/// The delivery journal can't be used.
pub fn runner_with(
    workspace: &Arc<Workspace>,
    turns: Arc<TurnJournal>,
    permits: Arc<CallPermits>,
    approvals: Arc<VaultApprovals>,
    delivery_order: DeliveryOrder,
) -> Result<Runner, RunError> {
    Runner::new(RunnerParts {
        workspace: Arc::clone(workspace),
        tools: tools(workspace, &turns, &permits),
        turns,
        approvals,
        memory: Arc::new(VaultMemory::new(Arc::clone(workspace))),
        permits,
        delivery_order,
    })
}
