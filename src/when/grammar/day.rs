//! Parses days: `tomorrow`, `next friday`, `1 december`, `1.12.2026`, `the 5th`, `end of month`, `in three days`.

use jiff::civil::Weekday;

use super::{Grammar, RuleCombinators, RuleResults};
use crate::when::phrase::{Date, DayPhrase, Period, WhichOne};
use crate::when::term::{DayPart, Term, Unit, meaning};

impl Grammar<'_> {
    pub(super) fn days(&self, at: usize) -> RuleResults<DayPhrase> {
        let mut out: RuleResults<DayPhrase> = Vec::new();
        for at in self.skip(at, &[Term::On]) {
            out.extend(self.named(at));
            out.extend(self.dates(at).map(DayPhrase::Date));
            out.extend(self.of_month(at));
            out.extend(self.weekday_and_date(at));
            out.extend(self.periods(at).filter_map(|period| match period {
                Period::Of(which, unit) if which != WhichOne::Bare => Some(DayPhrase::Period(which, unit)),
                _ => None,
            }));
        }
        out.extend(self.ends(at));
        out.extend(
            self.later(at).filter_map(|length| (length.seconds == 0).then_some(DayPhrase::After(length))),
        );
        out
    }

    /// A day and a part of it in one: `tonight`, `this evening`, `Freitagabend`.
    pub(super) fn day_parts(&self, at: usize) -> RuleResults<(DayPhrase, DayPart)> {
        let part = meaning!(Term::Part(part) => (DayPhrase::Offset(0), part));
        let both = meaning!(
            Term::DayPart(days, part) => (DayPhrase::Offset(days.into()), part),
            Term::WeekdayPart(day, part) => (DayPhrase::Weekday(day, WhichOne::Bare), part)
        );
        self.behind_any(at, &[Term::On], |at| {
            let mut out = self.lattice.values_at(at, both);
            out.extend(self.lattice.behind(at, Term::This).flat_map(|end| self.lattice.values_at(end, part)));
            out
        })
    }

    /// The days of the week that stand at a place.
    pub(super) fn weekdays(&self, at: usize) -> RuleResults<Weekday> {
        self.lattice.values_at(at, meaning!(Term::Weekday(day) => day))
    }

    /// The words before or behind a day that choose one.
    fn which(&self, at: usize) -> RuleResults<WhichOne> {
        let which = meaning!(
            Term::This => WhichOne::This,
            Term::Next => WhichOne::Next,
            Term::Coming => WhichOne::Coming,
            Term::Last => WhichOne::Last
        );
        self.lattice.values_at(at, which)
    }

    /// `today`, `friday`, `next friday`, `vendredi prochain`, `friday next week`, `this weekend`.
    fn named(&self, at: usize) -> RuleResults<DayPhrase> {
        let day = meaning!(
            Term::Day(days) => DayPhrase::Offset(days.into()),
            Term::Weekend => DayPhrase::Weekend(WhichOne::Bare)
        );
        let mut out = self.lattice.values_at(at, day);
        for (which, end) in self.which(at) {
            out.extend(self.weekdays(end).map(|day| DayPhrase::Weekday(day, which)));
            out.extend(self.lattice.behind(end, Term::Weekend).map(|end| (DayPhrase::Weekend(which), end)));
        }
        for (day, end) in self.weekdays(at) {
            out.push((DayPhrase::Weekday(day, WhichOne::Bare), end));
            out.extend(self.which(end).map(|which| DayPhrase::Weekday(day, which)));
            let weeks = self.behind_any(end, &[Term::Of, Term::On], |at| self.weeks(at));
            out.extend(weeks.map(|which| DayPhrase::OfWeek(day, which)));
        }
        for (which, end) in self.weeks(at) {
            let days = self.behind_any(end, &[Term::On], |at| self.weekdays(at));
            out.extend(days.map(|day| DayPhrase::OfWeek(day, which)));
        }
        out
    }

    /// `next week`, `la semaine prochaine`.
    fn weeks(&self, at: usize) -> RuleResults<WhichOne> {
        self.periods(at).filter_map(|period| match period {
            Period::Of(which @ (WhichOne::This | WhichOne::Next), Unit::Week) => Some(which),
            _ => None,
        })
    }

    /// A week, month or year: `month`, `this month`, `next month`, `mois prochain`, `december 2026`.
    fn periods(&self, at: usize) -> RuleResults<Period> {
        let long = meaning!(Term::Unit(unit @ (Unit::Week | Unit::Month | Unit::Year)) => unit);
        let unit = |at: usize| self.lattice.values_at(at, long);
        let mut out: RuleResults<Period> = Vec::new();
        for (which, end) in self.which(at) {
            out.extend(unit(end).map(|unit| Period::Of(which, unit)));
        }
        for (found, end) in unit(at) {
            out.push((Period::Of(WhichOne::Bare, found), end));
            out.extend(self.which(end).map(|which| Period::Of(which, found)));
        }
        for (month, end) in self.months(at) {
            out.push((Period::Month(month, None), end));
            let year = self.lattice.number(end, 4, 4);
            out.extend(year.map(|year| (Period::Month(month, Some(year)), end + 1)));
        }
        out
    }

    fn months(&self, at: usize) -> RuleResults<i32> {
        self.lattice.values_at(at, meaning!(Term::Month(month) => month.into()))
    }

    /// `end of month`, `fin du mois prochain`, `Ende November`.
    fn ends(&self, at: usize) -> RuleResults<DayPhrase> {
        let ends = self.behind_any(at, &[Term::On], |at| {
            let of = |end| self.behind_any(end, &[Term::Of, Term::On], |at| self.periods(at));
            self.lattice.behind(at, Term::EndOf).flat_map(of).collect()
        });
        ends.map(DayPhrase::EndOf)
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
    fn of_month(&self, at: usize) -> RuleResults<DayPhrase> {
        let mut out: RuleResults<DayPhrase> = Vec::new();
        let articles = self.lattice.language.hours_to_24
            && at > 0
            && self.lattice.terms(at - 1).iter().any(|(t, e)| *t == Term::On && *e == at);
        for ((day, ordinal), end) in self.month_days(at) {
            if ordinal || articles {
                out.push((DayPhrase::OfMonth(day, None), end));
            }
            for of in self.skip(end, &[Term::Of, Term::On]) {
                out.extend(self.periods(of).filter_map(|period| match period {
                    Period::Of(which, Unit::Month) if which != WhichOne::Bare || of > end => {
                        Some(DayPhrase::OfMonthBy(day, which))
                    }
                    _ => None,
                }));
            }
        }
        out
    }

    /// `friday 4 december`, `Fri, 27 Nov 2026`, `friday the 4th`.
    fn weekday_and_date(&self, at: usize) -> RuleResults<DayPhrase> {
        let mut out: RuleResults<DayPhrase> = Vec::new();
        for (weekday, end) in self.weekdays(at) {
            let comma = self.lattice.sign(end, ',').into_iter().chain([end]);
            for at in comma.flat_map(|at| self.skip(at, &[Term::On])) {
                let weekday = Some(weekday);
                out.extend(self.dates(at).map(|date| DayPhrase::Date(Date { weekday, ..date })));
                out.extend(self.of_month(at).filter_map(|day| match day {
                    DayPhrase::OfMonth(day, _) => Some(DayPhrase::OfMonth(day, weekday)),
                    _ => None,
                }));
            }
        }
        out
    }

    fn dates(&self, at: usize) -> RuleResults<Date> {
        let mut out = self.numeric_dates(at);
        let date = |month, day, end| self.years(end).map(|year| Date { year, month, day, weekday: None });
        out.extend(self.month_days(at).then(|(day, _), end| {
            let months = self.behind_any(end, &[Term::Of, Term::On], |at| self.months(at));
            months.then(|month, end| date(month, day, end))
        }));
        out.extend(self.months(at).then(|month, end| {
            let days = self.behind_any(end, &[Term::On], |at| self.month_days(at));
            days.then(|(day, _), end| date(month, day, end))
        }));
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
