//! Computes the agenda of a range of days: coming occurrences with repeats, past deliveries (when, how late, by which
//! notifier) and runs of routines. Repeats of other plugins' tasks are computed for 400 days.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::entry::{Agenda, AgendaEntry, DaySpan, DeliveryDetail, EntryKind, EntryState, MOST_ENTRIES};
use crate::deliver::delivery_journal::{self, DeliveryState, PastDelivery};
use crate::deliver::pass::meaning;
use crate::deliver::{Journal, MessageKind};
use crate::format::commitment;
use crate::format::reminder::{self, Recur};
use crate::reminders::{distinct, rfc3339};
use crate::schedule::{self, DueInstant, Occurrence};
use crate::tasks::{Scanner, is_task_id};
use crate::vault::VaultError;
use crate::workspace::{ReadError, Workspace};
#[cfg(feature = "assistant")]
use crate::{agenda::entry::by_day, routines};

/// How many days ahead the repeats of other plugins' tasks are computed, one by one, as the plugins would write them.
const TASKS_AHEAD_DAYS: i64 = 400;

/// The coming and past entries of the days from `from` to `to`, both included. A caller that asks again keeps the
/// scanner.
///
/// # Errors
/// The vault is gone, or the delivery journal can't be read. Unreadable notes are listed as problems.
pub fn range(
    workspace: &Workspace,
    from: Date,
    to: Date,
    scanner: &mut Scanner,
) -> Result<Agenda, ReadError> {
    let window = DaySpan::new(workspace, from, to);
    let reminders_note = workspace.note(&workspace.settings.paths.reminders);
    let mut problems = Vec::new();
    let reminders = match workspace.vault.read_or_empty(&reminders_note) {
        Err(gone @ VaultError::Gone(_)) => return Err(gone.into()),
        read => reminder::parse(&or_record_problem(read, &mut problems)),
    };
    let mut agenda = Agenda { from, to, entries: Vec::new(), more: false, problems, reminders };
    // Past deliveries, which no other source lists again.
    let mut known = HashSet::new();
    let journal = (window.from <= window.now).then(|| workspace.journal()).transpose()?;
    if let Some(journal) = &journal {
        let rows = journal.past_deliveries(window.from, window.to, MOST_ENTRIES + 1)?;
        known.extend(rows.iter().map(|row| row.key.clone()));
        agenda.entries.extend(rows.into_iter().map(|row| past_entry(workspace, row)));
    }
    add_reminders(&window, journal.as_ref(), &known, &mut agenda);
    let lines = agenda.reminders.reminders.iter();
    let lines: HashMap<String, usize> =
        lines.filter_map(|line| Some((line.reminder.id?.to_string(), line.line))).collect();
    for entry in agenda.entries.iter_mut().filter(|entry| entry.kind == EntryKind::Reminder) {
        entry.line = entry.line.or_else(|| lines.get(entry.id.as_ref()?).copied());
    }
    follow_ups(&window, &known, &mut agenda);
    tasks(&window, &known, scanner, &mut agenda);
    #[cfg(feature = "assistant")]
    add_routine_runs(&window, &mut agenda)?;
    agenda.entries.sort_by_cached_key(|one| (one.instant, one.kind, one.path.clone(), one.line));
    agenda.more = agenda.entries.len() > MOST_ENTRIES;
    agenda.entries.truncate(MOST_ENTRIES);
    Ok(agenda)
}

