//! Explains why a phrase can't be read where no rule came near: an unknown word, an impossible time, words of two
//! languages.

use super::lexicon::{self, Lattice};
use super::term::Term;
use super::tokens::Token;

/// In words for people, about the first thing that is wrong.
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
