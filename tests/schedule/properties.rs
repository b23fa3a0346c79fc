//! Properties over all zones and dates, with chrono-tz as a second implementation and the older zone database beside it.

use super::*;
use chrono::{NaiveDate, Offset as _, TimeZone as _};
use proptest::prelude::*;
use vault_agent::schedule::*;

fn any_zone() -> impl Strategy<Value = Zone> {
    let mut names: Vec<String> = Zone::names().filter(|name| Zone::get(name).is_ok()).collect();
    names.sort();
    let hard = ["Europe/London", "Australia/Lord_Howe", "Pacific/Apia", "Antarctica/Troll", "Asia/Gaza"];
    prop_oneof![prop::sample::select(names), prop::sample::select(hard.map(str::to_owned).to_vec())]
        .prop_map(|name| Zone::get(&name).unwrap())
}

fn date_in(years: std::ops::RangeInclusive<i16>) -> impl Strategy<Value = Date> {
    (years, 1..=12_i8, 1..=31_i8).prop_map(|(year, month, day)| {
        Date::new(year, month, day.min(Date::new(year, month, 1).unwrap().days_in_month())).unwrap()
    })
}

fn any_time() -> impl Strategy<Value = Time> {
    // Clocks change in the small hours.
    let hour = prop_oneof![0..=3_i8, 0..=23_i8];
    (hour, 0..=59_i8).prop_map(|(hour, minute)| Time::new(hour, minute, 0, 0).unwrap())
}

fn any_reminder(years: std::ops::RangeInclusive<i16>) -> impl Strategy<Value = Reminder> {
    let recur = prop::sample::select(vec![Recur::None, Recur::Daily, Recur::Weekly, Recur::Monthly]);
    (date_in(years), any_time(), recur, prop::option::of(29..=31_i8))
        .prop_map(|(date, time, recur, day)| super::reminder(date, time, recur, day))
}

