//! London's two clock changes of 2026, minute by minute.

use vault_agent::schedule::{due, resolve};

use crate::schedule::{instant, line, zone};

fn london(local: &str) -> String {
    resolve(&zone("Europe/London"), local.parse().unwrap()).to_string()
}

#[test]
fn every_minute_of_the_gap_is_its_end() {
    for minute in 0..60 {
        assert_eq!(london(&format!("2026-03-29T01:{minute:02}")), "2026-03-29T01:00:00Z");
    }
}

#[test]
fn two_lines_in_the_gap_fire_in_the_same_minute() {
    let zone = zone("Europe/London");
    for time in ["01:10", "01:50"] {
        let reminder = line(&format!("2026-03-29 {time} none"));
        assert_eq!(due(&zone, &reminder, instant("2026-03-29T00:59:59Z")), None);
        let due = due(&zone, &reminder, instant("2026-03-29T01:00:00Z")).unwrap();
        assert_eq!(due.occurrence.local.to_string(), format!("2026-03-29T{time}:00"));
        assert_eq!(due.occurrence.at, instant("2026-03-29T01:00:00Z"));
    }
}

#[test]
fn in_the_repeated_hour_it_fires_once() {
    let zone = zone("Europe/London");
    let daily = line("2026-10-25 01:30 daily");
    let first = due(&zone, &daily, instant("2026-10-25T00:30:00Z")).unwrap();
    let next = first.next.unwrap();
    assert_eq!(next.local.date().to_string(), "2026-10-26");
    // The line has moved: when the clock shows 01:30 again, nothing is due.
    let moved = line("2026-10-26 01:30 daily");
    assert_eq!(due(&zone, &moved, instant("2026-10-25T01:30:00Z")), None);
    assert_eq!(next.at, instant("2026-10-26T01:30:00Z"));
}

#[test]
fn while_the_hour_repeats_all_of_its_first_pass_is_due() {
    // 01:10 GMT, when the clock shows less than the 01:50 that has been.
    let zone = zone("Europe/London");
    let found = due(&zone, &line("2026-10-25 01:50 none"), instant("2026-10-25T01:10:00Z")).unwrap();
    assert_eq!(found.occurrence.at, instant("2026-10-25T00:50:00Z"));
}
