//! Checks all routines: claims a run for each routine that is due and has something to do, and records the other due
//! routines as done.
//!
//! No brain is asked. A routine has one open run at a time; occurrences that come meanwhile are folded into the next
//! run.

use jiff::Timestamp;

use super::plan::{self, PlannedRun};
use super::routine_notes::{self, RoutineNote};
use super::run::RunError;
use super::run_log;
use super::run_material::{self, RunMaterial};
use crate::deliver::Journal;
use crate::deliver::journal::{NewRun, RoutineProgress, RunState, run_key};
use crate::format::routine::Routine;
use crate::schedule::Occurrence;
use crate::turn::TurnJournal;
use crate::workspace::Workspace;

/// The result of one check.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct ClaimReport {
    /// The runs that are claimed and not done, oldest first.
    #[serde(skip)]
    pub open: Vec<String>,
    /// The routines that were due now and have something to do.
    pub due: Vec<String>,
    /// The routines that were due now and have nothing to do.
    pub nothing: Vec<String>,
    /// The faults of routines, as sentences.
    pub problems: Vec<String>,
}

/// Checks all routines now. With `dry`, nothing is claimed or recorded.
///
/// # Errors
/// A journal can't be used, or the notes can't be listed.
pub fn claim_due_runs(
    workspace: &Workspace,
    journal: &Journal,
    turns: &TurnJournal,
    dry: bool,
) -> Result<ClaimReport, RunError> {
    let now = workspace.clock.now();
    let mut claimed = ClaimReport::default();
    let notes = routine_notes::read_all(workspace)?;
    let enabled: Vec<&RoutineNote> =
        notes.iter().filter(|note| note.routine.as_ref().is_some_and(|routine| routine.enabled)).collect();
    if !dry {
        journal.only_enabled(&enabled.iter().map(|note| note.name.as_str()).collect::<Vec<_>>())?;
    }
    let open_runs = journal.open_runs()?.into_iter().filter(|run| run.state == RunState::Claimed);
    let open_runs: Vec<String> = open_runs.map(|run| run.routine).collect();
    for note in enabled {
        let Some(routine) = &note.routine else { continue };
        // One run of a routine at a time: what comes meanwhile is folded into the next.
        if open_runs.contains(&note.name) {
            continue;
        }
        let schedule = routine.schedule.to_string();
        let since = || plan::counted_from(note.changed, run_log::last_answered(workspace, &note.name), now);
        let known = match (journal.known(&note.name, &schedule)?, dry) {
            (Some(known), _) => known,
            (None, true) => RoutineProgress { since: since(), handled: None, ran: None, baseline: None },
            (None, false) => journal.enabled(&note.name, &schedule, since())?,
        };
        let Some(planned) = plan::due(&workspace.zone, &routine.schedule, &known, now) else { continue };
        match run_material::gather((workspace, journal, turns), (&note.name, routine), &known, now) {
            Ok(found) if found.holds => {
                claimed.due.push(note.name.clone());
                if !dry {
                    fail::fail_point!("routines::before-claim");
                    journal.claim_run(&new_run(note, &planned, &found), now)?;
                    fail::fail_point!("routines::after-claim");
                }
            }
            Ok(_) => {
                claimed.nothing.push(note.name.clone());
                if !dry {
                    journal.nothing_to_do(&note.name, planned.occurrence.at)?;
                }
            }
            // Checked again in a minute: it is late then, not done.
            Err(problem) => {
                claimed.problems.push(format!("the routine `{}` can't run: {problem}", note.name));
            }
        }
    }
    claimed.open = journal.open_runs()?.into_iter().map(|run| run.key).collect();
    Ok(claimed)
}

fn new_run(note: &RoutineNote, planned: &PlannedRun, found: &RunMaterial) -> NewRun {
    NewRun {
        key: run_key(&note.name, planned.occurrence.local),
        routine: note.name.clone(),
        local: planned.occurrence.local,
        due: planned.occurrence.at,
        missed: planned.missed,
        scheduled: true,
        note: note.bytes.clone(),
        material: serde_json::to_string(&found.sections).unwrap_or_default(),
        baseline: found.baseline.clone(),
    }
}

/// Claims a run that a person asks for, without its schedule and conditions. Returns its key.
///
/// # Errors
/// The journal can't be used, or what the routine is about can't be read.
pub fn claim_now(
    workspace: &Workspace,
    journal: &Journal,
    turns: &TurnJournal,
    note: &RoutineNote,
) -> Result<String, RunError> {
    let Some(routine) = &note.routine else { return Err(RunError::NoRoutine(note.name.clone())) };
    let now = workspace.clock.now();
    let found = gather_now(workspace, turns, routine, journal, &note.name)?;
    let key = format!("{}@run-{}", note.name, ulid::Ulid::generate());
    let occurrence = Occurrence { at: now, local: workspace.zone.tz().to_datetime(now), day: None };
    let planned = PlannedRun { occurrence, missed: 0 };
    let run =
        NewRun { key: key.clone(), scheduled: false, baseline: None, ..new_run(note, &planned, &found) };
    journal.claim_run(&run, now)?;
    Ok(key)
}

/// The material of a run that a person asks for: all of it, including what earlier runs had.
///
/// # Errors
/// The journal can't be used, or what the routine is about can't be read.
pub fn gather_now(
    workspace: &Workspace,
    turns: &TurnJournal,
    routine: &Routine,
    journal: &Journal,
    name: &str,
) -> Result<RunMaterial, RunError> {
    let now = workspace.clock.now();
    let known = journal.known(name, &routine.schedule.to_string())?;
    let known =
        known.unwrap_or(RoutineProgress { since: yesterday(now), handled: None, ran: None, baseline: None });
    let known = RoutineProgress { baseline: None, ..known };
    run_material::gather((workspace, journal, turns), (name, routine), &known, now).map_err(RunError::Problem)
}

fn yesterday(now: Timestamp) -> Timestamp {
    now.saturating_sub(jiff::SignedDuration::from_hours(24)).unwrap_or(now)
}
