//! Computes the dates of a reminder ([`Series`]) by the calendar alone: no zone, no instant.
//!
//! A first date, a time of day and a recurrence (none, daily, weekly, monthly) come in; the local date and time at any
//! index go out. A monthly reminder on a day that a month lacks comes on the last day of that month. Each date is
//! computed from the first date, never from the date before, so the day of the month doesn't drift.

use jiff::Span;
use jiff::civil::{Date, DateTime, Time};

use crate::format::reminder::{Recur, Reminder};

/// The local dates and times at which a reminder recurs, addressed by index from its own date (0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Series {
    first: Date,
    time: Time,
    recur: Recur,
    /// The day of the month that the user meant (1 to 31), of which `first` may fall short.
    meant: i8,
}

/// One member of a [`Series`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesStep {
    /// Its local date and time, as the line would say it.
    pub local: DateTime,
    /// The value of `day=` beside that date: the day that was meant, where the month lacks it.
    pub day: Option<i8>,
}

impl Series {
    /// The series of those fields of a line.
    ///
    /// `day` counts only for a monthly reminder whose date is the last day of its month and earlier than `day`;
    /// otherwise it has no effect and is dropped.
    pub fn new(date: Date, time: Time, recur: Recur, day: Option<i8>) -> Self {
        let meant = day
            .filter(|&day| recur == Recur::Monthly && (29..=31).contains(&day))
            .filter(|&day| day > date.day() && date.day() == date.days_in_month())
            .unwrap_or(date.day());
        Self { first: date, time, recur, meant }
    }

    /// The day of the month in months that have it.
    pub fn meant(&self) -> i8 {
        self.meant
    }

    /// Whether two occurrences may be at most a day apart, so that a skipped day can make them coincide.
    pub(super) fn is_daily(&self) -> bool {
        self.recur == Recur::Daily
    }

    /// The local time of day of every occurrence.
    pub fn time(&self) -> Time {
        self.time
    }

    /// The occurrence at `index`; `None` for a second one of a one-off, and beyond year 9999.
    pub fn step(&self, index: u32) -> Option<SeriesStep> {
        let date = match self.recur {
            Recur::None => (index == 0).then_some(self.first),
            Recur::Daily => self.first.checked_add(days(index)?).ok(),
            Recur::Weekly => self.first.checked_add(days(index.checked_mul(7)?)?).ok(),
            Recur::Monthly => self.month(index),
        }?;
        let day = (self.meant != date.day() && self.recur == Recur::Monthly).then_some(self.meant);
        Some(SeriesStep { local: date.to_datetime(self.time), day })
    }

    /// Counted from the first month every time, and not from the last occurrence: no drift.
    fn month(&self, index: u32) -> Option<Date> {
        let months = i64::from(self.first.year()) * 12 + i64::from(self.first.month() - 1) + i64::from(index);
        let year = i16::try_from(months.div_euclid(12)).ok()?;
        let month = i8::try_from(months.rem_euclid(12)).ok()? + 1;
        let first_of_month = Date::new(year, month, 1).ok()?;
        Date::new(year, month, self.meant.min(first_of_month.days_in_month())).ok()
    }

    /// The index of the occurrence nearest to `local` by the calendar alone, give or take one.
    pub(super) fn index_near(&self, local: DateTime) -> u32 {
        let date = local.date();
        let periods = match self.recur {
            Recur::None => 0,
            Recur::Daily => self.days_until(date),
            Recur::Weekly => self.days_until(date).div_euclid(7),
            Recur::Monthly => {
                (i64::from(date.year()) - i64::from(self.first.year())) * 12 + i64::from(date.month())
                    - i64::from(self.first.month())
            }
        };
        u32::try_from(periods.max(0)).unwrap_or(u32::MAX)
    }

    fn days_until(&self, date: Date) -> i64 {
        self.first.duration_until(date).as_hours().div_euclid(24)
    }
}

impl From<&Reminder> for Series {
    fn from(reminder: &Reminder) -> Self {
        Self::new(reminder.date, reminder.time, reminder.recur, reminder.day)
    }
}

/// As a span and not as a duration: those may not be longer than from 1970 to either end of time.
fn days(count: u32) -> Option<Span> {
    Span::new().try_days(count).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(date: &str, recur: Recur, day: Option<i8>, count: u32) -> Vec<String> {
        let series = Series::new(date.parse().unwrap(), Time::midnight(), recur, day);
        (0..count)
            .map_while(|index| series.step(index))
            .map(|step| match step.day {
                Some(day) => format!("{} day={day}", step.local.date()),
                None => step.local.date().to_string(),
            })
            .collect()
    }

    #[test]
    fn a_month_end_is_clamped_and_comes_back() {
        assert_eq!(
            steps("2026-01-31", Recur::Monthly, None, 5),
            ["2026-01-31", "2026-02-28 day=31", "2026-03-31", "2026-04-30 day=31", "2026-05-31"]
        );
        assert_eq!(
            steps("2028-01-30", Recur::Monthly, None, 3),
            ["2028-01-30", "2028-02-29 day=30", "2028-03-30"]
        );
        assert_eq!(
            steps("2026-01-29", Recur::Monthly, None, 3),
            ["2026-01-29", "2026-02-28 day=29", "2026-03-29"]
        );
    }

    #[test]
    fn the_day_that_was_meant_is_taken_up_from_the_line() {
        let from_february = steps("2026-02-28", Recur::Monthly, Some(31), 3);
        assert_eq!(from_february, ["2026-02-28 day=31", "2026-03-31", "2026-04-30 day=31"]);
        assert_eq!(steps("2026-02-28", Recur::Monthly, Some(30), 2), ["2026-02-28 day=30", "2026-03-30"]);
    }

    #[test]
    fn a_day_that_means_nothing_is_dropped() {
        for (date, day) in [
            ("2026-02-27", 31), // not the last day
            ("2028-02-28", 31), // nor in a leap year
            ("2026-01-31", 31), // not later than the date
            ("2026-01-31", 30),
            ("2026-02-28", 28),
            ("2026-02-28", 32), // not a day
            ("2026-02-28", -1),
        ] {
            let plain = steps(date, Recur::Monthly, None, 4);
            assert_eq!(steps(date, Recur::Monthly, Some(day), 4), plain, "{date} day={day}");
        }
        assert_eq!(steps("2026-02-28", Recur::Daily, Some(31), 2), ["2026-02-28", "2026-03-01"]);
        assert_eq!(steps("2026-02-28", Recur::None, Some(31), 2), ["2026-02-28"]);
    }

    #[test]
    fn the_calendar_ends_in_9999() {
        assert_eq!(steps("9999-12-30", Recur::Daily, None, 9), ["9999-12-30", "9999-12-31"]);
        assert_eq!(steps("9999-12-25", Recur::Weekly, None, 9), ["9999-12-25"]);
        assert_eq!(steps("9999-11-30", Recur::Monthly, None, 9), ["9999-11-30", "9999-12-30"]);
        let old = Series::new(Date::MIN, Time::MIN, Recur::Monthly, None);
        for recur in [Recur::Daily, Recur::Weekly, Recur::Monthly] {
            let series = Series { recur, ..old };
            assert_eq!(series.step(u32::MAX), None);
            assert!(series.step(series.index_near(DateTime::MAX)).is_some(), "{recur:?}");
        }
    }
}
