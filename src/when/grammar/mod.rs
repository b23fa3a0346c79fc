//! Parses the terms of a phrase into every phrase that they can be.
//!
//! Each rule takes a position and returns all matches that begin there, with their ends, so that no choice is made
//! before all matches are known. A phrase is accepted only if it is read to its end. `grammar/when.md` documents the
//! same.

mod clock;
mod day;
mod every;
mod length;

use super::day_part::Part;
use super::lexicon::Lattice;
use super::phrase::{Clock, Day, Phrase};
use super::term::Term;

/// The results of a rule: things that begin at its place, each with its end.
type RuleResults<T> = Vec<(T, usize)>;

/// The rules, over one language's terms of a phrase.
struct Grammar<'t> {
    lattice: &'t Lattice<'t>,
}

/// One part of a moment; they come in any order.
enum MomentPart {
    Day(Day),
    Clock(Clock),
    Part(Part),
    DayPart(Day, Part),
    /// A part that must stand behind a day.
    Behind(Part),
}

/// Everything that a phrase can be in one language.
pub fn read(lattice: &Lattice<'_>) -> Vec<Phrase> {
    let grammar = Grammar { lattice };
    let end = lattice.tokens.len();
    let whole = |found: RuleResults<Phrase>| {
        found.into_iter().filter(|(_, at)| *at == end).map(|(phrase, _)| phrase).collect()
    };
    let mut out: Vec<Phrase> = Vec::new();
    for found in [grammar.now(), grammar.lengths(), grammar.refused(), grammar.moments()] {
        let phrases: Vec<Phrase> = whole(found);
        for phrase in phrases {
            if !out.contains(&phrase) {
                out.push(phrase);
            }
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
        self.more(0, &(None, None, None), &mut out);
        out
    }

    fn more(
        &self,
        at: usize,
        had: &(Option<Day>, Option<Clock>, Option<Part>),
        out: &mut RuleResults<Phrase>,
    ) {
        let starts = self.lattice.sign(at, ',').filter(|_| at > 0).into_iter().chain([at]);
        for (bit, end) in starts.flat_map(|at| self.bits(at)) {
            let (mut day, mut clock, mut part) = had.clone();
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
            let now = (day, clock, part);
            if now.0.is_some() || now.1.is_some() {
                out.push((Phrase::Moment { day: now.0.clone(), clock: now.1, part: now.2 }, end));
            }
            self.more(end, &now, out);
        }
    }

    fn bits(&self, at: usize) -> RuleResults<MomentPart> {
        let mut out: RuleResults<MomentPart> = Vec::new();
        out.extend(self.days(at).into_iter().map(|(day, end)| (MomentPart::Day(day), end)));
        out.extend(self.every(at).into_iter().map(|(every, end)| (MomentPart::Day(Day::Every(every)), end)));
        out.extend(self.clocks(at).into_iter().map(|(clock, end)| (MomentPart::Clock(clock), end)));
        out.extend(
            self.day_parts(at).into_iter().map(|((day, part), end)| (MomentPart::DayPart(day, part), end)),
        );
        for (term, end) in self.lattice.terms(at) {
            match term {
                Term::Part(part) => out.push((MomentPart::Part(*part), *end)),
                Term::PartBehind(part) => out.push((MomentPart::Behind(*part), *end)),
                _ => {}
            }
        }
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
}
