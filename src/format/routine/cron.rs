//! Parses five cron fields (minute, hour, day of the month, month, day of the week), matches days, and formats the
//! schedule in words. Pure.
//!
//! Each field is `*`, a number, a range `1-5`, a list `1,3,5`, or one of these with a step (`*/15`, `8-18/2`). Months
//! and days of the week have English names of three letters; Sunday is 0 or 7. If neither the day of the month nor the
//! day of the week begins with `*`, a day matches if one of the two fields matches; otherwise both must match. This is
//! the usual rule of cron. A schedule that never comes (`31 2`) is an error. `schedule` handles clock changes.

use std::{fmt, str::FromStr};

use jiff::civil::Date;

use crate::format::{self, listed};

/// Five fields, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether the field of the day of the month begins with `*`.
    any_day: bool,
    any_weekday: bool,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A field's name, its least and greatest number, and the names of its numbers from the least on.
type Shape = (&'static str, u32, u32, &'static [&'static str]);

const SHAPES: [Shape; 5] = [
    ("minute", 0, 59, &[]),
    ("hour", 0, 23, &[]),
    ("day of the month", 1, 31, &[]),
    ("month", 1, 12, &MONTHS),
    ("day of the week", 0, 7, &WEEKDAYS),
];

impl FromStr for Cron {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err("cron has five fields".to_owned());
        };
        let mut sets = [0; 5];
        for ((set, field), shape) in sets.iter_mut().zip([minute, hour, day, month, weekday]).zip(&SHAPES) {
            *set = numbers(field, shape).ok_or_else(|| format!("`{field}` is no {}", shape.0))?;
        }
        let [minutes, hours, days, months, mut weekdays] = sets;
        // Sunday has two numbers.
        weekdays = (weekdays | weekdays >> 7) & 0x7f;
        let cron = Self {
            text: fields.join(" "),
            minutes,
            hours,
            days,
            months,
            weekdays,
            any_day: day.starts_with('*'),
            any_weekday: weekday.starts_with('*'),
        };
        if cron.never_comes() {
            return Err("no such day comes in any year".to_owned());
        }
        Ok(cron)
    }
}

/// The numbers that a field names, as bits.
fn numbers(field: &str, shape: &Shape) -> Option<u64> {
    let mut set = 0;
    for part in field.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(digits(step).filter(|step| (1..=59).contains(step))?)),
            None => (part, None),
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (shape.1, if shape.2 == 7 { 6 } else { shape.2 }),
            Some((first, last)) => (number(first, shape)?, number(last, shape)?),
            // `5/10` begins at 5 and goes on to the end.
            None if step.is_some() => (number(range, shape)?, if shape.2 == 7 { 6 } else { shape.2 }),
            None => (number(range, shape)?, number(range, shape)?),
        };
        if first > last {
            return None;
        }
        for value in (first..=last).step_by(step.unwrap_or(1) as usize) {
            set |= 1 << value;
        }
    }
    Some(set)
}

fn number(text: &str, &(_, least, most, names): &Shape) -> Option<u32> {
    let named = names.iter().position(|name| text.eq_ignore_ascii_case(name));
    let found = match named {
        Some(at) => u32::try_from(at).ok()? + least,
        None => digits(text)?,
    };
    (least..=most).contains(&found).then_some(found)
}

