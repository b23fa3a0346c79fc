//! Handles a session's end: writes one line into the day's note, with the topic and the memories that were used. Also
//! handles the event before a compaction: if the settings say so, writes a summary of the conversation into working
//! memory.
//!
//! Hosts accept no text in answer to the event before a compaction. Therefore the summary is returned by the next
//! session start, which follows the compaction.

use super::session::SessionStates;
use crate::format::invisible;
use crate::hooks::context::{origin, transcript};
use crate::hooks::decide::{topic, working};
use crate::hooks::host::messages::HookInput;
use crate::hooks::host::{HookAnswer, Transcript, read_head, read_tail};
use crate::memory::working::{budget, is_on, untrusted, write_working};
use crate::memory::{NewMemory, Scope};
use crate::workspace::Workspace;

/// Stands in each line about a session, before the session's own mark.
pub(super) const SESSION_MARK: &str = "Claude Code session ";
/// The longest topic.
const TOPIC: usize = 120;
/// The most links in a line.
const MAX_LINKS: usize = 12;

/// Handles the end of a session; the answer is empty.
pub(in crate::hooks) fn run(workspace: &Workspace, input: &HookInput) -> anyhow::Result<HookAnswer> {
    let mask = workspace.settings.hooks.redactor();
    let (head, tail) =
        (transcript(input, read_head)?.masked(&mask), transcript(input, read_tail)?.masked(&mask));
    let session = SessionStates::new(&workspace.dirs.cache).load(input.session());
    let scope = crate::hooks::context::scope(input);
    let Some(line) = line(input.session(), &head, &tail, &session.links, session.turn) else {
        return Ok(HookAnswer::default());
    };
    let notes = workspace.memory();
    let now = workspace.clock.now();
    let today = workspace.zone.tz().to_datetime(now).date();
    // The note itself says whether the session stands in it: no state is needed for "once".
    let mark = mark(input.session());
    let days = notes.list_daily(Some(today), None).unwrap_or_default();
    let mut memories = days.iter().flat_map(|day| &day.memories);
    if !memories.any(|memory| memory.text.contains(&mark)) {
        let scope = if matches!(scope, Scope::Project(_)) { scope } else { Scope::Global };
        let line = invisible::strip(&line);
        notes.save_note(&NewMemory { scope, ..NewMemory::new(&line) }, now, &origin(input))?;
    }
    Ok(HookAnswer::default())
}

fn mark(session: &str) -> String {
    format!("{SESSION_MARK}{}", &blake3::hash(session.as_bytes()).to_hex()[..8])
}

/// The line about a session; none where nothing was said in it.
fn line(
    session: &str,
    head: &Transcript,
    tail: &Transcript,
    links: &[String],
    looked: u64,
) -> Option<String> {
    let prompts = head.turns.iter().chain(&tail.turns).filter(|turn| !turn.prompt.is_empty());
    let mut seen: Vec<(&str, Option<jiff::Timestamp>)> = Vec::new();
    for turn in prompts {
        if !seen.contains(&(turn.prompt.as_str(), turn.time)) {
            seen.push((&turn.prompt, turn.time));
        }
    }
    let count = (seen.len() as u64).max(looked);
    if count == 0 {
        return None;
    }
    let topic = topic(head, tail, TOPIC).map_or_else(String::new, |topic| format!(": {topic}"));
    let least = if tail.is_cut { "at least " } else { "" };
    let plural = if count == 1 { "" } else { "s" };
    let mut line = format!("{}{topic} ({least}{count} prompt{plural})", mark(session));
    if !links.is_empty() {
        line.push_str("; recalled ");
        line.push_str(&links[..links.len().min(MAX_LINKS)].join(", "));
    }
    Some(line)
}

/// Handles a coming compaction; the answer is empty.
pub(in crate::hooks) fn run_before_compaction(
    workspace: &Workspace,
    input: &HookInput,
) -> anyhow::Result<HookAnswer> {
    if !is_on(&workspace.settings) || workspace.is_paused() {
        return Ok(HookAnswer::default());
    }
    let transcript = transcript(input, read_tail)?.masked(&workspace.settings.hooks.redactor());
    let text = working(&transcript, input.cwd.as_deref(), budget(&workspace.settings));
    if !text.is_empty() {
        let now = workspace.clock.now();
        // Nobody knows what the session's tools have read.
        write_working(&workspace.editor, &workspace.settings, &untrusted(&text), now, &origin(input))?;
    }
    Ok(HookAnswer::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::host::parse;

    #[test]
    fn a_session_is_a_line() {
        let transcript = parse(br#"{"type":"user","message":{"content":"Plan the garden for next spring"}}"#);
        let links = ["[[MEMORY]] line 5".to_owned(), "[[logs/a#^01J]]".to_owned()];
        let line_of = |head, tail| line("s", head, tail, &links, 0);
        let shown = line_of(&transcript, &transcript).unwrap().replace(&mark("s"), "[SESSION]");
        insta::assert_snapshot!(shown, @"[SESSION]: Plan the garden for next spring (1 prompt); recalled [[MEMORY]] line 5, [[logs/a#^01J]]");
        assert_eq!(line_of(&Transcript::default(), &Transcript::default()), None);
    }
}
