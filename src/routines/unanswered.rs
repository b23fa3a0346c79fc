//! Finds recent messages in the conversations' logs, and those that have no answer.

use std::collections::HashSet;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::sections::RunSection;
use crate::format::log::{self, EventKind, LogBlock, LogPath};
use crate::turn::history::MessageChanges;
use crate::turn::{TurnJournal, facts};
use crate::vault::{NotePath, VaultError};
use crate::workspace::Workspace;

/// Older messages are ignored.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(8 * 24);

/// The messages of people since then, on all channels, newest last.
pub fn recent_messages(
    workspace: &Workspace,
    since: Timestamp,
    now: Timestamp,
) -> Result<Option<RunSection>, VaultError> {
    let since = since.max(now.saturating_sub(MAX_AGE).unwrap_or(since));
    let tz = workspace.zone.tz();
    let mut lines: Vec<(Timestamp, String)> = Vec::new();
    for path in windows(workspace, None, since)? {
        let blocks = blocks(workspace, &path)?;
        let changes = MessageChanges::of(&blocks);
        let people =
            blocks.iter().filter(|block| block.event.kind == EventKind::User && block.event.at > since);
        let told = people.filter_map(|block| {
            let text = changes.text(block).filter(|text| !text.trim().is_empty())?;
            Some((block.event.at, line(block, text, tz)))
        });
        lines.extend(told);
    }
    lines.sort_by_key(|(at, _)| *at);
    Ok(RunSection::new("Said since the last run", newest(lines)))
}

/// The messages of the bound channel since then without an answer, neither by the assistant nor by another person
/// who spoke after it. One whose turn is on its way is being answered.
pub fn unanswered(
    workspace: &Workspace,
    turns: &TurnJournal,
    since: Timestamp,
    now: Timestamp,
) -> Result<Option<RunSection>, VaultError> {
    let Some(channel) = workspace.settings.discord.channel_id else { return Ok(None) };
    let since = since.max(now.saturating_sub(MAX_AGE).unwrap_or(since));
    let tz = workspace.zone.tz();
    let mut all: Vec<LogBlock> = Vec::new();
    for path in windows(workspace, Some(channel), since)? {
        all.extend(blocks(workspace, &path)?);
    }
    all.sort_by_key(|block| block.event.at);
    let answered = answered(&all);
    let changes = MessageChanges::of(&all);
    let people: Vec<&LogBlock> = all.iter().filter(|block| block.event.kind == EventKind::User).collect();
    let mut lines = Vec::new();
    for (at, block) in people.iter().enumerate() {
        let id = block.event.id.as_deref().unwrap_or_default();
        let spoke_after = people[at + 1..].iter().any(|other| other.event.author != block.event.author);
        let is_open = turns.by_block(id).ok().flatten().is_some();
        if block.event.at <= since || spoke_after || answered.contains(id) || is_open {
            continue;
        }
        if let Some(text) = changes.text(block).filter(|text| !text.trim().is_empty()) {
            lines.push((block.event.at, line(block, text, tz)));
        }
    }
    Ok(RunSection::new("Not answered by anybody", newest(lines)))
}

/// The blocks that an answer of the assistant names, by its facts or by the link beside it.
fn answered(blocks: &[LogBlock]) -> HashSet<String> {
    let mut found = HashSet::new();
    for block in blocks {
        match block.event.kind {
            EventKind::Agent => {
                let Some(facts) = facts::split(&block.event.content).1 else { continue };
                found.extend(facts.turn.into_iter().chain(facts.with));
            }
            EventKind::System => {
                let link =
                    block.event.content.strip_prefix("answers [[").and_then(|rest| rest.split("]]").next());
                let id = link.and_then(|link| link.split_once("#^")).map(|(_, id)| id.to_owned());
                found.extend(id);
            }
            _ => {}
        }
    }
    found
}

fn line(block: &LogBlock, text: &str, tz: &TimeZone) -> String {
    let when = tz.to_datetime(block.event.at).strftime("%a %H:%M");
    format!("{when} {}: {text}", block.event.author)
}

/// The newest lines, in their order.
fn newest(mut lines: Vec<(Timestamp, String)>) -> Vec<String> {
    const MAX_LINES: usize = 50;
    lines.drain(..lines.len().saturating_sub(MAX_LINES));
    lines.into_iter().map(|(_, line)| line).collect()
}

fn blocks(workspace: &Workspace, path: &NotePath) -> Result<Vec<LogBlock>, VaultError> {
    Ok(log::parse(&workspace.vault.read_or_empty(path)?).blocks)
}

/// The log files of the bot's conversations that may hold messages since then: of each conversation those that began later, and
/// the last that began before.
fn windows(
    workspace: &Workspace,
    channel: Option<u64>,
    since: Timestamp,
) -> Result<Vec<NotePath>, VaultError> {
    let logs = workspace.settings.paths.logs.trim_end_matches('/');
    let mut found: Vec<(LogPath, NotePath)> = Vec::new();
    for surface in ["discord-channel", "discord-thread"] {
        let under = match channel {
            Some(channel) => workspace.note(&format!("{logs}/{surface}/{channel}")),
            None => workspace.note(&format!("{logs}/{surface}")),
        };
        let windows = workspace
            .vault
            .notes_below(under)?
            .into_iter()
            .filter_map(|entry| Some((LogPath::parse(logs, entry.path.as_str())?, entry.path)));
        found.extend(windows);
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    let is_over = |at: usize| {
        let next = found.get(at + 1).map(|(next, _)| next);
        let (this, _) = &found[at];
        next.is_some_and(|next| {
            (&next.surface, &next.context_id) == (&this.surface, &this.context_id) && next.started <= since
        })
    };
    Ok((0..found.len()).filter(|at| !is_over(*at)).map(|at| found[at].1.clone()).collect())
}
