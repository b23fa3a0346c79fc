//! Lists the routines of some days: coming occurrences, and results of past runs.

use jiff::Timestamp;

use super::entry::{
    Agenda, AgendaEntry, AgendaError, DaySpan, DeliveryDetail, EntryKind, EntryState, MOST_ENTRIES, by_day,
};
use crate::reminders::rfc3339;
use crate::routines;
use crate::schedule::Timetable;
use crate::workspace::Workspace;

/// The most occurrences of one routine that are counted: each minute of six weeks.
const MOST_TIMES: usize = 42 * 24 * 60;

/// Adds the routines that are on, and the runs that there were.
pub(super) fn add_routine_runs(window: &DaySpan<'_>, agenda: &mut Agenda) -> Result<(), AgendaError> {
    let DaySpan { workspace, .. } = window;
    let tz = workspace.zone.tz();
    for note in routines::read_all(workspace)? {
        let Some(routine) = note.routine.as_ref().filter(|routine| routine.enabled) else { continue };
        let table = Timetable::new(&workspace.zone, &routine.schedule);
        let times = table.after(window.before_coming()).map(|it| it.at);
        let times = times.take_while(|at| *at < window.to).take(MOST_TIMES);
        let schedule = routine.schedule.to_string();
        agenda.entries.extend(by_day(times, tz).map(|(at, times)| AgendaEntry {
            recur: Some(schedule.clone()),
            times,
            ..entry(workspace, &note.name, at)
        }));
    }
    for run in workspace.journal()?.runs_between(window.from, window.to, MOST_ENTRIES)? {
        let told = DeliveryDetail {
            at: Some(rfc3339(run.started, tz)),
            late_seconds: run.started.duration_since(run.due).as_secs().max(0),
            missed: run.missed,
            by: Vec::new(),
            outcome: run.outcome,
        };
        agenda.entries.push(AgendaEntry {
            state: EntryState::Ran,
            told: Some(told),
            ..entry(workspace, &run.routine, run.due)
        });
    }
    Ok(())
}

fn entry(workspace: &Workspace, name: &str, at: Timestamp) -> AgendaEntry {
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
