//! `/`: today. What comes within a week, what waits, what doesn't work, and a line to write into.

use jiff::SignedDuration;
use maud::{Markup, html};
use serde::Serialize;

use super::Place;
use crate::agenda::{Coming, coming};
use crate::format::reminder::Recur;
use crate::reminders::{Book, Draft, check_message};
use crate::tasks::Scanner;
use crate::web::answer::{Done, Problem, View};
use crate::web::parts;
use crate::web::visit::{Form, Visit};
use crate::when;

pub(super) const PLACE: Place = Place { name: "", title: "Today", is_listed: true, see, act };

/// So far ahead.
const AHEAD: SignedDuration = SignedDuration::from_hours(7 * 24);
/// So many at most.
const MOST: usize = 100;

#[derive(Debug, Serialize)]
struct Today {
    next: Vec<Coming>,
}

fn see(visit: &Visit<'_>) -> Result<View, Problem> {
    let mut next = coming(visit.workspace, MOST, &mut Scanner::default()).map_err(Problem::failed)?;
    next.retain(|one| one.instant <= visit.now + AHEAD);
    visit.view("Today", &Today { next }, |today| {
        html! {
            (line(visit))
            h2 { "Within 7 days" }
            (list(visit, &today.next))
        }
    })
}

/// The line to write into: what was understood is said back before it is saved.
fn line(visit: &Visit<'_>) -> Markup {
    let written = visit.query("write").unwrap_or_default();
    let said = (!written.is_empty()).then(|| understood(visit, written));
    html! {
        form method="get" action="/" {
            div.row {
                label { span { "A time and words make a reminder" } input name="write" value=(written) placeholder="tomorrow 9am: call Mum" autocomplete="off"; }
                button { "Look" }
            }
        }
        @match said {
            None => {},
            Some(Ok((words, msg, when))) => {
                (parts::plan("Add this reminder?", &[format!("{words}: {msg}")], &parts::form(visit, "/", "add", &html! {
                    input type="hidden" name="when" value=(when); input type="hidden" name="message" value=(msg);
                }, "Add")))
            },
            Some(Err(problem)) => { div.refused role="alert" { p { (problem.message) } @for hint in &problem.hints { p.hint { (hint) } } } },
        }
    }
}

/// What a written line means: the time in words, the message, and the time as it was written.
fn understood(visit: &Visit<'_>, written: &str) -> Result<(String, String, String), Problem> {
    let (when, msg) = written.split_once(": ").ok_or_else(|| {
        Problem::bad("there is no time before a colon").hint("write it as in `tomorrow 9am: call Mum`")
    })?;
    let zone = &visit.workspace.zone;
    let meaning =
        when::read(when, visit.now, zone).map_err(|error| Problem::bad(error).hint(when::WHEN_HINT))?;
    check_message(msg).map_err(Problem::bad)?;
    let said = when::said_with(meaning.local, meaning.recur, visit.now, zone);
    Ok((said, msg.trim().to_owned(), when.trim().to_owned()))
}

fn list(visit: &Visit<'_>, next: &[Coming]) -> Markup {
    if next.is_empty() {
        return parts::empty("Nothing is due.");
    }
    let rows: Vec<Vec<Markup>> = next
        .iter()
        .map(|one| vec![visit.at(one.instant), html! { (one.msg) }, visit.note_link(&one.path)])
        .collect();
    parts::table(&["When", "What", "Note"], &rows)
}

fn act(visit: &Visit<'_>, form: &Form) -> Result<Done, Problem> {
    match form.get("do") {
        "add" => add(visit, form.get("when"), form.get("message")),
        other => Err(Problem::no_such_action(other)),
    }
}

fn add(visit: &Visit<'_>, when: &str, message: &str) -> Result<Done, Problem> {
    let workspace = visit.workspace;
    let meaning = when::read(when, visit.now, &workspace.zone).map_err(Problem::bad)?;
    check_message(message).map_err(Problem::bad)?;
    let path = workspace.note(&workspace.settings.paths.reminders);
    let book =
        Book { vault: &workspace.vault, editor: &workspace.editor, path: &path, zone: &workspace.zone };
    let recur: Recur = meaning.recur;
    let draft = Draft { local: meaning.local, recur, msg: message.to_owned() };
    let written = book.add(&draft, visit.origin()).map_err(Problem::bad)?;
    Ok(Done::new("/", format!("Added: {}", written.line_text)))
}
