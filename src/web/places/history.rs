//! Serves `/history`: all changes, with author and reason; `/history/ID`: one change, and a preview of its undo.

use jiff::civil::Date;

use super::prelude::*;
use crate::history::{
    Deletions, FileDiff, History, HistoryError, LogFilter, SnapshotEntry, UndoPlan, UndoSelection, turn_of,
};
use crate::vault::NotePath;

/// The most commits on one page.
const PER_PAGE: usize = 50;
const WRITERS: [(&str, &str); 10] = [
    ("", "anybody"),
    ("agent", "all but people"),
    ("human", "people"),
    ("assistant", "the assistant"),
    ("scheduler", "the scheduler"),
    ("page", "this page"),
    ("cli", "the command line"),
    ("mcp", "models (MCP)"),
    ("discord", "Discord"),
    ("restore", "restore and undo"),
];

/// The vault's history.
pub(super) fn open(visit: &Visit<'_>) -> Result<Arc<History>> {
    visit.workspace.history()?.ok_or_else(|| {
        PageError::not_found("history is turned off")
            .hint("set `[history] enabled = true` in `vault-agent.toml`")
    })
}

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let history = open(visit)?;
    if !visit.rest.is_empty() {
        return one(visit, &history);
    }
    let day = visit.query("day").map(str::parse::<Date>).transpose();
    let day = day.map_err(|_| PageError::bad("that is no day").hint("write it as in `2026-12-01`"))?;
    let start = |day: Date| Some(day.to_zoned(history.zone().tz().clone()).ok()?.timestamp());
    let (since, until) = (day.and_then(start), day.and_then(|day| start(day.tomorrow().ok()?)));
    let actor = visit.query("actor").map(str::to_owned);
    if let Some(actor) = actor.as_deref().filter(|actor| WRITERS.iter().all(|(known, _)| known != actor)) {
        return Err(PageError::bad(format!("{} is not a known author", crate::format::quote(actor))));
    }
    let path = visit.query("note").map(str::to_owned);
    let skipped = (visit.page_number() - 1).saturating_mul(PER_PAGE);
    let (grep, limit) = (visit.query("q").map(str::to_owned), Some(PER_PAGE + 1));
    let filter = LogFilter { path, actor, since, until, grep, skip: skipped, limit, ..LogFilter::default() };
    let records = history.records(&filter)?;
    let entries = records.iter().map(|record| history.entry(record, false));
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    let more = entries.len() > PER_PAGE;
    entries.truncate(PER_PAGE);
    visit.view("History", &entries, |entries| {
        html! {
            (filters(visit))
            @if entries.is_empty() && skipped == 0 { (parts::empty("Nothing matches.")) }
            @if !entries.is_empty() { (parts::table(["When", "Who", "What", "Notes"], entries, |entry| row(visit, entry))) }
            (parts::open_pager(visit, entries.len(), more))
        }
    })
}

fn filters(visit: &Visit<'_>) -> Markup {
    let value = |name: &str| visit.query(name).unwrap_or_default();
    html! {
        form.row method="get" action="/history" {
            (parts::choice(visit, "", "actor", "Who", &WRITERS, value("actor")))
            (parts::field(visit, "", "note", "Note or folder", value("note")))
            label { span { "Day" } input type="date" name="day" value=(value("day")); }
            (parts::field(visit, "", "q", "Words", value("q")))
            button { "Show" }
        }
    }
}

/// Whether `/notes` shows the file at a path.
pub(super) fn is_shown(path: &str) -> bool {
    NotePath::new(path).is_ok_and(|path| !path.is_hidden())
}

fn row(visit: &Visit<'_>, entry: &SnapshotEntry) -> [Markup; 4] {
    let at = entry.time.parse().unwrap_or(visit.now);
    let (shown, left) = (entry.paths.iter().take(3), entry.paths.len().saturating_sub(3));
    [
        visit.at(at),
        html! { (entry.actor) },
        html! { a href={ "/history/" (entry.id) } { (entry.subject) } },
        html! {
            @for (at, path) in shown.enumerate() {
                @if at > 0 { ", " }
                @if is_shown(path) { (visit.note_link(path)) } @else { (path) }
            }
            @if left > 0 { " and " (left) " more" }
        },
    ]
}

