//! Serves `/memory`: shows facts by section, the notes of days, and pins; facts and days also for one scope. Facts
//! and pins can be added; facts and bullets of days can be changed, forgotten and pinned; pins can be removed.

use std::collections::HashMap;

use serde_json::Value;

use super::prelude::*;
use crate::format::struck;
use crate::history::{Blame, BlameBound, LineOrigin};
use crate::memory::{ListedDay, ListedMemory, ListedSection, MemoryRef, NewMemory, Scope};
use crate::web::visit::line_address;

/// The most facts, or days, on one page.
const PER_PAGE: usize = 60;
/// So far back the origin of a fact is looked for; its note's page looks further.
const LOOKED_AT: BlameBound = BlameBound { snapshots: 200, bytes: 2 << 20 };

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let memory = visit.workspace.memory();
    let scope: Option<Scope> =
        visit.query("scope").map(|text| text.parse().map_err(PageError::bad)).transpose()?;
    let scopes = scope.as_ref().map(std::slice::from_ref);
    match visit.query("kind").unwrap_or("facts") {
        "facts" => {
            let sections = memory.list_long(scopes)?;
            let blame = blame(visit)?;
            visit.view("Memory", &with_origins(&sections, blame.as_ref())?, |_| {
                html! { (head(visit)) (long(visit, &sections, blame.as_ref())) }
            })
        }
        "days" => {
            let days = memory.list_daily(None, scopes)?;
            visit.view("Daily notes", &days, |days| html! { (head(visit)) (daily(visit, days)) })
        }
        "pins" => {
            let pins = memory.pins()?;
            let path = memory.pinned_path();
            visit.view("Pins", &pins, |pins| {
                html! {
                    (head(visit))
                    @if pins.is_empty() { (parts::empty("Nothing is pinned.")) }
                    ul { @for pin in pins { li {
                        (pin.text) " " (parts::button(visit, "/memory?kind=pins", "unpin", &[("text", &pin.text)], "Unpin"))
                    } } }
                    p { (visit.obsidian(path.as_str())) }
                }
            })
        }
        other => Err(PageError::bad(format!("{} is no kind of memory", crate::format::quote(other)))
            .hint("write `facts`, `days` or `pins`")),
    }
}

/// The origins of the long memory's lines, as far as its latest snapshots know them.
fn blame(visit: &Visit<'_>) -> Result<Option<Blame>> {
    let path = visit.workspace.memory().long_path();
    let history = visit.workspace.history()?;
    Ok(history.and_then(|history| history.blame(&path, None, LOOKED_AT).ok()))
}

/// The origin of a line.
fn origin(blame: Option<&Blame>, line: usize) -> Option<&LineOrigin> {
    let blame = blame?;
    blame.origin(blame.lines.get(line.checked_sub(1)?)?)
}

/// The sections as `memory list --json` has them, and of each fact where it comes from.
fn with_origins(sections: &[ListedSection], blame: Option<&Blame>) -> Result<Value> {
    let mut data = serde_json::to_value(sections)?;
    for (section, shown) in sections.iter().zip(data.as_array_mut().into_iter().flatten()) {
        for (one, shown) in
            section.memories.iter().zip(shown["memories"].as_array_mut().into_iter().flatten())
        {
            if let Some(origin) = origin(blame, one.line) {
                shown["origin"] = serde_json::to_value(origin)?;
            }
        }
    }
    Ok(data)
}

fn head(visit: &Visit<'_>) -> Markup {
    let kind = visit.query("kind").unwrap_or("facts");
    html! {
        p.chips {
            @for (name, words) in [("facts", "Facts"), ("days", "Days"), ("pins", "Pins")] {
                a href=(visit.address_with(&[("kind", name), ("page", "")])) aria-current=[(name == kind).then_some("true")] { (words) } " "
            }
            @if kind == "facts" {
                @if visit.query("struck").is_some() { a href=(visit.address_with(&[("struck", "")])) { "Hide struck facts" } }
                @else { a href=(visit.address_with(&[("struck", "1")])) { "Show struck facts" } }
            }
        }
        @if kind != "days" {
            details.more id="add" open[visit.typed("add", "text").is_some()] {
                summary { @if kind == "pins" { "Pin a text" } @else { "Add a fact" } }
                @if kind == "pins" {
                    (parts::form(visit, "/memory?kind=pins", "pin", &parts::field(visit, "pin", "text", "Text", ""), "Pin"))
                } @else {
                    (parts::form(visit, "/memory", "add", &html! {
                        label {
                            span { "Text of the fact" }
                            textarea name="text" rows="3" { (visit.typed("add", "text").unwrap_or_default()) }
                        }
                        (parts::field(visit, "add", "section", "Section", ""))
                        (parts::field(visit, "add", "scope", "Scope (empty: global)", ""))
                    }, "Add"))
                }
            }
        }
    }
}

fn long(visit: &Visit<'_>, sections: &[ListedSection], blame: Option<&Blame>) -> Markup {
    let path = visit.workspace.memory().long_path();
    let with_struck = visit.query("struck").is_some();
    let all: Vec<(Option<&str>, &ListedMemory)> = sections
        .iter()
        .flat_map(|section| section.memories.iter().map(move |one| (section.section.as_deref(), one)))
        .filter(|(_, one)| with_struck || struck::parse(&one.text).is_none())
        .collect();
    let shown = parts::page_of(visit, &all, PER_PAGE);
    let mut ids = FactIds::new();
    html! {
        @if all.is_empty() { (parts::empty("Nothing is remembered yet.")) }
        @for group in shown.chunk_by(|one, other| one.0 == other.0) {
            h2 { (group[0].0.unwrap_or("Without a section")) }
            ul.plainlist { @for (_, one) in group { (fact(visit, &mut ids, path.as_str(), one, origin(blame, one.line))) } }
        }
        (parts::pager(visit, all.len(), PER_PAGE))
        p { (visit.note_link(path.as_str())) " " (visit.obsidian(path.as_str())) }
    }
}

