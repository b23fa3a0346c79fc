//! Reads a turn's log notes (memories, tool calls) back from the journal, for a log that a crash left without them.

use super::conversation::TurnNote;
use super::journal::TurnJournal;
use super::request::history;
use crate::sqlite::DatabaseError;

/// The log entries of a turn: the memory result, then each finished tool call, in order.
///
/// # Errors
/// The journal can't be read.
pub fn turn_notes(turns: &TurnJournal, message: u64) -> Result<Vec<TurnNote>, DatabaseError> {
    let given = turns.turn(message)?.and_then(|turn| turn.recalled);
    let given = given.map(|given| given.problem.unwrap_or(given.injection)).filter(|text| !text.is_empty());
    let tools = turns.tools(message)?.into_iter().filter_map(|row| {
        let end = row.result?;
        let text = history::tool_block(&row.call, &end.text, end.is_error);
        Some(TurnNote::Tool { number: row.number, name: row.call.name, text })
    });
    Ok(given.map(TurnNote::Recall).into_iter().chain(tools).collect())
}
