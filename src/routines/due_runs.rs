//! Claims the due runs of routines. No brain is asked.
//!
//! The notes of routines, the journals and the time come in; a [`ClaimReport`] goes out. A due routine without
//! conditions gets a claimed run. If it has conditions, one of them must hold; otherwise the occurrence is recorded as
//! handled. A routine whose material can't be read is reported, and checked again. Also previews the run that would
//! start now: its prompt, material, brains and destination.
//!
//! - A routine has at most one open run, also while the run's text can't be delivered. Occurrences in the meantime are
//!   merged into the next run.
//! - A routine whose note was renamed is recognized by its schedule, and keeps its progress. A routine whose note is
//!   away or half typed for up to a day misses no occurrence.
//! - Among several machines only the voice executes runs: the machine that speaks on Discord. The voice claims each run
//!   in the shared store before it asks a brain ([`claim_from_machines`]).
//! - If a machine dies within a run, the next voice starts the run again, so a message may come twice.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::RunError;
use super::routine_notes::{self, RoutineNote, SYNC_DELAY};
use super::run_log;
use super::run_material::{self, RunMaterial};
use super::run_texts::{for_brain, target};
use crate::clock;
use crate::deliver::delivery_journal::{RoutineProgress, RoutineRun, run_claim, run_key};
use crate::deliver::{self, Journal};
use crate::format::routine::{AnswerDelivery, Routine, RoutineSchedule};
use crate::machines::protocol::SendRight;
use crate::schedule::{Occurrence, Timetable, Zone};
use crate::sqlite::DatabaseError;
use crate::turn::{TurnJournal, route};
use crate::workspace::Workspace;

/// A clock that goes back by more was wrong before.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// The least time between two records of a check.
const CHECK_RECORD: SignedDuration = SignedDuration::from_mins(10);

/// The result of one check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
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

