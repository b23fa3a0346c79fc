//! Defines the errors of a phrase that isn't accepted as a time, in words for people. Also finds the reason why no
//! rule of the grammar matches: an unknown word, an impossible time, words of two languages.

use jiff::civil::DateTime;

use super::lexicon::{self, Lattice, Token};
use super::term::Term;
use crate::format::reminder::Recur;

/// The error of a text that has no time, or several.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    /// No rule reads it.
    #[error("can't read `{text}` as a time: {reason}")]
    NotUnderstood {
        /// The given text.
        text: String,
        /// The fault.
        reason: String,
    },
    /// It has more than one meaning.
    #[error("`{}` can be {}", .0, either(.1))]
    Ambiguous(String, Vec<Reading>),
    /// It has passed.
    #[error("`{text}` is in the past: that is {at}, and it is {now} now")]
    Past {
        /// The given text.
        text: String,
        /// Its meaning.
        at: String,
        /// The local time.
        now: String,
    },
    /// The clocks go back and show this time twice; it is the second one that was meant.
    #[error(
        "`{text}` is {at} for the second time that night, which a date and a time can't name: they mean the first, an hour too early"
    )]
    SecondTime {
        /// The given text.
        text: String,
        /// The local time.
        at: String,
    },
    /// It comes again and again, where one time is asked for.
    #[error("`{text}` comes again and again, and one time is asked for here; the first is {first}")]
    Recurs {
        /// The given text.
        text: String,
        /// The first of them.
        first: String,
    },
}

/// One meaning of a phrase that has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The local time.
    pub local: DateTime,
    /// How it comes again.
    pub recur: Recur,
    /// The day and time as they can be typed.
    pub typed: String,
    /// How far away it is.
    pub distance: String,
}

/// The most meanings that are listed.
const TOLD: usize = 4;

fn either(readings: &[Reading]) -> String {
    let shown: Vec<String> = readings
        .iter()
        .take(TOLD)
        .map(|reading| match reading.recur {
            Recur::None => format!("`{}` ({})", reading.typed, reading.distance),
            recur => format!("`{}` ({}, then {recur})", reading.typed, reading.distance),
        })
        .collect();
    shown.join(" or ")
}

impl WhenError {
    /// A remedy.
    pub fn hint(&self) -> &'static str {
        match self {
            WhenError::Ambiguous { .. } => "give the day and the time that you mean, as they stand there",
            WhenError::Recurs { .. } => "leave `every` away",
            _ => WHEN_HINT,
        }
    }
}

/// A correct form, for every other error of this kind.
pub const WHEN_HINT: &str =
    "write it as `2026-12-01 09:30`, `tomorrow 9am`, `in 20 minutes`, `fri 17:00`, `17:00` or `1 april 8:15`";

/// The first fault of a phrase, in words for people.
pub fn reason(tokens: &[Token], lattices: &[Lattice<'_>]) -> String {
    if tokens.len() > super::MOST_TOKENS {
        return "it is too long".to_owned();
    }
    let known = |lattice: &Lattice<'_>, at: usize| {
        (0..=at).any(|from| lattice.terms(from).iter().any(|(_, end)| *end > at))
    };
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Word(word) if !lattices.iter().any(|lattice| known(lattice, at)) => return unknown(word),
            Token::Sign(sign) if !"-/.:,@°".contains(*sign) => {
                return format!("`{sign}` means nothing here");
            }
            _ => {}
        }
    }
    if let Some(reason) = (0..tokens.len()).find_map(|at| no_time(tokens, lattices, at)) {
        return reason;
    }
    let whole = |lattice: &Lattice<'_>| {
        (0..tokens.len()).all(|at| !matches!(tokens[at], Token::Word(_)) || known(lattice, at))
    };
    if !lattices.iter().any(whole) {
        return "its words are of more than one language".to_owned();
    }
    let has = |term: fn(&Term) -> bool| {
        lattices
            .iter()
            .any(|lattice| (0..tokens.len()).any(|at| lattice.terms(at).iter().any(|(t, _)| term(t))))
    };
    if has(|term| matches!(term, Term::Month(_))) {
        return "which day of the month? write it as `1 december`".to_owned();
    }
    if has(|term| matches!(term, Term::Part(_))) {
        return "which day? write it as `tomorrow morning`".to_owned();
    }
    "these words name no time together".to_owned()
}

fn unknown(word: &str) -> String {
    let near =
        lexicon::words().into_iter().find(|known| word.len() > 3 && strsim::osa_distance(word, known) == 1);
    match near {
        Some(near) => format!("`{word}` means nothing here; did you mean `{near}`?"),
        None => format!("`{word}` means nothing here"),
    }
}

/// The fault of a number as an hour.
fn no_time(tokens: &[Token], lattices: &[Lattice<'_>], at: usize) -> Option<String> {
    let Token::Digits(digits) = tokens.get(at)? else { return None };
    let number: u64 = digits.parse().unwrap_or(u64::MAX);
    if let (Some(Token::Sign(':')), Some(Token::Digits(minute))) = (tokens.get(at + 1), tokens.get(at + 2)) {
        let fits = number < 24
            && digits.len() <= 2
            && minute.len() == 2
            && minute.parse::<u8>().is_ok_and(|m| m < 60);
        return (!fits).then(|| format!("there is no time `{digits}:{minute}`; the day has 00:00 to 23:59"));
    }
    let half = |term: Term| lattices.iter().any(|lattice| lattice.behind(at + 1, term).next().is_some());
    for (term, word) in [(Term::Am, "am"), (Term::Pm, "pm")] {
        if half(term) && !(1..=12).contains(&number) {
            return Some(format!("`{word}` follows no hour from 1 to 12"));
        }
    }
    let alone =
        tokens.len() == at + 1 && !matches!(at.checked_sub(1).map(|at| &tokens[at]), Some(Token::Sign(_)));
    let has_month = || {
        lattices.iter().any(|lattice| {
            (0..at).any(|at| lattice.terms(at).iter().any(|(t, _)| matches!(t, Term::Month(_))))
        })
    };
    if at > 3 && digits.len() == 2 && tokens[at - 1] == Token::Sign('/') && tokens[at - 3] == Token::Sign('/')
    {
        return Some("write the year with four digits".to_owned());
    }
    match (digits.len(), number) {
        (1..=2, 0..=24) if alone => Some(format!("is `{digits}` an hour? write it as `{number}:00`")),
        (3, _) | (5.., _) => Some(format!("`{digits}` is no day, no hour and no year of four digits")),
        (4, _) if alone && number < 2400 && !has_month() => {
            Some(format!("is `{digits}` a time? write it as `{}:{}`", &digits[..2], &digits[2..]))
        }
        _ => None,
    }
}
