//! Implements the follow-up tools.

use jiff::Timestamp;

use super::{McpCall, ToolAnswer, ToolOutcome, one_line};
use crate::format::commitment::CommitmentStatus;
use crate::mcp::failure::ToolFailure;
use crate::mcp::outputs::Listing;
use crate::memory::commitments::ListedFollowUp;
use crate::schedule;
use crate::workspace::Workspace;

/// `memory_commitment_due`.
pub fn due(call: &McpCall<'_>) -> ToolOutcome {
    let now = match call.arguments.text("now") {
        Some(text) => instant(text, &call.workspace).map_err(|failure| failure.of("now"))?,
        None => call.workspace.clock.now(),
    };
    let listed = call.workspace.memory().ledger().due(now)?;
    Ok(listing(listed, "Nothing is due."))
}

/// `memory_commitment_done`.
pub fn done(call: &McpCall<'_>) -> ToolOutcome {
    let id = call.arguments.text("id").unwrap_or_default();
    let listed = call.workspace.memory().ledger().set(id, CommitmentStatus::Delivered, &call.origin)?;
    Ok(listing(vec![listed], ""))
}

/// Follow-ups as an answer.
pub fn listing(listed: Vec<ListedFollowUp>, none: &str) -> ToolAnswer {
    let lines: Vec<String> = listed
        .iter()
        .map(|one| {
            let due = one.due.as_deref().unwrap_or("no due time");
            format!("{} ({}, {due}): {}", one.id, one.status, one_line(&one.text))
        })
        .collect();
    let text = if lines.is_empty() { none.to_owned() } else { lines.join("\n") };
    let commitments = Some(listed.into_iter().map(Into::into).collect());
    ToolAnswer::from_notes(&text, &Listing { commitments, untrusted: true, ..Listing::default() })
}

/// An instant as models write it: RFC 3339, or a local date and time.
pub fn instant(text: &str, workspace: &Workspace) -> Result<Timestamp, ToolFailure> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    match text.parse::<jiff::civil::DateTime>() {
        Ok(local) => Ok(schedule::resolve(&workspace.zone, local)),
        Err(_) => {
            let shown: String = text.chars().take(60).collect();
            Err(ToolFailure::new("bad_date", format!("{shown:?} is no date and time"))
                .hint("Write RFC 3339, `2026-05-08T19:00:00Z`, or local, `2026-05-08 19:00`."))
        }
    }
}
