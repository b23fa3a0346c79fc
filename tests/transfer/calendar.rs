//! The calendar, read back and worked out by an independent implementation (the crate calcard), and
//! compared with the scheduler's own occurrences.

use crate::support::prelude::*;
use calcard::icalendar::{ICalendar, ICalendarComponent, ICalendarComponentType};
use calcard::icalendar::{ICalendarProperty, ICalendarValue};
use chrono::NaiveDateTime;
use jiff::civil::{Date, DateTime, Time};
use proptest::prelude::*;
use vault_agent::format::reminder::{Recur, Reminder};
use vault_agent::schedule::{Occurrence, occurrences};
use vault_agent::transfer::{VaultContents, calendar::calendar};

const NOW: &str = "2026-12-01T09:30:00Z";

/// The calendar of a vault with that note of reminders.
fn exported(zone: &Zone, reminders: &str) -> String {
    let folder = Folder::new(&[]);
    folder.write("Reminders.md", reminders);
    let vault = Vault::open(&folder.root()).unwrap();
    calendar(&VaultContents::read(&vault, &Settings::default(), zone).unwrap(), NOW.parse().unwrap())
}

fn parsed(text: &str) -> ICalendar {
    ICalendar::parse(text).unwrap_or_else(|entry| panic!("{entry:?}\n{text}"))
}

fn events(calendar: &ICalendar) -> impl Iterator<Item = &ICalendarComponent> {
    calendar.components.iter().filter(|one| one.component_type == ICalendarComponentType::VEvent)
}

/// The first local times of each event, by its summary, as the independent reader works them out.
fn expanded(calendar: &ICalendar, limit: usize) -> HashMap<String, Vec<NaiveDateTime>> {
    let mut found: HashMap<String, Vec<NaiveDateTime>> = HashMap::new();
    for event in events(calendar) {
        // By itself, so that the limit is its own.
        let alone = ICalendar { components: vec![event.clone()] };
        let expanded = alone.expand_dates(calcard::common::timezone::Tz::Floating, limit);
        assert!(expanded.errors.is_empty(), "{:?}", expanded.errors);
        let starts = expanded.events.iter().map(|event| event.start.naive_local()).collect();
        assert!(found.insert(text_of(event, &ICalendarProperty::Summary), starts).is_none());
    }
    found
}

fn text_of(event: &ICalendarComponent, name: &ICalendarProperty) -> String {
    match &event.entries.iter().find(|entry| entry.name == *name).unwrap().values[..] {
        [ICalendarValue::Text(text)] => text.clone(),
        other => panic!("{name:?}: {other:?}"),
    }
}

fn naive(at: DateTime) -> NaiveDateTime {
    at.strftime("%Y-%m-%dT%H:%M:%S").to_string().parse().unwrap()
}

#[test]
fn reminders_and_follow_ups_are_events() {
    let vault = TestVault::new(include_str!("calendar.txt"));
    let out = vault.run(&["export", "--format", "ics"]).ok().stdout;
    let (head, rest) = out.split_once("BEGIN:VTIMEZONE").unwrap();
    let (zone, events) = rest.split_once("END:VTIMEZONE\r\n").unwrap();
    assert!(zone.contains("TZID:Europe/London\r\n") && zone.contains("BEGIN:DAYLIGHT\r\n"));
    insta::assert_snapshot!(format!("{head}…\n{events}").replace("\r\n", "\n"));
    assert!(out.split("\r\n").all(|line| line.len() <= 75 && !line.contains('\n')));
    // Nothing moved: the same calendar, but for when it was made.
    let again = vault.run(&["export", "--format", "ics"]).ok().stdout;
    assert_eq!(again.replace("DTSTAMP:20261201T093001Z", "DTSTAMP:20261201T093000Z"), out);
}

#[test]
fn lines_that_share_an_id_are_told_apart() {
    let line = "- [ ] date=2026-12-31 time=09:30 recur=none msg=\"A\" id=rid_AAAAAAAAAAAA\n";
    let text = format!("{line}{line}{}", line.replace("\"A\"", "\"B\""));
    let calendar = parsed(&exported(&Zone::get("UTC").unwrap(), &text));
    let uids: Vec<_> = events(&calendar).map(|event| text_of(event, &ICalendarProperty::Uid)).collect();
    assert_eq!(uids, ["rid_AAAAAAAAAAAA@vault-agent", "rid_AAAAAAAAAAAA-2@vault-agent"]);
}

/// The offset that the calendar's own rules give for a local time, as RFC 5545 has it: of the
/// observance that began last.
fn offset_by_rules(rules: &[(NaiveDateTime, String)], local: NaiveDateTime) -> &str {
    let begun = rules.iter().filter(|(start, _)| *start <= local);
    begun.max_by_key(|(start, _)| *start).map(|(_, to)| to.as_str()).unwrap()
}

