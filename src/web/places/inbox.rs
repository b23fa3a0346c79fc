//! Serves `/inbox`: candidates for memories, with their quotes. A person keeps a candidate, keeps it in other words, or
//! declines it.

use super::prelude::*;
use crate::capture::{HUMAN, Inbox, ListedCandidate};
use crate::format::candidate::CandidateState;
use crate::web::visit::block_address;

/// The most candidates on one page.
const PER_PAGE: usize = 30;

pub(super) fn see(visit: &Visit<'_>) -> Result<PageView> {
    let inbox = Inbox::new(visit.workspace.memory());
    let listed = inbox.list()?;
    let missed = inbox.read()?.near_misses;
    visit.view("Inbox", &listed, |listed| {
        let all = visit.query("all").is_some();
        let shown: Vec<&ListedCandidate> = listed.iter().filter(|one| all || one.state == CandidateState::Open).collect();
        html! {
            p.soft {
                "Facts from conversations, proposed for memory. " (visit.obsidian(inbox.path().as_str())) " "
                @if all { a href="/inbox" { "Only open entries" } } @else { a href="/inbox?all=1" { "All entries" } }
            }
            @for finding in &missed {
                p.refused { (inbox.path()) ":" (finding.line) ": not understood: " (finding.reason) "; " (finding.suggestion) }
            }
            @if shown.is_empty() { (parts::empty("Nothing waits.")) }
            @for one in parts::page_of(visit, &shown, PER_PAGE) { (entry(visit, one)) }
            (parts::pager(visit, shown.len(), PER_PAGE))
        }
    })
}

fn entry(visit: &Visit<'_>, one: &ListedCandidate) -> Markup {
    // As a link of the note: without its ending, with the block behind it.
    let (log, block) = one.source.split_once("#^").unwrap_or((&one.source, ""));
    let log = if log.ends_with(".md") { log.to_owned() } else { format!("{log}.md") };
    let source = if block.is_empty() { note_address(&log) } else { block_address(&log, block) };
    let typed = visit.typed_of("edit", &[("id", &one.id)], "text").unwrap_or(&one.text);
    let was = words(one);
    let values = [("id", one.id.as_str()), ("was", was.as_str())];
    html! {
        article id=(one.id) {
            h2 { (one.text) }
            p.soft {
                (parts::badge(&one.category.to_string(), "")) " for " (one.section)
                @if let Some(by) = &one.by { ", found by " (by) }
            }
            blockquote { p { (one.quote) } p { a href=(source) { (one.source) } } }
            @if let Some(old) = &one.replaces { p { "Instead of: " (old) } }
            @if let Some(old) = &one.joins { p { "Beside: " (old) } }
            @match one.state {
                CandidateState::Open => {
                    (parts::button(visit, "/inbox", "keep", &values, "Keep"))
                    (parts::button(visit, "/inbox", "drop", &values, "Drop"))
                    details.more id={ "edit-" (one.id) } {
                        summary { "Edit and keep" }
                        (parts::form(visit, "/inbox", "edit", &html! {
                            (parts::hidden_values(&values))
                            label { span { "Text of the fact" } textarea name="text" rows="2" { (typed) } }
                        }, "Keep this text"))
                    }
                },
                CandidateState::Kept => p.soft { "Kept." },
                CandidateState::Dropped => p.soft { "Declined." },
            }
        }
    }
}

/// A decision of a person: the words, and the section that they go to.
fn words(one: &ListedCandidate) -> String {
    format!("{}: {}", one.section, one.text)
}

/// Refuses a form whose question says something else than on the form's page.
fn check_unchanged(inbox: &Inbox<'_>, form: &FormData) -> Result<()> {
    let listed = inbox.list()?;
    let open = listed.iter().find(|one| one.id == form.get("id") && one.state == CandidateState::Open);
    let (Some(open), Some(was)) = (open, form.non_blank("was")) else { return Ok(()) };
    if words(open) == was {
        return Ok(());
    }
    let now = crate::format::quote(&open.text);
    Err(PageError::changed(format!("this entry was changed meanwhile: it now reads {now}")))
}

pub(super) fn act(visit: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    let inbox = Inbox::new(visit.workspace.memory());
    let (id, origin) = (form.get("id"), visit.origin());
    check_unchanged(&inbox, form)?;
    let said = match form.get("do") {
        "keep" => format!("Kept: {}", inbox.keep(id, None, HUMAN, visit.now, &origin)?.saved.text),
        "edit" => {
            let kept = inbox.keep(id, Some(form.get("text")), HUMAN, visit.now, &origin)?;
            format!("Kept: {}", kept.saved.text)
        }
        "drop" => format!("Declined: {}", inbox.decline(id, &origin)?.text),
        other => return Err(PageError::no_such_action(other)),
    };
    Ok(MadeChange::new("/inbox", said))
}
