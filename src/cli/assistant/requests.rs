//! `turns ID --request`: rebuilds a turn's request from the notes and compares it with the one that was sent.

use crate::agent::rebuild_request::{RebuildError, rebuild};
use crate::cli::{CommandError, CommandResult, Context, Status};
use crate::toolbox;
use crate::turn::TurnJournal;
use crate::workspace::Workspace;

pub(super) fn show_request(context: &Context, workspace: &Workspace, id: &str) -> CommandResult {
    let journal = open_journal(workspace)?;
    let tools = |purpose: &str, also: &[String]| toolbox::specs(workspace, purpose, also);
    let rebuilt = rebuild(workspace, journal.as_ref(), id, &tools)?;
    context.ui.json(&rebuilt);
    if let Some(request) = &rebuilt.request {
        let text = serde_json::to_string_pretty(request).unwrap_or_default();
        context.ui.line(text);
    }
    context.ui.note(rebuilt.words());
    Ok(if rebuilt.equal { Status::Fine } else { Status::Problem })
}

impl From<RebuildError> for CommandError {
    fn from(error: RebuildError) -> Self {
        match error {
            RebuildError::Unknown(id) => unknown_turn(&id),
            RebuildError::Notes(error) => error.into(),
            error => Self::problem(error),
        }
    }
}

pub(super) fn unknown_turn(id: &str) -> CommandError {
    CommandError::problem(format!("no turn `{id}`")).hint("`vault-agent turns` lists the latest")
}

/// The journal, if there is one; listing makes none.
pub(super) fn open_journal(workspace: &Workspace) -> Result<Option<TurnJournal>, CommandError> {
    if !workspace.dirs.state.join(crate::turn::journal::FILE_NAME).exists() {
        return Ok(None);
    }
    TurnJournal::open(&workspace.dirs.state).map(Some).map_err(CommandError::problem)
}
