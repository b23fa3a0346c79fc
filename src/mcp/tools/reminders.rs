//! Implements the reminder tools. Each change is confirmed to the user, with the exact line.

use jiff::SignedDuration;
use jiff::civil::DateTime;

use super::{McpCall, ToolAnswer, ToolOutcome};
use crate::format::reminder::Recur;
use crate::mcp::failure::ToolFailure;
use crate::mcp::outputs::{DoneLine, Reminders, Written};
use crate::reminders::{self, ReminderChanges, ReminderDraft, ReminderError, check_message, local_after};
use crate::tasks::{self, ListedLine, Scanner, WrittenTask, is_task_id};
use crate::when::{self, Meaning};

/// The most tasks of other plugins in one list.
const MOST_TASKS: usize = 200;

/// `reminder_list`.
pub fn list(call: &McpCall<'_>) -> ToolOutcome {
    let workspace = &call.workspace;
    let (mut all, problems) = tasks::all(
        &workspace.vault_reminders(),
        &workspace.vault_tasks(),
        &mut Scanner::default(),
        workspace.clock.now(),
    )?;
    let ours = all.iter().filter(|one| !one.is_task()).count();
    let more = all.len().saturating_sub(ours + MOST_TASKS);
    all.truncate(ours + MOST_TASKS);
    let mut lines: Vec<String> = all.iter().map(line).collect();
    if more > 0 {
        lines.push(format!("and {more} more tasks"));
    }
    lines.extend(problems);
    let text = if lines.is_empty() { "There are no reminders.".to_owned() } else { lines.join("\n") };
    let output = Reminders { reminders: all.into_iter().map(Into::into).collect(), more, untrusted: true };
    Ok(ToolAnswer::from_notes(&text, &output))
}

/// `task_…  2026-12-01 09:00, every month: Pay rent · Home.md:3 (tasks)`.
fn line(one: &ListedLine) -> String {
    let id = one.id.as_deref().unwrap_or("(no id yet)");
    let recur = if one.recur == "none" { String::new() } else { format!(", {}", one.recur) };
    let place = if one.is_task() { format!(" · {}", one.place()) } else { String::new() };
    format!("{id}  {} {}{recur}: {}{place}", one.date, one.time, one.msg)
}

/// `reminder_done`.
pub fn done(call: &McpCall<'_>) -> ToolOutcome {
    let (workspace, id) = (&call.workspace, call.arguments.text("id").unwrap_or_default());
    if is_task_id(id) {
        let written = workspace.vault_tasks().done(id, None, workspace.clock.now(), call.origin.clone())?;
        return Ok(told_task(call, "done", written, None));
    }
    let line = workspace.vault_reminders().line(id)?;
    if line.reminder.recur == Recur::None {
        return delete(call);
    }
    let line_text = String::from_utf8_lossy(&line.text).into_owned();
    let path = workspace.settings.paths.reminders.clone();
    let text = format!("it comes again, so it stays in {path}:\n{line_text}");
    let output = DoneLine { id: id.to_owned(), line_text, next_text: None, path, remark: None };
    Ok(ToolAnswer::new(text, &output))
}

/// `reminder_add`.
pub fn add(call: &McpCall<'_>) -> ToolOutcome {
    let arguments = call.arguments;
    let meaning = when(call, arguments.text("when").unwrap_or_default())?;
    let (local, recur) = (meaning.local, recurring(&meaning, recur(arguments.text("recur"))?)?);
    let draft = ReminderDraft { local, recur, msg: arguments.text("message").unwrap_or_default().to_owned() };
    check_message(&draft.msg)?;
    let written = call.workspace.vault_reminders().add(&draft, call.origin.clone())?;
    Ok(told(call, "added", written, understood(call, local, recur)))
}

/// `reminder_update`.
pub fn update(call: &McpCall<'_>) -> ToolOutcome {
    let arguments = call.arguments;
    let meaning = arguments.text("when").map(|text| when(call, text)).transpose()?;
    let mut recur = recur(arguments.text("recur"))?;
    if let Some(meaning) = meaning.as_ref().filter(|meaning| meaning.recur != Recur::None) {
        recur = Some(recurring(meaning, recur)?);
    }
    let local = meaning.map(|meaning| meaning.local);
    let changes = ReminderChanges { local, recur, msg: arguments.text("message").map(str::to_owned) };
    check_message(changes.msg.as_deref().unwrap_or_default())?;
    let id = arguments.text("id").unwrap_or_default();
    let written = call.workspace.vault_reminders().change(id, &changes, call.origin.clone())?;
    let at = local.and_then(|local| understood(call, local, recur.unwrap_or_default()));
    Ok(told(call, "changed", written, at))
}

