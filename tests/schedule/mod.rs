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

/// The same from text: `2026-01-31 09:30 monthly`, with a `day=31` at the end if need be.
fn line(text: &str) -> Reminder {
    let mut fields = text.split(' ');
    let mut field = || fields.next().expect("date, time and recurrence");
    let (date, time) = (field().parse().unwrap(), field().parse().unwrap());
    let recur = recurrence(field());
    let day = fields.next().map(|day| day.trim_start_matches("day=").parse().unwrap());
    reminder(date, time, recur, day)
}

/// What is due in a few words: `2026-11-20, 1 missed, then 2026-11-21`.
fn shown(due: DueReminder) -> String {
    let next = due.next.map_or("gone".to_owned(), |next| {
        let day = next.day.map(|day| format!(" day={day}")).unwrap_or_default();
        format!("{}{day}", next.local.date())
    });
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
