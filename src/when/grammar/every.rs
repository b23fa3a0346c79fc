//! Parses recurrence: `every friday`, `daily`, `monthly on the 1st`, `am 1. jedes Monats`; and kinds that a reminder
//! line can't hold.

use jiff::civil::Weekday;

use super::{Grammar, RuleResults};
use crate::when::phrase::{Every, Phrase};
use crate::when::term::{Cycle, Term, Unit};

impl Grammar<'_> {
    pub(super) fn every(&self, at: usize) -> RuleResults<Every> {
        let mut out: RuleResults<Every> = Vec::new();
        for at in self.skip(at, &[Term::On]) {
            out.extend(self.each_weekday(at).into_iter().map(|(day, end)| (Every::Week(day), end)));
            for (day, end) in self.month_days(at).into_iter().map(|((day, _), end)| (day, end)) {
                let cycles =
                    self.skip(end, &[Term::Of]).into_iter().flat_map(|at| self.cycle(at, Cycle::Monthly));
                out.extend(cycles.map(|end| (Every::Month(day), end)));
            }
        }
        for end in self.lattice.behind(at, Term::Every) {
            out.extend(self.weekdays(end).into_iter().map(|(day, end)| (Every::Week(day), end)));
            out.extend(self.each_weekday(end).into_iter().map(|(day, end)| (Every::Week(day), end)));
            let parts = self.lattice.terms(end).iter();
            out.extend(
                parts
                    .filter(|(term, _)| matches!(term, Term::Part(_) | Term::PartBehind(_)))
                    .map(|_| (Every::Day, end)),
            );
            out.extend(
                self.month_days(end)
                    .into_iter()
                    .filter(|((_, ordinal), _)| *ordinal)
                    .map(|((day, _), end)| (Every::Month(day), end)),
            );
        }
        out.extend(self.cycle(at, Cycle::Daily).into_iter().map(|end| (Every::Day, end)));
        for end in self.cycle(at, Cycle::Weekly) {
            for at in self.skip(end, &[Term::On]) {
                out.extend(self.weekdays(at).into_iter().map(|(day, end)| (Every::Week(day), end)));
                out.extend(self.each_weekday(at).into_iter().map(|(day, end)| (Every::Week(day), end)));
            }
        }
        for end in self.cycle(at, Cycle::Monthly) {
            for at in self.skip(end, &[Term::On]) {
                out.extend(self.month_days(at).into_iter().map(|((day, _), end)| (Every::Month(day), end)));
            }
        }
        out
    }

    /// `fridays`.
    fn each_weekday(&self, at: usize) -> RuleResults<Weekday> {
        let found = self.lattice.terms(at).iter().filter_map(|(term, end)| match term {
            Term::Weekdays(day) => Some((*day, *end)),
            _ => None,
        });
        found.collect()
    }

    /// `daily` or `every day`, and so on.
    fn cycle(&self, at: usize, cycle: Cycle) -> Vec<usize> {
        let unit = match cycle {
            Cycle::Daily => Unit::Day,
            Cycle::Weekly => Unit::Week,
            Cycle::Monthly => Unit::Month,
            Cycle::Other => return Vec::new(),
        };
        let two =
            self.lattice.behind(at, Term::Every).flat_map(|at| self.lattice.behind(at, Term::Unit(unit)));
        self.lattice.behind(at, Term::Cycle(cycle)).chain(two).collect()
    }

    /// Phrases that are understood and can't be taken, whatever else they say.
    pub(super) fn refused(&self) -> RuleResults<Phrase> {
        let lattice = self.lattice;
        let end = lattice.tokens.len();
        let refuse = |why: &str| (Phrase::Refused(why.to_owned()), end);
        let mut out: RuleResults<Phrase> = Vec::new();
        for at in 0..end {
            if lattice.behind(at, Term::Cycle(Cycle::Other)).next().is_some() || self.is_other_cycle(at) {
                out.push(refuse("a reminder comes daily, weekly or monthly, and in no other way"));
            }
        }
        let whole = |found: Vec<usize>| found.contains(&end);
        if whole(self.cycle(0, Cycle::Weekly)) {
            out.push(refuse("which day of the week? write `every friday`"));
        }
        if whole(self.cycle(0, Cycle::Monthly)) {
            out.push(refuse("which day of the month? write `monthly on the 1st`"));
        }
        out
    }

    /// `every 2 weeks`, `every hour`, `every weekday`.
    fn is_other_cycle(&self, at: usize) -> bool {
        let is_unit = |at: usize, counted: bool| {
            self.lattice.terms(at).iter().any(|(term, _)| match term {
                Term::Unit(Unit::Day | Unit::Week | Unit::Month) => counted,
                Term::Unit(_) | Term::Workday => true,
                _ => false,
            })
        };
        self.lattice.behind(at, Term::Every).any(|at| {
            is_unit(at, false) || self.lattice.numbers(at).into_iter().any(|(_, end)| is_unit(end, true))
        })
    }
}
