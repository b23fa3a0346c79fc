//! `/search`: what was found, where, and how fresh the answer is.

use std::sync::Arc;

use maud::{Markup, html};

use super::{Place, nothing};
use crate::search::{Answer, Asker, CheckedBy, Hit, IndexError, Query, RecallError};
use crate::web::answer::{Problem, View};
use crate::web::parts;
use crate::web::visit::{Visit, note_address};

pub(super) const PLACE: Place = Place { name: "search", title: "Search", is_listed: true, see, act: nothing };

/// So many hits, unless the address says another number.
const HITS: usize = 20;
/// And never more.
const MOST: usize = 200;

fn see(visit: &Visit<'_>) -> Result<View, Problem> {
    let Some(text) = visit.query("q") else {
        return visit.view("Search", &serde_json::json!({ "hits": [] }), |_| form(visit));
    };
    let limit = visit.query("limit").map_or(Ok(HITS), str::parse);
    let limit = limit.map_err(|_| Problem::bad("`limit` is a number"))?.clamp(1, MOST);
    let query = Query { text: text.to_owned(), scope: visit.query("scope").map(str::to_owned), limit };
    let asker = Asker::new(Arc::clone(visit.workspace)).leaving();
    let found = if visit.query("deep").is_some() { asker.deep(&query) } else { asker.search(&query) };
    let answer = found.map_err(|error| match error {
        RecallError::Index(error @ IndexError::Scope { .. }) => Problem::bad(error),
        error => Problem::failed(error),
    })?;
    visit.view("Search", &answer, |answer| html! { (form(visit)) (hits(visit, answer)) })
}

fn form(visit: &Visit<'_>) -> Markup {
    let value = |name: &str| visit.query(name).unwrap_or_default().to_owned();
    html! {
        form method="get" action="/search" role="search" {
            div.row {
                label { span { "What to look for" } input type="search" name="q" value=(value("q")); }
                label { span { "Only there (a folder, `logs`, `memory`, `project:ID`)" } input name="scope" value=(value("scope")) autocomplete="off"; }
                button { "Search" }
            }
        }
        details.more id="filters" {
            summary { "Filters" }
            p { "\"Phrases\" in quotes, " code { "-not" } ", " code { "prefix*" } ", and " code { "path:" } ", " code { "tag:" } ", " code { "section:" } ", " code { "kind:" } ", " code { "role:" } ", " code { "before:2026-11-20" } ", " code { "after:2026-11" } " narrow it down." }
        }
    }
}

fn hits(visit: &Visit<'_>, answer: &Answer) -> Markup {
    let checked = match answer.freshness.checked_by {
        CheckedBy::Daemon => "the daemon follows the vault",
        CheckedBy::Scan => "every file was looked at just now",
        CheckedBy::Glance => "folders were looked at just now",
        CheckedBy::Nobody => "nobody could look at the vault: this may be old",
    };
    html! {
        @for note in answer.notes.iter().chain(&answer.freshness.warnings) { p.refused { (note) } }
        p.soft {
            (answer.hits.len()) @if answer.hits.len() == 1 { " hit" } @else { " hits" } "; " (checked)
            @if answer.freshness.read_directly > 0 { "; " (answer.freshness.read_directly) " newer notes were read directly" }
            "."
        }
        @if answer.hits.is_empty() { (parts::empty("Nothing was found.")) }
        @for hit in &answer.hits { (one(visit, hit)) }
    }
}

fn one(visit: &Visit<'_>, hit: &Hit) -> Markup {
    html! {
        article {
            h2 { a href={ (note_address(&hit.path)) "#L" (hit.line) } { (hit.path) ":" (hit.line) } }
            p { (hit.snippet) }
            p.soft {
                (parts::badge(hit.kind, ""))
                @if let Some(section) = &hit.section { " " (section) }
                @if let Some(author) = &hit.author { " · " (author) }
                @if let Some(at) = hit.timestamp { " · " (visit.at(at)) }
                @if hit.pinned { " · pinned" }
                " · score " (format!("{:.2}", hit.score)) " · " (visit.obsidian(&hit.path))
            }
        }
    }
}
