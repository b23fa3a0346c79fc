//! Computes the next date of a task line's recurrence, which is written in English or as an RRULE. A task's time of day
//! stays unchanged.
//!
//! - [`next_date`] follows RFC 5545, with weeks from Monday (from Sunday for Reminder Toast). A date that doesn't exist
//!   is skipped, so `every month on the 31st` skips the short months.
//! - [`step`] follows the plugin Tasks, and [`next_or_last_day`] follows Reminder Toast. For a rule that names no day
//!   (`every month`, `every year`), both take the last day of a month that lacks the day. Tasks computes all later
//!   dates from that last day (31 January, 28 February, 28 March). [`NextTaskDate::short_of`] then holds the missing
//!   day (31).

use jiff::ToSpan;
use jiff::civil::{Date, Weekday as Day};

use crate::format::task::english_repeat::{Repeat, RepeatUnit, Weekday};

/// The next date of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextTaskDate {
    /// The date.
    pub date: Date,
    /// The day of the month that was meant and that the month lacks: from now on the rule goes on from the earlier one.
    pub short_of: Option<i8>,
}

/// The next date of a rule after `from`, which is one of its dates, by the rules of Tasks. `None` if there is no
/// further date.
pub fn step(repeat: &Repeat, from: Date) -> Option<NextTaskDate> {
    let date = next_or_last_day(repeat, from, from)?;
    let is_short = repeat.bare && date.day() != from.day();
    Some(NextTaskDate { date, short_of: is_short.then_some(from.day()) })
}

/// The first date after `after` of a rule that began at `start`, where a month that lacks the day of a rule without one
/// has its last day. `None` if there is no further date.
pub fn next_or_last_day(repeat: &Repeat, start: Date, after: Date) -> Option<Date> {
    if !repeat.bare {
        return next_date(repeat, start, after);
    }
    let unit = if repeat.every == RepeatUnit::Year { 12 } else { 1 };
    let months = unit * i32::from(repeat.interval);
    let mut dates = (1..).map_while(|times| start.checked_add((months * times).months()).ok());
    dates.find(|date| *date > after)
}

/// The first date after `after` of a rule that began at `start`. `None` if there is no further date.
pub fn next_date(repeat: &Repeat, start: Date, after: Date) -> Option<Date> {
    if repeat.every == RepeatUnit::Hour {
        return next_hourly(repeat, start, after);
    }
    let rule = RepeatRule::new(repeat, start);
    let from = after.tomorrow().ok()?.max(start);
    from.series(1.day()).find(|date| rule.has(*date))
}

/// The date of the first of every so many hours, counted from the start's midnight, on a later date.
fn next_hourly(repeat: &Repeat, start: Date, after: Date) -> Option<Date> {
    let every = i64::from(repeat.interval);
    let days = i64::from((after - start).get_days()).max(-1) + 1;
    let hours = (days * 24 + every - 1) / every * every;
    start.checked_add((hours / 24).days()).ok()
}

/// A rule, completed from its start.
struct RepeatRule {
    /// With what it leaves to its first date.
    repeat: Repeat,
    start: Date,
}

impl RepeatRule {
    fn new(repeat: &Repeat, start: Date) -> Self {
        let mut repeat = repeat.clone();
        if repeat.weekdays.is_empty() && repeat.days.is_empty() {
            match repeat.every {
                RepeatUnit::Week => repeat.weekdays.push(Weekday { day: monday_based(start), nth: 0 }),
                RepeatUnit::Month => repeat.days.push(start.day()),
                RepeatUnit::Year => {
                    if repeat.months.is_empty() {
                        repeat.months.push(start.month().unsigned_abs());
                    }
                    repeat.days.push(start.day());
                }
                RepeatUnit::Hour | RepeatUnit::Day => {}
            }
        }
        Self { repeat, start }
    }

    fn has(&self, date: Date) -> bool {
        let Repeat { weekdays, days, months, .. } = &self.repeat;
        self.in_period(date)
            && (months.is_empty() || months.contains(&date.month().unsigned_abs()))
            && (days.is_empty() || days.iter().any(|day| is_day(date, *day)))
            && (weekdays.is_empty() || weekdays.iter().any(|weekday| self.is_weekday(date, *weekday)))
    }

    /// Whether a date lies in one of the periods, of which only every so many count.
    fn in_period(&self, date: Date) -> bool {
        let months = |date: Date| i32::from(date.year()) * 12 + i32::from(date.month());
        let between = match self.repeat.every {
            RepeatUnit::Hour | RepeatUnit::Day => (date - self.start).get_days(),
            RepeatUnit::Week => (self.week_of(date) - self.week_of(self.start)).get_days() / 7,
            RepeatUnit::Month => months(date) - months(self.start),
            RepeatUnit::Year => i32::from(date.year()) - i32::from(self.start.year()),
        };
        between % i32::from(self.repeat.interval) == 0
    }

