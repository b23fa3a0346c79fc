//! Writes working memory after one of three events: a conversation's window ends (`/new`), a summary is written, or a
//! coding agent's session is compacted.
//!
//! The events are found in the notes: in a log's last lines (the window ended, or the host compacted the conversation),
//! or as a new summary. There is one text of working memory, so the last of several conversations replaces the others.
//! No other part waits for it.

use std::collections::HashMap;

use jiff::SignedDuration;

use super::prelude::*;
use super::summaries::read_from;
use crate::agent::WorkingMemoryWriter;
use crate::format::log::SESSIONS;
use crate::format::summary;
use crate::memory::working::is_on;
use crate::summary::Summaries;
use crate::toolbox::toolbox;

/// The most bytes at a log's end that are searched for a sign.
const END: u64 = 256 << 10;
/// The bytes that are searched of a log that is seen for the first time.
const LAST: u64 = 512;
/// The age in which a summary counts as new.
const JUST_NOW: SignedDuration = SignedDuration::from_mins(15);
/// The interval at which the end of a pause is checked.
const MINUTE: Duration = Duration::from_secs(60);
/// The texts in a log's last events that mark the end of a window, or a compaction.
const SIGNS: [&[u8]; 2] =
    [b"> This window ended here: `/new`.\n", b"> The host compacted the conversation here"];

/// Writes working memory.
pub async fn run(context: PartContext) -> anyhow::Result<()> {
    let PartContext { permits, workspace, mut events, board, stop, .. } = context;
    let make = |workspace: &Arc<Workspace>| {
        let tools = toolbox(workspace, None);
        WorkingMemoryWriter::new(Arc::clone(workspace), Arc::clone(&permits), tools)
    };
    let mut writer = make(&workspace)?;
    // The length of each log at its last check, so that one sign counts once.
    let mut seen: HashMap<NotePath, u64> = HashMap::new();
    // The last conversation that ended, which waits for the end of a pause. One text is kept.
    let mut last: Option<String> = None;
    loop {
        let mut paths = Arc::default();
        tokio::select! {
            biased;
            event = events.next() => match event {
                Some(DaemonEvent::Changed(changed)) => paths = changed,
                Some(DaemonEvent::Settings(changed)) => match make(&changed) {
                    Ok(made) => writer = made,
                    Err(error) => tracing::error!("working memory keeps its old settings: {error}"),
                },
                Some(_) => {}
                None => return Ok(()),
            },
            () = tokio::time::sleep(writer.workspace.clock.sleep(MINUTE)), if last.is_some() => {}
        }
        let workspace = &writer.workspace;
        if !is_on(&workspace.settings) || workspace.left_to_other_machine().is_some() {
            last = None;
            continue;
        }
        let ended: Vec<String> =
            paths.iter().filter_map(|path| log_to_note(workspace, path, &mut seen)).collect();
        last = ended.into_iter().next_back().or(last);
        if workspace.is_paused() {
            continue;
        }
        let Some(log) = &last.take() else { continue };
        match writer.write(log, &stop).await {
            Ok(Some(written)) => board.set_part("working memory", format!("written at {}", written.updated)),
            Ok(None) => {}
            Err(error) => tracing::warn!(%log, "no working memory: {error}"),
        }
    }
}

/// The log about which working memory is due after a change of this note.
fn log_to_note(workspace: &Workspace, path: &NotePath, seen: &mut HashMap<NotePath, u64>) -> Option<String> {
    let summaries = Summaries::of(workspace);
    let log = summaries.log_of(path)?;
    // Logs of brains and routines on their own are no conversation.
    if !["discord-", SESSIONS].iter().any(|surface| log.as_str().starts_with(surface)) {
        return None;
    }
    if summaries.log_path(&log).is_ok_and(|own| own != *path) {
        let note = summary::parse(&workspace.vault.read(path).ok()?).0?;
        let is_new = workspace.clock.now().duration_since(note.at) < JUST_NOW;
        // Each once: a later edit of a summary means that summary alone.
        return (is_new && seen.insert(path.clone(), 0).is_none()).then_some(log);
    }
    let size = workspace.vault.stat(path).ok().flatten()?.size;
    let new = size - seen.insert(path.clone(), size).unwrap_or(size.saturating_sub(LAST)).min(size);
    let end = read_from(&workspace.vault, path, size - new.min(END)).ok()?;
    SIGNS.iter().any(|sign| memchr::memmem::find(&end, sign).is_some()).then_some(log)
}
