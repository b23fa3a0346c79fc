//! Parses days: `tomorrow`, `next friday`, `1 december`, `1.12.2026`, `the 5th`, `end of month`, `in three days`.

use jiff::civil::Weekday;

use super::{Grammar, RuleResults};
use crate::when::day_part::Part;
use crate::when::phrase::{Date, Day, Period, WhichOne};
use crate::when::term::{Term, Unit};

/// The words before or behind a day that choose one.
const WHICH: [(Term, WhichOne); 4] = [
    (Term::This, WhichOne::This),
    (Term::Next, WhichOne::Next),
    (Term::Coming, WhichOne::Coming),
    (Term::Last, WhichOne::Last),
];

impl Grammar<'_> {
    pub(super) fn days(&self, at: usize) -> RuleResults<Day> {
        let mut out: RuleResults<Day> = Vec::new();
        for at in self.skip(at, &[Term::On]) {
            out.extend(self.named(at));
            out.extend(self.dates(at).into_iter().map(|(date, end)| (Day::Date(date), end)));
            out.extend(self.of_month(at));
            out.extend(self.weekday_and_date(at));
            out.extend(self.periods(at).into_iter().filter_map(|(period, end)| match period {
                Period::Of(which, unit) if which != WhichOne::Bare => Some((Day::Period(which, unit), end)),
                _ => None,
            }));
        }
        out.extend(self.ends(at));
        let long = self.later(at).into_iter().filter(|(length, _)| length.seconds == 0);
        out.extend(long.map(|(length, end)| (Day::After(length), end)));
        out
    }

    /// A day and a part of it in one: `tonight`, `this evening`, `Freitagabend`.
    pub(super) fn day_parts(&self, at: usize) -> RuleResults<(Day, Part)> {
        let mut out: RuleResults<(Day, Part)> = Vec::new();
        for at in self.skip(at, &[Term::On]) {
            for (term, end) in self.lattice.terms(at) {
                match term {
                    Term::DayPart(days, part) => out.push(((Day::Offset((*days).into()), *part), *end)),
                    Term::WeekdayPart(day, part) => {
                        out.push(((Day::Weekday(*day, WhichOne::Bare), *part), *end));
                    }
                    Term::This => {
                        out.extend(self.part(*end).map(|(part, end)| ((Day::Offset(0), part), end)));
                    }
                    _ => {}
                }
            }
        }
        out
    }

    fn part(&self, at: usize) -> impl Iterator<Item = (Part, usize)> {
        self.lattice.terms(at).iter().filter_map(|(term, end)| match term {
            Term::Part(part) => Some((*part, *end)),
            _ => None,
        })
    }

    /// The days of the week that stand at a place.
    pub(super) fn weekdays(&self, at: usize) -> RuleResults<Weekday> {
        let found = self.lattice.terms(at).iter().filter_map(|(term, end)| match term {
            Term::Weekday(day) => Some((*day, *end)),
            _ => None,
        });
        found.collect()
    }

    fn which(&self, at: usize) -> RuleResults<WhichOne> {
        WHICH
            .iter()
            .flat_map(|(term, which)| self.lattice.behind(at, *term).map(|end| (*which, end)))
            .collect()
    }

    /// `today`, `friday`, `next friday`, `vendredi prochain`, `friday next week`, `this weekend`.
    fn named(&self, at: usize) -> RuleResults<Day> {
        let mut out: RuleResults<Day> = Vec::new();
        for (term, end) in self.lattice.terms(at) {
            match term {
                Term::Day(days) => out.push((Day::Offset((*days).into()), *end)),
                Term::Weekend => out.push((Day::Weekend(WhichOne::Bare), *end)),
                _ => {}
            }
        }
        for (which, end) in self.which(at) {
            out.extend(self.weekdays(end).into_iter().map(|(day, end)| (Day::Weekday(day, which), end)));
            out.extend(self.lattice.behind(end, Term::Weekend).map(|end| (Day::Weekend(which), end)));
        }
        for (day, end) in self.weekdays(at) {
            out.push((Day::Weekday(day, WhichOne::Bare), end));
            out.extend(self.which(end).into_iter().map(|(which, end)| (Day::Weekday(day, which), end)));
        }
        for (day, end) in self.weekdays(at) {
            let weeks = self.skip(end, &[Term::Of, Term::On]).into_iter().flat_map(|at| self.weeks(at));
            out.extend(weeks.map(|(which, end)| (Day::OfWeek(day, which), end)));
        }
        for (which, end) in self.weeks(at) {
            let days = self.skip(end, &[Term::On]).into_iter().flat_map(|at| self.weekdays(at));
            out.extend(days.map(|(day, end)| (Day::OfWeek(day, which), end)));
        }
        out
    }

    /// `next week`, `la semaine prochaine`.
    fn weeks(&self, at: usize) -> RuleResults<WhichOne> {
        let found = self.periods(at).into_iter().filter_map(|(period, end)| match period {
            Period::Of(which @ (WhichOne::This | WhichOne::Next), Unit::Week) => Some((which, end)),
            _ => None,
        });
        found.collect()
    }

    /// A week, month or year: `month`, `this month`, `next month`, `mois prochain`, `december 2026`.
    fn periods(&self, at: usize) -> RuleResults<Period> {
        let unit = |at: usize| {
            self.lattice.terms(at).iter().filter_map(|(term, end)| match term {
                Term::Unit(unit @ (Unit::Week | Unit::Month | Unit::Year)) => Some((*unit, *end)),
                _ => None,
            })
        };
        let mut out: RuleResults<Period> = Vec::new();
        for (which, end) in self.which(at) {
            out.extend(unit(end).map(|(unit, end)| (Period::Of(which, unit), end)));
        }
        for (found, end) in unit(at) {
            out.push((Period::Of(WhichOne::Bare, found), end));
            out.extend(self.which(end).into_iter().map(|(which, end)| (Period::Of(which, found), end)));
        }
        for (month, end) in self.months(at) {
            out.push((Period::Month(month, None), end));
            let year = self.lattice.number(end, 4, 4);
            out.extend(year.map(|year| (Period::Month(month, Some(year)), end + 1)));
        }
        out
    }

    fn months(&self, at: usize) -> RuleResults<i32> {
        let found = self.lattice.terms(at).iter().filter_map(|(term, end)| match term {
            Term::Month(month) => Some((i32::from(*month), *end)),
            _ => None,
        });
        found.collect()
    }

    /// `end of month`, `fin du mois prochain`, `Ende November`.
    fn ends(&self, at: usize) -> RuleResults<Day> {
        let mut out: RuleResults<Day> = Vec::new();
        for at in self.skip(at, &[Term::On]) {
            for end in self.lattice.behind(at, Term::EndOf) {
                let periods =
                    self.skip(end, &[Term::Of, Term::On]).into_iter().flat_map(|at| self.periods(at));
                out.extend(periods.map(|(period, end)| (Day::EndOf(period), end)));
            }
        }
        out
    }

    /// The day of a month, with whether it is written as an ordinal.
    pub(super) fn month_days(&self, at: usize) -> RuleResults<(i32, bool)> {
        let lattice = self.lattice;
        let mut out: RuleResults<(i32, bool)> =
            lattice.behind(at, Term::First).map(|end| ((1, true), end)).collect();
        for (day, end) in lattice.numbers(at).into_iter().filter(|(day, _)| *day <= 99) {
            out.push(((day, false), end));
            if lattice.digits(at).is_some() {
                out.extend(lattice.behind(end, Term::Ordinal).map(|end| ((day, true), end)));
                let dotted = lattice.stop(end).filter(|_| lattice.language.dotted_ordinals);
                out.extend(dotted.into_iter().chain(lattice.sign(end, '°')).map(|end| ((day, true), end)));
            }
        }
        out
    }

    /// `the 5th`, `le 5`, `am 5.`, `1st of next month`.
    fn of_month(&self, at: usize) -> RuleResults<Day> {
        let mut out: RuleResults<Day> = Vec::new();
        let articles = self.lattice.language.hours_to_24
            && at > 0
            && self.lattice.terms(at - 1).iter().any(|(t, e)| *t == Term::On && *e == at);
        for ((day, ordinal), end) in self.month_days(at) {
            if ordinal || articles {
                out.push((Day::OfMonth(day, None), end));
            }
            for of in self.skip(end, &[Term::Of, Term::On]) {
                out.extend(self.periods(of).into_iter().filter_map(|(period, behind)| match period {
                    Period::Of(which, Unit::Month) if which != WhichOne::Bare || of > end => {
                        Some((Day::OfMonthBy(day, which), behind))
                    }
                    _ => None,
                }));
            }
        }
        out
    }

    /// `friday 4 december`, `Fri, 27 Nov 2026`, `friday the 4th`.
    fn weekday_and_date(&self, at: usize) -> RuleResults<Day> {
        let mut out: RuleResults<Day> = Vec::new();
        for (weekday, end) in self.weekdays(at) {
            let comma = self.lattice.sign(end, ',').into_iter().chain([end]);
            for at in comma.flat_map(|at| self.skip(at, &[Term::On])) {
                let dates = self.dates(at).into_iter();
                out.extend(
                    dates.map(|(date, end)| (Day::Date(Date { weekday: Some(weekday), ..date }), end)),
                );
                let days = self.of_month(at).into_iter().filter_map(|(day, end)| match day {
                    Day::OfMonth(day, _) => Some((Day::OfMonth(day, Some(weekday)), end)),
                    _ => None,
                });
                out.extend(days);
            }
        }
        out
    }

    fn dates(&self, at: usize) -> RuleResults<Date> {
        let mut out = self.numeric_dates(at);
        let date = |year, month, day| Date { year, month, day, weekday: None };
        for ((day, _), end) in self.month_days(at) {
            for end in self.skip(end, &[Term::Of, Term::On]) {
                for (month, end) in self.months(end) {
                    out.extend(self.years(end).into_iter().map(|(year, end)| (date(year, month, day), end)));
                }
            }
        }
        for (month, end) in self.months(at) {
            for end in self.skip(end, &[Term::On]) {
                for ((day, _), end) in self.month_days(end) {
                    out.extend(self.years(end).into_iter().map(|(year, end)| (date(year, month, day), end)));
                }
            }
        }
        out
    }

    /// Nothing, or a year of four digits.
    fn years(&self, at: usize) -> RuleResults<Option<i32>> {
        let mut out: RuleResults<Option<i32>> = vec![(None, at)];
        for at in self.lattice.sign(at, ',').into_iter().chain(self.skip(at, &[Term::Of])) {
            out.extend(self.lattice.number(at, 4, 4).map(|year| (Some(year), at + 1)));
        }
        out
    }

    /// `2026-12-01`, `1.12.2026`, `1/12/2026` (which is two dates), `24.12.`, `24/12`.
    fn numeric_dates(&self, at: usize) -> RuleResults<Date> {
        let lattice = self.lattice;
        let mut out: RuleResults<Date> = Vec::new();
        for sign in ['-', '/', '.'] {
            let behind =
                |at: usize| lattice.sign(at, sign).or_else(|| lattice.stop(at).filter(|_| sign == '.'));
            let Some(second) = behind(at + 1).and_then(|at| lattice.number(at, 1, 2)) else { continue };
            let third = |least, most| behind(at + 3).and_then(|at| lattice.number(at, least, most));
            let mut add = |year, month, day, end| out.push((Date { year, month, day, weekday: None }, end));
            if let (Some(year), Some(day)) = (lattice.number(at, 4, 4), third(1, 2)) {
                add(Some(year), second, day, at + 5);
            }
            let Some(first) = lattice.number(at, 1, 2) else { continue };
            if let Some(year) = third(4, 4) {
                add(Some(year), second, first, at + 5);
                if sign != '.' {
                    add(Some(year), first, second, at + 5);
                }
            }
            match sign {
                '.' => {
                    if let Some(year) = third(2, 2) {
                        add(Some(2000 + year), second, first, at + 5);
                    }
                    add(None, second, first, at + 3);
                    if lattice.stop(at + 3).is_some() {
                        add(None, second, first, at + 4);
                    }
                }
                '/' => {
                    add(None, second, first, at + 3);
                    add(None, first, second, at + 3);
                }
                _ => {}
            }
        }
        out
    }
}
