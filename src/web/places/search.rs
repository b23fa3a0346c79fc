//! Serves `/search`: the search form, and the hits for the query in the address.
//!
//! The query, its scope and its limit come in (`q`, `scope`, `limit`, `exact`, `deep`). Each hit goes out with its note
//! and line, its score and the query's words that it contains. The page also shows the freshness of the answer. JSON
//! has the fields of `search --json`, and `matched` for each hit. Nothing is changed.

use serde_json::Value;

use super::prelude::*;
use crate::search::{Answer, CheckedBy, Hit, IndexError, Query, SearchClient};
use crate::web::visit::line_address;

/// The number of hits, unless the address has another one.
const HITS: usize = 20;
/// And never more.
const MOST: usize = 200;

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let Some(text) = visit.query("q") else {
        return visit.view("Search", &serde_json::json!({ "hits": [] }), |_| form(visit));
    };
    let limit = visit.query("limit").map_or(Ok(HITS), str::parse);
    let limit = limit.map_err(|_| PageError::bad("`limit` is a number"))?.clamp(1, MOST);
    let (scope, exact) = (visit.query("scope").map(str::to_owned), visit.query("exact").is_some());
    let query = Query { text: text.to_owned(), scope, limit, exact };
    let client = SearchClient::new(Arc::clone(visit.workspace));
    let found = if visit.query("deep").is_some() { client.deep(&query) } else { client.search(&query) };
    let answer = found.map_err(|error| match error {
        error @ IndexError::Scope { .. } => PageError::bad(error),
        error => PageError::failed(error),
    })?;
    let found = SearchView { why: answer.hits.iter().map(|hit| why(hit, text)).collect(), answer };
    visit.view("Search", &found.data()?, |_| html! { (form(visit)) (hits(visit, &found)) })
}

/// An answer, and of each hit why it was found.
struct SearchView {
    answer: Answer,
    why: Vec<Vec<MatchedWord>>,
}

/// A word of the question that stands in a hit as it was typed.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct MatchedWord {
    word: String,
    /// `text`, `heading`, `path`.
    places: Vec<&'static str>,
}

impl SearchView {
    /// As `search --json` has it, and of each hit what matched.
    fn data(&self) -> Result<Value> {
        let mut data = serde_json::to_value(&self.answer)?;
        for (hit, why) in data["hits"].as_array_mut().into_iter().flatten().zip(&self.why) {
            hit["matched"] = serde_json::to_value(why)?;
        }
        Ok(data)
    }
}

/// The words of a question that a hit has, each with its place; without filters and excluded words.
fn why(hit: &Hit, question: &str) -> Vec<MatchedWord> {
    let texts = [
        ("text", &*hit.snippet),
        ("heading", hit.section.as_deref().unwrap_or_default()),
        ("path", &hit.path),
    ];
    let texts = texts.map(|(place, text)| (place, text.to_lowercase()));
    let words = question.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains(':'));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    let matched = |word: String| {
        let places: Vec<&str> =
            texts.iter().filter(|(_, text)| text.contains(&word)).map(|(place, _)| *place).collect();
        (!word.is_empty() && !places.is_empty()).then_some(MatchedWord { word, places })
    };
    words.filter_map(matched).collect()
}

fn form(visit: &Visit<'_>) -> Markup {
    let value = |name: &str| visit.query(name).unwrap_or_default().to_owned();
    html! {
        form method="get" action="/search" role="search" {
            div.row {
                label { span { "Search text" } input type="search" name="q" value=(value("q")); }
                label { span { (parts::sentence("Scope (a folder, `logs`, `memory`, `project:ID`)")) } input name="scope" value=(value("scope")) autocomplete="off"; }
                button { "Search" }
            }
            label { input type="checkbox" name="exact" value="yes" checked[visit.query("exact").is_some()]; " Exact: only these words and their inflected forms" }
        }
        details.more id="filters" {
            summary { "Filters" }
            p { "\"Phrases\" in quotes, " code { "-not" } ", " code { "prefix*" } ", and " code { "path:" } ", " code { "tag:" } ", " code { "section:" } ", " code { "kind:" } ", " code { "role:" } ", " code { "before:2026-11-20" } ", " code { "after:2026-11" } " narrow it down." }
        }
    }
}

fn hits(visit: &Visit<'_>, found: &SearchView) -> Markup {
    let answer = &found.answer;
    let checked = match answer.freshness.checked_by {
        CheckedBy::Daemon => "the index is up to date",
        CheckedBy::Scan => "every file was looked at just now",
        CheckedBy::Nobody => "the vault could not be checked: results may be out of date",
    };
    html! {
        @for note in answer.notes.iter().chain(&answer.freshness.warnings) { p.refused { (parts::sentence(note)) } }
        p.soft {
            (answer.hits.len()) @if answer.hits.len() == 1 { " hit" } @else { " hits" } "; " (checked)
            @if answer.freshness.read_directly > 0 { "; " (answer.freshness.read_directly) " newer notes were read directly" }
            "."
        }
        @if answer.hits.is_empty() { (parts::empty("Nothing was found.")) }
        @for (hit, why) in answer.hits.iter().zip(&found.why) { (one(visit, hit, why)) }
    }
}

fn one(visit: &Visit<'_>, hit: &Hit, why: &[MatchedWord]) -> Markup {
    html! {
        article {
            h2 { a href=(line_address(&hit.path, hit.line as usize)) { (hit.path) ":" (hit.line) } }
            p { (hit.snippet) }
            p.soft {
                "Matches: "
                @if hit.alike { "≈ similar words or meaning" }
                @else if why.is_empty() { "another form of the words" }
                @for (at, matched) in why.iter().enumerate() {
                    @if at > 0 { "; " }
                    mark { (matched.word) } " (" (matched.places.join(", ")) ")"
                }
                "."
            }
            p.soft {
                (parts::badge(hit.kind.as_str(), ""))
                @if let Some(section) = &hit.section { " " (section) }
                @if let Some(author) = &hit.author { " · " (author) }
                @if let Some(at) = hit.timestamp { " · " (visit.at(at)) }
                @if hit.pinned { " · pinned" }
                " · score " (format!("{:.2}", hit.score)) " · " (visit.obsidian(&hit.path))
            }
        }
    }
}