/// What each observance of a calendar says: when it begins, and the offset from then on.
fn rules(text: &str) -> Vec<(NaiveDateTime, String)> {
    let unfolded = text.replace("\r\n ", "");
    let (mut rules, mut starts) = (Vec::new(), Vec::<NaiveDateTime>::new());
    for line in unfolded.lines().take_while(|line| *line != "END:VTIMEZONE") {
        let at = |text: &str| NaiveDateTime::parse_from_str(text, "%Y%m%dT%H%M%S").unwrap();
        match line.split_once(':').unwrap() {
            ("BEGIN", "STANDARD" | "DAYLIGHT") => starts.clear(),
            ("DTSTART", start) => starts.push(at(start)),
            ("RDATE", dates) => starts.extend(dates.split(',').map(at)),
            ("TZOFFSETTO", to) => rules.extend(starts.iter().map(|start| (*start, to.to_owned()))),
            _ => {}
        }
    }
    rules
}

fn any_zone() -> impl Strategy<Value = Zone> {
    let mut names: Vec<String> = Zone::names().filter(|name| Zone::get(name).is_ok()).collect();
    names.sort();
    prop::sample::select(names).prop_map(|name| Zone::get(&name).unwrap())
}

fn reminder(date: Date, time: Time, recur: Recur, day: Option<i8>, msg: &str) -> Reminder {
    Reminder { date, time, recur, day, msg: msg.to_owned(), id: None, block_id: None }
}

fn any_reminder() -> impl Strategy<Value = Reminder> {
    let recur = prop::sample::select(vec![Recur::None, Recur::Daily, Recur::Weekly, Recur::Monthly]);
    let date =
        (2020..=2040_i16, 1..=12_i8, prop_oneof![27..=31_i8, 1..=31_i8]).prop_map(|(year, month, day)| {
            Date::new(year, month, day.min(Date::new(year, month, 1).unwrap().days_in_month())).unwrap()
        });
    let time = (prop_oneof![0..=3_i8, 0..=23_i8], 0..=59_i8)
        .prop_map(|(hour, minute)| Time::new(hour, minute, 0, 0).unwrap());
    (date, time, recur, prop::option::of(29..=31_i8))
        .prop_map(|(date, time, recur, day)| reminder(date, time, recur, day, ""))
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn a_calendar_means_what_the_scheduler_does(
        zone in any_zone(),
        mut reminders in proptest::collection::vec(any_reminder(), 40),
    ) {
        const COUNT: usize = 30;
        reminders.iter_mut().enumerate().for_each(|(place, reminder)| reminder.msg = format!("number {place}"));
        let note: String = reminders.iter().map(|reminder| reminder.to_line() + "\n").collect();
        // As local times: what they mean as instants is the next property's concern.
        let text = exported(&zone, &note).replace(&format!(";TZID={}", zone.name()), "");
        let found = expanded(&parsed(&text), COUNT);
        prop_assert_eq!(found.len(), reminders.len());
        for reminder in &reminders {
            // What comes once is written at the time that it really comes, should the clocks skip its own.
            let local = |one: Occurrence| match reminder.recur {
                Recur::None => zone.tz().to_datetime(one.at),
                _ => one.local,
            };
            let ours: Vec<_> = occurrences(&zone, reminder).take(COUNT).map(|it| naive(local(it))).collect();
            prop_assert_eq!(&found[&reminder.msg], &ours, "{} in {}", reminder.to_line(), zone);
        }
    }

    #[test]
    fn the_zone_rules_give_the_offsets_of_the_database(zone in any_zone(), days in 0..7000_i64, minutes in 0..1440_i64) {
        let text = exported(&zone, "- [ ] date=2026-12-31 time=09:30 recur=none msg=\"A\"\n");
        let from: Timestamp = "2026-02-01T00:00:00Z".parse().unwrap();
        let at = from + SignedDuration::from_hours(24 * days) + SignedDuration::from_mins(minutes);
        let local = zone.tz().to_datetime(at);
        // In the hour that comes twice, a rule can't tell which is meant: the standard takes the first.
        prop_assume!(!zone.tz().to_ambiguous_timestamp(local).is_ambiguous());
        let seconds = zone.tz().to_offset(at).seconds();
        let odd = if seconds % 60 == 0 { String::new() } else { format!("{:02}", seconds.abs() % 60) };
        let shown = format!("{}{:02}{:02}{odd}", if seconds < 0 { '-' } else { '+' }, seconds.abs() / 3600, seconds.abs() / 60 % 60);
        // The rules speak of the wall clock before each change; after a fold it reads earlier for a while.
        let near_change = zone.tz().preceding(at).next().is_some_and(|change| change.timestamp() + SignedDuration::from_hours(25) > at);
        prop_assume!(!near_change);
        let rules = rules(&text);
        prop_assert_eq!(offset_by_rules(&rules, naive(local)), shown, "{} at {}", zone, local);
    }

    #[test]
    fn any_message_is_read_back(msg in "[^\\p{Cc}]{1,200}") {
        let reminder = reminder(Date::new(2026, 12, 31).unwrap(), Time::midnight(), Recur::None, None, &msg);
        let text = exported(&Zone::get("UTC").unwrap(), &format!("{}\n", reminder.to_line()));
        prop_assume!(text.contains("BEGIN:VEVENT"));
        let calendar = parsed(&text);
        let event = events(&calendar).next().unwrap();
        prop_assert_eq!(text_of(event, &ICalendarProperty::Summary), reminder.msg);
    }
}
