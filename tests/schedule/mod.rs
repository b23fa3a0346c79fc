//! The schedule against tables, another library, and properties.

mod due;
mod oracle;
mod properties;
mod routines;
mod when;

use crate::support::prelude::*;
use jiff::civil::{Date, Time};
use vault_agent::format::reminder::{Recur, Reminder};
use vault_agent::schedule::DueReminder;

/// A reminder with those fields, and no others that matter here.
fn reminder(date: Date, time: Time, recur: Recur, day: Option<i8>) -> Reminder {
    Reminder { date, time, recur, day, msg: "x".to_owned(), id: None, block_id: None }
}

/// The same from text: `2026-01-31 09:30 monthly`.
fn line(text: &str) -> Reminder {
    let [date, time, recur] = text.split(' ').collect::<Vec<_>>()[..] else { panic!("{text}") };
    reminder(date.parse().unwrap(), time.parse().unwrap(), recurrence(recur), None)
}

/// What is due in a few words: `2026-11-20, 1 missed, then 2026-11-21`.
fn shown(due: DueReminder) -> String {
    let next = due.next.map_or("gone".to_owned(), |next| next.local.date().to_string());
    format!("{}, {} missed, then {next}", due.occurrence.local.date(), due.missed)
}

fn recurrence(name: &str) -> Recur {
    Recur::parse(name).unwrap()
}

fn zone(name: &str) -> Zone {
    Zone::get(name).unwrap()
}

fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}
