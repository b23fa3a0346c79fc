//! Parses recurrence: `every friday`, `daily`, `monthly on the 1st`, `am 1. jedes Monats`. Also recognises kinds of
//! recurrence that a reminder's line can't hold.

use super::{Grammar, RuleCombinators, RuleResults};
use crate::when::phrase::{Phrase, RepeatPhrase};
use crate::when::term::{Cycle, Term, Unit, meaning};

impl Grammar<'_> {
    pub(super) fn every(&self, at: usize) -> RuleResults<RepeatPhrase> {
        let lattice = self.lattice;
        let every_week = meaning!(Term::Weekdays(day) => RepeatPhrase::Week(day));
        let any_week = meaning!(Term::Weekday(day) | Term::Weekdays(day) => RepeatPhrase::Week(day));
        let month = |at| self.month_days(at).map(|(day, _)| RepeatPhrase::Month(day));
        let mut out: RuleResults<RepeatPhrase> = Vec::new();
        for at in self.skip(at, &[Term::On]) {
            out.extend(lattice.values_at(at, every_week));
            out.extend(month(at).then(|month, end| {
                let of = self.skip(end, &[Term::Of]).into_iter();
                of.flat_map(|at| self.cycle(at, Cycle::Monthly)).map(|end| (month, end)).collect()
            }));
        }
        for end in lattice.behind(at, Term::Every) {
            out.extend(lattice.values_at(end, any_week));
            let is_part = |(term, _): &_| matches!(term, Term::Part(_) | Term::PartBehind(_));
            out.extend(lattice.terms(end).iter().any(is_part).then_some((RepeatPhrase::Day, end)));
            let ordinal = |(day, is_ordinal): (i32, bool)| is_ordinal.then_some(RepeatPhrase::Month(day));
            out.extend(self.month_days(end).filter_map(ordinal));
        }
        out.extend(self.cycle(at, Cycle::Daily).into_iter().map(|end| (RepeatPhrase::Day, end)));
        for end in self.cycle(at, Cycle::Weekly) {
            out.extend(self.behind_any(end, &[Term::On], |at| lattice.values_at(at, any_week)));
        }
        for end in self.cycle(at, Cycle::Monthly) {
            out.extend(self.behind_any(end, &[Term::On], month));
        }
        out
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

    /// Phrases of recurrences that are understood but can't be written as a reminder.
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
