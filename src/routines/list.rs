//! Lists all routines with their next and last runs, and previews a run: its prompt, material, brains and destination. Asks
//! no brain.

use jiff::Timestamp;
use serde::Serialize;

use super::claim_due::gather_now;
use super::routine_notes::{RoutineNote, read_all};
use super::run::RunError;
use super::run_texts::target;
use crate::deliver::compose;
use crate::format::Finding;
use crate::format::routine::{AnswerDelivery, Routine};
use crate::reminders::rfc3339;
use crate::schedule::Timetable;
use crate::sqlite::DatabaseError;
use crate::turn::{TurnJournal, route};
use crate::vault::VaultError;
use crate::workspace::Workspace;

/// Why the routines can't be listed.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// Their notes can't be read.
    #[error(transparent)]
    Notes(#[from] VaultError),
    /// The delivery journal, which knows when they ran, can't be read.
    #[error(transparent)]
    Journal(#[from] DatabaseError),
}

/// A routine as `routine list --json` shows it.
#[derive(Debug, Clone, Serialize)]
pub struct ListedRoutine {
    /// Its note's name without `.md`.
    pub name: String,
    /// Its schedule, in its own words; none if it isn't understood.
    pub schedule: Option<String>,
    /// Its schedule as a person says it.
    #[serde(skip)]
    pub words: Option<String>,
    /// Whether it is turned on.
    pub enabled: bool,
    /// When it comes next, RFC 3339; none if it doesn't.
    pub next: Option<String>,
    /// When it last ran, RFC 3339.
    pub last: Option<String>,
    /// The brain that it asks first, if its note names one.
    pub brain: Option<String>,
    /// The problems of its head.
    pub problems: Vec<Finding>,
    /// As `next`, as an instant.
    #[serde(skip)]
    pub at: Option<Timestamp>,
    /// As `last`, as an instant.
    #[serde(skip)]
    pub ran: Option<Timestamp>,
}

/// An instant in words, in the vault's zone: the day only where it isn't today.
pub fn moment_in_words(workspace: &Workspace, at: Timestamp) -> String {
    let tz = workspace.zone.tz();
    compose::moment(tz.to_datetime(at), tz.to_datetime(workspace.clock.now()).date())
}

impl ListedRoutine {
    /// One line for a chat.
    pub fn in_a_line(&self, workspace: &Workspace) -> String {
        let state = match (self.at, self.problems.first()) {
            (Some(at), _) => format!("next {}", moment_in_words(workspace, at)),
            (None, Some(problem)) => format!("doesn't run: {}", problem.reason),
            (None, None) => "off".to_owned(),
        };
        format!("- `{}` ({}): {state}", self.name, self.schedule.as_deref().unwrap_or("no schedule"))
    }
}

/// All routines.
///
/// # Errors
/// The folder of routines, or the delivery journal, can't be read.
pub fn list(workspace: &Workspace) -> Result<Vec<ListedRoutine>, ListError> {
    let journal = workspace.journal()?;
    let notes = read_all(workspace)?;
    notes
        .into_iter()
        .map(|note| {
            let routine = note.routine.as_ref();
            let at = routine.filter(|routine| routine.enabled).and_then(|routine| {
                let now = workspace.clock.now();
                Timetable::new(&workspace.zone, &routine.schedule).after(now).next().map(|next| next.at)
            });
            let ran = journal.last_run(&note.name)?;
            let shown = |at: Timestamp| rfc3339(at, workspace.zone.tz());
            Ok(ListedRoutine {
                schedule: routine.map(|routine| routine.schedule.to_string()),
                words: routine.map(|routine| routine.schedule.words()),
                enabled: routine.is_some_and(|routine| routine.enabled),
                next: at.map(shown),
                last: ran.map(shown),
                brain: routine.and_then(|routine| routine.brain.clone()),
                name: note.name,
                problems: note.findings,
                at,
                ran,
            })
        })
        .collect()
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
        material: found.text(),
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
