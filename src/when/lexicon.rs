//! Splits a phrase into tokens, and finds in each language the terms (meanings of words) that may begin at a token.
//!
//! Tokens are runs of digits, words and single signs. Words are folded: lower case, without accents (`Février` is
//! `fevrier`, `mañana` is `manana`), so that the tables need one spelling each. Hyphens and apostrophes between letters
//! separate words (`après-demain`, `aujourd'hui`); white space separates tokens and is no token.
//!
//! A word may be several terms (`sept` is seven and September in French); the grammar tries each. The grammar gets only
//! these terms, and the phrase's digits and signs.
//!
//! The words are those of `grammar/when-words.json`. All words of a phrase are read in the same language, because some
//! words mean something else in another language (`once` is eleven in Spanish). Each spelling is folded like the
//! phrase, and a full stop in it is optional. An abbreviation that could be a weekday in one language and a month in
//! another (`mar.`) is in the table with one of the two meanings only.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::term::{Term, meaning};

/// One language's spellings, ready to be compared.
struct Lexicon {
    language: &'static Language,
    /// By their first tokens.
    entries: HashMap<Token, Vec<LexiconEntry>>,
}

/// A spelling, as tokens, and what it means.
type LexiconEntry = (Vec<Token>, Term);

static LEXICA: LazyLock<Vec<Lexicon>> = LazyLock::new(|| {
    let text = include_str!("../../grammar/when-words.json");
    // Of each language, by its name, the spellings of each term, by the term's name.
    let mut words: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> =
        serde_json::from_str(text).expect("the words of the grammar are JSON");
    let lexicon = |language: &'static Language| {
        Lexicon::new(language, words.remove(language.name).expect("each language has words"))
    };
    LANGUAGES.iter().map(lexicon).collect()
});

/// A phrase with the terms of one language.
#[derive(Debug)]
pub struct Lattice<'t> {
    /// The language.
    pub language: &'static Language,
    /// The phrase.
    pub tokens: &'t [Token],
    terms: Vec<Vec<(Term, usize)>>,
}

impl Lexicon {
    fn new(language: &'static Language, words: BTreeMap<&str, Vec<&'static str>>) -> Self {
        let spelled = |(name, words): (&str, Vec<&'static str>)| {
            let term = Term::named(name).expect("the table of words names terms of the grammar");
            words.into_iter().map(move |word| (tokens(word), term))
        };
        let mut entries: Vec<_> = words.into_iter().flat_map(spelled).collect();
        if language.compounds {
            compounds(&mut entries);
        }
        let mut by_first: HashMap<Token, Vec<LexiconEntry>> = HashMap::new();
        for entry in entries {
            by_first.entry(entry.0[0].clone()).or_default().push(entry);
        }
        Self { language, entries: by_first }
    }
}

/// `Freitag` and `Abend` as one word.
fn compounds(entries: &mut Vec<LexiconEntry>) {
    let mut made = Vec::new();
    for (day, term) in &*entries {
        let ([Token::Word(day)], Term::Weekday(weekday)) = (day.as_slice(), term) else { continue };
        for (part, term) in &*entries {
            let part = match (part.as_slice(), term) {
                ([Token::Word(word)], Term::Part(part) | Term::PartBehind(part)) if !word.ends_with('s') => {
                    (word, *part)
                }
                _ => continue,
            };
            made.push((vec![Token::Word(format!("{day}{}", part.0))], Term::WeekdayPart(*weekday, part.1)));
        }
    }
    entries.append(&mut made);
}

/// The phrase in each language.
pub fn lattices(tokens: &[Token]) -> Vec<Lattice<'_>> {
    LEXICA.iter().map(|lexicon| Lattice::new(lexicon, tokens)).collect()
}

/// All single words that mean something in some language, for suggestions.
pub fn words() -> Vec<&'static str> {
    let single = |first: &'static Token| match first {
        Token::Word(word) if word.len() > 3 => Some(word.as_str()),
        _ => None,
    };
    let mut words: Vec<_> =
        LEXICA.iter().flat_map(|lexicon| lexicon.entries.keys().filter_map(single)).collect();
    words.sort_unstable();
    words
}

impl<'t> Lattice<'t> {
    fn new(lexicon: &Lexicon, tokens: &'t [Token]) -> Self {
        let found = |at: usize| {
            let ends = lexicon.entries.get(&tokens[at]).into_iter().flatten().flat_map(|(spelling, term)| {
                matches(spelling, &tokens[at..]).into_iter().map(move |len| (*term, at + len))
            });
            let mut ends: Vec<(Term, usize)> = ends.collect();
            ends.dedup();
            ends
        };
        Self { language: lexicon.language, tokens, terms: (0..tokens.len()).map(found).collect() }
    }

    /// The terms that may begin at a place, and their ends.
    pub fn terms(&self, at: usize) -> &[(Term, usize)] {
        self.terms.get(at).map_or(&[], Vec::as_slice)
    }

    /// The values that `meant` gives for the terms at a place, with their ends.
    pub fn values_at<T>(&self, at: usize, meant: impl Fn(Term) -> Option<T>) -> Vec<(T, usize)> {
        self.terms(at).iter().filter_map(|(term, end)| Some((meant(*term)?, *end))).collect()
    }

    /// The positions after this term, if it stands at a position.
    pub fn behind(&self, at: usize, term: Term) -> impl Iterator<Item = usize> {
        self.terms(at).iter().filter(move |(found, _)| *found == term).map(|(_, end)| *end)
    }

    /// The position itself, and the positions after this term, if it stands there.
    pub fn optional(&self, at: usize, term: Term) -> impl Iterator<Item = usize> {
        std::iter::once(at).chain(self.behind(at, term))
    }