    /// The first day of the week of a date.
    fn week_of(&self, date: Date) -> Date {
        let first = if self.repeat.sunday_weeks { Day::Sunday } else { Day::Monday };
        date.saturating_sub(i32::from(date.weekday().since(first)).days())
    }

    fn is_weekday(&self, date: Date, weekday: Weekday) -> bool {
        if monday_based(date) != weekday.day {
            return false;
        }
        let in_month = self.repeat.every == RepeatUnit::Month || !self.repeat.months.is_empty();
        let (at, length) = match self.repeat.every {
            RepeatUnit::Month | RepeatUnit::Year if weekday.nth == 0 => return true,
            RepeatUnit::Month | RepeatUnit::Year if in_month => {
                (i16::from(date.day()), i16::from(date.days_in_month()))
            }
            RepeatUnit::Year => (date.day_of_year(), date.days_in_year()),
            // Of weeks and days there is no second Monday.
            _ => return true,
        };
        let nth = if weekday.nth > 0 { (at - 1) / 7 + 1 } else { -((length - at) / 7 + 1) };
        nth == weekday.nth
    }
}

fn is_day(date: Date, day: i8) -> bool {
    date.day() == if day > 0 { day } else { date.days_in_month() + day + 1 }
}

fn monday_based(date: Date) -> u8 {
    date.weekday().to_monday_zero_offset().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::task::english_repeat::english;

    /// The dates that follow, as Tasks steps, each from the one before.
    fn steps(rule: &str, from: &str, count: usize) -> Vec<String> {
        let repeat = english(rule).unwrap();
        let mut at: Date = from.parse().unwrap();
        let next = std::iter::from_fn(|| {
            at = step(&repeat, at)?.date;
            Some(at.to_string())
        });
        next.take(count).collect()
    }

    #[test]
    fn rules_step_as_the_standard_has_them() {
        for (rule, from, next) in [
            ("every 3 days", "2026-02-27", "2026-03-02"),
            ("every weekday", "2026-11-20", "2026-11-23"),
            ("every week on Tuesday, Friday", "2026-11-24", "2026-11-27"),
            ("every 2 weeks on Monday, Thursday", "2026-11-26", "2026-12-07"),
            ("every 2 weeks on Monday, Thursday", "2026-11-23", "2026-11-26"),
            ("every 2 weeks", "2021-10-30", "2021-11-13"),
            ("every month on the last Friday", "2026-11-27", "2026-12-25"),
            ("every month on the 2nd last Friday", "2026-11-20", "2026-12-18"),
            ("every 6 months on the 2nd Wednesday", "2026-11-11", "2027-05-12"),
            ("every January on the 15th", "2026-11-23", "2027-01-15"),
            ("every February on the last", "2026-11-23", "2027-02-28"),
            ("every April and December on the 1st and 24th", "2026-12-01", "2026-12-24"),
            ("every month on the 31st", "2026-01-31", "2026-03-31"),
            ("every 10 days when done", "2026-12-05", "2026-12-15"),
            ("every week on Sunday", "2026-12-01", "2026-12-06"),
            ("every 3 weeks on Friday", "2026-12-01", "2026-12-04"),
            ("every 2 months", "2026-12-01", "2027-02-01"),
            ("every month on the 1st", "2026-12-01", "2027-01-01"),
            ("every month on the last", "2026-12-01", "2026-12-31"),
            ("every year", "2026-12-01", "2027-12-01"),
            ("every hour", "2026-11-23", "2026-11-24"),
            ("every 36 hours", "2026-11-23", "2026-11-24"),
            ("every 49 hours", "2026-11-23", "2026-11-25"),
        ] {
            assert_eq!(steps(rule, from, 1), [next], "{rule} from {from}");
        }
        assert!(steps("every February on the 30th", "2026-01-01", 1).is_empty());
    }

    #[test]
    fn months_drift_where_the_rule_names_no_day() {
        let months = ["2021-11-30", "2021-12-30", "2022-01-30", "2022-02-28", "2022-03-28"];
        assert_eq!(steps("every month", "2021-10-31", 5), months);
        assert_eq!(steps("every 3 months", "2022-01-31", 2), ["2022-04-30", "2022-07-30"]);
        assert_eq!(steps("every year", "2024-02-29", 2), ["2025-02-28", "2026-02-28"]);
        assert_eq!(steps("every 2 months at 9", "2021-12-31", 1), ["2022-02-28"]);
        let last = ["2022-02-28", "2022-03-31", "2022-04-30"];
        assert_eq!(steps("every month on the last", "2022-01-31", 3), last);
        let skipped = ["2021-12-31", "2022-01-31", "2022-03-31", "2022-05-31", "2022-07-31", "2022-08-31"];
        assert_eq!(steps("every month on the 31st", "2021-11-30", 6), skipped);
        let repeat = english("every month").unwrap();
        let drift = |from: &str| step(&repeat, from.parse().unwrap()).unwrap().short_of;
        assert_eq!((drift("2022-01-31"), drift("2022-02-28")), (Some(31), None));
    }
}
