//! Detects the parts of a question: its terms, the days that it names, and the kind of answer that it asks for.
//! [`crate::search::rank`] finds the speakers that the question names.
//!
//! Pure; the only clock is the caller's `today`.

use jiff::civil::Date;
use unicode_normalization::UnicodeNormalization;

use crate::embed::{BuiltinTable, cut};
use crate::search::analyze::{Analyzer, Form, Named, Terms, forms, function_words, named_days, word_list};
use crate::search::query::is_polite;
use crate::search::query::strip_phrases::strip_phrases;

/// Questions longer than this (in bytes) are cut: a pasted page is answered by its beginning.
pub const LONGEST: usize = 4000;
/// Of a longer query (in bytes) the operators aren't read either.
pub const LONGEST_QUERY: usize = 10_000;
/// Terms beyond this many say nothing new.
const MOST_TERMS: usize = 48;

/// A term of the question and the words that mean nearly the same.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The stem.
    pub stem: String,
    /// The word as asked, lower case.
    pub word: String,
    /// The terms of its other forms in the index: without accents, and as a part of a compound.
    pub forms: Vec<String>,
    /// Stems of near words with their similarity, 0.5 to 1; never the term itself.
    pub near: Vec<(String, f32)>,
}

/// The kind of answer that a question wants, from its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// A time.
    pub time: bool,
    /// A number.
    pub number: bool,
    /// A name of someone or something.
    pub name: bool,
    /// A place.
    pub place: bool,
    /// Something that happened.
    pub past: bool,
    /// More than one thing.
    pub several: bool,
    /// The agent's words or actions.
    pub agent: bool,
}

/// A parsed question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Question {
    /// Its text, cut to [`LONGEST`], without what it is dressed in ([`crate::search::query::strip_phrases`]).
    pub text: String,
    /// Whether it was typed on one line, asks for one thing, and has nothing behind its question mark.
    pub is_plain: bool,
    /// All its words, lower case.
    pub words: Vec<String>,
    /// Its terms, each once, in order.
    pub terms: Vec<QueryTerm>,
    /// Days and months.
    pub dates: Vec<Named>,
    /// The kind of answer.
    pub wants: Wants,
}

impl Question {
    /// Parses `text`; `today` is the day from which "yesterday" counts.
    pub fn new(text: &str, today: Date) -> Self {
        // Notes have a letter and its accent as one character nearly always, and kana in their usual width.
        let whole: String = text.trim().nfkc().collect();
        let bare = strip_phrases(beginning(&whole, LONGEST));
        let text = bare.as_str();
        let all = word_list(text);
        let (mut terms, mut analyzer, table) =
            (Terms::default(), Analyzer::default(), BuiltinTable::builtin());
        let mut found: Vec<QueryTerm> = Vec::new();
        let says_more = all.iter().any(|word| !is_polite(word) && terms.term(word).is_some());
        for word in all.iter().filter(|word| !says_more || !is_polite(word)) {
            let Some(term) = terms.term(word).map(str::to_owned) else { continue };
            if found.len() == MOST_TERMS || found.iter().any(|known| known.stem == term) {
                continue;
            }
            let mut near: Vec<(String, f32)> = Vec::new();
            for (word, likeness) in table.neighbours(word) {
                let Some(stem) = terms.term(word) else { continue };
                if stem != term && !near.iter().any(|(known, _)| known == stem) {
                    near.push((stem.to_owned(), likeness));
                }
            }
            let mut others = Vec::new();
            analyzer.terms(word, &mut |form, exact, stem| match form {
                Form::Word => others.extend(forms(exact, stem.unwrap_or(exact))),
                // A lone character also ends a run; of a pair the last one would be another word.
                Form::Pair if exact.chars().count() > 1 || word.chars().count() == 1 => {
                    others.push(exact.to_owned());
                }
                Form::Pair | Form::Whole | Form::Sign => {}
            });
            found.push(QueryTerm { stem: term, word: word.clone(), forms: others, near });
        }
        let dates = named_days(&all, today);
        let wants = Wants::of(&all);
        let is_one_line = !whole.contains('\n') && !text.trim_end_matches(['?', ' ']).contains('?');
        let is_plain = is_one_line && !asks_twice(&whole);
        Self { text: text.to_owned(), is_plain, words: all, terms: found, dates, wants }
    }

