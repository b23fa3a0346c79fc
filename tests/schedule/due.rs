//! What is due, what is folded in, what comes next, a day that was left out, and the ends of the calendar.

use super::*;
use vault_agent::schedule::{DueInstant, due, next_occurrence, occurrences};

#[test]
fn nothing_is_due_a_nanosecond_before_its_minute() {
    let now = instant("2026-11-21T08:59:59.999999999Z");
    assert_eq!(due(&zone("Europe/London"), &line("2026-11-21 09:00 daily"), now).map(shown), None);
}

/// What was sent at a time of the series: `properties`.
#[test]
fn what_was_sent_at_no_time_of_the_series_ends_what_is_before_it() {
    let (london, daily) = (zone("Europe/London"), line("2026-11-18 09:00 daily"));
    let evening = DueInstant::new(&london, instant("2026-11-20T20:00:00Z"));
    let rest = |sent: &str| evening.due_after(&daily, sent.parse().unwrap()).map(shown);
    assert_eq!(rest("2027-01-01T09:00"), None, "the clock was put back");
    assert_eq!(rest("2020-01-01T09:00").unwrap(), "2026-11-20, 2 missed, then 2026-11-21");
}

#[test]
fn a_line_from_year_one_costs_no_more_than_one_from_yesterday() {
    // Walking it would take 740,000 steps a line; with 100,000 lines this would not end.
    let (tokyo, old) = (zone("Asia/Tokyo"), line("0001-01-01 09:00 daily"));
    let moment = DueInstant::new(&tokyo, instant("2026-11-21T10:00:00Z"));
    for _ in 0..100_000 {
        let due = moment.due(&old).unwrap();
        assert_eq!((due.missed, due.next.unwrap().local.date()), (739_940, jiff::civil::date(2026, 11, 22)));
    }
    let weekly = moment.due(&line("0001-01-01 09:00 weekly")).unwrap();
    assert_eq!((weekly.missed, weekly.occurrence.local.date().to_string()), (105_705, "2026-11-16".into()));
}

#[test]
fn a_day_that_a_zone_left_out_costs_one_time() {
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
fn the_ends_of_the_calendar_are_no_cliff() {
    let instants = [Timestamp::MIN, instant("2026-11-21T00:00:00Z"), Timestamp::MAX];
    for zone_name in ["UTC", "Pacific/Kiritimati", "America/Los_Angeles", "Pacific/Apia"] {
        let zone = zone(zone_name);
        for date in ["-009999-01-01", "0000-01-01", "0000-02-29", "2026-11-21", "9999-12-31"] {
            for time in ["00:00", "23:59"] {
                for recur in ["none", "daily", "weekly", "monthly"] {
                    let reminder = line(&format!("{date} {time} {recur}"));
                    instants.iter().for_each(|now| no_panic(&zone, &reminder, *now));
                }
            }
        }
    }
    let (last, zone) = (line("9999-12-31 09:00 daily"), zone("UTC"));
    assert_eq!(occurrences(&zone, &last).count(), 1);
    assert_eq!(occurrences(&zone, &line("9999-12-01 09:00 daily")).last().unwrap().at, Timestamp::MAX);
    assert_eq!(due(&zone, &last, Timestamp::MAX).unwrap().next, None);
    assert_eq!(next_occurrence(&zone, &last, Timestamp::MAX), None);
}

fn no_panic(zone: &Zone, reminder: &Reminder, now: Timestamp) {
    let next = next_occurrence(zone, reminder, now);
    assert!(due(zone, reminder, now).is_none_or(|due| due.occurrence.at <= now));
    assert!(next.is_none_or(|next| next.at > now));
    assert!(occurrences(zone, reminder).take(3).count() >= 1);
    for sent in [jiff::civil::DateTime::MIN, jiff::civil::DateTime::MAX] {
        DueInstant::new(zone, now).due_after(reminder, sent);
    }
}
