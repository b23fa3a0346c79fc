//! Parses recurrence in English, as Tasks and Reminder write it: `every 2 weeks on Monday, Thursday when done`.
//!
//! The words are those of rrule's English. An unknown word is refused with a reason. An end of the recurrence (`until`,
//! `for 3 times`) is refused, too, because Tasks ignores such an end. [`reminder_toast`] parses the smaller language of
//! Reminder Toast.

use crate::format::{MONTHS_LOWER, WEEKDAYS_LOWER};

/// How often.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RepeatUnit {
    /// Hours.
    Hour,
    /// Days.
    #[default]
    Day,
    /// Weeks.
    Week,
    /// Months.
    Month,
    /// Years.
    Year,
}

/// A weekday, of every week or the `nth` of its month (from its end where negative).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weekday {
    /// 0 is Monday.
    pub day: u8,
    /// Which of them; 0 for all.
    pub nth: i16,
}

/// A recurrence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repeat {
    /// The unit.
    pub every: RepeatUnit,
    /// How many units lie between two; at least 1.
    pub interval: u16,
    /// On these weekdays.
    pub weekdays: Vec<Weekday>,
    /// On these days of the month, from 1; negative from its end.
    pub days: Vec<i8>,
    /// In these months, from 1.
    pub months: Vec<u8>,
    /// Whether it counts from the day on which it was done.
    pub when_done: bool,
    /// Whether it is a month or a year (`every month`), and no day of it is named.
    pub bare: bool,
    /// Whether its weeks begin on Sunday, as Reminder Toast's do.
    pub sunday_weeks: bool,
}

/// The reason why a text is no recurrence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RepeatError {
    /// It begins with another word.
    #[error("a recurrence begins with `every`")]
    NoEvery,
    /// Nothing says how often.
    #[error("the recurrence doesn't say every what")]
    NoUnit,
    /// It ends.
    #[error("a recurrence with an end (`{0}`) is none that Tasks keeps to")]
    Ends(String),
    /// A word of it.
    #[error("`{0}` isn't understood in the recurrence")]
    Word(String),
}

/// A name that a word is, or begins with at least three letters.
fn name<S: AsRef<str>>(word: &str, names: &[S]) -> Option<u8> {
    let is_name = |stem: &&str| names.iter().any(|name| name.as_ref() == *stem);
    let stem = word.strip_suffix('s').filter(is_name).unwrap_or(word);
    let is_long = stem.len() > 2 || stem.len() == 2 && names.len() == 7;
    (0..).zip(names).find(|(_, name)| is_long && name.as_ref().starts_with(stem)).map(|(at, _)| at)
}

/// A weekday of every week.
fn weekly(word: &str) -> Option<Weekday> {
    name(word, &*WEEKDAYS_LOWER).map(|day| Weekday { day, nth: 0 })
}

/// `1st`, `2nd`, `3.`, `first`, `last`.
fn ordinal(word: &str) -> Option<i16> {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    match (&word[digits..], word) {
        ("st" | "nd" | "rd" | "th" | ".", _) if digits > 0 => word[..digits].parse().ok().filter(|n| *n > 0),
        (_, "first") => Some(1),
        (_, "second") => Some(2),
        (_, "third") => Some(3),
        (_, "last") => Some(-1),
        _ => None,
    }
}

/// Reads a recurrence in English.
///
/// # Errors
/// Which word isn't understood.
pub fn english(text: &str) -> Result<Repeat, RepeatError> {
    let lower = text.to_lowercase().replace(',', " , ");
    let mut words: Vec<&str> = lower.split_whitespace().collect();
    let when_done = words.ends_with(&["when", "done"]);
    if when_done {
        words.truncate(words.len() - 2);
    }
    let mut reader = Reader { words: &words, at: 0 };
    if !reader.take("every") {
        return Err(RepeatError::NoEvery);
    }
    let mut repeat = Repeat { interval: reader.interval(), when_done, ..Repeat::default() };
    let Some(unit) = reader.next() else { return Err(RepeatError::NoUnit) };
    match unit {
        "hour" | "hours" => repeat.every = RepeatUnit::Hour,
        "day" | "days" => repeat.every = RepeatUnit::Day,
        "weekday" | "weekdays" => {
            repeat.every = RepeatUnit::Week;
            repeat.weekdays = workdays();
        }
        "week" | "weeks" => repeat.every = RepeatUnit::Week,
        "month" | "months" => repeat.every = RepeatUnit::Month,
        "year" | "years" => repeat.every = RepeatUnit::Year,
        word => reader.names(word, &mut repeat)?,
    }
    // Of `every day on Monday` Tasks and Reminder drop the weekday.
    if !matches!(repeat.every, RepeatUnit::Day | RepeatUnit::Hour) {
        reader.on(&mut repeat)?;
    }
    reader.end()?;
    let is_named = !(repeat.weekdays.is_empty() && repeat.days.is_empty() && repeat.months.is_empty());
    repeat.bare = matches!(repeat.every, RepeatUnit::Month | RepeatUnit::Year) && !is_named;
    Ok(repeat)
}

