//! Handles a prompt: answers with the few memories that are relevant to it, or with nothing.

use std::sync::Arc;

use super::session::{SessionStates, format_memories, link};
use crate::hooks::context::PATIENCE;
use crate::hooks::host::messages::HookInput;
use crate::hooks::host::{HookAnswer, HostEvent};
use crate::memory::{Scope, is_visible};
use crate::search::results::injection::Memory;
use crate::search::{Hit, MemoryPrompt, SearchClient};
use crate::workspace::Workspace;

/// Answers a prompt that the gate let through.
pub(in crate::hooks) fn run(workspace: &Arc<Workspace>, input: &HookInput) -> anyhow::Result<HookAnswer> {
    let scopes = crate::hooks::context::scopes(input);
    let found = find(workspace, input.prompt.as_deref().unwrap_or_default(), &scopes)?;
    let sessions = SessionStates::new(&workspace.dirs.cache);
    let mut session = sessions.load(input.session());
    session.turn += 1;
    let hits: Vec<&Hit> =
        found.iter().filter(|hit| is_visible(&hit.tags, &scopes) && session.may_give(&name(hit))).collect();
    let memories: Vec<Memory> = hits.iter().map(|hit| Memory { time: None, ..Memory::from(*hit) }).collect();
    let (text, count) = format_memories(HostEvent::UserPromptSubmit, None, &memories, &workspace.settings);
    for hit in &hits[..count] {
        let link = link(&hit.path, hit.line, hit.block_id.as_deref());
        session.record_given(&name(hit), Some(&link));
    }
    // Losing count of what was given is no reason to give nothing.
    sessions.save(input.session(), &session);
    Ok(text.map_or_else(HookAnswer::default, HookAnswer::context))
}

/// The memories that bear on a prompt, best first.
fn find(workspace: &Arc<Workspace>, prompt: &str, scopes: &[Scope]) -> anyhow::Result<Vec<Hit>> {
    let scopes: Vec<String> = scopes.iter().map(Scope::to_string).collect();
    let prompt = MemoryPrompt { scope: Some(scopes.join(",")), ..MemoryPrompt::new(prompt, 0) };
    Ok(SearchClient::new(Arc::clone(workspace)).patience(PATIENCE / 2).recall(&prompt)?.hits)
}

/// A memory's key: its words, since lines move when a note is edited.
fn name(hit: &Hit) -> String {
    crate::hooks::context::memory_name(&hit.path, &hit.text)
}
