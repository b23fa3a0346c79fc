//! Looks words of a phrase up in one language: for each position, its possible terms and their ends.
//!
//! A word may be several terms (`sept` is seven and September in French); the grammar tries each. These terms are
//! all that the grammar sees of a phrase besides its digits and signs.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use jiff::civil::Weekday;

use super::languages::{ALL, Language};
use super::term::Term;
use super::tokens::{Token, tokens};

/// One language's spellings, ready to be compared.
struct Lexicon {
    language: &'static Language,
    /// By their first tokens.
    entries: HashMap<Token, Vec<LexiconEntry>>,
}

/// A spelling, as tokens, and what it means.
type LexiconEntry = (Vec<Token>, Term);

static LEXICA: LazyLock<Vec<Lexicon>> = LazyLock::new(|| ALL.into_iter().map(Lexicon::new).collect());

/// A phrase as one language sees it.
#[derive(Debug)]
pub struct Lattice<'t> {
    /// The language.
    pub language: &'static Language,
    /// The phrase.
    pub tokens: &'t [Token],
    terms: Vec<Vec<(Term, usize)>>,
}

impl Lexicon {
    fn new(language: &'static Language) -> Self {
        let spelled = |(term, words): (Term, &'static str)| {
            let spellings = words.split('|').map(tokens).filter(|spelling| !spelling.is_empty());
            spellings.map(move |spelling| (spelling, term)).collect::<Vec<_>>()
        };
        let mut entries: Vec<_> = rows(language).into_iter().flat_map(spelled).collect();
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

/// A language's tables as one: each term with its spellings.
fn rows(language: &'static Language) -> Vec<(Term, &'static str)> {
    let mut rows = Vec::new();
    let weekdays = || Weekday::Monday.cycle_forward();
    rows.extend(weekdays().map(Term::Weekday).zip(language.weekdays.split(' ')));
    rows.extend(weekdays().map(Term::Weekdays).zip(language.each_weekday.split(' ')));
    rows.extend((1..).map(Term::Month).zip(language.months.split(' ')));
    rows.extend((1..).map(Term::Number).zip(language.numbers.split(' ')));
    rows.extend(language.terms);
    rows
}

/// Every language's words by the names of their terms, as `grammar/when-words.json` has them.
pub fn vocabulary() -> Vocabulary {
    let mut out = Vocabulary::new();
    for language in ALL {
        let terms: &mut BTreeMap<String, Vec<&'static str>> = out.entry(language.name).or_default();
        for (term, words) in rows(language).into_iter().filter(|(_, words)| !words.is_empty()) {
            terms.entry(format!("{term:?}")).or_default().extend(words.split('|'));
        }
    }
    out
}

/// Language, term, spellings.
pub type Vocabulary = BTreeMap<&'static str, BTreeMap<String, Vec<&'static str>>>;

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

    /// The places behind this term, if it stands at a place.
    pub fn behind(&self, at: usize, term: Term) -> impl Iterator<Item = usize> {
        self.terms(at).iter().filter(move |(found, _)| *found == term).map(|(_, end)| *end)
    }

    /// The place itself, and the places behind this term, if it stands there.
    pub fn optional(&self, at: usize, term: Term) -> impl Iterator<Item = usize> {
        std::iter::once(at).chain(self.behind(at, term))
    }

    /// The place behind a sign, if it stands at a place.
    pub fn sign(&self, at: usize, sign: char) -> Option<usize> {
        (self.tokens.get(at) == Some(&Token::Sign(sign))).then_some(at + 1)
    }

    /// The place behind a full stop or a point, if one stands at a place.
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
        let words = self.values_at(at, |term| match term {
            Term::Number(number) => Some(i32::from(number)),
            _ => None,
        });
        let digits = self.number(at, 1, 5).map(|number| (number, at + 1));
        digits.into_iter().chain(words).collect()
    }
}

/// How many tokens a spelling takes of a phrase's beginning, where it stands there. A full stop may be left out.
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
