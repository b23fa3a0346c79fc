//! Parses an instant given as an option.

use jiff::Timestamp;

use super::error::CommandError;
use crate::schedule;
use crate::workspace::Workspace;

/// An instant as options take it: RFC 3339, or a local date and time.
pub(super) fn instant(text: &str, workspace: &Workspace) -> Result<Timestamp, CommandError> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    match text.parse::<jiff::civil::DateTime>() {
        Ok(local) => Ok(schedule::resolve(&workspace.zone, local)),
        Err(_) => Err(CommandError::usage(format!("`{text}` is no instant"))
            .hint("write `2026-12-01T09:30:00Z`, or a local `2026-12-01 09:30`")),
    }
}
