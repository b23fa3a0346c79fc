//! Every row of tools/oracle/schedule.csv: what another library and another method answer around
//! each clock change of six zones, 2000 to 2050.

use super::*;
use jiff::{civil::DateTime, tz};
use vault_agent::schedule::{self, Occurrence, database_version};

const TABLE: &str = include_str!("../../tools/oracle/schedule.csv");

#[test]
fn every_row_of_the_table() {
    let (heading, rows) = TABLE.split_once('\n').unwrap();
    // Where jiff bundles another release, the table is made anew: tools/oracle/README.md.
    assert_eq!(heading.trim_start_matches("# IANA ").split(' ').next().unwrap(), database_version());

    let (mut zone, mut counts) = (Zone::get("UTC").unwrap(), BTreeMap::new());
    for (number, row) in (2..).zip(rows.lines()) {
        let columns: Vec<&str> = row.split(',').collect();
        *counts.entry(columns[0]).or_insert(0_usize) += 1;
        let (expected, answer) = match columns[0] {
            "zone" => {
                zone = Zone::get(columns[1]).unwrap();
                continue;
            }
            "at" => (columns[2].to_owned(), minute(schedule::resolve(&zone, local(columns[1])))),
            "every" => (columns[4..].join(","), every(&zone, &columns)),
            "due" => (columns[5..].join(","), due(&zone, &columns)),
            other => panic!("row {number}: unknown kind `{other}`"),
        };
        assert_eq!(answer, expected, "{zone}, row {number}: {row}");
    }
    // The table itself is whole.
    assert_eq!(counts["zone"], 6);
    for (kind, at_least) in [("at", 3000), ("every", 3000), ("due", 4000)] {
        assert!(counts[kind] > at_least, "{counts:?}");
    }
}

fn every(zone: &Zone, columns: &[&str]) -> String {
    let reminder = reminder(columns[1], columns[2], columns[3]);
    let times: Vec<String> =
        schedule::occurrences(zone, &reminder).take(columns.len() - 4).map(shown).collect();
    times.join(",")
}

fn due(zone: &Zone, columns: &[&str]) -> String {
    let reminder = reminder(columns[1], columns[2], columns[3]);
    let now = tz::Offset::UTC.to_timestamp(local(columns[4])).unwrap();
    let Some(due) = schedule::due(zone, &reminder, now) else { return ",,".to_owned() };
    format!("{},{},{}", shown(due.occurrence), due.missed, shown(due.next.expect("these all recur")))
}

/// From the table's `monthly`, `20260228+31` and `0930`.
fn reminder(recur: &str, date: &str, time: &str) -> Reminder {
    let mut parts = date.split('+');
    let date = Date::strptime("%Y%m%d", parts.next().unwrap()).unwrap();
    let day = parts.next().map(|day| day.parse().unwrap());
    super::reminder(date, Time::strptime("%H%M", time).unwrap(), recurrence(recur), day)
}

fn shown(occurrence: Occurrence) -> String {
    let meant = occurrence.day.map(|day| format!("+{day}")).unwrap_or_default();
    format!("{}{meant}={}", occurrence.local.strftime("%Y%m%d"), minute(occurrence.at))
}

fn local(text: &str) -> DateTime {
    DateTime::strptime("%Y%m%dT%H%M", text).unwrap()
}

fn minute(at: Timestamp) -> String {
    assert_eq!(at.as_second() % 60, 0, "{at}");
    at.strftime("%Y%m%dT%H%M").to_string()
}