fn workdays() -> Vec<Weekday> {
    (0..5).map(|day| Weekday { day, nth: 0 }).collect()
}

struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let word = self.peek()?;
        self.at += 1;
        Some(word)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    /// The number behind `every`.
    fn interval(&mut self) -> u16 {
        let number = self.peek().and_then(|word| match word {
            "other" | "two" => Some(2),
            "one" => Some(1),
            "three" => Some(3),
            word => word.parse().ok().filter(|number| (1..=1000).contains(number)),
        });
        self.at += usize::from(number.is_some());
        number.unwrap_or(1)
    }

    fn and(&mut self) -> bool {
        let from = self.at;
        while self.peek().is_some_and(|word| matches!(word, "," | "and" | "or")) {
            self.at += 1;
        }
        self.at > from
    }

    /// `every Tuesday, Friday`, `every April and December`.
    fn names(&mut self, first: &'a str, repeat: &mut Repeat) -> Result<(), RepeatError> {
        let mut word = first;
        let months = name(word, &*WEEKDAYS_LOWER).is_none();
        repeat.every = if months { RepeatUnit::Year } else { RepeatUnit::Week };
        loop {
            match (weekly(word), name(word, &*MONTHS_LOWER)) {
                (_, Some(month)) if months => repeat.months.push(month + 1),
                (Some(day), _) if !months => repeat.weekdays.push(day),
                _ => return Err(RepeatError::Word(word.to_owned())),
            }
            if !self.and() {
                return Ok(());
            }
            word = self.next().ok_or(RepeatError::NoUnit)?;
        }
    }

    /// `on the 1st and 24th`, `on the 2nd last Friday`, `in January`.
    fn on(&mut self, repeat: &mut Repeat) -> Result<(), RepeatError> {
        let begun = self.take("on") || self.take("in");
        if !(begun | self.take("the")) {
            return Ok(());
        }
        loop {
            while self.take("the") || self.take("on") || self.take("in") {}
            let Some(word) = self.next() else { return Err(RepeatError::NoUnit) };
            if let Some(nth) = ordinal(word) {
                let from_end = nth > 0 && self.take("last");
                let nth = if from_end { -nth } else { nth };
                if let Some(day) = self.peek().and_then(|word| name(word, &*WEEKDAYS_LOWER)) {
                    self.at += 1;
                    repeat.weekdays.push(Weekday { day, nth });
                } else {
                    let day = i8::try_from(nth).ok().filter(|day| (-31..=31).contains(day));
                    repeat.days.push(day.ok_or_else(|| RepeatError::Word(word.to_owned()))?);
                    let _ = self.take("day") || self.take("days");
                }
            } else if let Some(day) = weekly(word) {
                repeat.weekdays.push(day);
            } else if word == "weekday" || word == "weekdays" {
                repeat.weekdays = workdays();
            } else if let Some(month) = name(word, &*MONTHS_LOWER) {
                repeat.months.push(month + 1);
            } else {
                return Err(RepeatError::Word(word.to_owned()));
            }
            if !(self.and() || matches!(self.peek(), Some("the" | "on" | "in"))) {
                return Ok(());
            }
        }
    }

    /// A time of day changes no date; an end is refused.
    fn end(&mut self) -> Result<(), RepeatError> {
        if self.take("at") {
            while self
                .peek()
                .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()) || word == ",")
            {
                self.at += 1;
            }
        }
        match self.next() {
            None => Ok(()),
            Some(word @ ("until" | "for")) => Err(RepeatError::Ends(word.to_owned())),
            Some(word) => Err(RepeatError::Word(word.to_owned())),
        }
    }
}

