//! Renders the parts that the page's places share: forms, buttons, tables, badges, previews of a change, and the parts
//! of long lists.

use maud::{Markup, html};
use similar::ChangeTag;

use super::visit::Visit;
use crate::format::changes::{changed_endings, hunks, text_lines};
use crate::listen::secret;

/// A form that changes something, with the session's token and an id of its own. `action` is the place's path, `what`
/// the action there.
pub fn form(visit: &Visit<'_>, action: &str, what: &str, fields: &Markup, button: &str) -> Markup {
    form_with(visit, action, what, &new_id(), fields, button)
}

/// As [`form`], for a page that was requested by a form with [`form_id`] or by [`to_plan`]. It has the id of that form,
/// so that the page has the same form after Back, and a second submission is recognised.
pub fn planned_form(visit: &Visit<'_>, action: &str, what: &str, fields: &Markup, button: &str) -> Markup {
    let id = visit.query("form").filter(|id| is_form_id(id)).map_or_else(new_id, str::to_owned);
    form_with(visit, action, what, &id, fields, button)
}

fn form_with(visit: &Visit<'_>, action: &str, what: &str, id: &str, fields: &Markup, button: &str) -> Markup {
    html! {
        form method="post" action=(action) { (hidden(visit, what, id)) (fields) button { (button) } }
    }
}

/// The address of a plan on this page, with the id that [`planned_form`] gives to the form of the plan.
pub fn to_plan(visit: &Visit<'_>, changes: &[(&str, &str)]) -> String {
    let id = new_id();
    visit.address_with(&[changes, &[("form", id.as_str())]].concat())
}

/// The id that a form which only requests a plan passes to the plan's own form.
pub fn form_id() -> Markup {
    html! { input type="hidden" name="form" value=(new_id()); }
}