fn instant_near(reminder: &Reminder, days: i64, seconds: i64) -> Timestamp {
    let at = jiff::tz::Offset::UTC.to_timestamp(reminder.date.to_datetime(reminder.time)).unwrap();
    at + SignedDuration::from_hours(24 * days) + SignedDuration::from_secs(seconds)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// A resolved time reads back as itself, or lies in a gap and becomes its end.
    #[test]
    fn what_exists_reads_back(zone in any_zone(), date in date_in(1..=9998), time in any_time()) {
        let local = date.to_datetime(time);
        let at = resolve(&zone, local);
        let back = zone.tz().to_datetime(at);
        if back != local {
            prop_assert!(back > local);
            let minute_before = zone.tz().to_datetime(at - SignedDuration::from_mins(1));
            prop_assert!(minute_before < local, "{zone}: {local} isn't skipped, yet came as {back}");
        }
    }

    /// chrono-tz, whose data is older, agrees on what local times mean where the two offsets agree.
    #[test]
    fn chrono_agrees(zone in any_zone(), date in date_in(1970..=2024), time in any_time()) {
        let Ok(other) = zone.name().parse::<chrono_tz::Tz>() else { return Ok(()) };
        let local = date.to_datetime(time);
        let naive = NaiveDate::from_ymd_opt(date.year().into(), date.month() as u32, date.day() as u32)
            .and_then(|day| day.and_hms_opt(time.hour() as u32, time.minute() as u32, 0))
            .unwrap();
        let at = resolve(&zone, local);
        let differs = |hours: i64| {
            let instant = at + SignedDuration::from_hours(hours);
            let utc = chrono::DateTime::from_timestamp(instant.as_second(), 0).unwrap().naive_utc();
            let theirs = other.offset_from_utc_datetime(&utc).fix().local_minus_utc();
            zone.tz().to_offset(instant).seconds() != theirs
        };
        if (-48..365 * 24).step_by(6).any(differs) {
            return Ok(());
        }
        // It says only that a time is in a gap; the end is the first minute that isn't.
        let theirs = (0..2 * 24 * 60)
            .find_map(|minute| other.from_local_datetime(&(naive + chrono::Duration::minutes(minute))).earliest())
            .unwrap();
        prop_assert_eq!(at.as_second(), theirs.timestamp(), "{} {}", zone, local);
    }

    /// The arithmetic finds what walking from the first occurrence finds.
    #[test]
    fn due_is_what_walking_finds(
        zone in any_zone(), reminder in any_reminder(1840..=2100), days in -3..800_i64, seconds in 0..86_400_i64,
    ) {
        let now = instant_near(&reminder, days, seconds);
        let (mut past, mut next) = (Vec::new(), None);
        for occurrence in occurrences(&zone, &reminder) {
            if occurrence.at > now {
                next = Some(occurrence);
                break;
            }
            past.push(occurrence);
        }
        prop_assert_eq!(next_occurrence(&zone, &reminder, now), next);
        let found = due(&zone, &reminder, now);
        let Some((latest, earlier)) = past.split_last() else {
            prop_assert_eq!(found, None);
            return Ok(());
        };
        let found = found.unwrap();
        prop_assert_eq!(&found.occurrence, latest);
        prop_assert_eq!(found.missed as usize, earlier.len());
        prop_assert_eq!(found.next, next);
        let now = DueInstant::new(&zone, now);
        for (sent, occurrence) in past.iter().enumerate().take(40) {
            let unsent = now.due_after(&reminder, occurrence.local).map_or(0, |due| due.missed as usize + 1);
            prop_assert_eq!(unsent, past.len() - sent - 1);
        }
    }

    /// A line that is moved as it fires, again and again, goes through the same occurrences as the
    /// series seen from its start: nothing drifts, nothing is skipped.
    #[test]
    fn moving_the_line_step_by_step_is_the_series(
        zone in any_zone(), mut reminder in any_reminder(1960..=2060),
    ) {
        let expected: Vec<Occurrence> = occurrences(&zone, &reminder).take(30).collect();
        for occurrence in &expected {
            let found = due(&zone, &reminder, occurrence.at).unwrap();
            prop_assert_eq!(&found.occurrence, occurrence);
            prop_assert_eq!(found.missed, 0);
            match found.next {
                Some(next) => (reminder.date, reminder.day) = (next.local.date(), next.day),
                None => prop_assert_eq!(reminder.recur, Recur::None),
            }
        }
    }

}

fn differences(name: &str, from: &str, years: u32) -> Vec<Difference> {
    compare_zone_data(&zone(name), instant(from), years)
}

#[test]
fn where_the_databases_agree_there_is_nothing_to_say() {
    for name in ["Europe/London", "Australia/Lord_Howe", "Pacific/Apia", "UTC"] {
        assert_eq!(differences(name, "2026-11-21T00:00:00Z", 2), [], "{name}");
    }
    assert_eq!(differences("UTC", "9999-12-01T00:00:00Z", 2), []);
}

#[test]
fn vancouver_keeps_summer_time_in_our_data_alone() {
    // British Columbia abolished the change of clocks in 2026; release 2025b doesn't know.
    assert_eq!(other_database_version(), "2025b");
    let found = differences("America/Vancouver", "2026-06-01T00:00:00Z", 1);
    let [winter] = found[..] else { panic!("{found:?}") };
    assert_eq!(winter.from, instant("2026-11-01T09:00:00Z"));
    assert_eq!(winter.until, Some(instant("2027-03-14T10:00:00Z")));
    assert_eq!((winter.ours.to_string(), winter.theirs.unwrap().to_string()), ("-07".into(), "-08".into()));
    // A span that reaches over the ends is cut there.
    let found = differences("America/Vancouver", "2027-01-01T00:00:00Z", 1);
    assert_eq!((found[0].from, found.last().unwrap().until), (instant("2027-01-01T00:00:00Z"), None));
    assert_eq!(differences("America/Vancouver", "2027-01-01T00:00:00Z", 0), []);
}
