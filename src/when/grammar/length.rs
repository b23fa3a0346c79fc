//! Parses lengths of time: `in 20 minutes`, `2 weeks`, `1h30m`, `half an hour`, `3 days ago`, `il y a deux heures`.

use super::{Grammar, RuleResults};
use crate::when::phrase::{Length, Phrase};
use crate::when::term::{Term, Unit};

/// The most of a unit that is taken: with it no sum overflows.
const MAX_COUNT: i32 = 99_999;

impl Grammar<'_> {
    /// A phrase that is a length of time alone.
    pub(super) fn lengths(&self) -> RuleResults<Phrase> {
        let lattice = self.lattice;
        let mut out: RuleResults<Phrase> =
            self.later(0).into_iter().map(|(length, end)| (Phrase::After(length), end)).collect();
        for at in lattice.maybe(0, Term::Ago) {
            for (length, end) in self.sums(at, false) {
                let ends: Vec<usize> =
                    if at == 0 { lattice.behind(end, Term::Ago).collect() } else { vec![end] };
                out.extend(ends.into_iter().map(|end| (Phrase::Before(length.clone()), end)));
            }
        }
        out
    }

    /// `in three days`, `three days`, `three days from now`.
    pub(super) fn later(&self, at: usize) -> RuleResults<Length> {
        let lattice = self.lattice;
        let mut out = self.sums(at, false);
        for at in lattice.behind(at, Term::In) {
            out.extend(self.sums(at, true));
        }
        let from_now: RuleResults<Length> = self
            .sums(at, false)
            .into_iter()
            .flat_map(|(length, end)| {
                lattice.behind(end, Term::FromNow).map(move |end| (length.clone(), end))
            })
            .collect();
        out.extend(from_now);
        out
    }

    /// Numbers of units, each unit shorter than the one before. Behind `in` a last number may be minutes: `in 1h30`.
    fn sums(&self, at: usize, after_in: bool) -> RuleResults<Length> {
        let mut out: RuleResults<Length> = Vec::new();
        self.more_units(at, &Length::default(), None, after_in, &mut out);
        out
    }

    fn more_units(
        &self,
        at: usize,
        sum: &Length,
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
            let spans = lattice.terms(at).iter().filter_map(|(term, end)| match term {
                Term::Minutes(minutes) => Some((i64::from(*minutes) * 60, *end)),
                _ => None,
            });
            let spans = spans.filter(|_| last.is_none_or(|last| last >= Unit::Day));
            out.extend(
                spans.map(|(seconds, end)| (Length { seconds: sum.seconds + seconds, ..sum.clone() }, end)),
            );
            for (length, unit, end) in self.counted(at) {
                if last.is_none_or(|last| unit < last) {
                    let sum = sum.plus(&length);
                    out.push((sum.clone(), end));
                    self.more_units(end, &sum, Some(unit), after_in, out);
                }
            }
            if let (true, Some(Unit::Hour), Some(minutes)) = (after_in, last, lattice.number(at, 1, 2)) {
                let seconds = sum.seconds + i64::from(minutes) * 60;
                out.extend((minutes < 60).then(|| (Length { seconds, ..sum.clone() }, at + 1)));
            }
        }
    }

    /// A number and its unit; `1.5 hours` has a fraction.
    fn counted(&self, at: usize) -> Vec<(Length, Unit, usize)> {
        let lattice = self.lattice;
        let units = |at: usize| {
            lattice.terms(at).iter().filter_map(|(term, end)| match term {
                Term::Unit(unit) => Some((*unit, *end)),
                _ => None,
            })
        };
        let mut out = Vec::new();
        let one = lattice.behind(at, Term::A).map(|end| (1, end));
        for (number, end) in
            lattice.numbers(at).into_iter().filter(|(number, _)| *number <= MAX_COUNT).chain(one)
        {
            out.extend(units(end).map(|(unit, end)| (Length::of(number, unit), unit, end)));
        }
        for sign in ['.', ','] {
            let halves =
                lattice.number(at, 1, 2).zip(lattice.sign(at + 1, sign).and_then(|at| lattice.digits(at)));
            if let Some((whole, "5")) = halves {
                let hours = units(at + 3).filter(|(unit, _)| *unit == Unit::Hour);
                let length = Length { seconds: i64::from(whole) * 3600 + 1800, ..Length::default() };
                out.extend(hours.map(|(unit, end)| (length.clone(), unit, end)));
            }
        }
        out
    }
}

impl Length {
    /// So many of a unit.
    fn of(number: i32, unit: Unit) -> Self {
        let seconds = |each: i64| Length { seconds: i64::from(number) * each, ..Length::default() };
        match unit {
            Unit::Second => seconds(1),
            Unit::Minute => seconds(60),
            Unit::Hour => seconds(3600),
            Unit::Day => Length { days: number, ..Length::default() },
            Unit::Week => Length { days: number * 7, ..Length::default() },
            Unit::Month => Length { months: number, ..Length::default() },
            Unit::Year => Length { months: number * 12, ..Length::default() },
        }
    }

    fn plus(&self, other: &Length) -> Self {
        Length {
            months: self.months + other.months,
            days: self.days + other.days,
            seconds: self.seconds + other.seconds,
        }
    }
}