/// Whether a form may have this id.
pub fn is_form_id(id: &str) -> bool {
    (16..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn new_id() -> String {
    secret::random::<16>().unwrap_or_default()
}

/// A form that is one button.
pub fn button(visit: &Visit<'_>, action: &str, what: &str, values: &[(&str, &str)], words: &str) -> Markup {
    let fields = hidden_values(values);
    html! {
        form.one method="post" action=(action) { (hidden(visit, what, &new_id())) (fields) button { (words) } }
    }
}

/// As [`button`], for an action that needs confirmation: a question is opened before the button.
pub fn confirmed(
    visit: &Visit<'_>,
    action: &str,
    what: &str,
    values: &[(&str, &str)],
    words: &str,
    question: &str,
) -> Markup {
    html! {
        details.ask { summary { (words) } p { (question) } (button(visit, action, what, values, words)) }
    }
}

/// Values that a form carries along.
pub fn hidden_values(values: &[(&str, &str)]) -> Markup {
    html! { @for (name, value) in values { input type="hidden" name=(name) value=(value); } }
}

fn hidden(visit: &Visit<'_>, what: &str, id: &str) -> Markup {
    html! {
        input type="hidden" name="do" value=(what);
        input type="hidden" name="form" value=(id);
        input type="hidden" name="token" value=(visit.token);
    }
}

/// A labelled input line. After a refused form it holds the typed text again.
pub fn field(visit: &Visit<'_>, what: &str, name: &str, label: &str, value: &str) -> Markup {
    let value = visit.typed(what, name).unwrap_or(value);
    html! { label { span { (label) } input name=(name) value=(value) autocomplete="off"; } }
}

/// A labelled choice: values with their words.
pub fn choice(
    visit: &Visit<'_>,
    what: &str,
    name: &str,
    label: &str,
    options: &[(&str, &str)],
    chosen: &str,
) -> Markup {
    let chosen = visit.typed(what, name).unwrap_or(chosen);
    html! {
        label {
            span { (label) }
            select name=(name) {
                @for (value, words) in options { option value=(value) selected[*value == chosen] { (words) } }
            }
        }
    }
}

/// A table of what `row` makes of each of `list`; on a narrow screen each row becomes a block with the heads before its
/// cells.
pub fn table<T, const N: usize>(
    heads: [&str; N],
    list: impl IntoIterator<Item = T>,
    row: impl Fn(T) -> [Markup; N],
) -> Markup {
    html! {
        table {
            thead { tr { @for head in heads { th scope="col" { (head) } } } }
            tbody {
                @for one in list {
                    tr { @for (cell, head) in row(one).iter().zip(heads) { td data-head=(head) { (cell) } } }
                }
            }
        }
    }
}

/// A word in a frame: a state. `kind` is `good`, `warn`, `bad` or empty.
pub fn badge(word: &str, kind: &str) -> Markup {
    html! { span class={ "badge " (kind) } { (word) } }
}

/// A sentence of this program, with the parts in backquotes set as code.
pub fn sentence(text: &str) -> Markup {
    let pieces: Vec<&str> = text.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (at, piece) in pieces.iter().enumerate() {
            @if at % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// The text in place of an empty list.
pub fn empty(words: &str) -> Markup {
    html! { p.empty { (words) } }
}

/// A plan's lines, and the form that carries it out.
pub fn plan(title: &str, lines: &[String], form: &Markup) -> Markup {
    html! {
        section.plan aria-label=(title) {
            h2 { (title) }
            ul { @for line in lines { li { (line) } } }
            (form)
        }
    }
}

/// Two states of a text, line by line.
pub fn diff(old: &str, new: &str) -> Markup {
    let endings = changed_endings(old, new);
    let [old, new] = [old, new].map(text_lines);
    html! {
        div.diff role="region" aria-label="Differences" tabindex="0" {
            @if let Some(endings) = endings { div { (endings) } }
            @for hunk in hunks(&old, &new) {
                @for line in hunk.lines() {
                    (changed_line(line.tag(), line.value()))
                }
                hr;
            }
        }
    }
}

fn changed_line(tag: ChangeTag, text: &str) -> Markup {
    let is_ended = text.ends_with('\n');
    let text = text.trim_end_matches(['\n', '\r']);
    html! {
        @match tag {
            ChangeTag::Delete => div { del { span.sign { "− " } (text) } },
            ChangeTag::Insert => div { ins { span.sign { "+ " } (text) } },
            ChangeTag::Equal => div { span.sign { "  " } (text) },
        }
        @if !is_ended { div { "\\ No newline at end of file" } }
    }
}

/// The part of a list that a page shows: `per_page` of them.
pub fn page_of<'l, T>(visit: &Visit<'_>, list: &'l [T], per_page: usize) -> &'l [T] {
    let from = (visit.page_number() - 1).saturating_mul(per_page).min(list.len());
    &list[from..list.len().min(from + per_page)]
}

/// The links to the other pages of a long list; nothing where it is on one.
pub fn pager(visit: &Visit<'_>, total: usize, per_page: usize) -> Markup {
    let (page, last) = (visit.page_number(), total.div_ceil(per_page).max(1));
    if page > last {
        return past_the_end(visit);
    }
    html! {
        @if last > 1 { (page_links(visit, page < last, Some(last))) }
    }
}

/// As [`pager`], for a list whose length isn't known: how many stand on this page, and whether there are more.
pub fn open_pager(visit: &Visit<'_>, shown: usize, more: bool) -> Markup {
    let page = visit.page_number();
    if page > 1 && shown == 0 {
        return past_the_end(visit);
    }
    html! {
        @if page > 1 || more { (page_links(visit, more, None)) }
    }
}

fn page_links(visit: &Visit<'_>, more: bool, last: Option<usize>) -> Markup {
    let page = visit.page_number();
    let to = |page: usize| visit.address_with(&[("page", &page.to_string())]);
    html! {
        nav.pager aria-label="Pages" {
            @if page > 1 { a href=(to(page - 1)) rel="prev" { "Newer" } }
            span { "Page " (page) @if let Some(last) = last { " of " (last) } }
            @if more { a href=(to(page + 1)) rel="next" { "Older" } }
        }
    }
}

fn past_the_end(visit: &Visit<'_>) -> Markup {
    html! {
        (empty(&format!("The list ends before page {}.", visit.page_number())))
        p { a href=(visit.address_with(&[("page", "")])) { "To the first page" } }
    }
}
