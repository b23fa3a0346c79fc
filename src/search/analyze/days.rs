//! Finds the days and months that a text names, in words ("yesterday", "two weeks ago") or by date.
//!
//! [`named_days`] finds the days that a question names. [`About`] is the day that a turn is about, if the turn was said
//! on another day. Only English words are known. Pure.

use jiff::civil::Date;

use crate::format::{MONTHS_LOWER, WEEKDAYS_LOWER};
use crate::search::analyze::word_list;

/// A day or month that a question names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The year, where it says one.
    pub year: Option<i16>,
    /// 1 to 12.
    pub month: i8,
    /// The day, where it says one.
    pub day: Option<i8>,
}

/// The days and months that the words (lower case) name; `today` is what "yesterday" counts from.
pub fn named_days(words: &[String], today: Date) -> Vec<Named> {
    let mut out = Vec::new();
    let at = |index: usize| words.get(index).map(String::as_str);
    let year =
        |index: usize| at(index).filter(|word| word.len() == 4).and_then(|word| word.parse::<i16>().ok());
    let day = |word: Option<&str>| {
        let word = word?;
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let suffix = &word[digits.len()..];
        let day = digits.parse::<i8>().ok().filter(|day| (1..=31).contains(day))?;
        (digits.len() <= 2 && ["", "st", "nd", "rd", "th"].contains(&suffix)).then_some(day)
    };
    for (index, word) in words.iter().enumerate() {
        match word.as_str() {
            "yesterday" => out.extend(today.yesterday().ok().map(of_date)),
            "today" => out.push(of_date(today)),
            "tomorrow" => out.extend(today.tomorrow().ok().map(of_date)),
            "last" => out.extend(at(index + 1).and_then(|unit| beside(-1, unit, today))),
            "next" => out.extend(at(index + 1).and_then(|unit| beside(1, unit, today))),
            "ago" => {
                let unit = index.checked_sub(1).and_then(at);
                let number = index.checked_sub(2).and_then(at);
                out.extend(unit.zip(number).and_then(|(unit, number)| ago(number, unit, today)));
            }
            _ => {}
        }
        let Some(month) = MONTHS_LOWER.iter().position(|month| month == word) else { continue };
        let month = i8::try_from(month + 1).unwrap_or(1);
        let before = index.checked_sub(1);
        let with_of = before.filter(|at| words[*at] == "of").and_then(|at| at.checked_sub(1)).or(before);
        if let Some(day) = day(with_of.and_then(at)) {
            out.push(Named { year: year(index + 1), month, day: Some(day) });
        } else if let Some(day) = day(at(index + 1)) {
            out.push(Named { year: year(index + 2), month, day: Some(day) });
        } else {
            // "may" and "march" are verbs, too, unless a year or a preposition makes them a month.
            let year = year(index + 1);
            let led = before.and_then(at).is_some_and(|word| {
                ["in", "of", "during", "since", "until", "by", "last", "this", "early", "late"]
                    .contains(&word)
            });
            if !["may", "march"].contains(&word.as_str()) || year.is_some() || led {
                out.push(Named { year, month, day: None });
            }
        }
    }
    out
}

/// The last (-1) or next (1) such weekday, weekend, week or month.
fn beside(which: i32, unit: &str, today: Date) -> Option<Named> {
    let unit = if unit == "weekend" { "saturday" } else { unit };
    if let Some(weekday) = WEEKDAYS_LOWER.iter().position(|weekday| *weekday == unit) {
        let weekday = jiff::civil::Weekday::from_monday_zero_offset(i8::try_from(weekday).ok()?).ok()?;
        return today.nth_weekday(which, weekday).ok().map(of_date);
    }
    counted(-i64::from(which), unit, today)
}

/// "Two weeks ago": a day, or a month where months are counted.
fn ago(number: &str, unit: &str, today: Date) -> Option<Named> {
    const NUMBERS: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let number = match number {
        "a" | "an" => 1,
        _ => (1..).zip(NUMBERS).find(|(_, name)| *name == number).map(|(n, _)| n).or(number.parse().ok())?,
    };
    counted(number, unit, today)
}

/// The day so many days or weeks before `today`, or the month so many months before; after it where the number is
/// negative.
fn counted(number: i64, unit: &str, today: Date) -> Option<Named> {
    let span = jiff::Span::new();
    match unit.strip_suffix('s').unwrap_or(unit) {
        "day" => today.checked_sub(span.try_days(number).ok()?).ok().map(of_date),
        "week" => today.checked_sub(span.try_weeks(number).ok()?).ok().map(of_date),
        "month" => {
            let then = today.checked_sub(span.try_months(number).ok()?).ok()?;
            Some(Named { day: None, ..of_date(then) })
        }
        _ => None,
    }
}

fn of_date(date: Date) -> Named {
    Named { year: Some(date.year()), month: date.month(), day: Some(date.day()) }
}

