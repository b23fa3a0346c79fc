//! Parses lengths of time: `in 20 minutes`, `2 weeks`, `1h30m`, `half an hour`, `3 days ago`, `il y a deux heures`.

use super::{Grammar, RuleCombinators, RuleResults};
use crate::when::phrase::{Length, Phrase};
use crate::when::term::{Term, Unit, meaning};

/// The most of a unit that is taken: with it no sum overflows.
const MAX_COUNT: i32 = 99_999;

impl Grammar<'_> {
    /// A phrase that is a length of time alone.
    pub(super) fn lengths(&self) -> RuleResults<Phrase> {
        let lattice = self.lattice;
        let mut out = self.later(0);
        out.extend(self.followed(self.sums(0, false), Term::Ago).map(Length::negated));
        for at in lattice.behind(0, Term::Ago) {
            out.extend(self.sums(at, false).map(Length::negated));
        }
        out.map(Phrase::After)
    }

    /// `in three days`, `three days`, `three days from now`.
    pub(super) fn later(&self, at: usize) -> RuleResults<Length> {
        let lattice = self.lattice;
        let mut out = self.sums(at, false);
        for at in lattice.behind(at, Term::In) {
            out.extend(self.sums(at, true));
        }
        out.extend(self.followed(self.sums(at, false), Term::FromNow));
        out
    }

    /// Those that a word follows.
    fn followed(&self, lengths: RuleResults<Length>, by: Term) -> RuleResults<Length> {
        lengths.then(|length, end| self.lattice.behind(end, by).map(|end| (length, end)).collect())
    }

    /// Numbers of units, each unit shorter than the one before. Behind `in` a last number may be minutes: `in 1h30`.
    fn sums(&self, at: usize, after_in: bool) -> RuleResults<Length> {
        let mut out: RuleResults<Length> = Vec::new();
        self.more_units(at, Length::default(), None, after_in, &mut out);
        out
    }

    fn more_units(
        &self,
        at: usize,
        sum: Length,
        last: Option<Unit>,
        after_in: bool,
        out: &mut RuleResults<Length>,
    ) {
        let lattice = self.lattice;
        let joints = if last.is_some() {
            lattice.sign(at, ',').into_iter().chain(self.skip(at, &[Term::And])).collect()
        } else {
            vec![at]
        };
        for at in joints {
            out.extend(lattice.values_at(at, |term| match term {
                Term::Minutes(minutes) if last.is_none_or(|last| last >= Unit::Day) => {
                    Some(sum.plus(Length::of(minutes.into(), Unit::Minute)))
                }
                _ => None,
            }));
            for ((length, unit), end) in self.counted(at) {
                if last.is_none_or(|last| unit < last) {
                    let sum = sum.plus(length);
                    out.push((sum, end));
                    self.more_units(end, sum, Some(unit), after_in, out);
                }
            }
            if let (true, Some(Unit::Hour), Some(minutes @ ..60)) = (after_in, last, lattice.number(at, 1, 2))
            {
                out.push((sum.plus(Length::of(minutes, Unit::Minute)), at + 1));
            }
        }
    }

    /// A number and its unit; `1.5 hours` has a fraction.
    fn counted(&self, at: usize) -> RuleResults<(Length, Unit)> {
        let lattice = self.lattice;
        let units = |at: usize| lattice.values_at(at, meaning!(Term::Unit(unit) => unit));
        let mut numbers = lattice.numbers(at).filter_map(|number| (number <= MAX_COUNT).then_some(number));
        numbers.extend(lattice.behind(at, Term::A).map(|end| (1, end)));
        let mut out = numbers.then(|number, end| units(end).map(|unit| (Length::of(number, unit), unit)));
        for sign in ['.', ','] {
            let halves =
                lattice.number(at, 1, 2).zip(lattice.sign(at + 1, sign).and_then(|at| lattice.digits(at)));
            if let Some((whole, "5")) = halves {
                let length = Length::of(whole * 60 + 30, Unit::Minute);
                out.extend(units(at + 3).filter_map(|unit| (unit == Unit::Hour).then_some((length, unit))));
            }
        }
        out
    }
}

impl Length {
    /// This number of a unit.
    fn of(number: i32, unit: Unit) -> Self {
        let (months, days, seconds) = match unit {
            Unit::Second => (0, 0, 1),
            Unit::Minute => (0, 0, 60),
            Unit::Hour => (0, 0, 3600),
            Unit::Day => (0, 1, 0),
            Unit::Week => (0, 7, 0),
            Unit::Month => (1, 0, 0),
            Unit::Year => (12, 0, 0),
        };
        Length { months: months * number, days: days * number, seconds: seconds * i64::from(number) }
    }

    fn plus(self, other: Length) -> Self {
        Length {
            months: self.months + other.months,
            days: self.days + other.days,
            seconds: self.seconds + other.seconds,
        }
    }
}