    /// The terms that are no function words of its language; all where it has no others.
    pub(in crate::search) fn content(&self) -> Vec<&QueryTerm> {
        let skipped = function_words::of(&self.words);
        let mut terms: Vec<&QueryTerm> = self.terms.iter().collect();
        terms.retain(|term| !skipped.contains(&term.word.as_str()));
        if terms.is_empty() { self.terms.iter().collect() } else { terms }
    }
}

/// `text` cut to at most `most` bytes, between words: a word cut in two is another word.
pub fn beginning(text: &str, most: usize) -> &str {
    let part = cut(text, most);
    match part.rsplit_once(char::is_whitespace).filter(|_| part.len() < text.len()) {
        Some((before, _)) => before,
        None => part,
    }
}

impl Wants {
    /// From a question's words, lower case.
    pub fn of(words: &[String]) -> Self {
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let pair = |first: &[&str], second: &[&str]| {
            words
                .windows(2)
                .any(|pair| first.contains(&pair[0].as_str()) && second.contains(&pair[1].as_str()))
        };
        // "how many weeks ago", "which year", "since when": wherever in the question they stand.
        let time = has(&["when"])
            || pair(&["how"], &["long", "recently", "soon", "often"])
            || pair(&["what", "which"], TIMES)
            || pair(&["many"], TIMES);
        let what = words.iter().position(|word| ["what", "which"].contains(&word.as_str()));
        Self {
            time,
            number: pair(&["how"], &["many", "much", "often", "old", "long", "far", "big", "tall", "high"])
                || pair(&["what"], &["number", "amount", "percentage", "price", "size", "score"]),
            name: has(&["who", "whose", "where", "which", "what"]),
            place: has(&["where"])
                || pair(&["which", "what"], &["city", "country", "state", "place", "town"]),
            past: has(&["did", "was", "were", "had", "has"]),
            several: words.len() > 2
                && what.is_some_and(|at| words[at + 1..].iter().take(3).any(|word| is_plural(word))),
            agent: pair(&["previous", "earlier", "last", "our", "past"], TALKS)
                || pair(&["did", "have"], &["you"])
                || pair(&["remind"], &["me"])
                || words.windows(2).any(|pair| pair[0] == "you" && is_said(&pair[1])),
        }
    }
}

const TIMES: &[&str] =
    &["day", "days", "date", "week", "weeks", "weekday", "month", "months", "year", "years", "time"];
const TALKS: &[&str] =
    &["conversation", "chat", "chats", "conversations", "discussion", "session", "talk", "game"];

/// Whether a verb reports speech or an action.
fn is_said(word: &str) -> bool {
    ["said", "told", "gave", "made", "wrote", "found"].contains(&word)
        || word.len() > 4 && word.ends_with("ed")
}

/// Whether a word looks like a noun in the plural.
fn is_plural(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !["does", "this"].contains(&word)
}

/// Whether a text asks for two things: "when is her birthday, and what does she collect?".
fn asks_twice(text: &str) -> bool {
    const SECOND: [&str; 7] =
        [" and what ", " and who ", " and where ", " and when ", " and how ", " and which ", " and why "];
    let text = text.to_lowercase();
    SECOND.iter().any(|second| text.contains(second))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn kinds_of_answers() {
        let wants = |text| Question::new(text, date(2026, 1, 1)).wants;
        assert!(wants("When did she go?").time && wants("When did she go?").past);
        assert!(wants("Tell me, how many weeks ago was it?").time && wants("And in which year?").time);
        assert!(!wants("How many cats?").time && wants("How many cats?").number);
        assert!(wants("What was the name that you suggested?").agent && !wants("Do you know it?").agent);
        assert!(wants("Could you remind me of the restaurant's name?").agent);
        assert!(wants("Which city did he see?").place);
        assert!(wants("Which cities has she seen?").several && !wants("What does this mean?").several);
        assert_eq!(wants(""), Wants::default());
    }

    #[test]
    fn odd_questions_are_taken() {
        for text in ["", "a", "🎉🎉🎉", &"x".repeat(100_000), "\u{0}\u{301}"] {
            let question = Question::new(text, date(2026, 1, 1));
            assert!(question.text.len() <= LONGEST);
        }
    }
}
