//! Parses times of day: `17:00`, `5pm`, `17h30`, `halb acht`, `half past five`, `at 9`, `noon`.

use super::{Grammar, RuleCombinators, RuleResults};
use crate::when::phrase::TimePhrase;
use crate::when::term::{Term, meaning};

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

/// An hour and a minute as they are written.
type Dial = (i32, i32, Form);

impl Grammar<'_> {
    pub(super) fn clocks(&self, at: usize) -> RuleResults<TimePhrase> {
        let lattice = self.lattice;
        let mut out: RuleResults<TimePhrase> = Vec::new();
        let starts = std::iter::once((at, false)).chain(lattice.behind(at, Term::At).map(|end| (end, true)));
        for (at, said) in starts {
            let named = meaning!(Term::Noon => TimePhrase::Noon, Term::Midnight => TimePhrase::Midnight);
            out.extend(lattice.values_at(at, named));
            let led = lattice.behind(at, Term::Hour).filter(|_| lattice.language.hours_to_24);
            let led: RuleResults<Dial> = led.flat_map(|at| self.dials(at, said)).collect();
            let led = led.map(|(hour, minute, _)| (hour, minute, Form::Full));
            for ((hour, minute, form), end) in self.dials(at, said).into_iter().chain(led) {
                out.extend(clock(hour, minute, form).map(|clock| (clock, end)));
                for (pm, term) in [(false, Term::Am), (true, Term::Pm)] {
                    let half = halves(hour, minute, pm)
                        .filter(|_| form != Form::Full || lattice.digits(at).is_some());
                    out.extend(
                        lattice.behind(end, term).filter_map(|end| Some((TimePhrase::At(half?), end))),
                    );
                }
            }
        }
        out
    }

    /// Hours and minutes with the way they are written, before any `am` and `pm`.
    fn dials(&self, at: usize, said: bool) -> RuleResults<Dial> {
        let lattice = self.lattice;
        let mut out: RuleResults<Dial> = Vec::new();
        if let Some(hour) = lattice.number(at, 1, 2) {
            for sign in [':', '.'] {
                let minute = lattice.sign(at + 1, sign).and_then(|at| lattice.number(at, 2, 2));
                let minute = minute.map(|minute| (hour, minute, Form::Full));
                let ends = std::iter::once(at + 3).chain(lattice.behind(at + 3, Term::Hour));
                out.extend(ends.filter_map(|end| Some((minute?, end))));
            }
        }
        for (hour, end) in lattice.numbers(at).into_iter().filter(|(hour, _)| *hour <= 24) {
            out.push(((hour, 0, if said { Form::Spoken } else { Form::Bare }), end));
            out.extend(self.offsets(end).map(|add| shifted(hour, add, Form::Spoken)));
            let form = if lattice.language.hours_to_24 { Form::Full } else { Form::Spoken };
            for end in lattice.behind(end, Term::Hour) {
                out.push(((hour, 0, form), end));
                out.extend(self.offsets(end).map(|add| shifted(hour, add, form)));
                let is_short = lattice.digits(end).is_none_or(|digits| digits.len() <= 2);
                let minutes = lattice.numbers(end).into_iter().filter(|_| is_short);
                out.extend(minutes.map(|(minute, end)| ((hour, minute, Form::Full), end)));
            }
        }
        out.extend(self.before(at));
        out
    }

    /// `y media`, `et quart`, `moins le quart`.
    fn offsets(&self, at: usize) -> RuleResults<i32> {
        self.lattice.values_at(at, meaning!(Term::After(add) => add.into()))
    }

    /// `half past five`, `halb acht`, `ten to six`.
    fn before(&self, at: usize) -> RuleResults<Dial> {
        let lattice = self.lattice;
        let mut leads: RuleResults<i32> = lattice.values_at(at, meaning!(Term::Before(add) => add.into()));
        for (minutes, end) in lattice.numbers(at).into_iter().filter(|(minutes, _)| *minutes < 30) {
            leads.extend(lattice.behind(end, Term::Past).map(|end| (minutes, end)));
            leads.extend(lattice.behind(end, Term::To).map(|end| (-minutes, end)));
        }
        let spoken = leads.then(|add, end| {
            let on_dial = |hour| (1..=12).contains(&hour).then(|| shifted(hour, add, Form::Spoken));
            lattice.numbers(end).filter_map(on_dial)
        });
        spoken.then(|dial, end| lattice.optional(end, Term::Hour).map(|end| (dial, end)).collect())
    }
}

/// The hour and minute that are so many minutes from a whole hour, on a dial of twelve hours where the hour is on one.
fn shifted(hour: i32, add: i32, form: Form) -> Dial {
    let minutes = hour * 60 + add;
    let around = if (1..=12).contains(&hour) && form == Form::Spoken {
        (minutes - 60).rem_euclid(720) + 60
    } else {
        minutes
    };
    (around.div_euclid(60), around.rem_euclid(60), form)
}

/// The minute of the day of an hour from 1 to 12 before or after noon.
fn halves(hour: i32, minute: i32, pm: bool) -> Option<i32> {
    let fits = (1..=12).contains(&hour) && (0..60).contains(&minute);
    fits.then(|| hour % 12 * 60 + minute + if pm { 720 } else { 0 })
}

fn clock(hour: i32, minute: i32, form: Form) -> Option<TimePhrase> {
    let (at, on_dial) = (hour * 60 + minute, (1..=12).contains(&hour));
    match form {
        _ if !(0..24).contains(&hour) || !(0..60).contains(&minute) => None,
        Form::Full if on_dial => Some(TimePhrase::Half(at)),
        Form::Spoken | Form::Bare if on_dial => Some(TimePhrase::Dial(at % 720)),
        Form::Full | Form::Spoken => Some(TimePhrase::At(at)),
        Form::Bare => None,
    }
}
