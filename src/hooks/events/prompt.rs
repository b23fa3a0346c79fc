//! The event of a prompt: the few memories that bear on it, if any do.

use std::sync::Arc;

use super::injection::{given, link};
use super::session::Sessions;
use crate::capture::sentences::content;
use crate::hooks::error::HookError;
use crate::hooks::host::Answer;
use crate::hooks::host::Event;
use crate::hooks::host::input::Input;
use crate::hooks::host::timeout::PATIENCE;
use crate::memory::working::expired;
use crate::memory::{Scope, is_visible};
use crate::search::follow::live;
use crate::search::give::choose::{MOST_MEMORIES, Memory};
use crate::search::store::catalog;
use crate::search::{Asker, Judge, Recall, Worth};
use crate::search::{Hit, Index, IndexError, Query};
use crate::workspace::Workspace;

/// The head of recall's own view (its layers are mapped where they lie) is read in time up to this size, in bytes:
/// some 400,000 notes. In a larger vault, and without a daemon that has it at hand, words alone decide.
const IN_TIME: u64 = 24 << 20;
/// So many blocks are taken into recall's view in time, where it isn't made yet.
const MADE_IN_TIME: u64 = 3000;
/// Hits by words that are looked at.
const POOL: usize = 40;
/// Words of a prompt that are looked for.
const MOST_WORDS: usize = 24;

/// Answers a prompt that the gate let through.
pub(in crate::hooks) fn run(workspace: &Arc<Workspace>, input: &Input) -> Result<Answer, HookError> {
    let scopes = crate::hooks::context::scopes(input);
    let found = find(workspace, input.prompt.as_deref().unwrap_or_default(), &scopes)?;
    let sessions = Sessions::new(&workspace.dirs.cache);
    let mut session = sessions.load(input.session());
    session.turn += 1;
    let hits: Vec<&Hit> =
        found.iter().filter(|hit| is_visible(&hit.tags, &scopes) && session.may_give(&name(hit))).collect();
    let memories: Vec<Memory> = hits.iter().map(|hit| memory(hit)).collect();
    let (text, count) = given(Event::UserPromptSubmit, None, &memories, &workspace.settings);
    for hit in &hits[..count] {
        let link = link(&hit.path, hit.line, hit.block_id.as_deref());
        session.give(&name(hit), Some(&link));
    }
    // Losing count of what was given is no reason to give nothing.
    if let Err(error) = sessions.save(input.session(), &session) {
        tracing::debug!(%error, "the session is not kept");
    }
    Ok(text.map_or_else(Answer::nothing, Answer::context))
}

/// The memories that bear on a prompt, best first.
fn find(workspace: &Arc<Workspace>, prompt: &str, scopes: &[Scope]) -> Result<Vec<Hit>, HookError> {
    let scopes: Vec<String> = scopes.iter().map(Scope::to_string).collect();
    let scopes = scopes.join(",");
    if live::is_held(&workspace.dirs.cache) {
        // A daemon has everything at hand.
        let asker = Asker::new(Arc::clone(workspace)).patience(PATIENCE / 2);
        return Ok(asker.recall(prompt, Some(&scopes), 0, false)?.hits);
    }
    let index = Arc::new(workspace.index()?.glancing());
    if is_in_time(&index)? {
        let recall = Recall::new(index, &workspace.settings, Arc::clone(&workspace.clock));
        return Ok(recall.recall(prompt, Some(&scopes), 0, false)?.hits);
    }
    let hits = by_words(workspace, &index, prompt)?;
    // A glance may have missed an edit of just these notes.
    let paths: Vec<String> = hits.iter().map(|hit| hit.path.clone()).collect();
    if index.is_behind(&paths)? {
        index.update(&paths)?;
        return Ok(by_words(workspace, &index, prompt)?);
    }
    Ok(hits)
}

/// Whether recall itself can answer before the host's patience ends.
fn is_in_time(index: &Index) -> Result<bool, IndexError> {
    match std::fs::metadata(index.cache().join("recall.bin")) {
        Ok(meta) => Ok(meta.len() <= IN_TIME),
        // Counted as the vault is now: before the first look the index is empty, however large the vault.
        Err(_) => index.snapshot(|now| Ok(catalog::totals(now.database())?.docs <= MADE_IN_TIME)),
    }
}

/// Blocks that have at least half of the words that carry the prompt's content, and two or more of them.
fn by_words(workspace: &Workspace, index: &Index, prompt: &str) -> Result<Vec<Hit>, IndexError> {
    let paths = &workspace.settings.paths;
    let wanted = content(prompt);
    let mut words: Vec<&str> = wanted.iter().map(String::as_str).collect();
    words.sort_unstable();
    words.truncate(MOST_WORDS);
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let expired = expired(&workspace.vault, &workspace.settings, workspace.clock.now());
    let judge = Judge::new(prompt, &paths.skills)
        .without(expired.map(|(note, _)| note.as_str().trim_end_matches(".md").to_owned()));
    let worth = |hit: &Hit| judge.worth(&hit.path, hit.kind, hit.role, &hit.text);
    let mut hits = index.search(&Query::new(words.join(" ")).limit(POOL))?.hits;
    let sessions = paths.sessions();
    hits.retain(|hit| !hit.path.starts_with(&sessions) && !judge.is_left_out(&hit.path, None));
    hits.retain(|hit| {
        let section = hit.section.as_deref().unwrap_or_default();
        let has = content(&format!("{section} {}", hit.text));
        let common = words.iter().filter(|word| has.contains(**word)).count();
        common >= words.len().min(2) && common * 2 >= words.len() && worth(hit) != Worth::Nothing
    });
    // What was only said in talk with the agent comes behind what is known.
    hits.sort_by_key(|hit| worth(hit) == Worth::Said);
    hits.truncate(MOST_MEMORIES);
    Ok(hits)
}

/// A memory's key: its words, since lines move when a note is edited.
fn name(hit: &Hit) -> String {
    crate::hooks::context::memory_name(&hit.path, &hit.text)
}

fn memory(hit: &Hit) -> Memory {
    Memory {
        path: hit.path.clone(),
        line: hit.line,
        text: hit.text.clone(),
        author: hit.author.clone(),
        time: None,
        pinned: hit.pinned,
        similarity: 0.0,
        vector: Vec::new(),
    }
}
