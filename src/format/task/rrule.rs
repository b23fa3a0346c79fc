//! Parses recurrence as an RRULE, as TaskNotes writes it: `DTSTART:20260804;FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH`.
//!
//! Times of day in `DTSTART` and `UNTIL` are ignored. An unknown part is an error.

use jiff::civil::Date;

use super::TaskTime;
use super::english_repeat::{Repeat, RepeatError, RepeatUnit, Weekday};

/// A recurrence with its beginning and its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rrule {
    /// The rule.
    pub repeat: Repeat,
    /// The date that it counts from.
    pub start: Option<Date>,
    /// The last date that it may have.
    pub until: Option<Date>,
    /// How many dates it has.
    pub count: Option<u32>,
}

/// Reads a recurrence.
///
/// # Errors
/// The part that isn't understood.
pub fn read(text: &str) -> Result<Rrule, RepeatError> {
    let word = |part: &str| RepeatError::Word(part.to_owned());
    let mut every = None;
    let repeat = Repeat { interval: 1, ..Repeat::default() };
    let mut rule = Rrule { repeat, ..Rrule::default() };
    let parts = text.trim().trim_start_matches("RRULE:").split(';').map(str::trim);
    for part in parts.filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once(['=', ':']).ok_or_else(|| word(part))?;
        let wrong = || word(part);
        match key.to_ascii_uppercase().as_str() {
            "DTSTART" => rule.start = Some(date(value).ok_or_else(wrong)?),
            "UNTIL" => rule.until = Some(date(value).ok_or_else(wrong)?),
            "COUNT" => rule.count = Some(value.parse().map_err(|_| wrong())?),
            "FREQ" => every = Some(frequency(value).ok_or_else(wrong)?),
            "INTERVAL" => {
                let interval = value.parse().ok().filter(|number| (1..=1000).contains(number));
                rule.repeat.interval = interval.ok_or_else(wrong)?;
            }
            "BYDAY" => rule.repeat.weekdays = list(value, weekday).ok_or_else(wrong)?,
            "BYMONTHDAY" => {
                let day = |text: &str| text.parse().ok().filter(|day: &i8| *day != 0 && day.abs() <= 31);
                rule.repeat.days = list(value, day).ok_or_else(wrong)?;
            }
            "BYMONTH" => {
                let month = |text: &str| text.parse().ok().filter(|month: &u8| (1..=12).contains(month));
                rule.repeat.months = list(value, month).ok_or_else(wrong)?;
            }
            "WKST" if value.eq_ignore_ascii_case("MO") => {}
            _ => return Err(wrong()),
        }
    }
    rule.repeat.every = every.ok_or(RepeatError::NoUnit)?;
    Ok(rule)
}

/// The text of a rule that counts from `start`, a date with a time of day where the task has one.
pub fn starting(text: &str, start: TaskTime) -> String {
    let time = start.time.map_or_else(String::new, |time| time.strftime("T%H%M00Z").to_string());
    let rest: Vec<&str> = text.split(';').filter(|part| !part.trim().starts_with("DTSTART")).collect();
    format!("DTSTART:{}{time};{}", start.date.strftime("%Y%m%d"), rest.join(";"))
}

fn frequency(value: &str) -> Option<RepeatUnit> {
    Some(match value {
        "DAILY" => RepeatUnit::Day,
        "WEEKLY" => RepeatUnit::Week,
        "MONTHLY" => RepeatUnit::Month,
        "YEARLY" => RepeatUnit::Year,
        _ => return None,
    })
}

fn date(value: &str) -> Option<Date> {
    Date::strptime("%Y%m%d", value.get(..8)?).ok()
}

fn list<T>(value: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    value.split(',').map(|item| read(item.trim())).collect()
}

fn weekday(text: &str) -> Option<Weekday> {
    let (nth, name) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let (day, _) = (0..).zip(["MO", "TU", "WE", "TH", "FR", "SA", "SU"]).find(|(_, known)| *known == name)?;
    Some(Weekday { day, nth: if nth.is_empty() { 0 } else { nth.parse().ok()? } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_tasknotes() {
        let rule =
            read("DTSTART:20260804T090000Z;FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR;UNTIL=20270101").unwrap();
        assert_eq!(rule.repeat.weekdays, [Weekday { day: 4, nth: -1 }]);
        assert_eq!((rule.repeat.every, rule.repeat.interval), (RepeatUnit::Month, 2));
        assert_eq!(rule.start, Some(Date::constant(2026, 8, 4)));
        assert_eq!(rule.until, Some(Date::constant(2027, 1, 1)));
        for wrong in
            ["", "FREQ=HOURLY", "FREQ=DAILY;BYSETPOS=1", "FREQ=DAILY;INTERVAL=0", "FREQ=WEEKLY;BYDAY=XX"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let day = TaskTime { date: Date::constant(2026, 12, 1), time: None };
        let moved = starting("DTSTART:20260804T090000Z;FREQ=DAILY", day);
        assert_eq!(moved, "DTSTART:20261201;FREQ=DAILY");
        let time = TaskTime { time: Some(jiff::civil::Time::constant(9, 30, 0, 0)), ..day };
        assert_eq!(starting("FREQ=DAILY", time), "DTSTART:20261201T093000Z;FREQ=DAILY");
    }
}
