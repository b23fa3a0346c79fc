//! Makes the prompts that a person picks in their host: a review of the morning, a review of the week.
//!
//! A prompt is two messages: the instruction, and the text of the notes, marked as untrusted context, so that no note
//! can pass for the instruction.

use std::error::Error;
use std::fmt::Write as _;

use jiff::Span;
use jiff::civil::Date;
use rmcp::model::{ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use crate::format::invisible;
use crate::mcp::untrusted;
use crate::memory::pins;
use crate::vault::NotePath;
use crate::workspace::Workspace;

/// Characters of one note in a review at most.
const NOTE: usize = 6_000;
/// Occurrences of one reminder in a review at most.
const OCCURRENCES: usize = 10;

const MORNING: &str = "Give me a short review of my morning from the context below. First what is due today, in the \
order of its time; then what is overdue; then what yesterday left open. Name one thing to do first, and say why. Ask \
before you change anything: reminder_update moves a reminder, memory_commitment_done marks a follow-up as told, \
memory_save keeps what I decide.";
const WEEKLY: &str = "Review my week with me from the context below. What was done, what is still open, what comes in \
the next seven days. Then propose which of the daily notes are worth keeping for good (memory_promote moves one into \
MEMORY.md), and which follow-ups have settled themselves. Propose, and wait for my word before you change anything.";

/// All prompts.
pub fn list() -> Vec<Prompt> {
    let date = || {
        let doc = "The day to review, as in `2026-11-20`; today if left out.";
        Some(vec![PromptArgument::new("date").with_description(doc).with_required(false)])
    };
    let morning = "What today asks for: reminders, follow-ups, what yesterday left.";
    let weekly = "The last seven days and the next: what was done, what is open, what to keep.";
    vec![
        Prompt::new("morning_review", Some(morning), date()).with_title("Morning review"),
        Prompt::new("weekly_review", Some(weekly), date()).with_title("Weekly review"),
    ]
}

/// A prompt with the day's data.
///
/// # Errors
/// There is no such prompt, the date is none, or a note can't be read.
pub fn get(workspace: &Workspace, name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let today = match arguments.get("date").and_then(|value| value.as_str()).filter(|text| !text.is_empty()) {
        Some(text) => text
            .parse::<Date>()
            .map_err(|_| ErrorData::invalid_params("`date` is no day; write it as `2026-11-20`", None))?,
        None => workspace.zone.tz().to_datetime(workspace.clock.now()).date(),
    };
    let (task, days, title) = match name {
        "morning_review" => (MORNING, 1, "Morning review"),
        "weekly_review" => (WEEKLY, 7, "Weekly review"),
        _ => {
            let shown: String = name.chars().take(60).collect();
            let message = format!("there is no prompt `{shown}`; there are morning_review and weekly_review");
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    let data =
        gather(workspace, today, days).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let messages = vec![
        PromptMessage::new_text(Role::User, task),
        PromptMessage::new_text(Role::User, untrusted::marked(&invisible::strip(&data))),
    ];
    Ok(GetPromptResult::new(messages).with_description(format!("{title} for {today}")))
}

/// The text of a review's context.
fn gather(workspace: &Workspace, today: Date, days: i64) -> Result<String, Box<dyn Error>> {
    let (zone, now) = (&workspace.zone, workspace.clock.now());
    let start = |day: Date| crate::schedule::resolve(zone, day.to_datetime(jiff::civil::Time::midnight()));
    let shift = |days: i64| today.checked_add(Span::new().days(days)).unwrap_or(today);
    let book = workspace.vault_reminders();
    let until = start(shift(days)).checked_sub(jiff::SignedDuration::from_secs(1)).unwrap_or(now);
    let reminders = book.preview(None, start(today), Some(until), OCCURRENCES)?;
    let reminders = reminders.iter().filter(|one| !one.occurrences.is_empty()).map(|one| {
        let id = one.id.as_deref().unwrap_or("no id yet");
        format!("{} ({id}): {}", one.occurrences.join(", "), one.msg)
    });
    let listed = book.list(now)?;
    let overdue = listed.iter().filter(|one| one.at < now);
    let overdue = overdue.map(|one| format!("{} {}: {}", one.date, one.time, one.msg));
    let commitments = workspace.memory().ledger().list(false)?;
    let commitments = commitments.iter().map(|one| {
        let due = one.due.as_deref().unwrap_or("no due time");
        format!("{} ({due}): {}", one.id, one.text.trim())
    });
    let pins = workspace.memory().pins()?;
    let mut out = format!("It is {}.\n", crate::reminders::rfc3339(now, zone.tz()));
    section(&mut out, "Reminders", reminders);
    section(&mut out, "Overdue reminders", overdue);
    section(&mut out, "Pending follow-ups", commitments);
    section(&mut out, "Pinned", pins.iter().map(pins::Pin::shown));
    let notes: Vec<_> = (0..=days).filter_map(|before| day(workspace, shift(-before))).collect();
    for (path, text) in &notes {
        let _ = write!(out, "\n## {path}\n{text}\n");
    }
    if notes.is_empty() {
        out.push_str("\n## Daily notes\n(none)\n");
    }
    Ok(out)
}

/// A day's note, if there is one.
fn day(workspace: &Workspace, day: Date) -> Option<(String, String)> {
    let path = format!("{}/{day}.md", workspace.settings.paths.daily.trim_end_matches('/'));
    let bytes = workspace.vault.read(&NotePath::new(&path).ok()?).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut short: String = text.trim().chars().take(NOTE).collect();
    if short.len() < text.trim().len() {
        let _ = write!(short, "\n(cut; memory_get gives all of {path})");
    }
    (!short.is_empty()).then_some((path, short))
}

fn section(out: &mut String, name: &str, lines: impl Iterator<Item = String>) {
    let _ = writeln!(out, "\n## {name}");
    let before = out.len();
    for line in lines {
        let _ = writeln!(out, "- {}", line.replace('\n', "\n  "));
    }
    if out.len() == before {
        out.push_str("(none)\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_says_what_there_is_and_what_there_is_not() {
        let mut out = String::new();
        section(&mut out, "Reminders", std::iter::empty());
        section(&mut out, "Pinned", ["two\nlines".to_owned()].into_iter());
        assert_eq!(out, "\n## Reminders\n(none)\n\n## Pinned\n- two\n  lines\n");
    }
}
