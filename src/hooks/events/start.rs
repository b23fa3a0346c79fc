//! Handles a session's start: gives the model the user's profile, working memory, and the first memories of the
//! session's scopes. After a compaction it also gives a short form of the conversation, if the session is archived.

#[cfg(feature = "assistant")]
use std::time::{Duration, Instant};

use super::session::{SessionStates, format_memories};
use crate::format::invisible;
use crate::format::memory::split_block_id;
use crate::format::pinned::LinkTarget;
use crate::hooks::context::memory_name;
use crate::hooks::host::messages::HookInput;
use crate::hooks::host::{HookAnswer, HostEvent};
use crate::memory::pins::Pin;
use crate::memory::{ListedMemory, Scope, session_context};
use crate::search::results::injection::Memory;
use crate::vault::NotePath;
use crate::workspace::Workspace;

/// The most memories at a start; the others come when a prompt needs them.
const MAX_MEMORIES: usize = 16;

/// The time for updating a session's log before its end is given back.
#[cfg(feature = "assistant")]
const READ_ON: Duration = Duration::from_millis(100);

/// Answers the start of a session.
pub(in crate::hooks) fn run(workspace: &Workspace, input: &HookInput) -> anyhow::Result<HookAnswer> {
    let sessions = SessionStates::new(&workspace.dirs.cache);
    let mut session = sessions.load(input.session());
    // After a compaction the model doesn't see any more what it was given.
    if matches!(input.source.as_deref(), Some("compact" | "clear")) {
        session.given.clear();
    }
    let now = workspace.clock.now();
    let mut before =
        session_context(&workspace.vault, &workspace.settings, now).map(|text| escape_frames(&text));
    if let Some(text) = compacted_conversation(workspace, input) {
        let text = escape_frames(&invisible::strip(&text));
        before = Some(before.map_or_else(|| text.clone(), |before| format!("{before}\n\n{text}")));
    }
    let memories = top_memories(workspace, &crate::hooks::context::scopes(input))?;
    let (text, count) =
        format_memories(HostEvent::SessionStart, before.as_deref(), &memories, &workspace.settings);
    for memory in &memories[..count] {
        // Every session gets these: that is no use of a memory.
        session.record_given(&memory_name(&memory.path, &memory.text), None);
    }
    sessions.sweep();
    sessions.save(input.session(), &session);
    Ok(text.map_or_else(HookAnswer::nothing, HookAnswer::context))
}

/// A short form of the conversation before a compaction, of a session that is archived.
fn compacted_conversation(workspace: &Workspace, input: &HookInput) -> Option<String> {
    if input.source.as_deref() != Some("compact") || !workspace.settings.hooks.archive {
        return None;
    }
    #[cfg(feature = "assistant")]
    {
        // First read on where the hook before the compaction ran out of time or was killed.
        let until = Some(Instant::now() + READ_ON);
        if let Some(request) = crate::hooks::archive::delegate::request(HostEvent::SessionStart, input)
            && let Err(error) = crate::hooks::archive::archive(workspace, &request, until)
        {
            tracing::debug!(%error, "a session comes back as its log is");
        }
        crate::hooks::archive::summaries::restored_summary(workspace, input.session())
    }
    #[cfg(not(feature = "assistant"))]
    {
        None
    }
}

/// A text that can't close or open a frame of the host's.
fn escape_frames(text: &str) -> String {
    text.replace("</", "<\u{200b}/").replace("<system", "<\u{200b}system")
}

