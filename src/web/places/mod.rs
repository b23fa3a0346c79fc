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
pub(super) const PLACES: &[PagePlace] = &[
    today::PLACE,
    calendar::PLACE,
    notes::PLACE,
    history::PLACE,
    inbox::PLACE,
    approvals::PLACE,
    turns::PLACE,
    routines::PLACE,
    usage::PLACE,
    search::PLACE,
    memory::PLACE,
    health::PLACE,
    files::PLACE,
];

/// The places that have more than one address; all others end with their name.
pub(super) const WITH_PARTS: [&str; 5] = ["files", "notes", "history", "turns", "routines"];

/// For a place without changes.
fn nothing(_: &Visit<'_>, form: &FormData) -> Result<MadeChange, PageError> {
    Err(PageError::no_such_action(form.get("do")))
}
