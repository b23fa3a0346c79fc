//! Parses times of day: `17:00`, `5pm`, `17h30`, `halb acht`, `half past five`, `at 9`, `noon`.

use super::{Grammar, RuleResults};
use crate::when::phrase::Clock;
use crate::when::term::Term;

/// How an hour is written, which decides how many times of day it may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `17:00`, `17h`, `5 Uhr`: on the clock of 24 hours.
    Full,
    /// `at 5`, `five o'clock`: either half of the day.
    Spoken,
    /// `5` with nothing to it.
    Bare,
}

impl Grammar<'_> {
    pub(super) fn clocks(&self, at: usize) -> RuleResults<Clock> {
        let lattice = self.lattice;
        let mut out: RuleResults<Clock> = Vec::new();
        let starts = std::iter::once((at, false)).chain(lattice.behind(at, Term::At).map(|end| (end, true)));
        for (at, said) in starts {
            out.extend(lattice.behind(at, Term::Noon).map(|end| (Clock::Noon, end)));
            out.extend(lattice.behind(at, Term::Midnight).map(|end| (Clock::Midnight, end)));
            let led = lattice.behind(at, Term::Hour).filter(|_| lattice.language.hours_to_24);
            let led = led
                .flat_map(|at| self.dials(at, said))
                .map(|(hour, minute, _, end)| (hour, minute, Form::Full, end));
            for (hour, minute, form, end) in self.dials(at, said).into_iter().chain(led) {
                out.extend(clock(hour, minute, form).map(|clock| (clock, end)));
                for (pm, term) in [(false, Term::Am), (true, Term::Pm)] {
                    let half = halves(hour, minute, pm)
                        .filter(|_| form != Form::Full || lattice.digits(at).is_some());
                    out.extend(lattice.behind(end, term).filter_map(|end| Some((Clock::At(half?), end))));
                }
            }
        }
        out
    }

    /// Hours and minutes with the way they are written, before any `am` and `pm`.
    fn dials(&self, at: usize, said: bool) -> Vec<(i32, i32, Form, usize)> {
        let lattice = self.lattice;
        let mut out = Vec::new();
        if let Some(hour) = lattice.number(at, 1, 2) {
            for sign in [':', '.'] {
                let minute = lattice.sign(at + 1, sign).and_then(|at| lattice.number(at, 2, 2));
                out.extend(minute.map(|minute| (hour, minute, Form::Full, at + 3)));
            }
            let full: Vec<_> = out.clone();
            for (hour, minute, form, end) in full {
                out.extend(lattice.behind(end, Term::Hour).map(|end| (hour, minute, form, end)));
            }
        }
        for (hour, end) in self.lattice.numbers(at).into_iter().filter(|(hour, _)| *hour <= 24) {
            out.push((hour, 0, if said { Form::Spoken } else { Form::Bare }, end));
            out.extend(self.offsets(end).into_iter().map(|(add, end)| shifted(hour, add, Form::Spoken, end)));
            let form = if lattice.language.hours_to_24 { Form::Full } else { Form::Spoken };
            for end in lattice.behind(end, Term::Hour) {
                out.push((hour, 0, form, end));
                out.extend(self.offsets(end).into_iter().map(|(add, end)| shifted(hour, add, form, end)));
                let minutes = lattice.number(end, 1, 2).map(|minute| (minute, end + 1));
                let minutes = minutes.into_iter().chain(
                    lattice
                        .numbers(end)
                        .into_iter()
                        .filter(|(_, behind)| lattice.digits(end).is_none() && *behind > end),
                );
                out.extend(minutes.map(|(minute, end)| (hour, minute, Form::Full, end)));
            }
        }
        out.extend(self.before(at));
        out
    }

    /// `y media`, `et quart`, `moins le quart`.
    fn offsets(&self, at: usize) -> RuleResults<i32> {
        let found = self.lattice.terms(at).iter().filter_map(|(term, end)| match term {
            Term::After(add) => Some((i32::from(*add), *end)),
            _ => None,
        });
        found.collect()
    }

    /// `half past five`, `halb acht`, `ten to six`.
    fn before(&self, at: usize) -> Vec<(i32, i32, Form, usize)> {
        let lattice = self.lattice;
        let mut leads: Vec<(i32, usize)> = lattice
            .terms(at)
            .iter()
            .filter_map(|(term, end)| match term {
                Term::Before(add) => Some((i32::from(*add), *end)),
                _ => None,
            })
            .collect();
        for (minutes, end) in lattice.numbers(at).into_iter().filter(|(minutes, _)| *minutes < 30) {
            leads.extend(lattice.behind(end, Term::Past).map(|end| (minutes, end)));
            leads.extend(lattice.behind(end, Term::To).map(|end| (-minutes, end)));
        }
        let hours = leads
            .into_iter()
            .flat_map(|(add, end)| lattice.numbers(end).into_iter().map(move |(hour, end)| (hour, add, end)));
        let spoken = hours.filter(|(hour, ..)| (1..=12).contains(hour)).flat_map(|(hour, add, end)| {
            lattice.maybe(end, Term::Hour).map(move |end| shifted(hour, add, Form::Spoken, end))
        });
        spoken.collect()
    }
}

/// The hour and minute that are so many minutes from a whole hour, on a dial of twelve hours where the hour is on one.
fn shifted(hour: i32, add: i32, form: Form, end: usize) -> (i32, i32, Form, usize) {
    let minutes = hour * 60 + add;
    let around = if (1..=12).contains(&hour) && form == Form::Spoken {
        (minutes - 60).rem_euclid(720) + 60
    } else {
        minutes
    };
    (around.div_euclid(60), around.rem_euclid(60), form, end)
}

/// The minute of the day of an hour from 1 to 12 before or after noon.
fn halves(hour: i32, minute: i32, pm: bool) -> Option<u16> {
    let fits = (1..=12).contains(&hour) && (0..60).contains(&minute);
    fits.then(|| u16::try_from(hour % 12 * 60 + minute + if pm { 720 } else { 0 }).ok()).flatten()
}

fn clock(hour: i32, minute: i32, form: Form) -> Option<Clock> {
    let at = u16::try_from(hour * 60 + minute)
        .ok()
        .filter(|_| (0..24).contains(&hour) && (0..60).contains(&minute))?;
    let on_dial = (1..=12).contains(&hour);
    match form {
        Form::Full if on_dial => Some(Clock::Half(at)),
        Form::Spoken | Form::Bare if on_dial => Some(Clock::Dial(at % 720)),
        Form::Full | Form::Spoken => Some(Clock::At(at)),
        Form::Bare => None,
    }
}
