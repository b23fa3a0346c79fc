//! Defines the terms of the grammar of times. A term is one meaning of a word or of a few words; all languages share
//! the terms.

use std::ops::RangeInclusive;

use jiff::civil::Weekday;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::words::words;

/// One meaning of a word, or of a few words that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Term {
    /// This minute.
    Now,
    /// A day, counted from today.
    Day(i8),
    /// A part of a day, counted from today: `tonight`.
    DayPart(i8, DayPart),
    /// A day of the week.
    Weekday(#[serde(deserialize_with = "weekday")] Weekday),
    /// Every one of them: `fridays`.
    Weekdays(#[serde(deserialize_with = "weekday")] Weekday),
    /// A day of the week and a part of it in one word: `Freitagabend`.
    #[serde(skip)]
    WeekdayPart(Weekday, DayPart),
    /// A month, from 1.
    Month(i8),
    /// A number.
    Number(u8),
    /// An article, which is 1 before a unit of time.
    A,
    /// The first day of a month, where it has a word of its own: `premier`, `first`.
    First,
    /// The mark of an ordinal, directly behind a number: `th`, `er`, `º`.
    Ordinal,
    /// A unit of time.
    Unit(Unit),
    /// A length of time that has words of its own, in minutes: `half an hour`.
    Minutes(u8),
    /// A part of a day: `in the morning`.
    Part(DayPart),
    /// The same where the word means something else when it stands first: German `morgen`.
    PartBehind(DayPart),
    /// 12:00.
    Noon,
    /// 00:00, of a day that isn't said.
    Midnight,
    /// Before a length of time that is to pass.
    In,
    /// Behind one.
    FromNow,
    /// Before or behind a length of time that has passed.
    Ago,
    /// Before a time of day.
    At,
    /// Before a day; articles.
    On,
    /// Between a day and its month, week or year.
    Of,
    /// Between two lengths of time.
    And,
    /// The one that this week or month has.
    This,
    /// The one after this one, or after the next: people differ.
    Next,
    /// The first one to come.
    Coming,
    /// The one that has passed.
    Last,
    /// Again and again.
    Every,
    /// Again and again, in one word: `daily`.
    Cycle(Cycle),
    /// The last day of a month or year.
    EndOf,
    /// Saturday, or Sunday.
    Weekend,
    /// Monday to Friday.
    Workday,
    /// The mark of an hour: `o'clock`, `Uhr`, `h`.
    Hour,
    /// Before noon.
    Am,
    /// After noon.
    Pm,
    /// Minutes to add to the hour that follows: `half past`, `quarter to`.
    Before(i8),
    /// Minutes to add to the hour before: `y media`, `et quart`.
    After(i8),
    /// Between minutes and the hour that they are after.
    Past,
    /// Between minutes and the hour that they are before.
    To,
}

/// A function that gives the value of the first pattern that fits a term: `meaning!(Term::Month(month) => month)`.
macro_rules! meaning {
    ($($pattern:pat => $value:expr),+) => {
        |term| match term {
            $($pattern => Some($value),)+
            _ => None,
        }
    };
}

pub(super) use meaning;

impl Term {
    /// The term with this name in the table of words: `Now`, `Number(40)`, `DayPart(0, Evening)`.
    pub fn named(name: &str) -> Option<Self> {
        let Some((kind, values)) = name.strip_suffix(')').and_then(|name| name.split_once('(')) else {
            return serde_json::from_value(name.into()).ok();
        };
        let value = |text: &str| text.parse::<i64>().map_or_else(|_| text.to_lowercase().into(), Value::from);
        let mut values: Vec<Value> = values.split(", ").map(value).collect();
        let values = if values.len() == 1 { values.remove(0) } else { values.into() };
        serde_json::from_value(json!({ kind: values })).ok()
    }
}

fn weekday<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Weekday, D::Error> {
    let name = String::deserialize(deserializer)?;
    let mut days = Weekday::Monday.cycle_forward().take(7);
    days.find(|day| format!("{day:?}").to_lowercase() == name).ok_or_else(|| D::Error::custom("no weekday"))
}

/// A unit of time, the shorter first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// 1 s.
    Second,
    /// 60 s.
    Minute,
    /// 3,600 s.
    Hour,
    /// A day of the calendar, which a clock change may make longer or shorter.
    Day,
    /// Seven of them.
    Week,
    /// A month of the calendar.
    Month,
    /// Twelve of them.
    Year,
}

/// A recurrence in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cycle {
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
    /// In a way that a reminder line has no word for: hourly, yearly.
    Other,
}

words! {
    /// A part of the day: its hours, and the minute that it means without a time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DayPart, name {
        /// 01:00 to 11:59; 09:00 where no time is given.
        Morning = "morning",
        /// 12:00 to 20:59; 15:00.
        Afternoon = "afternoon",
        /// 16:00 to 23:59; 19:00.
        Evening = "evening",
        /// 19:00 to 23:59; 21:00.
        Night = "night",
    }
}

impl DayPart {
    /// Its minutes of the day, and the one that is meant where no time is given.
    pub const fn minutes(self) -> (RangeInclusive<i32>, i32) {
        match self {
            DayPart::Morning => (60..=719, 540),
            DayPart::Afternoon => (720..=1259, 900),
            DayPart::Evening => (960..=1439, 1140),
            DayPart::Night => (1140..=1439, 1260),
        }
    }
}
