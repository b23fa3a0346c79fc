//! Days that a zone skipped or had twice; what the table of `oracle.rs` says of changes of the clock isn't said again.

use super::*;
use vault_agent::schedule::{DueInstant, due, next_occurrence, occurrences};

fn listed(zone_name: &str, text: &str, count: usize) -> Vec<String> {
    let zone = zone(zone_name);
    occurrences(&zone, &line(text)).take(count).map(|o| format!("{} = {}", o.local, o.at)).collect()
}

#[test]
fn where_the_two_meet_they_are_one() {
    let apia = zone("Pacific/Apia");
    let (daily, end) = (line("2011-12-29 00:00 daily"), instant("2011-12-30T10:00:00Z"));
    let skipped = due(&apia, &line("2011-12-30 00:00 daily"), end).map(shown);
    let expected = "2011-12-31, 0 missed, then 2012-01-01";
    assert_eq!(skipped.as_deref(), Some(expected), "a line that stands on the skipped day misses nothing");
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
