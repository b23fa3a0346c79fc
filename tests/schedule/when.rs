//! What people type for a time: every phrase of `grammar/vectors/when.json`, and what holds for all phrases.

use super::instant;
use crate::support::prelude::*;
use jiff::ToSpan;
use jiff::civil::{DateTime, Weekday};
use proptest::prelude::*;
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};
use vault_agent::when::*;

/// The vectors with their instant and zone.
fn vectors() -> (Value, Timestamp, Zone) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/grammar/vectors/when.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let now = vectors["now"].as_str().unwrap().parse().unwrap();
    let zone = Zone::get(vectors["zone"].as_str().unwrap()).unwrap();
    (vectors, now, zone)
}

fn list<'v>(vectors: &'v Value, key: &str) -> &'v Vec<Value> {
    vectors[key].as_array().unwrap()
}

/// The vectors of phrases that mean one time, each with its phrase.
fn means(vectors: &Value) -> impl Iterator<Item = (&str, &Value)> {
    list(vectors, "means").iter().map(|vector| (vector["phrase"].as_str().unwrap(), vector))
}

fn london() -> Zone {
    Zone::get("Europe/London").unwrap()
}

/// A local time with its recurrence, as the vectors have them.
fn shown(local: DateTime, recur: impl std::fmt::Display) -> String {
    format!("{} {recur}", local.strftime("%Y-%m-%dT%H:%M"))
}

fn wanted(one: &Value) -> String {
    format!("{} {}", one["local"].as_str().unwrap(), one["recur"].as_str().unwrap_or("none"))
}

#[test]
fn each_phrase_means_what_its_vector_says() {
    let (vectors, now, zone) = vectors();
    assert!(means(&vectors).count() >= 300);
    for (phrase, vector) in means(&vectors) {
        let meaning = read(phrase, now, &zone).unwrap_or_else(|error| panic!("{phrase}: {error}"));
        assert_eq!(shown(meaning.local, meaning.recur), wanted(vector), "{phrase}");
        // It isn't taken for another one with something before or behind it.
        for odd in ["qx", "not", "!", "777"] {
            for text in [format!("{odd} {phrase}"), format!("{phrase} {odd}"), format!("{phrase}{odd}")] {
                assert!(read(&text, now, &zone).is_err(), "{text}");
            }
        }
    }
}

#[test]
fn what_can_be_several_times_is_refused_with_all_of_them() {
    let (vectors, now, zone) = vectors();
    for vector in list(&vectors, "can_be") {
        let phrase = vector["phrase"].as_str().unwrap();
        let error = read(phrase, now, &zone).unwrap_err();
        let WhenError::Ambiguous(_, readings) = &error else { panic!("{phrase}: {error}") };
        let found: Vec<String> = readings.iter().map(|reading| shown(reading.local, reading.recur)).collect();
        assert_eq!(found, list(vector, "readings").iter().map(wanted).collect::<Vec<_>>(), "{phrase}");
        for reading in readings {
            assert!(error.to_string().contains(&reading.typed), "{error}");
            let again = read_past(&reading.typed, now, &zone).map(|at| zone.tz().to_datetime(at));
            let typed = read(&reading.typed, now, &zone).map(|meaning| meaning.local).or(again);
            assert_eq!(typed.unwrap(), reading.local, "{phrase}: what is offered can be typed");
        }
    }
}

#[test]
fn what_is_no_time_is_refused_with_a_reason_of_our_own() {
    let (vectors, now, zone) = vectors();
    for phrase in list(&vectors, "refused") {
        let phrase = phrase.as_str().unwrap();
        let error = read(phrase, now, &zone).unwrap_err();
        assert!(!matches!(error, WhenError::Ambiguous { .. }), "{error}");
        assert!(error.to_string().contains(&format!("`{phrase}`")), "{error}");
    }
}

