//! Routines: what the timetable says against an oracle that walks every minute of the wall clock.

use super::*;
use jiff::civil::{DateTime, Weekday};
use proptest::prelude::*;
use vault_agent::format::routine::RoutineSchedule;
use vault_agent::schedule::{Timetable, resolve};

fn schedule(text: &str) -> RoutineSchedule {
    text.parse().unwrap()
}

/// Longer than the oracle walks.
#[test]
fn the_29th_of_february_comes_each_fourth_year() {
    let (zone, schedule) = (zone("Europe/London"), schedule("0 8 29 2 *"));
    let table = Timetable::new(&zone, &schedule);
    let years = table.after(instant("2026-11-22T09:00:00Z")).take(3).map(|it| it.local.year());
    assert!(years.eq([2028, 2032, 2036]));
}

/// All that a schedule means, told in another way than the program does: by its text, minute by minute.
fn fits(text: &str, at: DateTime) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    let clock = |text: &str| at.time() == text.parse::<Time>().unwrap();
    match words[0] {
        "daily" => clock(words[1]),
        "weekdays" => clock(words[1]) && at.weekday() != Weekday::Saturday && at.weekday() != Weekday::Sunday,
        "weekly" => clock(words[2]) && at.strftime("%a").to_string().to_lowercase() == words[1],
        "monthly" => {
            let wanted: i8 = words[1].parse().unwrap();
            clock(words[2]) && at.day() == wanted.min(at.date().days_in_month())
        }
        "every" => {
            let unit = if words[1].ends_with('h') { 60 } else { 1 };
            let every: i32 = words[1][..words[1].len() - 1].parse::<i32>().unwrap() * unit;
            (i32::from(at.hour()) * 60 + i32::from(at.minute())) % every == 0
        }
        _ => {
            let part = |field: &str, value: i8| match field {
                "*" => true,
                field => match field.strip_prefix("*/") {
                    Some(step) => value % step.parse::<i8>().unwrap() == 0,
                    None => field.split(',').any(|one| one.parse::<i8>().unwrap() == value),
                },
            };
            let weekday = at.weekday().to_sunday_zero_offset();
            let day = match (words[2], words[4]) {
                ("*", field) => part(field, weekday),
                (field, "*") => part(field, at.day()),
                (one, other) => part(one, at.day()) || part(other, weekday),
            };
            part(words[0], at.minute()) && part(words[1], at.hour()) && part(words[3], at.month()) && day
        }
    }
}

/// Instants with the latest local time that falls on each.
fn oracle(text: &str, zone: &Zone, first: Date, days: i64) -> BTreeMap<Timestamp, DateTime> {
    let first = first.to_datetime(Time::midnight());
    let minutes = (0..days * 1440).map(|minute| first.saturating_add(SignedDuration::from_mins(minute)));
    minutes.filter(|local| fits(text, *local)).map(|local| (resolve(zone, local), local)).collect()
}

fn texts() -> impl Strategy<Value = String> {
    let clock = (0..24u8, 0..60u8).prop_map(|(h, m)| format!("{h:02}:{m:02}"));
    let day = prop::sample::select(vec!["mon", "tue", "wed", "thu", "fri", "sat", "sun"]);
    prop_oneof![
        clock.clone().prop_map(|at| format!("daily {at}")),
        clock.clone().prop_map(|at| format!("weekdays {at}")),
        (day, clock.clone()).prop_map(|(day, at)| format!("weekly {day} {at}")),
        (1..=31u8, clock).prop_map(|(day, at)| format!("monthly {day} {at}")),
        (1..=90u8).prop_map(|minutes| format!("every {minutes}m")),
        (1..=24u8).prop_map(|hours| format!("every {hours}h")),
        (0..60u8, 0..24u8, 1..=28u8, 0..7u8)
            .prop_map(|(minute, hour, day, weekday)| format!("{minute} {hour} {day} * {weekday}")),
        (1..=20u8, 0..24u8).prop_map(|(step, hour)| format!("*/{step} {hour},23 * * *")),
        (0..60u8, 0..7u8).prop_map(|(minute, weekday)| format!("{minute} 1,2 * 3,10 {weekday}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Around clock changes of several zones, Lord Howe's half hour and the day that Apia left out among them.
    #[test]
    fn the_timetable_is_the_oracles(
        text in texts(),
        (place, first) in prop::sample::select(vec![
            ("Europe/London", "2026-03-25"), ("Europe/London", "2026-10-21"), ("America/New_York", "2026-03-04"),
            ("Australia/Lord_Howe", "2026-04-01"), ("Australia/Lord_Howe", "2026-09-30"), ("Pacific/Apia", "2011-12-26"),
            ("Asia/Kolkata", "2026-02-24"), ("UTC", "2027-12-28"),
        ]),
        (from, length) in (2 * 1440i64..4 * 1440, 1..5 * 1440i64),
    ) {
        let (zone, first) = (zone(place), first.parse::<Date>().unwrap());
        let all = oracle(&text, &zone, first, 12);
        let schedule = schedule(&text);
        let table = Timetable::new(&zone, &schedule);
        let from = resolve(&zone, first.to_datetime(Time::midnight())) + SignedDuration::from_mins(from);
        let until = from + SignedDuration::from_mins(length);
        let expected: Vec<(Timestamp, DateTime)> =
            all.iter().map(|(at, local)| (*at, *local)).filter(|(at, _)| *at > from && *at <= until).collect();
        let found: Vec<(Timestamp, DateTime)> =
            table.after(from).map(|it| (it.at, it.local)).take_while(|(at, _)| *at <= until).collect();
        prop_assert_eq!(&found, &expected, "{} in {}", text, place);
        prop_assert_eq!(table.count(from, until) as usize, expected.len());
        if let Some((at, local)) = all.range(..=until).next_back() {
            prop_assert_eq!(table.latest(until).map(|it| (it.at, it.local)), Some((*at, *local)));
        }
    }
}