/// Adds reminders that come or are late.
fn add_reminders(
    window: &DaySpan<'_>,
    journal: Option<&Journal>,
    known: &HashSet<String>,
    agenda: &mut Agenda,
) {
    let DaySpan { workspace, .. } = window;
    let (zone, tz) = (&workspace.zone, workspace.zone.tz());
    let moment = DueInstant::new(zone, window.now);
    let Agenda { reminders, entries, .. } = agenda;
    for line in distinct(reminders) {
        let one = &line.reminder;
        let id = one.id.as_ref().map(ToString::to_string);
        let entry = |it: Occurrence, state: EntryState| AgendaEntry {
            path: workspace.settings.paths.reminders.clone(),
            line: Some(line.line),
            recur: (one.recur != Recur::None).then(|| one.recur.to_string()),
            state,
            written: it.local,
            ..AgendaEntry::new(EntryKind::Reminder, id.clone(), one.msg.clone(), it.at, tz)
        };
        // The journal has the id of a line that couldn't be written.
        let known_id = one.id.or_else(|| journal?.name(&meaning(one)).ok()?);
        let is_known = |it: &Occurrence| {
            known_id.is_some_and(|id| known.contains(&delivery_journal::key(id.as_str(), it.local, None)))
        };
        let due = moment.due(one).map(|due| due.occurrence);
        let late = due.filter(|it| window.holds(it.at) && !is_known(it));
        entries.extend(late.map(|it| entry(it, EntryState::Late)));
        let coming = DueInstant::new(zone, window.last_past_instant()).occurrences(one);
        let left = (MOST_ENTRIES + 1).saturating_sub(entries.len());
        let coming = coming.take_while(|it| it.at < window.to).take(left);
        entries.extend(coming.map(|it| entry(it, EntryState::Coming)));
    }
}

/// The value that was read; without one nothing, and the reason among the problems.
pub(crate) fn or_record_problem<T: Default, E: Display>(read: Result<T, E>, problems: &mut Vec<String>) -> T {
    read.unwrap_or_else(|error| {
        problems.push(error.to_string());
        T::default()
    })
}

fn follow_ups(window: &DaySpan<'_>, known: &HashSet<String>, agenda: &mut Agenda) {
    let DaySpan { workspace, .. } = window;
    let path = &workspace.settings.paths.commitments;
    let read = workspace.memory().ledger().read().map(|file| file.blocks);
    for block in or_record_problem(read, &mut agenda.problems) {
        let one = block.commitment;
        let waits = one.status == commitment::CommitmentStatus::Pending;
        let Some(due) = one.due.filter(|due| waits && window.holds(*due)) else { continue };
        // Its key in the journal has the time in UTC.
        let key = delivery_journal::key(&one.id, due.to_zoned(TimeZone::UTC).datetime(), None);
        if !known.contains(&key) {
            agenda.entries.push(AgendaEntry {
                path: path.clone(),
                line: Some(block.line),
                state: if due > window.now { EntryState::Coming } else { EntryState::Late },
                ..AgendaEntry::new(EntryKind::FollowUp, Some(one.id), one.text, due, workspace.zone.tz())
            });
        }
    }
}

fn tasks(window: &DaySpan<'_>, known: &HashSet<String>, scanner: &mut Scanner, agenda: &mut Agenda) {
    let DaySpan { workspace, .. } = window;
    let settings = workspace.task_settings();
    let Some(settings) = &settings else { return };
    match scanner.scan(&workspace.vault, settings, window.now) {
        Ok(problems) => agenda.problems.extend(problems),
        Err(error) => return agenda.problems.push(error.to_string()),
    }
    let tz = workspace.zone.tz();
    let until =
        tz.to_datetime(window.to).min(tz.to_datetime(window.now).saturating_add(TASKS_AHEAD_DAYS.days()));
    // Identical lines of a note are one task, which is told once.
    let mut seen = HashSet::new();
    for (path, found) in scanner.tasks() {
        let entry = |id: Option<String>, state: EntryState, at: Timestamp, written: DateTime| AgendaEntry {
            path: path.to_owned(),
            line: Some(found.line),
            recur: found.task.repeat.clone(),
            state,
            written,
            ..AgendaEntry::new(EntryKind::Task, id, found.task.words.clone(), at, tz)
        };
        for notification_time in &found.task.notification_times {
            let at = schedule::resolve(&workspace.zone, notification_time.at);
            let key = delivery_journal::key(&found.id, notification_time.at, None);
            if !window.holds(at) || known.contains(&key) || !seen.insert((&found.id, at, false)) {
                continue;
            }
            // A past one without a delivery was due before its form was turned on, or waits.
            let state = if at > window.now { EntryState::Coming } else { EntryState::Late };
            agenda.entries.push(entry(Some(found.id.clone()), state, at, notification_time.at));
        }
        // A form would be about the time that stands in the note, so these have no id.
        let later = scanner.later(&workspace.vault, path, found, until).into_iter();
        let later = later.map(|local| (schedule::resolve(&workspace.zone, local), local));
        let later = later.filter(|(at, _)| *at > window.now && window.holds(*at));
        let shown = later.filter(|(at, _)| seen.insert((&found.id, *at, true)));
        agenda.entries.extend(shown.map(|(at, local)| entry(None, EntryState::IfDone, at, local)));
    }
}

