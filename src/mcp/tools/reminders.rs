//! The reminder tools. Each change is confirmed to the user, with the exact line.

use jiff::SignedDuration;

use super::super::failure::Failure;
use super::super::outputs::{Reminders, Written};
use super::{Answer, Call, Outcome};
use crate::format::reminder::Recur;
use crate::reminders::{self, Book, Changes, Draft, ReminderError, local_after, parse_when};

/// `reminder_list`.
pub fn list(call: &Call<'_>) -> Outcome {
    let listed = with_book(call, |book| book.list(call.workspace.clock.now()))?;
    let lines: Vec<String> = listed
        .iter()
        .map(|one| {
            let id = one.id.as_deref().unwrap_or("(no id yet)");
            let recur = if one.recur == "none" { String::new() } else { format!(", {}", one.recur) };
            format!("{id}  {} {}{recur}: {}", one.date, one.time, one.msg)
        })
        .collect();
    let text = if lines.is_empty() { "There are no reminders.".to_owned() } else { lines.join("\n") };
    let output = Reminders { reminders: listed.into_iter().map(Into::into).collect(), untrusted: true };
    Ok(Answer::from_notes(&text, &output))
}

/// `reminder_add`.
pub fn add(call: &Call<'_>) -> Outcome {
    let arguments = call.arguments;
    let draft = Draft {
        local: when(call, arguments.text("when").unwrap_or_default())?,
        recur: recur(arguments.text("recur"))?.unwrap_or(Recur::None),
        msg: arguments.text("message").unwrap_or_default().to_owned(),
    };
    let written = with_book(call, |book| book.add(&draft, call.origin.clone()))?;
    Ok(told(call, "added", written))
}

/// `reminder_update`.
pub fn update(call: &Call<'_>) -> Outcome {
    let arguments = call.arguments;
    let changes = Changes {
        local: arguments.text("when").map(|text| when(call, text)).transpose()?,
        recur: recur(arguments.text("recur"))?,
        msg: arguments.text("message").map(str::to_owned),
    };
    let id = arguments.text("id").unwrap_or_default();
    let written = with_book(call, |book| book.change(id, &changes, call.origin.clone()))?;
    Ok(told(call, "changed", written))
}

/// `reminder_snooze`.
pub fn snooze(call: &Call<'_>) -> Outcome {
    let (arguments, workspace) = (call.arguments, &call.workspace);
    let now = workspace.clock.now();
    let local = match (arguments.text("until"), arguments.whole("minutes")) {
        (Some(until), None) => when(call, until).map_err(|failure| failure.of("until"))?,
        (None, Some(minutes)) => local_after(now, SignedDuration::from_mins(minutes), &workspace.zone),
        (None, None) => {
            return Err(Failure::new("missing_argument", "until when is missing")
                .of("until")
                .hint("Give `until`, as in `tomorrow 9am`, or `minutes`."));
        }
        (Some(_), Some(_)) => {
            return Err(Failure::new("unexpected_argument", "`until` and `minutes` can't both be given")
                .of("minutes")
                .hint("Leave one of them out."));
        }
    };
    let id = arguments.text("id").unwrap_or_default();
    let said = workspace.said_by(id);
    let written = with_book(call, |book| book.snooze(id, local, now, said.as_deref(), call.origin.clone()))?;
    Ok(told(call, "snoozed", written))
}

/// `reminder_delete`.
pub fn delete(call: &Call<'_>) -> Outcome {
    let id = call.arguments.text("id").unwrap_or_default();
    let written = with_book(call, |book| book.remove(id, call.origin.clone()))?;
    Ok(told(call, "removed", written))
}

fn with_book<T>(
    call: &Call<'_>,
    act: impl FnOnce(Book<'_>) -> Result<T, ReminderError>,
) -> Result<T, Failure> {
    let workspace = &call.workspace;
    let path = workspace.note(&workspace.settings.paths.reminders);
    let book =
        Book { vault: &workspace.vault, editor: &workspace.editor, path: &path, zone: &workspace.zone };
    Ok(act(book)?)
}

fn when(call: &Call<'_>, text: &str) -> Result<jiff::civil::DateTime, Failure> {
    let workspace = &call.workspace;
    parse_when(text, workspace.clock.now(), &workspace.zone)
        .map_err(|error| Failure::from(ReminderError::from(error)).of("when"))
}

fn recur(text: Option<&str>) -> Result<Option<Recur>, Failure> {
    text.map(|text| {
        text.parse::<Recur>().map_err(|error| Failure::new("unknown_choice", error.to_string()).of("recur"))
    })
    .transpose()
}

/// The answer, after the user was told.
fn told(call: &Call<'_>, what: &str, written: reminders::Written) -> Answer {
    call.desk.confirm(&call.workspace, what, &written.line_text);
    let path = call.workspace.settings.paths.reminders.clone();
    let text = format!("{what} in {path}:\n{}", written.line_text);
    Answer::new(text, &Written { id: written.id, line_text: written.line_text, path })
}