/// Checks all routines now. With `dry`, nothing is claimed or recorded; nor is it by a clock that can't be right.
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
    let enabled: Vec<&RoutineNote> = notes.iter().filter(|note| note.is_enabled()).collect();
    if !clock::is_plausible(now) {
        let problem = format!("no routine runs while the clock shows {}", now.strftime("%Y-%m-%d"));
        claimed.problems.extend((!enabled.is_empty()).then_some(problem));
        return Ok(claimed);
    }
    let mut gone = journal.gone_routines(&[])?;
    // A routine whose name has another schedule now may have another name.
    gone.retain(|gone| !notes.iter().any(|note| note.name == gone.name && note.has_schedule(&gone.schedule)));
    let checked = journal.last_routine_check()?.filter(|at| *at <= now);
    if !dry {
        reset_disabled(journal, &notes, now)?;
        if checked.is_none_or(|at| at.duration_until(now) >= CHECK_RECORD) {
            journal.record_routine_check(now)?;
        }
    }
    let open_runs: Vec<String> = journal.open_runs()?.into_iter().map(|run| run.routine).collect();
    for note in enabled {
        let Some(routine) = &note.routine else { continue };
        // One run of a routine at a time: what comes meanwhile is folded into the next.
        if open_runs.contains(&note.name) {
            continue;
        }
        let schedule = routine.schedule.to_string();
        let known = match journal.known(&note.name, &schedule)? {
            Some(known) if !is_ahead(&known, now) => known,
            known => {
                // A routine whose note is gone, with the same schedule, was renamed to this one.
                let renamed =
                    gone.iter().filter(|gone| gone.schedule == schedule).filter_map(|gone| gone.handled);
                let answered = run_log::last_answered(workspace, &note.name, &routine.schedule);
                let away = journal.away_since(&note.name)?.filter(|at| at.duration_until(now) <= SYNC_DELAY);
                let changed = if known.is_some() { Some(now) } else { away.or(note.appeared(checked)) };
                let since = counted_from(changed, answered.max(renamed.max()), now);
                if dry {
                    RoutineProgress::since(since)
                } else {
                    journal.enabled(&note.name, &schedule, since, now)?
                }
            }
        };
        let planned = |known: &RoutineProgress| due(&workspace.zone, &routine.schedule, known, now);
        let may_be_elsewhere =
            planned(&known).is_some_and(|due| due.missed > 0) && !workspace.machines.is_alone();
        // Another machine may have run earlier ones meanwhile.
        let answered = may_be_elsewhere
            .then(|| run_log::last_answered(workspace, &note.name, &routine.schedule))
            .flatten();
        let (handled, ran) = (known.handled.max(answered), known.ran.max(answered));
        let known = RoutineProgress { handled, ran, ..known };
        let Some(planned) = planned(&known) else {
            if let Some(answered) = answered.filter(|_| !dry) {
                journal.record_nothing_to_do(&note.name, answered)?;
            }
            continue;
        };
        match run_material::gather((workspace, journal, turns), (&note.name, routine), &known, now) {
            Ok(found) if found.holds => {
                claimed.due.push(note.name.clone());
                if !dry {
                    fail::fail_point!("routines::before-claim");
                    let run = new_run(note, &planned, &found, now);
                    journal.claim_run(&run, true, found.baseline.as_deref())?;
                    fail::fail_point!("routines::after-claim");
                }
            }
            Ok(_) => {
                claimed.nothing.push(note.name.clone());
                if !dry {
                    journal.record_nothing_to_do(&note.name, planned.occurrence.at)?;
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

/// Resets the routines that their notes turn off, and notes which are away.
///
/// # Errors
/// The journal can't be used.
pub fn reset_disabled(journal: &Journal, notes: &[RoutineNote], now: Timestamp) -> Result<(), DatabaseError> {
    let names = |is_meant: fn(&&RoutineNote) -> bool| -> Vec<&str> {
        notes.iter().filter(is_meant).map(|note| note.name.as_str()).collect()
    };
    // Some findings are remarks, which leave a routine enabled.
    let known = names(|note| note.is_enabled() || note.findings.is_empty());
    journal.reset_all_except(&names(|note| note.is_enabled()), &known, now)
}

/// Whether a routine was handled at a time that is still far: the clock was ahead then. Smaller steps of a clock make
/// nothing due again.
fn is_ahead(known: &RoutineProgress, now: Timestamp) -> bool {
    known.handled.max(Some(known.since)).is_some_and(|at| at.duration_since(now) > AHEAD)
}

fn new_run(note: &RoutineNote, planned: &PlannedRun, found: &RunMaterial, started: Timestamp) -> RoutineRun {
    RoutineRun {
        key: run_key(&note.name, planned.occurrence.local),
        routine: note.name.clone(),
        local: planned.occurrence.local,
        due: planned.occurrence.at,
        missed: planned.missed,
        started,
        note: note.bytes.clone(),
        material: serde_json::to_string(&found.sections).unwrap_or_default(),
        ..RoutineRun::default()
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
    let run = RoutineRun { key: key.clone(), ..new_run(note, &planned, &found, now) };
    journal.claim_run(&run, false, None)?;
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
    let known = known.unwrap_or_else(|| RoutineProgress::since(run_material::yesterday(now)));
    let known = RoutineProgress { baseline: None, ..known };
    run_material::gather((workspace, journal, turns), (name, routine), &known, now).map_err(RunError::Problem)
}

/// An occurrence to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRun {
    /// The latest that came.
    pub occurrence: Occurrence,
    /// How many earlier ones are folded into it.
    pub missed: u32,
}

/// The instant from which the occurrences of a new routine count. It is the last change of its note, rounded down to
/// the minute, so that an occurrence of this minute is due; or the last occurrence that is known as `answered`, by its
/// logs or under its former name, if that is later.
pub fn counted_from(changed: Option<Timestamp>, answered: Option<Timestamp>, now: Timestamp) -> Timestamp {
    let since = changed.map_or(now, |changed| changed.min(now));
    let minute = since.as_second().div_euclid(60) * 60;
    let since = Timestamp::from_second(minute).unwrap_or(since);
    let after = answered.and_then(|at| at.checked_add(SignedDuration::from_secs(1)).ok());
    after.map_or(since, |after| after.max(since))
}

/// A routine's due run: the latest of its occurrences since the last one that was run or had nothing to do.
pub fn due(
    zone: &Zone,
    schedule: &RoutineSchedule,
    known: &RoutineProgress,
    now: Timestamp,
) -> Option<PlannedRun> {
    let table = Timetable::new(zone, schedule);
    let before = known.since.saturating_sub(SignedDuration::from_millis(1)).unwrap_or(known.since);
    let after = known.handled.map_or(before, |handled| handled.max(before));
    let occurrence = table.latest(now).filter(|latest| latest.at > after)?;
    let missed = table.count(after, occurrence.at).saturating_sub(1);
    Some(PlannedRun { occurrence, missed })
}

/// Claims a run, and waits for the claim while this machine is the voice and `stop` isn't cancelled.
///
/// # Errors
/// The delivery journal can't be used.
pub(super) async fn claim_from_machines(
    workspace: &Workspace,
    journal: &Journal,
    run: &str,
    stop: &CancellationToken,
) -> Result<SendRight, DatabaseError> {
    let machines = &workspace.machines;
    let free = SendRight::Yes { ask: false, left: std::time::Duration::MAX };
    let Some(claim) = run_claim(run).filter(|_| !machines.is_alone()) else { return Ok(free) };
    let open = journal.open_runs()?;
    let wanted = open.iter().filter_map(|run| run_claim(&run.key));
    let is_voice = || machines.is_voice();
    let decided = deliver::decided(machines, &*workspace.clock, ("routines", wanted), &claim, is_voice);
    Ok(tokio::select! {
        biased;
        right = decided => right,
        () = stop.cancelled() => SendRight::Wait,
    })
}

/// A preview of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// The routine.
    pub name: String,
    /// Its prompt.
    pub asked: String,
    /// The material with the prompt.
    pub material: String,
    /// The brains that would be asked, in order; none if memory answers.
    pub brains: Vec<String>,
    /// Why these.
    pub why: String,
    /// The destination of the answer, in words.
    pub to: String,
    /// Whether one of its conditions holds, so that its schedule would let it run.
    pub holds: bool,
}

/// Previews a run of a routine.
///
/// # Errors
/// Its head isn't understood, no such brain is set up, or what it is about can't be read.
pub fn preview(workspace: &Workspace, note: &RoutineNote) -> Result<Preview, RunError> {
    let no_routine = || RunError::NoRoutine(note.name.clone());
    let routine =
        note.routine.as_ref().filter(|routine| !routine.prompt.is_empty()).ok_or_else(no_routine)?;
    let turns = TurnJournal::in_memory()?;
    let found = gather_now(workspace, &turns, routine, &workspace.journal()?, &note.name)?;
    let question = route::QuestionProperties {
        text: &routine.prompt,
        routine: Some(&note.name),
        ..route::QuestionProperties::default()
    };
    let routed = route::route(&workspace.settings, &question, None);
    let mut routed = routed.map_err(|error| RunError::Problem(error.to_string()))?;
    if let Some(brain) = &routine.brain {
        routed.ask_first(&workspace.settings, brain);
    }
    Ok(Preview {
        name: note.name.clone(),
        asked: routine.prompt.clone(),
        material: for_brain("", &found.sections),
        brains: routed.chain,
        why: routed.why,
        to: destination(workspace, routine),
        holds: found.holds,
    })
}

/// The destination of an answer, in words.
pub fn destination(workspace: &Workspace, routine: &Routine) -> String {
    let today = workspace.zone.tz().to_datetime(workspace.clock.now()).date();
    match (routine.deliver, target(workspace, routine, today)) {
        (AnswerDelivery::None, _) => "its log alone".to_owned(),
        (AnswerDelivery::Note, Ok(Some(path))) => format!("the note {path}"),
        (AnswerDelivery::Note, Err(problem)) => problem,
        _ => match routine.scope.as_deref().filter(|scope| *scope != "console") {
            Some(scope) => scope.to_owned(),
            None => format!("where reminders go ({})", workspace.delivery_order(false).primary.name()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn told(since: &str, handled: Option<&str>, now: &str) -> Option<(String, u32)> {
        let known = RoutineProgress { since: at(since), handled: handled.map(at), ran: None, baseline: None };
        let schedule = "daily 08:00".parse().unwrap();
        let planned = due(&Zone::get("Europe/London").unwrap(), &schedule, &known, at(now))?;
        Some((planned.occurrence.local.to_string(), planned.missed))
    }

    #[test]
    fn what_was_missed_comes_as_one_and_what_came_never_again() {
        let one = |local: &str, missed| Some((local.to_owned(), missed));
        let day = "2026-12-01T00:00:00Z";
        assert_eq!(told(day, None, "2026-12-01T07:59:59Z"), None);
        assert_eq!(told(day, None, "2026-12-01T08:00:00Z"), one("2026-12-01T08:00:00", 0));
        assert_eq!(told(day, None, "2026-12-05T09:00:00Z"), one("2026-12-05T08:00:00", 4));
        let handled = Some("2026-12-05T08:00:00Z");
        assert_eq!(told(day, handled, "2026-12-05T09:00:00Z"), None);
        // The clock went back: nothing comes again.
        assert_eq!(told(day, handled, "2026-12-03T09:00:00Z"), None);
        assert_eq!(told(day, handled, "2026-12-06T08:00:01Z"), one("2026-12-06T08:00:00", 0));
    }

    #[test]
    fn a_routine_counts_from_the_minute_of_its_last_change() {
        let changed = Some(at("2026-12-01T08:00:40Z"));
        let since = |answered, now| counted_from(changed, answered, at(now));
        assert_eq!(since(None, "2026-12-01T08:00:50Z"), at("2026-12-01T08:00:00Z"));
        assert_eq!(since(None, "2026-11-01T08:00:50Z"), at("2026-11-01T08:00:00Z"));
        assert_eq!(
            since(Some(at("2026-11-30T08:00:00Z")), "2026-12-02T08:00:50Z"),
            at("2026-12-01T08:00:00Z")
        );
        assert_eq!(
            since(Some(at("2026-12-02T08:00:00Z")), "2026-12-02T09:00:50Z"),
            at("2026-12-02T08:00:01Z")
        );
        assert_eq!(told("2026-12-01T08:00:00Z", None, "2026-12-01T08:00:50Z").unwrap().1, 0);
        assert_eq!(told("2026-12-01T08:01:00Z", None, "2026-12-01T08:01:50Z"), None);
    }
}