#[test]
fn letter_case_accents_and_blanks_mean_nothing() {
    let (vectors, now, zone) = vectors();
    for (phrase, _) in means(&vectors) {
        let meaning = read(phrase, now, &zone).unwrap();
        let flat: String = phrase.nfd().filter(|c| !is_combining_mark(*c)).collect();
        for text in [phrase.to_uppercase(), flat, format!("  {}  ", phrase.replace(' ', "\u{a0} "))] {
            // RFC 3339 has no blanks of another kind.
            if phrase.contains("T0") || phrase.ends_with(":01") {
                continue;
            }
            let found = read(&text, now, &zone).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((found.local, found.recur), (meaning.local, meaning.recur), "{text}");
        }
    }
}

fn at(now: &str, text: &str) -> String {
    match parse_when(text, now.parse().unwrap(), &london()) {
        Ok(local) => local.strftime("%Y-%m-%d %H:%M").to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn next_month_is_never_guessed() {
    insta::assert_snapshot!(at("2026-11-22T10:00:00Z", "next month"), @"`next month` can be `Tue 1 Dec 09:00` (in 9 days) or `Tue 22 Dec 09:00` (in 30 days)");
    assert_eq!(at("2026-11-01T10:00:00Z", "next month"), "2026-12-01 09:00", "one and the same day");
    insta::assert_snapshot!(at("2026-11-22T10:00:00Z", "next friday"), @"`next friday` can be `Fri 27 Nov 09:00` (in 5 days) or `Fri 4 Dec 09:00` (in 12 days)");
    // The coming one is in the next week.
    assert_eq!(at("2026-11-28T10:00:00Z", "next friday"), "2026-12-04 09:00");
    assert_eq!(at("2026-11-27T10:00:00Z", "next friday"), "2026-12-04 09:00");
    assert_eq!(at("2026-11-22T10:00:00Z", "nächsten Freitag"), "2026-11-27 09:00", "weeks begin on Monday");
    assert_eq!(at("2026-11-23T10:00:00Z", "next week"), "2026-11-30 09:00");
}

#[test]
fn clock_changes() {
    assert_eq!(at("2026-03-28T23:30:00Z", "in 2 hours"), "2026-03-29 02:30");
    assert_eq!(at("2026-03-28T12:00:00Z", "tomorrow 01:30"), "2026-03-29 01:30");
    assert_eq!(at("2026-10-24T23:00:00Z", "2026-10-25 01:30"), "2026-10-25 01:30");
    // What comes twice has passed with its first time; on looking back, it has come.
    let (now, zone) = ("2026-10-25T01:10:00Z".parse().unwrap(), london());
    for (text, first) in [
        ("01:30", "2026-10-26T01:30 none"),
        ("every day 01:30", "2026-10-26T01:30 daily"),
        ("every sunday 01:30", "2026-11-01T01:30 weekly"),
        ("sunday 01:30", "2026-11-01T01:30 none"),
        ("02:30", "2026-10-25T02:30 none"),
    ] {
        let meaning = read(text, now, &zone).unwrap();
        assert_eq!(shown(meaning.local, meaning.recur), first, "{text}");
    }
    assert_eq!(read_past("01:30", now, &zone).unwrap().to_string(), "2026-10-25T00:30:00Z");
    let second = "`in 20 minutes` is 2026-10-25 01:10 for the second time that night, which a date and a time can't name: they mean the first, an hour too early";
    assert_eq!(at("2026-10-25T00:50:00Z", "in 20 minutes"), second);
    // An instant names it.
    let of_two = |which: &str| format!(" (the {which} of the two that the clocks show)");
    for (now, text, due, said) in [
        ("00:30:00", "in 1 hour", "01:30:00", "01:30, in 1 h".to_owned() + &of_two("second")),
        ("01:10:20", "in 5 minutes", "01:16:00", "01:16, in 5 min".to_owned() + &of_two("second")),
        ("00:30:00", "1:45", "00:45:00", "01:45, in 15 min".to_owned() + &of_two("first")),
        ("01:30:00", "2:30", "02:30:00", "02:30, in 1 h".to_owned()),
    ] {
        let [now, due] = [now, due].map(|time| format!("2026-10-25T{time}Z").parse().unwrap());
        let meaning = parse_instant(text, now, &zone).unwrap();
        assert_eq!(meaning.at, due, "{text}");
        assert_eq!(confirmation_of((meaning.local, meaning.at), now, &zone), format!("Sun 25 Oct {said}"));
    }
    let skipped = "Sun 29 Mar 01:30, tomorrow (the clocks skip that time: it comes at 02:00)".to_owned();
    let twice = "Sun 25 Oct 01:30, in 5 days".to_owned() + &of_two("first");
    for (now, local, said) in [("2026-03-28", "2026-03-29", skipped), ("2026-10-20", "2026-10-25", twice)] {
        let (local, now) = (format!("{local}T01:30").parse().unwrap(), format!("{now}T12:00:00Z").parse());
        assert_eq!(confirmation(local, now.unwrap(), &zone), said);
    }
}

#[test]
fn what_was_understood_is_said_back_with_weekday_and_distance() {
    let (now, zone) = ("2026-11-22T10:00:20Z".parse().unwrap(), london());
    let say = |text: &str| {
        let meaning = read(text, now, &zone).unwrap();
        confirmation_with(meaning.local, meaning.recur, now, &zone)
    };
    for (phrase, said) in [
        ("now", "Sun 22 Nov 10:01, in 1 min"),
        ("12:30", "Sun 22 Nov 12:30, in 2 h 29 min"),
        ("tonight", "Sun 22 Nov 19:00, in 8 h 59 min"),
        ("midnight", "Mon 23 Nov 00:00, tomorrow"),
        ("end of month", "Mon 30 Nov 09:00, in 8 days"),
        ("30 november 2027", "Tue 30 Nov 2027 09:00, in 373 days"),
        ("every friday 17:00", "Fri 27 Nov 17:00, in 5 days, then weekly"),
    ] {
        assert_eq!(say(phrase), said, "{phrase}");
    }
}

#[test]
fn errors_say_what_is_wrong() {
    // Each error names its phrase.
    let phrases = "tomorow|tomorrow 9am call mum|tomorrow 17|2026-02-30 09:00|31 june|june|monday 4 december|5/3/27|\
        tomorrow 17 Uhr|tonight at 9am|alle zwei Wochen|every friday|today 9am|5";
    let shown: Vec<String> = phrases.split('|').map(|text| at("2026-12-01T09:30:20Z", text)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    can't read `tomorow` as a time: `tomorow` means nothing here; did you mean `tomorrow`?
    can't read `tomorrow 9am call mum` as a time: `call` means nothing here
    can't read `tomorrow 17` as a time: is `17` an hour? write it as `17:00`
    can't read `2026-02-30 09:00` as a time: there is no day `2026-02-30`
    can't read `31 june` as a time: there is no 31 June
    can't read `june` as a time: which day of the month? write it as `1 december`
    can't read `monday 4 december` as a time: 4 December 2026 is a Friday, not a Monday
    can't read `5/3/27` as a time: write the year with four digits
    can't read `tomorrow 17 Uhr` as a time: its words are of more than one language
    can't read `tonight at 9am` as a time: `09:00` is not in the evening
    can't read `alle zwei Wochen` as a time: a reminder comes daily, weekly or monthly, and in no other way
    `every friday` comes again and again, and one time is asked for here; the first is `Fri 4 Dec 09:00`
    `today 9am` is in the past: that is 2026-12-01 09:00, and it is 2026-12-01 09:30 now
    `5` can be `Tue 1 Dec 17:00` (in 7 h 29 min) or `Wed 2 Dec 05:00` (tomorrow)
    ");
}

#[test]
fn the_past_is_read_where_it_is_looked_at() {
    let (now, zone) = ("2026-11-25T10:00:20Z".parse().unwrap(), london());
    for (text, instant) in [
        ("yesterday 18:00", "2026-11-24T18:00:00Z"),
        ("yesterday", "2026-11-24T00:00:00Z"),
        ("2 hours ago", "2026-11-25T08:00:20Z"),
        ("in 2 hours", "2026-11-25T12:00:20Z"),
        ("vor 2 Stunden", "2026-11-25T08:00:20Z"),
        ("3 days ago", "2026-11-22T10:00:20Z"),
        ("7 days ago", "2026-11-18T10:00:20Z"),
        ("monday", "2026-11-23T00:00:00Z"),
        ("friday 17:00", "2026-11-20T17:00:00Z"),
        ("17:00", "2026-11-24T17:00:00Z"),
        ("9am", "2026-11-25T09:00:00Z"),
        ("1 july", "2026-06-30T23:00:00Z"),
        ("last monday", "2026-11-16 or 2026-11-23"),
        ("last weekend", "2026-11-21 or 2026-11-22"),
        ("letztes Wochenende", "2026-11-21 or 2026-11-22"),
        ("end of last week", "2026-11-20 or 2026-11-22"),
        ("now", "2026-11-25T10:00:20Z"),
    ] {
        let found = match read_past(text, now, &zone) {
            Ok(at) => at.to_string(),
            Err(WhenError::Ambiguous(_, readings)) => {
                let days: Vec<_> = readings.iter().map(|reading| reading.local.date().to_string()).collect();
                days.join(" or ")
            }
            Err(error) => panic!("{text}: {error}"),
        };
        assert_eq!(found, instant, "{text}");
    }
}

#[test]
fn days_of_the_week_hold_on_every_day_of_a_year() {
    let (start, zone) = (instant("2026-01-01T10:00:00Z"), london());
    for day in 0..400 {
        let now = start + SignedDuration::from_hours(24 * day);
        let today = zone.tz().to_datetime(now).date();
        for text in ["friday", "coming friday", "this friday 17:00", "next friday", "kommenden Freitag"] {
            match read(text, now, &zone) {
                Ok(meaning) => {
                    let ahead = today.until(meaning.local.date()).unwrap().get_days();
                    assert!((0..=7).contains(&ahead), "{text} on {today}: {}", meaning.local);
                    assert_eq!(meaning.local.weekday(), Weekday::Friday, "{text} on {today}");
                }
                Err(WhenError::Ambiguous(_, readings)) => {
                    assert!(readings.iter().all(|reading| reading.local.weekday() == Weekday::Friday));
                }
                Err(error) => panic!("{text} on {today}: {error}"),
            }
        }
        let last = parse_when("end of month 23:00", now, &zone).unwrap().date();
        assert_eq!((last, last.month()), (today.last_of_month(), today.month()));
        assert_eq!(parse_when("tomorrow", now, &zone).unwrap().date(), today.checked_add(1.day()).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_text_panics(text in "\\PC{0,30}|([a-z]{1,5}|[0-9]{1,6}|next|in|tomorrow|fri|jan|am|pm|every|of|the|[-/:., ]| ){1,8}") {
        let (now, zone) = ("2026-12-01T09:30:20Z".parse().unwrap(), london());
        let _ = (read(&text, now, &zone), read_past(&text, now, &zone));
    }

    /// What is said back can be typed, and means the same.
    #[test]
    fn what_is_said_back_reads_as_itself(
        now in 1_600_000_000i64..4_000_000_000,
        ahead in 0i64..(3 * 366 * 24 * 60),
        zone in prop::sample::select(vec!["Europe/London", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", "UTC"]),
    ) {
        let (zone, now) = (Zone::get(zone).unwrap(), Timestamp::from_second(now).unwrap());
        let local = zone.tz().to_datetime(now + SignedDuration::from_mins(ahead + 1));
        let local = local.date().at(local.hour(), local.minute(), 0, 0);
        let typed = day_and_time(local, now, &zone);
        prop_assert_eq!(parse_when(&typed, now, &zone), Ok(local), "{}", typed);
    }
}