fn daily(visit: &Visit<'_>, days: &[ListedDay]) -> Markup {
    let mut ids = FactIds::new();
    html! {
        @if days.is_empty() { (parts::empty("No day has a note yet.")) }
        @for day in parts::page_of(visit, days, PER_PAGE / 4) {
            h2 { a href=(note_address(day.path.as_str())) { (day.date) } }
            ul.plainlist { @for one in &day.memories { (fact(visit, &mut ids, day.path.as_str(), one, None)) } }
        }
        (parts::pager(visit, days.len(), PER_PAGE / 4))
    }
}

/// How often each fact stood on the page so far. Its id there is made of its words, not of its line: where lines come
/// and go, an update of the page finds it again.
type FactIds = HashMap<blake3::Hash, usize>;

fn fact(
    visit: &Visit<'_>,
    ids: &mut FactIds,
    path: &str,
    one: &ListedMemory,
    origin: Option<&LineOrigin>,
) -> Markup {
    let hash = blake3::hash(format!("{path}\n{}", one.text).as_bytes());
    let count = ids.entry(hash).and_modify(|count| *count += 1).or_insert(1);
    let line = one.line.to_string();
    let section = one.section.as_deref().unwrap_or_default();
    let values = [("path", path), ("line", line.as_str()), ("was", one.text.as_str()), ("section", section)];
    let typed = visit.typed_of("edit", &values, "text");
    html! {
        li {
            details.more id={ "fact-" (&hash.to_hex()[..16]) "-" (count) } open[typed.is_some()] {
                summary {
                    @match struck::parse(&one.text) {
                        Some(old) => { del { (old.words) } " " (old.rest) },
                        None => (one.text),
                    }
                    @if let Some(at) = &one.timestamp { " " span.soft { (at) } }
                    @if let Some(origin) = origin { " " span.soft { "by " (origin.writer.as_str()) } }
                    @if one.scope != Scope::Global { " " (parts::badge(&one.scope.to_string(), "")) }
                }
                @if let Some(origin) = origin { (came_from(visit, origin)) }
                (parts::form(visit, "/memory", "edit", &html! {
                    (parts::hidden_values(&values))
                    label { span { "What it says" } textarea name="text" rows="2" { (typed.unwrap_or(&one.text)) } }
                }, "Change"))
                (parts::button(visit, "/memory", "pin-line", &values, "Pin"))
                (parts::confirmed(visit, "/memory", "forget", &values, "Forget", "The line is removed from the note; history keeps it, unless it is turned off."))
                a href=(line_address(path, one.line)) { "Line in the note, with author" }
            }
        }
    }
}

/// The change that wrote a fact, and the question in which the assistant did.
fn came_from(visit: &Visit<'_>, origin: &LineOrigin) -> Markup {
    html! {
        p.soft {
            @match &origin.snapshot {
                Some(id) => a href={ "/history/" (id) } { (origin.subject) },
                None => (origin.subject),
            }
            @if let Some(at) = origin.at { ", " (visit.at(at)) }
            @if let Some(turn) = &origin.turn { " · " a href={ "/turns/" (turn) } { "The question" } }
        }
    }
}

pub(super) fn act(visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    const PINS: &str = "/memory?kind=pins";
    let (memory, origin) = (visit.workspace.memory(), visit.origin());
    let (path, text) = (form.get("path"), form.get("text"));
    let no_line = || PageError::bad("that is no line");
    let line = form.non_blank("line").map(|line| line.parse::<usize>().map_err(|_| no_line())).transpose()?;
    let section = form.first("section");
    let meant = || MemoryRef { path, text: form.get("was"), line, section, exact: true, expected: None };
    let is_fact = path.is_empty() || path == memory.long_path().as_str();
    let back = if is_fact { "/memory" } else { "/memory?kind=days" };
    let (to, said) = match form.get("do") {
        "add" => {
            let scope =
                form.non_blank("scope").map(|text| text.parse().map_err(PageError::bad)).transpose()?;
            let scope = scope.unwrap_or(Scope::Global);
            let new = NewMemory { section: form.non_blank("section"), scope, ..NewMemory::new(text) };
            let saved = memory.save_fact(&new, visit.now, &origin)?;
            let verb = if saved.existing { "Already in memory" } else { "Saved" };
            ("/memory", format!("{verb}: {}", saved.text))
        }
        "edit" => (back, format!("It says now: {}", memory.edit(&meant(), text, &origin)?.saved.text)),
        "forget" => {
            line.ok_or_else(no_line)?;
            (back, format!("Forgotten: {}", memory.forget_by_words(&meant(), &origin)?.text))
        }
        "pin-line" => {
            let saved = memory.pin_line(path, line.ok_or_else(no_line)?, form.non_blank("was"), &origin)?;
            (PINS, format!("Pinned: {}", saved.text))
        }
        "pin" => (PINS, format!("Pinned: {}", memory.pin(text, None, &origin)?.text)),
        "unpin" => (PINS, format!("Unpinned: {}", memory.unpin(text, true, &origin)?.text)),
        other => return Err(PageError::no_such_action(other)),
    };
    Ok(MadeChange::new(to, said))
}
