//! Changes of the clock: days that a zone skipped or had twice, and London's two changes of 2026, minute by minute.

use vault_agent::schedule::{DueInstant, due, next_occurrence, occurrences, resolve};

use crate::schedule::{instant, line, shown, zone};

fn listed(zone_name: &str, text: &str, count: usize) -> Vec<String> {
    let zone = zone(zone_name);
    occurrences(&zone, &line(text)).take(count).map(|o| format!("{} = {}", o.local, o.at)).collect()
}

#[test]
fn every_minute_of_apias_skipped_day_is_the_first_of_the_next() {
    let apia = zone("Pacific/Apia");
    for hour in 0..24 {
        for minute in [0, 1, 30, 59] {
            let local = format!("2011-12-30T{hour:02}:{minute:02}").parse().unwrap();
            assert_eq!(resolve(&apia, local), instant("2011-12-30T10:00:00Z"), "{local}");
        }
    }
}

#[test]
fn where_the_two_meet_they_are_one() {
    let apia = zone("Pacific/Apia");
    for (text, now, expected) in [
        ("2011-12-29 00:00 daily", "2011-12-30T09:59:00Z", "2011-12-29, 0 missed, then 2011-12-31"),
        // The 29th was missed; the 30th is the 31st.
        ("2011-12-29 00:00 daily", "2011-12-30T10:00:00Z", "2011-12-31, 1 missed, then 2012-01-01"),
        // A line that stands on the skipped day itself misses nothing.
        ("2011-12-30 00:00 daily", "2011-12-30T10:00:00Z", "2011-12-31, 0 missed, then 2012-01-01"),
    ] {
        assert_eq!(
            due(&apia, &line(text), instant(now)).map(shown).as_deref(),
            Some(expected),
            "{text} at {now}"
        );
    }
    let (daily, end) = (line("2011-12-29 00:00 daily"), instant("2011-12-30T10:00:00Z"));
    assert_eq!(due(&apia, &daily, end).unwrap().occurrence.local.to_string(), "2011-12-31T00:00:00");
    let once = due(&apia, &line("2011-12-30 15:00 none"), end).unwrap();
    assert_eq!((once.occurrence.at, once.next), (end, None), "a one-off in the skipped day still comes");
    let sent = "2011-12-29T00:00".parse().unwrap();
    assert_eq!(DueInstant::new(&apia, end).due_after(&daily, sent).unwrap().missed, 0);
    let next = next_occurrence(&apia, &daily, instant("2011-12-29T10:00:00Z")).unwrap();
    assert_eq!(next.local.to_string(), "2011-12-31T00:00:00");
}

#[test]
fn a_day_that_came_twice_counts_the_first_time() {
    // Kwajalein left the western side of the date line on 30 September 1969, and had most of the day again.
    assert_eq!(
        listed("Pacific/Kwajalein", "1969-09-29 12:00 daily", 3),
        [
            "1969-09-29T12:00:00 = 1969-09-29T01:00:00Z",
            "1969-09-30T12:00:00 = 1969-09-30T01:00:00Z",
            "1969-10-01T12:00:00 = 1969-10-02T00:00:00Z",
        ]
    );
}

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
    let next = due(&zone, &daily, instant("2026-10-25T00:30:00Z")).unwrap().next.unwrap();
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