fn past_entry(workspace: &Workspace, row: PastDelivery) -> AgendaEntry {
    let paths = &workspace.settings.paths;
    let fact = row.fact;
    let (kind, own) = match fact.kind {
        _ if is_task_id(&fact.id) => (EntryKind::Task, &paths.reminders),
        MessageKind::Commitment => (EntryKind::FollowUp, &paths.commitments),
        _ => (EntryKind::Reminder, &paths.reminders),
    };
    let tz = workspace.zone.tz();
    let told = DeliveryDetail {
        at: row.at.map(|at| rfc3339(at, tz)),
        late_seconds: row.at.map_or(fact.late_seconds, |at| at.duration_since(fact.due).as_secs().max(0)),
        missed: fact.missed,
        by: row.places,
        outcome: row.error,
    };
    let entry = AgendaEntry::new(kind, Some(fact.id), fact.msg, fact.due, tz);
    // A follow-up's key has its time in UTC.
    let key = row.key.rsplit_once('@').filter(|_| kind != EntryKind::FollowUp);
    AgendaEntry {
        written: key.and_then(|(_, at)| at.get(..16)?.parse().ok()).unwrap_or(entry.written),
        path: fact.note.unwrap_or_else(|| own.clone()),
        recur: fact.recurring.then(|| "recurring".to_owned()),
        state: match row.state {
            DeliveryState::Sent | DeliveryState::Done => EntryState::Told,
            DeliveryState::Due | DeliveryState::Sending => EntryState::Late,
            DeliveryState::Failed => EntryState::NotTold,
        },
        told: Some(told),
        ..entry
    }
}

/// The most occurrences of one routine that are counted: each minute of six weeks.
#[cfg(feature = "assistant")]
const MOST_TIMES: usize = 42 * 24 * 60;

/// Adds the routines that are on, and the runs that there were.
#[cfg(feature = "assistant")]
fn add_routine_runs(window: &DaySpan<'_>, agenda: &mut Agenda) -> Result<(), ReadError> {
    let DaySpan { workspace, .. } = window;
    let tz = workspace.zone.tz();
    for note in or_record_problem(routines::read_all(workspace), &mut agenda.problems) {
        let Some(routine) = note.routine.as_ref().filter(|routine| routine.enabled) else { continue };
        let table = schedule::Timetable::new(&workspace.zone, &routine.schedule);
        let times = table.after(window.last_past_instant()).map(|it| it.at);
        let times = times.take_while(|at| *at < window.to).take(MOST_TIMES);
        let schedule = routine.schedule.to_string();
        agenda.entries.extend(by_day(times, tz).map(|(at, times)| AgendaEntry {
            recur: Some(schedule.clone()),
            times,
            ..routine_entry(workspace, &note.name, at)
        }));
    }
    for run in workspace.journal()?.runs_between(window.from, window.to, MOST_ENTRIES)? {
        let told = DeliveryDetail {
            at: Some(rfc3339(run.started, tz)),
            late_seconds: run.started.duration_since(run.due).as_secs().max(0),
            missed: run.missed,
            by: Vec::new(),
            outcome: run.result(),
        };
        agenda.entries.push(AgendaEntry {
            state: EntryState::Ran,
            told: Some(told),
            ..routine_entry(workspace, &run.routine, run.due)
        });
    }
    Ok(())
}

#[cfg(feature = "assistant")]
fn routine_entry(workspace: &Workspace, name: &str, at: Timestamp) -> AgendaEntry {
    let folder = workspace.settings.paths.routines.trim_end_matches('/');
    AgendaEntry {
        path: format!("{folder}/{name}.md"),
        ..AgendaEntry::new(
            EntryKind::Routine,
            Some(name.to_owned()),
            name.to_owned(),
            at,
            workspace.zone.tz(),
        )
    }
}
