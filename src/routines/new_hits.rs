//! Finds new material for a routine: hits of its searches, messages in the logs of conversations, and messages without
//! an answer.
//!
//! A hit is new if it is dated after the last run, unless the last run found the same text there. A hit without a date
//! has the date of its note's last change. Never new are:
//! - the notes and logs of routines;
//! - the agent's answers;
//! - texts that this routine wrote: its appended passages, and texts that its tools saved.

use std::collections::HashSet;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::run_texts::RunSection;
use crate::deliver::Journal;
use crate::deliver::delivery_journal::RoutineProgress;
use crate::format::log::{self, EventKind, LogBlock, LogPath, MessageChanges};
use crate::turn::{TurnJournal, facts};
use crate::vault::{NotePath, VaultError};
use crate::workspace::Workspace;

/// The most hits of a search.
const MOST: usize = 200;
/// The most hits in a section.
const MAX_LINES: usize = 20;

/// Older messages are ignored.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(8 * 24);

/// The state that the next run compares with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeenHits {
    /// The hash of the memory.
    pub memory: Option<String>,
    /// The hashes of the hits of its searches, sorted.
    pub hits: Vec<String>,
}

impl SeenHits {
    /// Parses the journal's text. Older versions wrote only the hash of the memory.
    pub fn of(text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::default() };
        serde_json::from_str(text)
            .unwrap_or_else(|_| Self { memory: Some(text.to_owned()), hits: Vec::new() })
    }
}

/// Whether the routine itself wrote the text of a hit: its tools saved it, or it stands in an appended passage.
fn wrote_hit(workspace: &Workspace, name: &str, saved: &[Vec<String>], hit: &crate::search::Hit) -> bool {
    let said = words(&hit.text);
    let is_saved = saved
        .iter()
        .any(|text| *text == said || said.len() >= 3 && text.windows(said.len()).any(|part| part == said));
    let path = NotePath::new(&hit.path).ok();
    let note = path.and_then(|path| workspace.vault.read(&path).ok()).unwrap_or_default();
    is_saved || passages(&note, name).iter().any(|lines| lines.contains(&hit.line))
}

/// The new hits for these words. The hashes of all hits go into `seen`.
///
/// # Errors
/// A sentence on why the search can't be made.
pub fn search(
    (workspace, journal, turns): (&Workspace, &Journal, &TurnJournal),
    (name, progress): (&str, &RoutineProgress),
    text: &str,
    before: &[String],
    seen: &mut Vec<String>,
) -> Result<Option<RunSection>, String> {
    use crate::search::{Hit, Query, Role};
    let since = progress.ran.unwrap_or(progress.since);
    let recall = crate::search::Recall::of(workspace).map_err(|error| error.to_string())?;
    let answer = recall.search(&Query::new(text).limit(MOST)).map_err(|error| error.to_string())?;
    let paths = &workspace.settings.paths;
    let (routines, logs) = (paths.routines.trim_end_matches('/'), paths.logs.trim_end_matches('/'));
    let own_folders = [format!("{routines}/"), format!("{logs}/routines/")];
    let is_other = |hit: &&Hit| {
        hit.role != Some(Role::Agent)
            && !own_folders.iter().any(|folder| hit.path.starts_with(folder.as_str()))
    };
    let hits: Vec<Hit> = answer.hits.into_iter().filter(|hit| is_other(&hit)).collect();
    seen.extend(hits.iter().map(hash));
    seen.sort_unstable();
    seen.dedup();
    let runs = journal.runs_since(name, since).map_err(|error| error.to_string())?;
    let saved = saved_words(turns, &runs)?;
    let changes = hits.into_iter().filter(|hit| {
        let changed = || changed(workspace, &hit.path);
        hit.timestamp.or_else(changed).is_some_and(|at| at > since)
            && before.binary_search(&hash(hit)).is_err()
            && !wrote_hit(workspace, name, &saved, hit)
    });
    let lines = changes.take(MAX_LINES).map(|hit| format!("{} ({}:{})", hit.snippet, hit.path, hit.line));
    Ok(RunSection::new(format!("New for “{text}”"), lines.collect()))
}

/// When a note was last changed, by its file.
fn changed(workspace: &Workspace, path: &str) -> Option<jiff::Timestamp> {
    let stat = workspace.vault.stat(&crate::vault::NotePath::new(path).ok()?).ok()??;
    jiff::Timestamp::from_nanosecond(i128::from(stat.mtime_ns)).ok()
}

fn hash(hit: &crate::search::Hit) -> String {
    let whole = blake3::hash(format!("{}\n{}", hit.path, hit.text).as_bytes());
    whole.to_hex()[..16].to_owned()
}

/// The texts in the arguments of the tools of these runs, as words.
fn saved_words(turns: &TurnJournal, runs: &[String]) -> Result<Vec<Vec<String>>, String> {
    fn texts(value: &serde_json::Value, found: &mut Vec<Vec<String>>) {
        match value {
            serde_json::Value::String(text) => found.push(words(text)),
            serde_json::Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
            serde_json::Value::Object(map) => map.values().for_each(|item| texts(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for key in runs {
        let tools = turns.tools(super::message_of(key)).map_err(|error| error.to_string())?;
        for row in tools {
            let arguments: serde_json::Value = serde_json::from_str(&row.call.arguments).unwrap_or_default();
            texts(&arguments, &mut found);
        }
    }
    found.retain(|words| !words.is_empty());
    Ok(found)
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(str::to_lowercase).collect()
}

/// The lines, from 1, of the passages that a routine appended to a note: a callout with its name, and below it the id
/// of a run.
fn passages(bytes: &[u8], name: &str) -> Vec<std::ops::RangeInclusive<u32>> {
    let text = String::from_utf8_lossy(bytes);
    let title = format!("> [!note] {name}, ");
    let mut found = Vec::new();
    let mut open: Option<u32> = None;
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with(&title) {
            open = Some(number);
        } else if line.starts_with("^run-") {
            found.extend(open.take().map(|from| from..=number));
        } else if !line.starts_with('>') && !line.is_empty() {
            open = None;
        }
    }
    found
}

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

/// The log files of the bot's conversations that may hold messages since then: of each conversation those that began
/// later, and the last that began before.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_a_callout_of_the_routine_with_its_run_s_id() {
        let note = "a zeppelin\n\n> [!note] z, 2026-12-01 08:00\n> one\n>\n> two\n\n^run-00000000000000aa\n\
                    > [!note] z, mine\n> a zeppelin\n\nwords\n\n> [!note] other, x\n> y\n\n^run-00000000000000bb\n";
        assert_eq!(passages(note.as_bytes(), "z"), [3..=8]);
    }

    #[test]
    fn the_hash_of_an_older_version_is_the_memory_s() {
        let old = SeenHits::of(Some("0123abcd"));
        assert_eq!(old.memory.as_deref(), Some("0123abcd"));
        assert_eq!(SeenHits::of(Some(&serde_json::to_string(&old).unwrap())), old);
        // A hash of digits alone is a number in JSON.
        assert_eq!(SeenHits::of(Some("12345678")).memory.as_deref(), Some("12345678"));
    }
}
