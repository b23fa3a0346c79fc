//! Previews a run: its prompt, material, brains and destination. Asks no brain.

use serde::Serialize;

use super::claim_due::gather_now;
use super::routine_notes::RoutineNote;
use super::run::RunError;
use super::run_texts::target;
use crate::format::routine::{AnswerDelivery, Routine};
use crate::turn::{TurnJournal, route};
use crate::workspace::Workspace;

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