    /// The position after a sign, if it stands at a position.
    pub fn sign(&self, at: usize, sign: char) -> Option<usize> {
        (self.tokens.get(at) == Some(&Token::Sign(sign))).then_some(at + 1)
    }

    /// The position after a full stop or a decimal point, if one stands at a position.
    pub fn stop(&self, at: usize) -> Option<usize> {
        (self.tokens.get(at) == Some(&Token::Stop)).then_some(at + 1)
    }

    /// The digits that stand at a place.
    pub fn digits(&self, at: usize) -> Option<&'t str> {
        match self.tokens.get(at)? {
            Token::Digits(digits) => Some(digits),
            _ => None,
        }
    }

    /// Digits of a length between two bounds, as a number.
    pub fn number(&self, at: usize, least: usize, most: usize) -> Option<i32> {
        let digits = self.digits(at)?;
        if (least..=most).contains(&digits.len()) { digits.parse().ok() } else { None }
    }

    /// Numbers as digits or as words, of any size, and where they end.
    pub fn numbers(&self, at: usize) -> Vec<(i32, usize)> {
        let words = self.values_at(at, meaning!(Term::Number(number) => i32::from(number)));
        let digits = self.number(at, 1, 5).map(|number| (number, at + 1));
        digits.into_iter().chain(words).collect()
    }
}

/// The number of tokens of a spelling at the beginning of a phrase; `None` if the phrase begins otherwise. A full stop
/// may be left out.
fn matches(spelling: &[Token], phrase: &[Token]) -> Vec<usize> {
    let mut ends = vec![0];
    for token in spelling {
        let stop = *token == Token::Stop;
        let mut next: Vec<usize> =
            ends.iter().filter(|end| phrase.get(**end) == Some(token)).map(|end| end + 1).collect();
        if stop {
            next.extend(&ends);
        }
        ends = next;
    }
    ends
}

/// The smallest part of a phrase.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Token {
    /// A run of ASCII digits, as it stands there.
    Digits(String),
    /// A run of letters, folded.
    Word(String),
    /// A full stop with no digit directly behind it, as an abbreviation and a German ordinal have one.
    Stop,
    /// Any other character; also the point in `17.30`.
    Sign(char),
}

/// The tokens of a text, in order.
pub fn tokens(text: &str) -> Vec<Token> {
    let folded: Vec<char> = fold(text).chars().collect();
    let mut out: Vec<Token> = Vec::new();
    let mut parted = true;
    for (at, &c) in folded.iter().enumerate() {
        let beside = |step: isize| at.checked_add_signed(step).and_then(|at| folded.get(at)).copied();
        let between = || [-1, 1].iter().all(|step| beside(*step).is_some_and(char::is_alphabetic));
        if c.is_whitespace() || (matches!(c, '-' | '\'' | '’' | '‐' | '‑') && between()) {
            parted = true;
            continue;
        }
        match (out.last_mut(), c) {
            (Some(Token::Digits(run)), '0'..='9') if !parted => run.push(c),
            (Some(Token::Word(run)), _) if !parted && c.is_alphabetic() => run.push(c),
            (_, '0'..='9') => out.push(Token::Digits(c.into())),
            _ if c.is_alphabetic() => out.push(Token::Word(c.into())),
            (_, '.') if !beside(1).is_some_and(|next| next.is_ascii_digit()) => out.push(Token::Stop),
            _ => out.push(Token::Sign(c)),
        }
        parted = false;
    }
    out
}

/// Lower case without accents; `ß` is `ss`, `œ` is `oe`.
fn fold(text: &str) -> String {
    let plain = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
    plain.collect::<String>().replace('ß', "ss").replace('œ', "oe")
}

/// The grammar's data about a language.
#[derive(Debug)]
pub struct Language {
    /// Its English name.
    pub name: &'static str,
    /// Whether `5 Uhr` is 05:00, where `5 o'clock` may be either.
    pub hours_to_24: bool,
    /// Whether weeks may begin on Sunday.
    pub sunday_weeks: bool,
    /// Whether `5.` is the fifth.
    pub dotted_ordinals: bool,
    /// Whether a day of the week and a part of the day make one word.
    pub compounds: bool,
}

impl Language {
    const fn new(name: &'static str) -> Self {
        Self { name, hours_to_24: true, sunday_weeks: false, dotted_ordinals: false, compounds: false }
    }
}

/// All of them; English first.
static LANGUAGES: [Language; 5] = [
    Language { hours_to_24: false, sunday_weeks: true, ..Language::new("English") },
    Language { dotted_ordinals: true, compounds: true, ..Language::new("German") },
    Language::new("French"),
    Language::new("Spanish"),
    Language::new("Italian"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_parted() {
        let shown = |text: &str| {
            let tokens = tokens(text);
            let parts = tokens.iter().map(|token| match token {
                Token::Digits(text) | Token::Word(text) => text.clone(),
                Token::Stop => "<stop>".to_owned(),
                Token::Sign(sign) => format!("<{sign}>"),
            });
            parts.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown("Après-demain à 17h30"), "apres demain a 17 h 30");
        assert_eq!(shown("man\u{303}ana 9.30"), "manana 9 <.> 30");
        assert_eq!(shown("5 o’clock, Dreißig"), "5 o clock <,> dreissig");
        assert_eq!(shown("24.12. 1.dez. a.m."), "24 <.> 12 <stop> 1 <stop> dez <stop> a <stop> m <stop>");
        assert_eq!(shown("-3\u{a0}days 1º"), "<-> 3 days 1 o");
    }
}