/// Reads a recurrence of Reminder Toast: `daily`, `weekdays`, `weekly on mon, wed`, `every 2 weeks on tue`, and its
/// last day (`until 2026-12-31`).
///
/// # Errors
/// Which word isn't understood.
pub fn reminder_toast(text: &str) -> Result<(Repeat, Option<jiff::civil::Date>), RepeatError> {
    let lower = text.trim().to_lowercase();
    let (rule, until) = match lower.rsplit_once("until ").or_else(|| lower.rsplit_once("till ")) {
        Some((rule, date)) => {
            let date = date.trim().parse().map_err(|_| RepeatError::Word(date.trim().to_owned()))?;
            (rule.trim(), Some(date))
        }
        None => (lower.as_str(), None),
    };
    let (first, rest) = rule.split_once(char::is_whitespace).unwrap_or((rule, ""));
    let words = match first {
        "daily" => "every day",
        "weekdays" => "every weekday",
        "weekly" => "every week",
        "monthly" => "every month",
        "yearly" | "annually" => "every year",
        other => other,
    };
    let repeat = Repeat { sunday_weeks: true, ..english(&format!("{words} {rest}"))? };
    let on_days = repeat.weekdays.iter().all(|weekday| weekday.nth == 0) && repeat.days.is_empty();
    let known = on_days && repeat.months.is_empty() && !repeat.when_done;
    if !known
        || repeat.every == RepeatUnit::Hour
        || !repeat.weekdays.is_empty() && repeat.every != RepeatUnit::Week
    {
        return Err(RepeatError::Word(rest.to_owned()));
    }
    Ok((repeat, until))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        match english(text) {
            Ok(repeat) => {
                let days: Vec<String> = repeat
                    .weekdays
                    .iter()
                    .map(|w| {
                        format!(
                            "{}{}",
                            if w.nth == 0 { String::new() } else { w.nth.to_string() },
                            &WEEKDAYS_LOWER[usize::from(w.day)][..2]
                        )
                    })
                    .collect();
                let done = if repeat.when_done { " done" } else { "" };
                format!(
                    "{:?} {} {days:?} {:?} {:?}{done}",
                    repeat.every, repeat.interval, repeat.days, repeat.months
                )
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_examples_of_tasks() {
        for (text, meant) in [
            ("every 3 days", "Day 3 [] [] []"),
            ("every 10 days when done", "Day 10 [] [] [] done"),
            ("every weekday", r#"Week 1 ["mo", "tu", "we", "th", "fr"] [] []"#),
            ("every week on Sunday", r#"Week 1 ["su"] [] []"#),
            ("every week on Tuesday, Friday", r#"Week 1 ["tu", "fr"] [] []"#),
            ("every Sunday", r#"Week 1 ["su"] [] []"#),
            ("every 3 weeks on Friday", r#"Week 3 ["fr"] [] []"#),
            ("every 2 months", "Month 2 [] [] []"),
            ("every month on the 1st", "Month 1 [] [1] []"),
            ("every month on the last", "Month 1 [] [-1] []"),
            ("every month on the last Friday", r#"Month 1 ["-1fr"] [] []"#),
            ("every month on the 2nd last Friday", r#"Month 1 ["-2fr"] [] []"#),
            ("every 6 months on the 2nd Wednesday", r#"Month 6 ["2we"] [] []"#),
            ("every January on the 15th", "Year 1 [] [15] [1]"),
            ("every February on the last", "Year 1 [] [-1] [2]"),
            ("every April and December on the 1st and 24th", "Year 1 [] [1, 24] [4, 12]"),
            ("every year", "Year 1 [] [] []"),
            ("every other week on mon", r#"Week 2 ["mo"] [] []"#),
            ("every Tuesdays and thu", r#"Week 1 ["tu", "th"] [] []"#),
            ("every day at 9", "Day 1 [] [] []"),
        ] {
            assert_eq!(show(text), meant, "{text}");
        }
    }

    #[test]
    fn what_is_no_recurrence_says_why() {
        for (text, why) in [
            ("weekly", "a recurrence begins with `every`"),
            ("every", "the recurrence doesn't say every what"),
            ("every fortnight", "`fortnight` isn't understood in the recurrence"),
            ("every week for 3 times", "a recurrence with an end (`for`) is none that Tasks keeps to"),
            ("every day until 2027-01-01", "a recurrence with an end (`until`) is none that Tasks keeps to"),
            ("every month on the 40th", "`40th` isn't understood in the recurrence"),
            ("every month on", "the recurrence doesn't say every what"),
            ("every 0 days", "`0` isn't understood in the recurrence"),
            ("every 2 days on Monday", "`on` isn't understood in the recurrence"),
        ] {
            assert_eq!(show(text), why, "{text}");
        }
    }

    #[test]
    fn the_language_of_reminder_toast() {
        let ok = |text: &str| {
            reminder_toast(text).map(|(repeat, until)| {
                (repeat.every, repeat.interval, repeat.weekdays.len(), until.is_some())
            })
        };
        assert_eq!(ok("daily"), Ok((RepeatUnit::Day, 1, 0, false)));
        assert_eq!(ok("Weekdays"), Ok((RepeatUnit::Week, 1, 5, false)));
        assert_eq!(ok("weekly on mon, wed until 2026-12-31"), Ok((RepeatUnit::Week, 1, 2, true)));
        assert_eq!(ok("every 2 weeks on tue"), Ok((RepeatUnit::Week, 2, 1, false)));
        for wrong in
            ["monthly on mon", "every month on the 1st", "sometimes", "daily until soon", "every hour"]
        {
            assert!(reminder_toast(wrong).is_err(), "{wrong}");
        }
    }
}
