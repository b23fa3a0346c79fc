//! Parses the terms of a time or a recurrence into every parse that the rules allow.
//!
//! Each rule takes a position and returns all matches that begin at this position, with their ends. So no choice is
//! made before all matches are known. A phrase is accepted only if it is parsed to its end. `grammar/when.md` documents
//! the rules.

mod clock;
mod day;
mod every;
mod length;

use super::lexicon::Lattice;
use super::phrase::{DayPhrase, Moment, Phrase, TimePhrase};
use super::term::{DayPart, Term, meaning};

/// The results of a rule: things that begin at its place, each with its end.
type RuleResults<T> = Vec<(T, usize)>;

/// Combines the results of a rule with functions and with other rules.
trait RuleCombinators<T>: Sized {
    /// Those that are something, as that.
    fn filter_map<U>(self, meant: impl Fn(T) -> Option<U>) -> RuleResults<U>;

    /// Each as something else.
    fn map<U>(self, as_what: impl Fn(T) -> U) -> RuleResults<U> {
        self.filter_map(|one| Some(as_what(one)))
    }

    /// The results of another rule behind each.
    fn then<U>(self, rule: impl Fn(T, usize) -> RuleResults<U>) -> RuleResults<U>;
}

impl<T> RuleCombinators<T> for RuleResults<T> {
    fn filter_map<U>(self, meant: impl Fn(T) -> Option<U>) -> RuleResults<U> {
        self.into_iter().filter_map(|(one, end)| Some((meant(one)?, end))).collect()
    }

    fn then<U>(self, rule: impl Fn(T, usize) -> RuleResults<U>) -> RuleResults<U> {
        self.into_iter().flat_map(|(one, end)| rule(one, end)).collect()
    }
}

/// The rules, over one language's terms of a phrase.
struct Grammar<'t> {
    lattice: &'t Lattice<'t>,
}

/// One part of a moment; they come in any order.
enum MomentPart {
    Day(DayPhrase),
    Clock(TimePhrase),
    Part(DayPart),
    DayPart(DayPhrase, DayPart),
    /// A part that must stand behind a day.
    Behind(DayPart),
}

/// Everything that a phrase can be in one language.
pub fn read(lattice: &Lattice<'_>) -> Vec<Phrase> {
    let grammar = Grammar { lattice };
    let end = lattice.tokens.len();
    let mut out: Vec<Phrase> = Vec::new();
    for (phrase, at) in [grammar.now(), grammar.lengths(), grammar.refused(), grammar.moments()].concat() {
        if at == end && !out.contains(&phrase) {
            out.push(phrase);
        }
    }
    out
}

impl Grammar<'_> {
    fn now(&self) -> RuleResults<Phrase> {
        self.lattice.behind(0, Term::Now).map(|end| (Phrase::Now, end)).collect()
    }

    /// A day, a time and a part of the day, each at most once.
    fn moments(&self) -> RuleResults<Phrase> {
        let mut out = Vec::new();
        self.more(0, Moment::default(), &mut out);
        out
    }

    fn more(&self, at: usize, had: Moment, out: &mut RuleResults<Phrase>) {
        let starts = self.lattice.sign(at, ',').filter(|_| at > 0).into_iter().chain([at]);
        for (bit, end) in starts.flat_map(|at| self.bits(at)) {
            let mut moment = had;
            let Moment { day, clock, part } = &mut moment;
            let fits = match bit {
                MomentPart::Day(bit) => day.replace(bit).is_none(),
                MomentPart::Clock(bit) => clock.replace(bit).is_none(),
                MomentPart::Part(bit) => part.replace(bit).is_none(),
                MomentPart::DayPart(one, bit) => day.replace(one).is_none() & part.replace(bit).is_none(),
                MomentPart::Behind(bit) => day.is_some() & part.replace(bit).is_none(),
            };
            if !fits {
                continue;
            }
            if day.is_some() || clock.is_some() {
                out.push((Phrase::Moment(moment), end));
            }
            self.more(end, moment, out);
        }
    }

    fn bits(&self, at: usize) -> RuleResults<MomentPart> {
        let mut out: RuleResults<MomentPart> = Vec::new();
        out.extend(self.days(at).map(MomentPart::Day));
        out.extend(self.every(at).map(|every| MomentPart::Day(DayPhrase::Every(every))));
        out.extend(self.clocks(at).map(MomentPart::Clock));
        out.extend(self.day_parts(at).map(|(day, part)| MomentPart::DayPart(day, part)));
        let part = meaning!(
            Term::Part(part) => MomentPart::Part(part),
            Term::PartBehind(part) => MomentPart::Behind(part)
        );
        out.extend(self.lattice.values_at(at, part));
        out
    }

    /// The ends of any of several terms, or the place itself.
    fn skip(&self, at: usize, terms: &[Term]) -> Vec<usize> {
        let behind = terms.iter().flat_map(|term| self.lattice.behind(at, *term));
        let mut ends: Vec<usize> = std::iter::once(at).chain(behind).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// The results of a rule behind any of several terms, or at the place itself.
    fn behind_any<T>(
        &self,
        at: usize,
        terms: &[Term],
        rule: impl Fn(usize) -> RuleResults<T>,
    ) -> RuleResults<T> {
        self.skip(at, terms).into_iter().flat_map(rule).collect()
    }
}