impl Named {
    /// How well `date` matches: 1 on the day, falling to 0 over three days on either side; 0.4 within a named month.
    pub fn fit(self, date: Date) -> f32 {
        let Some(day) = self.day else {
            let same = date.month() == self.month && self.year.is_none_or(|year| year == date.year());
            return if same { 0.4 } else { 0.0 };
        };
        let Ok(named) = Date::new(self.year.unwrap_or(date.year()), self.month, day) else { return 0.0 };
        let days = date.since(named).map_or(i32::MAX, |span| span.get_days().abs());
        let fits = usize::try_from(days).ok().and_then(|days| [1.0, 0.75, 0.5, 0.25].get(days));
        fits.copied().unwrap_or(0.0)
    }

    /// The day that a text means which was said on the day `said`: a date without a year is the nearest one, a month is
    /// its first day.
    fn near(self, said: Date) -> Option<Date> {
        let years = match self.year {
            Some(year) => year..=year,
            None => said.year() - 1..=said.year() + 1,
        };
        let dates = years.filter_map(|year| Date::new(year, self.month, self.day.unwrap_or(1)).ok());
        dates.min_by_key(|date| said.until(*date).map_or(i32::MAX, |span| span.get_days().abs()))
    }
}

/// The day or month that a turn is about, as the distance from the day on which it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct About(i16);

impl About {
    /// The first day or month that `text`, said on the day `said`, names, other than that day. `None` if there is none,
    /// or if it is more than forty years away.
    pub fn of(text: &str, said: Date) -> Self {
        let coded = |named: Named| {
            let date = named.near(said)?;
            let days = said.until(date).ok()?.get_days();
            i16::try_from(days * 2 + i32::from(named.day.is_none())).ok().filter(|code| *code != 0)
        };
        Self(named_days(&word_list(text), said).into_iter().find_map(coded).unwrap_or(0))
    }

    /// How well the day of a question matches a turn that was said on the day `said`: as [`Named::fit`], and half of
    /// that if the turn names only a month.
    pub fn fit(self, said: Date, named: Named) -> f32 {
        let date = jiff::Span::new().try_days(self.0.div_euclid(2)).and_then(|span| said.checked_add(span));
        let Some(date) = date.ok().filter(|_| self.0 != 0) else { return 0.0 };
        if self.0.rem_euclid(2) == 0 {
            return named.fit(date);
        }
        match named.day {
            None => named.fit(date),
            Some(_) => Named { day: None, ..named }.fit(date) / 2.0,
        }
    }

    /// As it is stored.
    pub fn to_bytes(self) -> [u8; 2] {
        self.0.to_le_bytes()
    }

    /// From [`About::to_bytes`].
    pub fn from_bytes(bytes: [u8; 2]) -> Self {
        Self(i16::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn dates(text: &str) -> Vec<Named> {
        named_days(&word_list(text), date(2026, 11, 21))
    }

    #[test]
    fn dates_are_found_in_either_order() {
        let day = |year, month, day| Named { year, month, day: Some(day) };
        assert_eq!(dates("on 7 May 2023?"), [day(Some(2023), 5, 7)]);
        assert_eq!(dates("the 3rd of July"), [day(None, 7, 3)]);
        assert_eq!(dates("August 23, 2022"), [day(Some(2022), 8, 23)]);
        assert_eq!(dates("in May"), [Named { year: None, month: 5, day: None }]);
        assert_eq!(dates("may I march"), []);
        assert_eq!(dates("yesterday"), [day(Some(2026), 11, 20)]);
        assert_eq!(dates("40 March 20000"), []);
        // 21 November 2026 is a Saturday.
        assert_eq!(dates("two weeks ago"), [day(Some(2026), 11, 7)]);
        assert_eq!(dates("What did she say last Friday?"), [day(Some(2026), 11, 20)]);
        assert_eq!(dates("last month"), [Named { year: Some(2026), month: 10, day: None }]);
        assert_eq!(dates("ago last 99999999999 days ago"), []);
    }

    #[test]
    fn fits_fade() {
        let named = Named { year: None, month: 2, day: Some(29) };
        assert_eq!(named.fit(date(2024, 3, 1)), 0.75);
        assert_eq!(named.fit(date(2023, 3, 1)), 0.0);
        assert_eq!(Named { year: Some(2023), month: 7, day: None }.fit(date(2023, 7, 31)), 0.4);
    }

    #[test]
    fn a_turn_is_about_the_day_that_it_names() {
        // A Thursday.
        let said = date(2023, 5, 25);
        let on = |month, day| Named { year: Some(2023), month, day: Some(day) };
        for (text, named, fit) in [
            ("Yesterday we adopted a kitten!", on(5, 24), 1.0),
            ("I painted it last Saturday, and today it is dry", on(5, 20), 1.0),
            ("The race is next month", Named { day: None, ..on(6, 1) }, 0.4),
            ("The race is next month", on(6, 11), 0.2),
            ("We married two years ago on 3 June", Named { year: None, ..on(6, 3) }, 1.0),
            ("I love it today", on(5, 25), 0.0),
            ("", on(5, 25), 0.0),
            ("in March 1066", on(3, 1), 0.0),
        ] {
            let about = About::of(text, said);
            assert_eq!(About::from_bytes(about.to_bytes()).fit(said, named), fit, "{text}");
        }
    }
}