/// The top memories of these scopes: what is pinned, then the project's, the agent's own, and what is
/// everybody's; the newest first.
fn top_memories(workspace: &Workspace, scopes: &[Scope]) -> anyhow::Result<Vec<Memory>> {
    let notes = workspace.memory();
    let pinned_path = notes.pinned_path();
    let visible = |text: &str| {
        let marks = Scope::of_text(text);
        marks.is_empty() || marks.iter().any(|mark| scopes.contains(mark))
    };
    let mut out: Vec<Memory> = Vec::new();
    for pin in notes.pins()? {
        let (path, line, text) = pinned(workspace, &pinned_path, &pin);
        if visible(&text) {
            out.push(memory(path, line, text, true));
        }
    }
    let path = notes.long_path();
    let mut listed: Vec<(Option<String>, ListedMemory)> = Vec::new();
    for section in notes.list_long(Some(scopes))? {
        listed.extend(section.memories.into_iter().map(|memory| (section.section.clone(), memory)));
    }
    let rank = |scope: &Scope| match scope {
        Scope::Agent(_) => 1,
        Scope::Global => 2,
        _ => 0,
    };
    // Lines further down were added later; a date in brackets says it outright.
    listed.sort_by(|(_, a), (_, b)| {
        (rank(&a.scope), &b.timestamp, b.line).cmp(&(rank(&b.scope), &a.timestamp, a.line))
    });
    for (section, listed) in listed {
        let text = match section {
            Some(name) => format!("{name}: {}", listed.text),
            None => listed.text,
        };
        out.push(memory(path.to_string(), listed.line, text, false));
    }
    let mut known = std::collections::HashSet::new();
    out.retain(|memory| known.insert((memory.path.clone(), memory.line)));
    out.truncate(MAX_MEMORIES);
    Ok(out)
}

fn memory(path: String, line: usize, text: String, pinned: bool) -> Memory {
    Memory { path, line: u32::try_from(line).unwrap_or(u32::MAX), text, pinned, ..Memory::default() }
}

/// A pin's text and its place: the block that it links to, else its own words.
fn pinned(workspace: &Workspace, pins: &NotePath, pin: &Pin) -> (String, usize, String) {
    let own = || (pins.to_string(), pin.line, pin.text.clone());
    let Some(target @ LinkTarget { block_id: Some(id), .. }) = &pin.target else { return own() };
    let Ok(path) = NotePath::new(&target.note_path()) else { return own() };
    let Ok(bytes) = workspace.vault.read(&path) else { return own() };
    match block(&String::from_utf8_lossy(&bytes), id) {
        Some((line, text)) if pin.text.is_empty() || pin.text == target.to_string() => {
            (path.to_string(), line, text)
        }
        Some((line, text)) => {
            let words = pin.text.replace(&target.to_string(), "");
            (path.to_string(), line, format!("{}: {text}", words.trim()))
        }
        None => own(),
    }
}

/// The block with an Obsidian id: its first line, and its text without the id and the marks of a quote or an item.
fn block(text: &str, id: &str) -> Option<(usize, String)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let (at, words) = lines.iter().enumerate().find_map(|(at, line)| {
        let (words, found) = split_block_id(line);
        (found == Some(id)).then(|| (at, words.trim()))
    })?;
    // An id alone stands for all that is above it, as far as the next empty line.
    let is_alone = words.is_empty();
    let last = if is_alone { lines[..at].iter().rposition(|line| !line.is_empty())? } else { at };
    let is_item = |line: &str| line.starts_with(['-', '*', '+']) && line[1..].starts_with(' ');
    let goes_on = |at: &usize| {
        *at > 0
            && !lines[at - 1].is_empty()
            && !lines[at - 1].starts_with('#')
            && (is_alone || !is_item(lines[*at]))
    };
    let first = (0..=last).rev().find(|at| !goes_on(at))?;
    let said = (first..=last).map(|line| if line == at { words } else { lines[line] });
    let said = said.map(|line| line.trim_start_matches('>').trim()).skip_while(|line| line.starts_with("[!"));
    let said = said.collect::<Vec<_>>().join("\n");
    let said = if is_alone { said.as_str() } else { said.trim_start_matches(['-', '*', '+', ' ']) };
    (!said.is_empty()).then(|| (first + 1, said.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_found_by_its_id() {
        let text =
            "# x\n\n- a fact ^one\n\n> [!user] 2026-01-30T14:23:55Z Alice\n> first\n> second\n\n^two\n";
        assert_eq!(block(text, "one"), Some((3, "a fact".to_owned())));
        assert_eq!(block(text, "two"), Some((5, "first\nsecond".to_owned())));
        assert_eq!(block(text, "three"), None);
        assert_eq!(block("^two\n", "two"), None);
        let text = "# x\nfirst\nsecond ^p\n\n- one\n- two\n  more ^i\n\n| a |\n|---|\n| b |\n\n^t\n";
        for (id, found) in
            [("p", (2, "first\nsecond")), ("i", (6, "two\nmore")), ("t", (9, "| a |\n|---|\n| b |"))]
        {
            assert_eq!(block(text, id), Some((found.0, found.1.to_owned())));
        }
    }
}
