//! Serves the places of the page, such as `/inbox`. Each place has one file here, with its view and its actions.
//!
//! A place calls the same functions as the command for the same task. [`PLACES`] lists the places.

mod approvals;
mod calendar;
mod files;
mod health;
mod history;
mod inbox;
mod memory;
mod notes;
mod prelude;
mod routines;
mod search;
mod today;
mod turns;
mod usage;

use super::answer::{MadeChange, PageError, PageView, Result};
use super::visit::{FormData, Visit};

/// Shows a place. Changes nothing.
type See = fn(&Visit<'_>) -> Result<PageView>;
/// Does what a form of a place asks for.
type Act = fn(&Visit<'_>, &FormData) -> Result<MadeChange>;

/// A place of the page.
#[derive(Debug)]
pub(super) struct PagePlace {
    /// The first part of its path; empty for the first page.
    pub name: &'static str,
    /// Its title in the navigation; empty where it doesn't stand there.
    pub title: &'static str,
    /// Its view.
    pub see: See,
    /// The action of its forms.
    pub act: Act,
}

/// All places, in the order of the navigation.
pub(super) const PLACES: [PagePlace; 13] = [
    place("", "Today", today::see, today::act),
    place("calendar", "Calendar", calendar::see, calendar::act),
    place("notes", "Notes", notes::see, notes::act),
    place("history", "History", history::see, history::act),
    place("inbox", "Inbox", inbox::see, inbox::act),
    place("approvals", "Approvals", approvals::see, approvals::act),
    place("turns", "Questions", turns::see, turns::act),
    place("routines", "Routines", routines::see, routines::act),
    place("usage", "Usage", usage::see, nothing),
    place("search", "Search", search::see, nothing),
    place("memory", "Memory", memory::see, memory::act),
    place("health", "Health", health::see, health::act),
    place("files", "", files::see, nothing),
];

const fn place(name: &'static str, title: &'static str, see: See, act: Act) -> PagePlace {
    PagePlace { name, title, see, act }
}

/// The places that have more than one address; all others end with their name.
pub(super) const WITH_PARTS: [&str; 5] = ["files", "notes", "history", "turns", "routines"];

/// For a place without changes.
fn nothing(_: &Visit<'_>, form: &FormData) -> Result<MadeChange> {
    Err(PageError::no_such_action(form.get("do")))
}
