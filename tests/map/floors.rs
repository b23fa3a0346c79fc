//! A room uses only rooms that stand above it in `ARCHITECTURE.md`, and no files import each other in a circle.

use std::collections::BTreeSet;

use crate::modules::{Modules, in_a_circle};

/// Rooms that anybody may stand before, and that use what they like: the front doors.
const FRONT_DOORS: [&str; 6] = ["cli", "hooks", "mcp", "web", "discord", "daemon"];

/// The rooms of the table in `ARCHITECTURE.md`, in its order.
fn table() -> Vec<String> {
    let rows = include_str!("../../ARCHITECTURE.md").lines().filter(|line| line.starts_with("| `src/"));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let names = cells.flat_map(|cell| cell.split('`').filter_map(|part| part.strip_prefix("src/")));
    names.map(|name| name.trim_end_matches('/').trim_end_matches(".rs").to_owned()).collect()
}

#[test]
fn the_table_names_every_room_once() {
    let modules = Modules::all();
    let rooms: BTreeSet<String> = modules.files.keys().filter_map(|module| module.first().cloned()).collect();
    let named = table();
    let once: BTreeSet<String> = named.iter().cloned().collect();
    assert_eq!(named.len(), once.len(), "a room stands twice in the table: {named:?}");
    assert_eq!(once, rooms);
}

#[test]
fn a_room_uses_only_rooms_that_stand_above_it() {
    let order = table();
    let place = |room: &str| order.iter().position(|known| known == room);
    let upward: Vec<(String, String)> = Modules::all()
        .among_children(&[])
        .into_iter()
        .filter(|(from, to)| !FRONT_DOORS.contains(&from.as_str()) && place(to) > place(from))
        .collect();
    assert!(upward.is_empty(), "uses of a room further down: {upward:#?}");
}

#[test]
fn nothing_is_used_in_a_circle() {
    let modules = Modules::all();
    for folder in modules.folders() {
        let uses = modules.among_children(&folder);
        let circle = in_a_circle(&uses);
        assert!(circle.is_empty(), "{} has a circle: {circle:?}", folder.join("/"));
    }
}
