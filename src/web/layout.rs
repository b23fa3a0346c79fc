//! Renders the frame of every page: head, navigation, and the result of the last change. Also serves the page's own
//! files, which are in the binary. The address of such a file contains the file's hash, so browsers may cache the file
//! for ever.

use std::sync::LazyLock;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use super::answer::PageError;
use super::parts::sentence;
use super::places::PLACES;
use super::visit::{FormData, Visit};

/// The fields that a person types into.
const TYPED: [&str; 10] =
    ["when", "message", "recur", "text", "section", "scope", "until", "question", "write", "q"];

/// A page for a valid session.
pub(super) fn page(visit: &Visit<'_>, title: &str, body: &Markup) -> Markup {
    let here = visit.path.split('/').nth(1).unwrap_or_default();
    frame(
        title,
        &html! {
            nav aria-label="Main menu" {
                @for place in PLACES.iter().filter(|place| !place.title.is_empty()) {
                    a href={ "/" (place.name) } aria-current=[(place.name == here).then_some("page")] { (place.title) }
                }
            }
        },
        &html! {
            @if let Some((form, problem)) = &visit.refused {
                // Of a form, not of the settings: it stays while the page follows changes.
                div id=[form.first("form").map(|_| "refused")] { (refusal(problem)) (typed(form, body)) }
            }
            @if let Some(said) = &visit.outcome { p.said role="status" { (said) } }
            @if let Some(words) = visit.workspace.reason_for_rest() { p.hint { "Paused: " (words) ". " a href="/routines" { "Pause and resume" } } }
            (body)
        },
    )
}

/// The typed values of a refused form that stand in no field of the page.
fn typed(form: &FormData, body: &Markup) -> Markup {
    let is_lost = |value: &&str| {
        let value = html! { (value) }.into_string();
        let fields = [format!("value=\"{value}\""), format!(">{value}</textarea>")];
        !value.trim().is_empty() && !fields.iter().any(|field| body.0.contains(field))
    };
    let lost: Vec<&str> = TYPED.iter().filter_map(|name| form.first(name)).filter(is_lost).collect();
    html! {
        @if !lost.is_empty() {
            p.hint { "What you typed:" }
            @for value in &lost { pre { (value) } }
        }
    }
}

/// The page for an error, with a link to the start page.
pub(super) fn problem(visit: &Visit<'_>, problem: &PageError) -> Markup {
    page(
        visit,
        name_of(problem.status),
        &html! { (refusal(problem))
            @if let Some((to, words)) = &problem.way { p { a href=(to) { (words) } } }
            p { a href="/" { "Back to Today" } }
        },
    )
}

/// The page of a request that isn't let in, with the reason and what its form had.
pub(super) fn closed(problem: &PageError, form: &FormData) -> Markup {
    let body = html! { (refusal(problem)) (typed(form, &html! {})) };
    frame(name_of(problem.status), &html! {}, &body)
}

fn refusal(problem: &PageError) -> Markup {
    html! {
        div.refused role="alert" {
            p { (sentence(&problem.message)) }
            @for hint in &problem.hints { p.hint { (sentence(hint)) } }
        }
    }
}

fn name_of(status: u16) -> &'static str {
    match status {
        400 => "Invalid request",
        401 => "No session",
        403 => "Refused",
        404 => "Not found",
        405 => "Not possible",
        409 => "Changed meanwhile",
        413 => "Too long",
        421 => "Wrong host name",
        429 => "Too many attempts",
        _ => "Internal error",
    }
}

fn frame(title: &str, nav: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // The header says `no-referrer`; with it a form would bring `Origin: null`.
                meta name="referrer" content="same-origin";
                title { (title) " · vault-agent" }
                link rel="stylesheet" href=(STYLE.address);
                link rel="icon" href=(ICON.address) type="image/svg+xml";
                link rel="manifest" href="/manifest.webmanifest";
                script src=(SCRIPT.address) defer {}
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header { (nav) p #live role="status" aria-live="polite" {} }
                main #main tabindex="-1" { h1 { (title) } (body) }
            }
        }
    }
}

/// A file of the page.
struct Asset {
    /// Its address.
    address: String,
    text: &'static str,
    kind: &'static str,
}

static STYLE: LazyLock<Asset> =
    LazyLock::new(|| asset_of("style", "css", "text/css; charset=utf-8", include_str!("assets/page.css")));
static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    asset_of("page", "js", "text/javascript; charset=utf-8", include_str!("assets/page.js"))
});
static ICON: LazyLock<Asset> =
    LazyLock::new(|| asset_of("icon", "svg", "image/svg+xml", include_str!("assets/icon.svg")));

fn asset_of(name: &str, extension: &str, kind: &'static str, text: &'static str) -> Asset {
    let hash = &blake3::hash(text.as_bytes()).to_hex()[..12];
    Asset { address: format!("/assets/{name}.{hash}.{extension}"), text, kind }
}

/// A file of the page, which needs no session; `None` if the path names none.
pub(super) fn asset(path: &str) -> Option<Response> {
    if path == "/manifest.webmanifest" {
        let manifest = serde_json::json!({
            "name": "vault-agent", "short_name": "vault", "start_url": "/", "display": "standalone",
            "background_color": "#ffffff", "theme_color": "#3b5b8c",
            "icons": [{ "src": ICON.address, "sizes": "any", "type": "image/svg+xml", "purpose": "any maskable" }],
        });
        let kind = [(header::CONTENT_TYPE, "application/manifest+json")];
        return Some((kind, manifest.to_string()).into_response());
    }
    let name = path.strip_prefix("/assets/")?;
    let found = [&*STYLE, &*SCRIPT, &*ICON].into_iter().find(|asset| asset.address == path);
    Some(match found {
        Some(asset) => (
            [
                (header::CONTENT_TYPE, asset.kind),
                (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            ],
            asset.text,
        )
            .into_response(),
        None => {
            (StatusCode::NOT_FOUND, format!("no such file: {}\n", crate::format::quote(name))).into_response()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_no_field_is_shown() {
        let form = FormData::parse(b"text=drinks+tea+and&section=Home&message=a%22b");
        let page = html! { p { "drinks tea and coffee; Home" } input value="a\"b"; textarea { "Home" } };
        let shown = typed(&form, &page).into_string();
        assert!(shown.contains("<pre>drinks tea and</pre>"), "{shown}");
        assert_eq!(shown.matches("<pre>").count(), 1, "{shown}");
    }

    #[test]
    fn the_files_are_small() {
        assert!(STYLE.text.len() <= 20_000 && SCRIPT.text.len() <= 30_000 && ICON.text.len() <= 4_000);
    }
}