/// `reminder_snooze`.
pub fn snooze(call: &McpCall<'_>) -> ToolOutcome {
    let (arguments, workspace) = (call.arguments, &call.workspace);
    let now = workspace.clock.now();
    let local = match (arguments.text("until"), arguments.whole("minutes")) {
        (Some(until), None) => when::parse_when(until, now, &workspace.zone)
            .map_err(|error| ToolFailure::from(ReminderError::from(error)).of("until"))?,
        (None, Some(minutes)) => local_after(now, SignedDuration::from_mins(minutes), &workspace.zone),
        (None, None) => {
            return Err(ToolFailure::new("missing_argument", "until when is missing")
                .of("until")
                .hint("Give `until`, as in `tomorrow 9am`, or `minutes`."));
        }
        (Some(_), Some(_)) => {
            return Err(ToolFailure::new("unexpected_argument", "`until` and `minutes` can't both be given")
                .of("minutes")
                .hint("Leave one of them out."));
        }
    };
    let id = arguments.text("id").unwrap_or_default();
    if is_task_id(id) {
        let written = workspace.vault_tasks().snooze(id, None, local, call.origin.clone())?;
        return Ok(told_task(call, "snoozed", written, understood(call, local, Recur::None)));
    }
    if let Some(line_text) = workspace.postponed(id, local, &call.origin)? {
        let written = reminders::WrittenReminder { id: id.to_owned(), line_text };
        let path = workspace.settings.paths.commitments.clone();
        return Ok(told_in(call, "snoozed", path, written, understood(call, local, Recur::None)));
    }
    let said = workspace.last_message_of(id);
    let is_told = |local| workspace.may_be_sent(id, local);
    let written =
        call.workspace.vault_reminders().snooze(id, local, said.as_deref(), is_told, call.origin.clone())?;
    Ok(told(call, "snoozed", written, understood(call, local, Recur::None)))
}

/// `reminder_delete`.
pub fn delete(call: &McpCall<'_>) -> ToolOutcome {
    let id = call.arguments.text("id").unwrap_or_default();
    let written = call.workspace.vault_reminders().remove(id, call.origin.clone())?;
    Ok(told(call, "removed", written, None))
}

fn when(call: &McpCall<'_>, text: &str) -> Result<Meaning, ToolFailure> {
    let workspace = &call.workspace;
    when::read(text, workspace.clock.now(), &workspace.zone)
        .map_err(|error| ToolFailure::from(ReminderError::from(error)).of("when"))
}

fn recur(text: Option<&str>) -> Result<Option<Recur>, ToolFailure> {
    text.map(|text| {
        text.parse::<Recur>()
            .map_err(|error| ToolFailure::new("unknown_choice", error.to_string()).of("recur"))
    })
    .transpose()
}

/// How it comes again: as the time or as `recur` says.
fn recurring(meaning: &Meaning, asked: Option<Recur>) -> Result<Recur, ToolFailure> {
    meaning
        .recurring(asked)
        .map_err(|clash| ToolFailure::new("unexpected_argument", clash.to_string()).of("recur"))
}

/// A local time as it was understood, with its weekday and how far away it is.
fn understood(call: &McpCall<'_>, local: DateTime, recur: Recur) -> Option<String> {
    Some(when::confirmation_with(local, recur, call.workspace.clock.now(), &call.workspace.zone))
}

/// The answer about a task, after the user was told.
fn told_task(call: &McpCall<'_>, what: &str, written: WrittenTask, when: Option<String>) -> ToolAnswer {
    let shown = written.shown();
    call.shared.confirm(&call.workspace, what, &shown);
    let at = when.as_ref().map_or_else(String::new, |when| format!("\nIt comes {when}."));
    let remark = written.remark.as_ref().map_or_else(String::new, |remark| format!("\n{remark}"));
    let text = format!("{what} in {}:\n{shown}{at}{remark}", written.place());
    if what == "done" {
        return ToolAnswer::new(text, &DoneLine::from(written));
    }
    let WrittenTask { id, path, line_text, .. } = written;
    ToolAnswer::new(text, &Written { id, line_text, path, when })
}

/// The answer, after the user was told.
fn told(
    call: &McpCall<'_>,
    what: &str,
    written: reminders::WrittenReminder,
    when: Option<String>,
) -> ToolAnswer {
    let path = call.workspace.settings.paths.reminders.clone();
    told_in(call, what, path, written, when)
}

fn told_in(
    call: &McpCall<'_>,
    what: &str,
    path: String,
    written: reminders::WrittenReminder,
    when: Option<String>,
) -> ToolAnswer {
    call.shared.confirm(&call.workspace, what, &written.line_text);
    let at = when.as_ref().map_or_else(String::new, |when| format!("\nIt comes {when}."));
    let text = format!("{what} in {path}:\n{}{at}", written.line_text);
    ToolAnswer::new(text, &Written { id: written.id, line_text: written.line_text, path, when })
}
