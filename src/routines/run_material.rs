//! Gathers the material of a routine, without a brain: checks its conditions, and collects the sections for its prompt.

use jiff::{SignedDuration, Timestamp, ToSpan, civil};

use super::new_hits::{self, SeenHits};
use super::run_texts::RunSection;
use crate::deliver::Journal;
use crate::deliver::delivery_journal::RoutineProgress;
use crate::format::commitment::{self, CommitmentStatus};
use crate::format::reminder;
use crate::format::routine::{Condition, Routine};
use crate::memory::ListedSection;
use crate::reminders::distinct;
use crate::schedule::{DueInstant, resolve};
use crate::turn::TurnJournal;
use crate::vault::VaultError;
use crate::workspace::Workspace;

/// The most sections of fifty lines of the memory; a brain reads the rest with its tools.
const CHUNKS: usize = 8;

/// The material of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunMaterial {
    /// Whether one of the conditions holds; true where there is none.
    pub holds: bool,
    /// The sections for its prompt.
    pub sections: Vec<RunSection>,
    /// The state that the next run compares with.
    pub baseline: Option<String>,
}

/// Checks the conditions of a routine, and gathers its material.
///
/// # Errors
/// A sentence on what can't be read.
pub fn gather(
    (workspace, journal, turns): (&Workspace, &Journal, &TurnJournal),
    (name, routine): (&str, &Routine),
    known: &RoutineProgress,
    now: Timestamp,
) -> Result<RunMaterial, String> {
    let mut gathered = RunMaterial { holds: routine.only_if.is_empty(), ..RunMaterial::default() };
    // Material counts as new until a run; before the first run, that of the last day.
    let since = known.ran.unwrap_or_else(|| yesterday(now));
    let words = |error: VaultError| error.to_string();
    let before = SeenHits::of(known.baseline.as_deref());
    let mut seen = SeenHits { memory: before.memory.clone(), hits: Vec::new() };
    for condition in &routine.only_if {
        let mut found: Vec<Option<RunSection>> = Vec::new();
        match condition {
            Condition::Due => found.push(due(workspace, 0, now).map_err(words)?),
            Condition::Tomorrow => found.push(due(workspace, 1, now).map_err(words)?),
            Condition::Promised => found.push(open_follow_ups(workspace).map_err(words)?),
            Condition::Said => found.push(new_hits::recent_messages(workspace, since, now).map_err(words)?),
            Condition::Unanswered => {
                found.push(new_hits::unanswered(workspace, turns, since, now).map_err(words)?);
            }
            Condition::Memory => {
                let (sections, now) = memory(workspace, before.memory.as_deref())?;
                found.extend(sections.into_iter().map(Some));
                seen.memory = now.or(seen.memory);
            }
            Condition::Search(text) => {
                let parts = (workspace, journal, turns);
                found.push(new_hits::search(parts, (name, known), text, &before.hits, &mut seen.hits)?);
            }
        }
        gathered.sections.extend(found.into_iter().flatten());
    }
    gathered.baseline = (seen != before).then(|| serde_json::to_string(&seen).unwrap_or_default());
    gathered.holds |= !gathered.sections.is_empty();
    Ok(gathered)
}

/// A day before `now`.
pub fn yesterday(now: Timestamp) -> Timestamp {
    now.saturating_sub(SignedDuration::from_hours(24)).unwrap_or(now)
}

/// The due items and the open follow-ups, for an answer without a brain.
///
/// # Errors
/// A note can't be read.
pub fn agenda(workspace: &Workspace, now: Timestamp) -> Result<Vec<RunSection>, VaultError> {
    Ok([due(workspace, 0, now)?, open_follow_ups(workspace)?].into_iter().flatten().collect())
}

