//! Resolves the words for a day (`friday`, `the 3rd`) to the dates that they can mean.

use jiff::civil::{self, Weekday};
use jiff::{Span, ToSpan};

use super::{Resolver, beyond};
use crate::when::phrase::{Date, DayPhrase, Period, RepeatPhrase, WhichOne};
use crate::when::term::Unit;

type Dates = Vec<Result<civil::Date, String>>;

impl Resolver<'_> {
    pub(super) fn dates(&self, day: Option<DayPhrase>, minute: i32) -> Dates {
        let all = |days: Vec<i32>| days.into_iter().map(|days| self.in_days(days)).collect();
        match day {
            None | Some(DayPhrase::Every(RepeatPhrase::Day)) => vec![self.in_days(self.soonest(minute))],
            Some(DayPhrase::Offset(days)) => all(vec![days]),
            Some(DayPhrase::Weekday(day, which)) => all(self.weekday(day, which, minute)),
            Some(DayPhrase::OfWeek(day, WhichOne::This)) => all(self.weeks(day, 0)),
            Some(DayPhrase::OfWeek(day, _)) => all(self.weeks(day, 1)),
            Some(DayPhrase::Every(RepeatPhrase::Week(day))) => {
                let ahead = self.ahead(day);
                all(vec![if ahead == 0 && self.is_over(minute) { 7 } else { ahead }])
            }
            Some(DayPhrase::Date(date)) => vec![self.date(date)],
            Some(DayPhrase::OfMonth(day, weekday)) => self.of_month(day, weekday, minute),
            Some(DayPhrase::Every(RepeatPhrase::Month(day))) => {
                let mut dates = self.of_month(day, None, minute);
                dates.truncate(1);
                dates
            }
            Some(DayPhrase::OfMonthBy(day, which)) => {
                vec![self.month(which).and_then(|first| in_month(first, day))]
            }
            Some(DayPhrase::EndOf(period)) => self.end_of(period),
            Some(DayPhrase::Period(which, unit)) => self.period(which, unit),
            Some(DayPhrase::Weekend(which)) => {
                let (saturday, sunday) = (self.ahead(Weekday::Saturday), self.ahead(Weekday::Sunday));
                all(match which {
                    WhichOne::Next => vec![saturday, saturday + 7],
                    WhichOne::Last => vec![sunday - 8, sunday - 7],
                    _ => vec![saturday, sunday],
                })
            }
            Some(DayPhrase::After(length)) => {
                vec![length.span().and_then(|span| self.local.date().checked_add(span).map_err(beyond))]
            }
        }
    }

    fn in_days(&self, days: i32) -> Result<civil::Date, String> {
        self.local.date().checked_add(Span::new().days(days)).map_err(beyond)
    }

    /// Today or tomorrow (yesterday), whichever has the time first.
    fn soonest(&self, minute: i32) -> i32 {
        match self.here.is_past {
            false => i32::from(self.is_over(minute)),
            true => -i32::from(self.is_to_come(minute)),
        }
    }

    /// The days up to this day of the week: 0 to 6.
    fn ahead(&self, day: Weekday) -> i32 {
        i32::from(self.local.date().weekday().until(day))
    }

    fn weekday(&self, day: Weekday, which: WhichOne, minute: i32) -> Vec<i32> {
        let ahead = self.ahead(day);
        let behind = (7 - ahead) % 7;
        let and = |first: i32, weeks: i32| {
            let mut days = vec![first];
            days.extend(self.weeks(day, weeks));
            days
        };
        match (which, ahead) {
            (WhichOne::Next, 0) => and(7, 1),
            (WhichOne::Next, _) => and(ahead, 1),
            (WhichOne::Last, 0) => and(-7, -1),
            (WhichOne::Last, _) => and(-behind, -1),
            (WhichOne::Coming, 0) => vec![7],
            (WhichOne::This, 0) => vec![0],
            (WhichOne::Bare, 0) if self.here.is_past && self.is_to_come(minute) => vec![-7],
            (WhichOne::Bare, 0) if self.here.is_past => vec![0, -7],
            (WhichOne::Bare, 0) if self.is_over(minute) => vec![7],
            (WhichOne::Bare, 0) => vec![0, 7],
            _ if self.here.is_past => vec![-behind],
            _ => vec![ahead],
        }
    }

    /// A day of the week so many weeks on. A week begins on Monday, or on Sunday, where people differ.
    fn weeks(&self, day: Weekday, weeks: i32) -> Vec<i32> {
        let today = self.local.date().weekday();
        let from_monday = i32::from(day.to_monday_zero_offset()) - i32::from(today.to_monday_zero_offset());
        let from_sunday = i32::from(day.to_sunday_zero_offset()) - i32::from(today.to_sunday_zero_offset());
        let mut days = vec![from_monday + 7 * weeks];
        if self.language.sunday_weeks {
            days.push(from_sunday + 7 * weeks);
        }
        days
    }

    fn date(&self, date: Date) -> Result<civil::Date, String> {
        let Date { year, month, day, weekday } = date;
        if !(1..=12).contains(&month) {
            return Err(format!("there is no month {month}"));
        }
        let of = |year: i32| made(year, month, day);
        let today = self.local.date();
        let near = || {
            let (this, past) = (i32::from(today.year()), self.here.is_past);
            let years = (0..=8).map(|step| if past { this - step } else { this + step });
            years.filter_map(of).find(|date| if past { *date <= today } else { *date >= today })
        };
        let found = year.map_or_else(near, of);
        let found = found.ok_or_else(|| {
            let year = year.map_or_else(String::new, |year| format!(" {year}"));
            format!("there is no {day} {}{year}", month_name(month))
        })?;
        check_weekday(found, weekday)
    }

    /// The next month's day that there is; the day itself today, while its time is to come, or the next one.
    fn of_month(&self, day: i32, weekday: Option<Weekday>, minute: i32) -> Dates {
        let today = self.local.date();
        let first = today.first_of_month();
        let months = (0..=12).filter_map(|step| {
            let first =
                first.checked_add(Span::new().months(if self.here.is_past { -step } else { step })).ok()?;
            in_month(first, day).ok()
        });
        let fits = |date: &civil::Date| match self.here.is_past {
            false => *date > today || (*date == today && !self.is_over(minute)),
            true => *date < today || (*date == today && !self.is_to_come(minute)),
        };
        let mut found = months.filter(fits);
        let Some(next) = found.next() else { return vec![Err(format!("no month has a day {day}"))] };
        let also = found.next().filter(|_| next == today);
        [Some(next), also].into_iter().flatten().map(|date| check_weekday(date, weekday)).collect()
    }

    /// The first of this, the next or the last month.
    fn month(&self, which: WhichOne) -> Result<civil::Date, String> {
        let months = match which {
            WhichOne::Next | WhichOne::Coming => 1,
            WhichOne::Last => -1,
            WhichOne::Bare | WhichOne::This => 0,
        };
        self.local.date().first_of_month().checked_add(months.months()).map_err(beyond)
    }

    fn end_of(&self, period: Period) -> Dates {
        let today = self.local.date();
        match period {
            Period::Of(which, Unit::Month) => vec![self.month(which).map(civil::Date::last_of_month)],
            Period::Of(which, Unit::Year) => {
                let years = i32::from(matches!(which, WhichOne::Next | WhichOne::Coming))
                    - i32::from(which == WhichOne::Last);
                vec![today.last_of_year().checked_add(Span::new().years(years)).map_err(beyond)]
            }
            Period::Of(which, _) => {
                let weeks = i32::from(matches!(which, WhichOne::Next | WhichOne::Coming))
                    - i32::from(which == WhichOne::Last);
                let days = [Weekday::Friday, Weekday::Sunday].map(|day| self.weeks(day, weeks)[0]);
                days.into_iter().map(|days| self.in_days(days)).collect()
            }
            Period::Month(month, year) => {
                let date = |day| Date { year, month, day, weekday: None };
                let last = if year.is_none() && i32::from(today.month()) == month {
                    Ok(today.last_of_month())
                } else {
                    self.date(date(1)).map(civil::Date::last_of_month)
                };
                vec![last]
            }
        }
    }

    /// A week, month or year that names no day: the same day in it, or its first.
    fn period(&self, which: WhichOne, unit: Unit) -> Dates {
        if !matches!(which, WhichOne::Next | WhichOne::Coming) {
            return vec![Err("it names no day".to_owned())];
        }
        let today = self.local.date();
        match unit {
            Unit::Week => [7, self.weeks(Weekday::Monday, 1)[0]].map(|days| self.in_days(days)).into(),
            Unit::Month => vec![today.checked_add(1.month()).map_err(beyond), self.month(WhichOne::Next)],
            _ => [today, today.first_of_year()].map(|day| day.checked_add(1.year()).map_err(beyond)).into(),
        }
    }
}

fn made(year: i32, month: i32, day: i32) -> Option<civil::Date> {
    let small = |number: i32| i8::try_from(number).ok();
    civil::Date::new(i16::try_from(year).ok().filter(|year| *year > 0)?, small(month)?, small(day)?).ok()
}

fn in_month(first: civil::Date, day: i32) -> Result<civil::Date, String> {
    made(first.year().into(), first.month().into(), day)
        .ok_or_else(|| format!("there is no {day} {}", month_name(first.month().into())))
}

fn check_weekday(date: civil::Date, weekday: Option<Weekday>) -> Result<civil::Date, String> {
    match weekday {
        Some(weekday) if date.weekday() != weekday => {
            let meant = date.strftime("%-d %B %Y is a %A");
            Err(format!("{meant}, not a {weekday:?}"))
        }
        _ => Ok(date),
    }
}

/// The English name of a month from 1 to 12.
fn month_name(month: i32) -> String {
    made(2000, month, 1).map_or_else(|| format!("month {month}"), |date| date.strftime("%B").to_string())
}
