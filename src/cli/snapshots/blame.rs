//! `history PATH --lines`: prints each line of a note with the snapshot that it comes from.

use super::shared::{Pager, ago, note_path};
use crate::cli::{CommandResult, Context, Status};
use crate::history::{BlameBound, History, LineWriter};
use crate::terminal::escape_control;

/// Shows the note, or prints it as one document.
pub(super) fn run(
    context: &Context,
    history: &History,
    path: Option<&str>,
    at: Option<&str>,
) -> CommandResult {
    let path = path.unwrap_or_default();
    let note = note_path(path)?;
    let point = at.map(|at| history.point(at)).transpose()?;
    let blame = history.blame(&note, point.as_ref(), BlameBound::default())?;
    context.ui.json(&blame);
    if context.ui.json {
        return Ok(Status::Fine);
    }
    let now = context.clock.now();
    let dim = anstyle::Style::new().dimmed();
    let mut pager = Pager::new();
    for line in &blame.lines {
        let origin = blame.origin(line);
        let id = origin.and_then(|origin| origin.snapshot.as_deref()).unwrap_or("");
        let when = match origin {
            Some(origin) => origin.at.map_or_else(|| "now".to_owned(), |at| ago(at, now)),
            None => "older".to_owned(),
        };
        let who = origin.map_or("", |origin| origin.writer.as_str());
        let turn = origin.filter(|it| it.writer == LineWriter::Assistant).and_then(|it| it.turn.as_deref());
        let turn = turn.map(|turn| format!(" turn {turn}")).unwrap_or_default();
        let text = escape_control(&line.text);
        if !pager.line(&format!("{dim}{id:<10}  {when:<14}  {who:<9}{turn}{dim:#}  {:>4}  {text}", line.line))
        {
            break;
        }
    }
    drop(pager);
    if !blame.complete {
        context.ui.note("what says `older` was written before the snapshots that were looked at");
    }
    Ok(Status::Fine)
}