/// The items due on the day `days` from now; for today the overdue ones, too.
fn due(workspace: &Workspace, days: i64, now: Timestamp) -> Result<Option<RunSection>, VaultError> {
    let (zone, tz) = (&workspace.zone, workspace.zone.tz());
    let today = tz.to_datetime(now).date();
    let day = today.saturating_add(days.days());
    let paths = &workspace.settings.paths;
    let mut lines: Vec<(Timestamp, String)> = Vec::new();
    let begin = if days == 0 { now } else { resolve(zone, day.at(0, 0, 0, 0)) };
    let before = begin.saturating_sub(SignedDuration::from_secs(1)).unwrap_or(begin);
    let moment = DueInstant::new(zone, before);
    let reminders = reminder::parse(&workspace.vault.read_or_empty(&workspace.note(&paths.reminders))?);
    for line in distinct(&reminders) {
        let waits = (days == 0).then(|| moment.due(&line.reminder)).flatten().map(|due| due.occurrence);
        let next = moment.next(&line.reminder).filter(|next| next.local.date() == day);
        if let Some(occurrence) = waits.or(next) {
            lines.push((occurrence.at, agenda_line(occurrence.local, day, &line.reminder.msg)));
        }
    }
    let commitments = commitment::parse(&workspace.vault.read_or_empty(&workspace.note(&paths.commitments))?);
    for block in &commitments.blocks {
        let open = &block.commitment;
        let Some(due) = open.due.filter(|_| open.status == CommitmentStatus::Pending) else { continue };
        let local = tz.to_datetime(due);
        if local.date() == day || days == 0 && local.date() < day {
            lines.push((due, agenda_line(local, day, &format!("follow-up: {}", open.text))));
        }
    }
    lines.sort_by_key(|(at, _)| *at);
    let title = if days == 0 { "Due today" } else { "Due tomorrow" };
    Ok(RunSection::new(title, lines.into_iter().map(|(_, line)| line).collect()))
}

fn agenda_line(local: civil::DateTime, day: civil::Date, text: &str) -> String {
    format!("{} {text}", crate::deliver::compose::moment(local, day))
}

/// The pending follow-ups.
fn open_follow_ups(workspace: &Workspace) -> Result<Option<RunSection>, VaultError> {
    let note = workspace.note(&workspace.settings.paths.commitments);
    let file = commitment::parse(&workspace.vault.read_or_empty(&note)?);
    let mut open: Vec<_> = file
        .blocks
        .into_iter()
        .map(|block| block.commitment)
        .filter(|open| open.status == CommitmentStatus::Pending)
        .collect();
    open.sort_by_key(|open| open.due.unwrap_or(Timestamp::MAX));
    let tz = workspace.zone.tz();
    let line = |open: commitment::Commitment| match open.due {
        Some(due) => {
            format!("{} (due {})", open.text.trim(), tz.to_datetime(due).strftime("%a %-d %b %H:%M"))
        }
        None => open.text.trim().to_owned(),
    };
    Ok(RunSection::new("Promised", open.into_iter().map(line).collect()))
}

/// The memory, if its hash is not `seen`; and its hash.
fn memory(workspace: &Workspace, seen: Option<&str>) -> Result<(Vec<RunSection>, Option<String>), String> {
    let list: Vec<ListedSection> = workspace.memory().list_long(None).map_err(|error| error.to_string())?;
    let path = &workspace.settings.paths.memory;
    let mut facts: Vec<(usize, String)> = Vec::new();
    for section in &list {
        let name = section.section.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
        let own = section.memories.iter().filter(|memory| !crate::search::is_shipped(&memory.text));
        facts.extend(own.map(|memory| {
            let when = memory.timestamp.as_deref().map(|when| format!("[{when}] ")).unwrap_or_default();
            (memory.line, format!("{when}{name}{}", memory.text))
        }));
    }
    let mut hasher = blake3::Hasher::new();
    for (_, text) in &facts {
        hasher.update(text.as_bytes());
        hasher.update(b"\n");
    }
    let now = hasher.finalize().to_hex()[..32].to_owned();
    if facts.is_empty() || seen == Some(&now) {
        return Ok((Vec::new(), None));
    }
    let shown: Vec<String> = facts.iter().map(|(line, text)| format!("{path}:{line} {text}")).collect();
    let mut sections: Vec<RunSection> = shown
        .chunks(50)
        .take(CHUNKS)
        .enumerate()
        .filter_map(|(at, lines)| {
            let title = if at == 0 { "The memory, line by line" } else { "The memory, continued" };
            RunSection::new(title, lines.to_vec()).map(RunSection::raw)
        })
        .collect();
    let more = shown.len().saturating_sub(50 * CHUNKS);
    if more > 0 {
        let told = vec![format!("{more} more lines stand in {path}; read them there")];
        sections.extend(RunSection::new("The memory goes on", told).map(RunSection::raw));
    }
    Ok((sections, Some(now)))
}