/// One change: its message, its differences, and the undo with its plan.
fn one(visit: &Visit<'_>, history: &History) -> Result<PageView> {
    let record = history.with_changes(history.point(&visit.rest)?)?;
    let entry = history.entry(&record, true)?;
    let plan = visit
        .query("plan")
        .map(|_| planned(history, UndoSelection::Snapshot(entry.id.clone())))
        .transpose()?;
    let shown: Vec<_> =
        record.changes.iter().take(PER_PAGE).map(|change| history.file_diff(change)).collect();
    let diffs = shown.into_iter().collect::<Result<Vec<_>, _>>()?;
    visit.view(&entry.subject, &entry, |entry| {
        let at = entry.time.parse().unwrap_or(visit.now);
        html! {
            dl {
                dt { "When" } dd { (visit.at(at)) }
                dt { "Who" } dd { (entry.actor) }
                dt { "Snapshot" } dd { code { (entry.id) } }
                @for (name, value) in entry.trailers.iter().filter(|(name, _)| !["Actor", "Note"].contains(&name.as_str())) {
                    dt { (name) } dd { (trailer(name, value)) }
                }
            }
            @if let Some(body) = &entry.body { pre { (body) } }
            @match &plan {
                Some(plan) => { (undo_plan(visit, plan, "/history", &[("id", &entry.id)])) }
                None => p { a href=(parts::to_plan(visit, &[("plan", "undo")])) { "Preview undo" } },
            }
            @for diff in &diffs {
                h2 { @if is_shown(&diff.path) { (visit.note_link(&diff.path)) } @else { (diff.path) } }
                (differences(diff))
            }
            @if record.changes.len() > diffs.len() { p.soft { "and " (record.changes.len() - diffs.len()) " notes more" } }
        }
    })
}

fn trailer(name: &str, values: &[String]) -> Markup {
    html! {
        @for value in values.iter().take(PER_PAGE) {
            div {
                @match (name, turn_of(value)) {
                    ("Conversation", Some(turn)) => a href={ "/turns/" (turn) } { (value) },
                    ("Undoes" | "Restored-From", _) => a href={ "/history/" (value) } { (value) },
                    _ => (value),
                }
            }
        }
    }
}

/// The lines of a file that a change removes and adds.
pub(super) fn differences(diff: &FileDiff) -> Markup {
    let (old, new) = (diff.old.as_ref(), diff.new.as_ref());
    parts::diff(&text(old.map(|(_, bytes)| bytes)), &text(new.map(|(_, bytes)| bytes)))
}

/// The contents of a file, for people.
pub(super) fn text(bytes: Option<&Vec<u8>>) -> String {
    bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

/// The plan of an undo, or in words why nothing can be taken back.
pub(super) fn planned(history: &History, what: UndoSelection) -> Result<Result<UndoPlan, String>> {
    match history.plan_undo(what) {
        Ok(plan) => Ok(Ok(plan)),
        Err(HistoryError::NotUndoable(why)) => Ok(Err(why)),
        Err(error) => Err(error.into()),
    }
}

/// The changes of an undo, and the button that does it.
pub(super) fn undo_plan(
    visit: &Visit<'_>,
    plan: &Result<UndoPlan, String>,
    action: &str,
    values: &[(&str, &str)],
) -> Markup {
    let plan = match plan {
        Ok(plan) => plan,
        Err(why) => return parts::empty(why),
    };
    let lines: Vec<String> = plan
        .operations()
        .iter()
        .map(|it| format!("{}: {} ({})", it.actor, it.subject, it.notes.join(", ")))
        .collect();
    html! {
        @for conflict in &plan.conflicts {
            div.refused role="alert" {
                p { (conflict.path) " (" (conflict.subject) "): " (conflict.reason) }
            }
        }
        @if lines.is_empty() {
            (parts::empty("No change here can be undone."))
        } @else {
            (parts::plan("Changes that would be undone", &lines, &html! {
                @for diff in plan.notes.values() {
                    h3 { (diff.path) }
                    (differences(diff))
                }
                (parts::planned_form(visit, action, "undo", &parts::hidden_values(values), "Undo"))
            }))
        }
    }
}

/// Takes back the selected writes, after a snapshot of people's changes. Returns a sentence.
///
/// # Errors
/// The form asks for something else, or nothing is undone.
pub(super) fn undo(visit: &Visit<'_>, form: &FormData, what: UndoSelection) -> Result<String> {
    if form.get("do") != "undo" {
        return Err(PageError::no_such_action(form.get("do")));
    }
    let history = open(visit)?;
    visit.workspace.snapshot_all(&history, Deletions::Hold)?;
    let plan = history.plan_undo(what)?;
    let refused =
        |reason: String| PageError::changed(reason).hint("nothing was undone; look at the note's history");
    if plan.writes.is_empty() {
        let why = plan.conflicts.first().map(|it| format!("{}: {}", it.path, it.reason));
        return Err(refused(why.unwrap_or_else(|| "there is nothing that can be taken back".to_owned())));
    }
    let report = history.undo(&visit.workspace.editor, &plan)?;
    if let Some(skip) = report.skipped.first() {
        return Err(refused(format!("{}: {}", skip.path, skip.reason)));
    }
    let left = report.conflicts.len();
    let subjects: Vec<String> = plan.operations().into_iter().map(|it| it.subject).collect();
    let more = if left > 0 { format!("; {left} notes changed later and stay") } else { String::new() };
    Ok(format!("Undone: {}{more}", subjects.join(", ")))
}

pub(super) fn act(visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    let said = undo(visit, form, UndoSelection::Snapshot(form.get("id").to_owned()))?;
    Ok(MadeChange::new("/history", said))
}
