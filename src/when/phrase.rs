//! Defines the parsed form of a phrase: a day, a time of day, a length of time. No date is computed yet.

use jiff::civil::Weekday;

use super::term::{DayPart, Unit};

/// One parse of a whole phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phrase {
    /// This minute.
    Now,
    /// A day, a time of day, or both.
    Moment(Moment),
    /// So much later, or earlier.
    After(Length),
    /// A form that is known and can't be taken; why.
    Refused(String),
}

/// A day and a time of day; one of both at least.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moment {
    /// Today or tomorrow, whichever has the time first, where there is none.
    pub day: Option<DayPhrase>,
    /// The time.
    pub clock: Option<TimePhrase>,
    /// The part of the day.
    pub part: Option<DayPart>,
}

/// A length of time: numbers of units, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Length {
    /// Months, years included.
    pub months: i32,
    /// Days, weeks included.
    pub days: i32,
    /// Seconds, minutes and hours included.
    pub seconds: i64,
}

/// The choice among days with the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichOne {
    /// Nothing is said.
    Bare,
    /// This week's, this month's.
    This,
    /// The next.
    Next,
    /// The first to come.
    Coming,
    /// The last.
    Last,
}

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayPhrase {
    /// Counted from today.
    Offset(i32),
    /// A day of the week.
    Weekday(Weekday, WhichOne),
    /// A day of the week in this week or the next.
    OfWeek(Weekday, WhichOne),
    /// A date, perhaps with the day of the week that it should be.
    Date(Date),
    /// A day of the next month that has it.
    OfMonth(i32, Option<Weekday>),
    /// A day of a month that is named by the present one.
    OfMonthBy(i32, WhichOne),
    /// The last day of a month or year.
    EndOf(Period),
    /// A week, month or year without a day.
    Period(WhichOne, Unit),
    /// Saturday or Sunday.
    Weekend(WhichOne),
    /// A number of days, weeks, months or years later, at this time of day.
    After(Length),
    /// Again and again.
    Every(RepeatPhrase),
}

/// A date as its numbers are written, checked later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// The next such date, where there is none.
    pub year: Option<i32>,
    /// From 1.
    pub month: i32,
    /// From 1.
    pub day: i32,
    /// Its stated weekday.
    pub weekday: Option<Weekday>,
}

/// A span with an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// This or the next month or year (or week).
    Of(WhichOne, Unit),
    /// A month by its name.
    Month(i32, Option<i32>),
}

/// How it comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatPhrase {
    /// Every day.
    Day,
    /// Every week on this day.
    Week(Weekday),
    /// Every month on this day.
    Month(i32),
}

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimePhrase {
    /// A fixed minute of the day, from 0.
    At(i32),
    /// One minute of the day before 13:00, unless a part of the day says that it is the other one.
    Half(i32),
    /// A minute of half a day (0 to 719): either half.
    Dial(i32),
    /// Noon.
    Noon,
    /// Midnight: the day begins with one and ends with the next.
    Midnight,
}