impl Cron {
    /// Whether a day fits the fields of day, month and weekday.
    pub fn comes_on(&self, date: Date) -> bool {
        let has = |set: u64, number: i8| set >> number & 1 == 1;
        let day = has(self.days, date.day());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset());
        has(self.months, date.month())
            && if self.any_day || self.any_weekday { day && weekday } else { day || weekday }
    }

    /// The minutes of the day, in order.
    pub fn minutes(&self) -> impl Iterator<Item = u16> + '_ {
        let hours = (0..24_u16).filter(|hour| self.hours >> hour & 1 == 1);
        hours.flat_map(|hour| {
            (0..60_u16).filter(|minute| self.minutes >> minute & 1 == 1).map(move |minute| hour * 60 + minute)
        })
    }

    /// The same in words: `on Monday to Friday at 08:00`.
    pub fn words(&self) -> String {
        let day =
            match (self.any_day && self.days.count_ones() == 31, self.any_weekday && self.weekdays == 0x7f) {
                (true, true) => "each day".to_owned(),
                (true, false) => format!("on {}", weekdays(self.weekdays)),
                (false, true) => days(self.days),
                (false, false) if self.any_day || self.any_weekday => {
                    format!("{} that is a {}", days(self.days), weekdays(self.weekdays))
                }
                (false, false) => format!("{} and on {}", days(self.days), weekdays(self.weekdays)),
            };
        let months = if self.months.count_ones() == 12 {
            String::new()
        } else {
            format!(" in {}", listed(named(self.months >> 1, &*format::MONTHS), "and"))
        };
        format!("{day}{months} {}", self.time())
    }

    /// The times of a day in words.
    fn time(&self) -> String {
        let all: Vec<u16> = self.minutes().collect();
        let clock = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        let step = all.windows(2).map(|pair| pair[1] - pair[0]).collect::<std::collections::BTreeSet<_>>();
        match (all.len(), step.len(), step.first()) {
            (0..=4, ..) => format!("at {}", listed(all.into_iter().map(clock).collect(), "and")),
            (count, 1, Some(step)) if usize::from(*step) * count == 24 * 60 => every(*step),
            (_, 1, Some(step)) => {
                format!("{} from {} to {}", every(*step), clock(all[0]), clock(all[all.len() - 1]))
            }
            (count, ..) => {
                format!("{count} times from {} to {}", clock(all[0]), clock(all[all.len() - 1]))
            }
        }
    }

    /// Whether only days are named that no month among them has: `31 2`.
    fn never_comes(&self) -> bool {
        const LONGEST: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let first = self.days.trailing_zeros();
        let fits = |month: usize| self.months >> (month + 1) & 1 == 1 && first <= LONGEST[month];
        let by_weekday = !self.any_day && !self.any_weekday;
        !by_weekday && !(0..12).any(fits)
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// `every hour`, `every 15 minutes`.
fn every(minutes: u16) -> String {
    match (minutes / 60, minutes % 60) {
        (1, 0) => "every hour".to_owned(),
        (hours, 0) => format!("every {hours} hours"),
        (0, 1) => "every minute".to_owned(),
        _ => format!("every {minutes} minutes"),
    }
}

fn weekdays(set: u64) -> String {
    match set {
        0b011_1110 => "Monday to Friday".to_owned(),
        0b100_0001 => "Saturday and Sunday".to_owned(),
        // A week begins with Monday.
        set => listed(named((set | (set & 1) << 7) >> 1, &*format::WEEKDAYS), "and"),
    }
}

fn days(set: u64) -> String {
    let all: Vec<String> =
        (1..=31).filter(|day| set >> day & 1 == 1).map(|day: u32| day.to_string()).collect();
    let word = if all.len() == 1 { "day" } else { "days" };
    format!("on {word} {} of the month", listed(all, "and"))
}

/// The names whose bits are set, from the first bit on.
fn named<S: ToString>(set: u64, names: &[S]) -> Vec<String> {
    let has = |(at, name): (usize, &S)| (set >> at & 1 == 1).then(|| name.to_string());
    names.iter().enumerate().filter_map(has).collect()
}

/// A number of plain digits.
pub(super) fn digits(text: &str) -> Option<u32> {
    let plain = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_mean_what_cron_means() {
        let minutes = |text: &str| text.parse::<Cron>().unwrap().minutes().collect::<Vec<_>>();
        assert_eq!(minutes("*/20 8 * * *"), [480, 500, 520]);
        assert_eq!(minutes("5,10-12 0,23 * * *"), [5, 10, 11, 12, 1385, 1390, 1391, 1392]);
        assert_eq!(minutes("50/5 1-3/2 * * *"), [110, 115, 230, 235]);
        let days = |text: &str| {
            let cron: Cron = text.parse().unwrap();
            let all = jiff::civil::date(2026, 11, 1).series(jiff::Span::new().days(1)).take(30);
            all.filter(|date| cron.comes_on(*date)).map(jiff::civil::Date::day).collect::<Vec<_>>()
        };
        assert_eq!(days("0 8 * * mon-wed"), [2, 3, 4, 9, 10, 11, 16, 17, 18, 23, 24, 25, 30]);
        assert_eq!(days("0 8 * * 7"), days("0 8 * * SUN"));
        assert_eq!(days("0 8 * * sun"), [1, 8, 15, 22, 29]);
        assert_eq!(days("0 8 13 * fri"), [6, 13, 20, 27], "either field");
        assert_eq!(days("0 8 13 * *"), [13]);
        assert_eq!(days("0 8 */10 * *"), [1, 11, 21]);
        assert_eq!(days("0 8 */10 * sun"), [1], "with a `*` in front both fields have to fit");
        assert_eq!(days("0 8 * dec *"), [0; 0]);
    }

    #[test]
    fn what_is_no_cron_is_said() {
        for (text, why) in [
            ("60 * * * *", "`60` is no minute"),
            ("0 24 * * *", "`24` is no hour"),
            ("0 8 0 * *", "`0` is no day of the month"),
            ("0 8 * 13 *", "`13` is no month"),
            ("0 8 * * monday", "`monday` is no day of the week"),
            ("0 8 * * fri-mon", "`fri-mon` is no day of the week"),
            ("*/0 * * * *", "`*/0` is no minute"),
            ("+1 * * * *", "`+1` is no minute"),
            ("0 8 31 2 *", "no such day comes in any year"),
            ("0 8 31 2,4,6 *", "no such day comes in any year"),
        ] {
            assert_eq!(text.parse::<Cron>().unwrap_err(), why, "{text}");
        }
        assert!("0 8 29 2 *".parse::<Cron>().is_ok());
        assert!("0 8 31 2 mon".parse::<Cron>().is_ok(), "Mondays in February");
    }

    #[test]
    fn a_schedule_is_said_in_words() {
        for (text, words) in [
            ("0 8 * * *", "each day at 08:00"),
            ("30 8,18 * * 1-5", "on Monday to Friday at 08:30 and 18:30"),
            ("0 9 * * 0,6", "on Saturday and Sunday at 09:00"),
            ("0 9 * * sun,tue", "on Tuesday and Sunday at 09:00"),
            ("*/15 * * * *", "each day every 15 minutes"),
            ("0 * * * *", "each day every hour"),
            ("0 8-20/2 * * *", "each day every 2 hours from 08:00 to 20:00"),
            ("0 7 1,15 * *", "on days 1 and 15 of the month at 07:00"),
            ("0 7 1 jan,jul *", "on day 1 of the month in January and July at 07:00"),
            ("0 7 1 * mon", "on day 1 of the month and on Monday at 07:00"),
            ("0,7,9,30 1,5 * * *", "each day 8 times from 01:00 to 05:30"),
        ] {
            assert_eq!(text.parse::<Cron>().unwrap().words(), words, "{text}");
        }
    }
}
