//! Serves the places of the page (its addresses): one file a place, with its view and its changes.
//!
//! A place calls the rooms that its commands call, and owns no rule. [`PLACES`] is the list.

mod approvals;
mod calendar;
mod files;
mod health;
mod history;
mod inbox;
mod memory;
mod notes;
mod routines;
mod search;
mod today;
mod turns;
mod usage;

use super::answer::{MadeChange, PageError, PageView};
use super::visit::{FormData, Visit};

/// A place of the page.
#[derive(Debug)]
pub(super) struct PagePlace {
    /// The first part of its path; empty for the first page.
    pub name: &'static str,
    /// Its title in the navigation.
    pub title: &'static str,
    /// Whether it stands in the navigation.
    pub is_listed: bool,
    /// Its view. Changes nothing.
    pub see: fn(&Visit<'_>) -> Result<PageView, PageError>,
    /// The action of its forms.
    pub act: fn(&Visit<'_>, &FormData) -> Result<MadeChange, PageError>,
}

/// All places, in the order of the navigation.
pub(super) const PLACES: [PagePlace; 13] = [
    PagePlace { name: "", title: "Today", is_listed: true, see: today::see, act: today::act },
    PagePlace {
        name: "calendar",
        title: "Calendar",
        is_listed: true,
        see: calendar::see,
        act: calendar::act,
    },
    PagePlace { name: "notes", title: "Notes", is_listed: true, see: notes::see, act: notes::act },
    PagePlace { name: "history", title: "History", is_listed: true, see: history::see, act: history::act },
    PagePlace { name: "inbox", title: "Inbox", is_listed: true, see: inbox::see, act: inbox::act },
    PagePlace {
        name: "approvals",
        title: "Approvals",
        is_listed: true,
        see: approvals::see,
        act: approvals::act,
    },
    PagePlace { name: "turns", title: "Questions", is_listed: true, see: turns::see, act: turns::act },
    PagePlace {
        name: "routines",
        title: "Routines",
        is_listed: true,
        see: routines::see,
        act: routines::act,
    },
    PagePlace { name: "usage", title: "Usage", is_listed: true, see: usage::see, act: nothing },
    PagePlace { name: "search", title: "Search", is_listed: true, see: search::see, act: nothing },
    PagePlace { name: "memory", title: "Memory", is_listed: true, see: memory::see, act: memory::act },
    PagePlace { name: "health", title: "Health", is_listed: true, see: health::see, act: health::act },
    PagePlace { name: "files", title: "Files", is_listed: false, see: files::see, act: nothing },
];

/// The places that have more than one address; all others end with their name.
pub(super) const WITH_PARTS: [&str; 5] = ["files", "notes", "history", "turns", "routines"];

/// For a place without changes.
fn nothing(_: &Visit<'_>, form: &FormData) -> Result<MadeChange, PageError> {
    Err(PageError::no_such_action(form.get("do")))
}
