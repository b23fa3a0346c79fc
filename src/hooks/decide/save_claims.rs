//! Finds, in an assistant's answers, claims to have saved something. Pure.
//!
//! A claim is a sentence that says that something about the user was kept, or that promises to remember it or to remind
//! of it. Only the assistant's own words count: no code, quotation, question, offer or denial. Sentences about programs
//! use the same words ("stored in memory", "a reminder created"). So a sentence about files, tables or variables is no
//! claim. The patterns and words are data ([`crate::hooks::decide::claim_patterns`]). Whether a claim is true is
//! decided against the vault.

use std::collections::HashSet;

use super::claim_patterns::{CodeSigns, list};
use crate::capture::sentences::{
    holds, in_order, is_dense, is_our_note, is_question, normalize_words, one_line, sentences,
};

/// The most claims of one answer that are checked.
const MAX_CLAIMS: usize = 3;
/// Words that a `…` stands for at most.
const GAP: usize = 10;
/// A longer sentence is a listing.
const MAX_SENTENCE_CHARS: usize = 120;

/// The subject of an answer, as far as it is known. The later the variant, the vaguer a claim may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerSubject {
    /// Work: "Saved!" may mean a file.
    Work,
    /// Nothing was written anywhere: "Saved!" can only mean memory.
    Talk,
    /// The user asked to have something kept: "Noted." says that it was.
    Keeping,
}

/// The sentences of an answer that are claims, each shortened to a line.
pub fn claims(answer: &str, about: AnswerSubject) -> Vec<String> {
    let of = |care: CodeSigns| list(care.name()).iter().map(move |pattern| ClaimRule::new(care, pattern));
    let rules: Vec<ClaimRule<'_>> = CodeSigns::ALL.into_iter().flat_map(of).collect();
    let said = sentences(answer).into_iter();
    let found = said.filter(|sentence| !is_question(sentence) && is_claim(sentence, about, &rules));
    found.take(MAX_CLAIMS).map(|sentence| one_line(&sentence, 200)).collect()
}

fn is_claim(sentence: &str, about: AnswerSubject, rules: &[ClaimRule<'_>]) -> bool {
    let words = claim_words(sentence);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.len() > MAX_SENTENCE_CHARS || (0..words.len()).any(|at| begins_phrase(list("offer"), &words, at))
    {
        return false;
    }
    if sentence.chars().any(is_dense) && is_dense_claim(sentence, &words) {
        return true;
    }
    let is_work = || (0..words.len()).any(|at| words[at] == CODE || begins_phrase(list("work"), &words, at));
    let is_timed = || (0..words.len()).any(|at| is_time(&words, at));
    let is_placed = || (0..words.len()).any(|at| is_about_work(&words, at));
    let known: HashSet<&str> = words.iter().copied().collect();
    rules.iter().any(|rule| {
        let may = || match rule.care {
            CodeSigns::Sure => true,
            CodeSigns::Place => !is_placed(),
            CodeSigns::Timed => is_timed() && !is_placed(),
            CodeSigns::Any => !is_work(),
            CodeSigns::Alone => about >= AnswerSubject::Talk && !is_work(),
            CodeSigns::Asked => about == AnswerSubject::Keeping && !is_work(),
        };
        let end = |pattern: &[Element<'_>], at| match_end(pattern, &words, at);
        let claims = |at| end(&rule.first, at).is_some_and(|end| !is_denied(&words, at, end));
        let stands = |pattern: &Vec<_>| (0..words.len()).any(|at| end(pattern, at).is_some());
        rule.may_fit(&known) && (0..words.len()).any(claims) && rule.further.iter().all(stands) && may()
    })
}

/// Whether a sentence without spaces between its words claims.
fn is_dense_claim(sentence: &str, words: &[&str]) -> bool {
    let text = normalize_words(&sentence.to_lowercase());
    !words.contains(&CODE)
        && !list("work dense").iter().any(|word| text.contains(word))
        && list("dense").iter().any(|phrase| {
            // A denial counts only outside of the claim's own words.
            in_order(&text, phrase) && {
                let rest = text.replace(phrase, " ");
                !list("no dense").iter().any(|word| holds(&rest, word))
            }
        })
}

/// Whether what stands around the words from `start` to `end` takes them back.
fn is_denied(words: &[&str], start: usize, end: usize) -> bool {
    let clause = words[..start].iter().rposition(|word| *word == BREAK).map_or(0, |at| at + 1);
    let ends = words[end..].iter().position(|word| *word == BREAK).map_or(words.len(), |at| end + at);
    (0..start).any(|at| begins_phrase(list("if"), words, at))
        || (clause..start).any(|at| begins_phrase(list("no"), words, at))
        || (clause..ends).any(|at| begins_phrase(list("no after"), words, at))
}

/// A break between clauses.
const BREAK: &str = "|";
/// Code: a name, a path, a command.
const CODE: &str = "§";

/// One element of a pattern.
#[derive(Debug, Clone)]
struct Element<'p> {
    is: ElementKind<'p>,
    is_optional: bool,
}

#[derive(Debug, Clone)]
enum ElementKind<'p> {
    Begin,
    End,
    NounEnd,
    Gap,
    OneOf(Vec<&'p str>),
}

/// Patterns that make a sentence a claim if all of them fit.
struct ClaimRule<'p> {
    care: CodeSigns,
    /// The words around it may take the claim back.
    first: Vec<Element<'p>>,
    further: Vec<Vec<Element<'p>>>,
    /// The patterns can't fit where none of these stands; empty where that isn't known.
    needs: Vec<&'p str>,
}

impl<'p> ClaimRule<'p> {
    fn new(care: CodeSigns, rule: &'p str) -> Self {
        const COMMON: &[&str] = &["i", "have", "will", "is", "that", "to", "in", "your", BREAK];
        let mut patterns = rule.split(" & ").map(parse_pattern);
        let (first, further) = (patterns.next().unwrap_or_default(), patterns.collect::<Vec<_>>());
        let first_word = |phrase: &&'p str| phrase.split('_').next().unwrap_or_default();
        let needs = first
            .iter()
            .chain(further.iter().flatten())
            .filter(|element| !element.is_optional)
            .filter_map(|element| match &element.is {
                ElementKind::OneOf(some) => Some(some.iter().map(first_word).collect::<Vec<_>>()),
                _ => None,
            })
            .filter(|words| !words.iter().any(|word| word.contains('*')))
            .min_by_key(|words| (words.iter().any(|word| COMMON.contains(word)), words.len()));
        let needs = needs.unwrap_or_default();
        Self { care, first, further, needs }
    }

    fn may_fit(&self, known: &HashSet<&str>) -> bool {
        self.needs.is_empty() || self.needs.iter().any(|word| known.contains(word))
    }
}

fn parse_pattern<'p>(pattern: &'p str) -> Vec<Element<'p>> {
    let words = |word: &'p str| if word.starts_with('%') { list(word).to_vec() } else { vec![word] };
    let element = |element: &'p str| {
        let (name, is_optional) = element.strip_suffix('?').map_or((element, false), |name| (name, true));
        let is = match name {
            "^" => ElementKind::Begin,
            "." => ElementKind::End,
            "$" => ElementKind::NounEnd,
            "…" => ElementKind::Gap,
            BREAK => ElementKind::OneOf(vec![BREAK]),
            _ => ElementKind::OneOf(name.split('|').flat_map(words).collect()),
        };
        Element { is, is_optional }
    };
    pattern.split(' ').map(element).collect()
}

/// The end of the pattern that begins at `at`, if it fits there.
fn match_end(pattern: &[Element<'_>], words: &[&str], at: usize) -> Option<usize> {
    let Some((element, rest)) = pattern.split_first() else { return Some(at) };
    let here = || match_end(rest, words, at);
    let is_end = at == words.len() || words[at] == BREAK;
    let found = match &element.is {
        ElementKind::Begin => (at == 0 || words[at - 1] == BREAK).then(here).flatten(),
        ElementKind::End => is_end.then(here).flatten(),
        ElementKind::NounEnd => (is_end || begins_phrase(list("after noun"), words, at)).then(here).flatten(),
        ElementKind::Gap => (at..=words.len().min(at + GAP))
            .take_while(|to| !(at..*to).any(|at| words[at] == BREAK || denies(words, at)))
            .find_map(|to| match_end(rest, words, to)),
        ElementKind::OneOf(some) => {
            some.iter().find_map(|one| match_end(rest, words, at + phrase_length(one, words, at)?))
        }
    };
    found.or_else(|| element.is_optional.then(here).flatten())
}

/// Whether the word inside of a claim takes it back; what the user doesn't like is no denial.
fn denies(words: &[&str], at: usize) -> bool {
    let is_users =
        words[at.saturating_sub(2)..at].iter().any(|word| ["you", "he", "she", "they"].contains(word));
    !is_users && (begins_phrase(list("no"), words, at) || begins_phrase(list("if"), words, at))
}

/// Whether one of the phrases begins at `at`.
fn begins_phrase(phrases: &[&str], words: &[&str], at: usize) -> bool {
    phrases.iter().any(|phrase| phrase_length(phrase, words, at).is_some())
}

/// How many words a phrase has, if it stands at `at`.
fn phrase_length(phrase: &str, words: &[&str], at: usize) -> Option<usize> {
    let mut count = 0;
    for part in phrase.split('_') {
        let word = words.get(at + count)?;
        let is_same = match (part.strip_suffix('*'), part.strip_prefix('*')) {
            (Some(stem), _) => word.starts_with(stem),
            (_, Some(end)) => word.ends_with(end),
            _ => *word == part,
        };
        if !is_same {
            return None;
        }
        count += 1;
    }
    Some(count)
}

fn is_time(words: &[&str], at: usize) -> bool {
    let word = words[at];
    let digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_clock =
        digits.len() < word.len() && ["am", "pm", "th", "st", "nd", "rd", "h", "uhr"].contains(&digits);
    let is_number = digits.is_empty()
        && at > 0
        && ["at", "on", "for", "um", "à", "las", "alle", "às", "om", "в", "by"].contains(&words[at - 1]);
    is_clock || is_number || begins_phrase(list("times"), words, at)
}

/// Whether something is said to go into a file, a table or another place of work.
fn is_about_work(words: &[&str], at: usize) -> bool {
    const TO: &[&str] = &[
        "to", "in", "into", "as", "under", "on", "inside", "via", "above", "of", "by", "auf", "unter", "im",
        "dans", "sur", "en", "nel", "nella", "op", "aan", "w", "в", "на", "over",
    ];
    TO.contains(&words[at])
        && (at + 1..words.len().min(at + 5))
            .take_while(|at| words[*at] != BREAK)
            .any(|at| words[at] == CODE || begins_phrase(list("work"), words, at))
}

/// The words of a sentence as patterns know them.
fn claim_words(sentence: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for raw in sentence.replace(['—', '–', '(', ')', '✅', '📝'], " | ").split_whitespace() {
        let token = raw.trim_matches([',', ';', ':', '.', '!', '?', '…', '¡', '¿', '*']);
        if token.contains('`') || is_code(token) || raw.len() > token.len() + 1 && raw.starts_with('.') {
            out.push(CODE.to_owned());
        } else if is_our_note(token) {
            out.push("memory.md".to_owned());
        } else {
            for word in normalize_words(&token.to_lowercase()).split(' ').filter(|word| !word.is_empty()) {
                push_long_form(word, &mut out);
            }
        }
        let ends = raw == BREAK || token.is_empty() || raw.ends_with([',', ';', ':', '.', '!', '…']);
        if ends && out.last().is_some_and(|last| last != BREAK) {
            out.push(BREAK.to_owned());
        }
    }
    without_fillers(&out)
}

/// `i've` is `i have`; only English is written out.
fn push_long_form(word: &str, out: &mut Vec<String>) {
    const IS: &[&str] =
        &["that", "it", "this", "everything", "all", "here", "there", "what", "let", "he", "she"];
    let (stem, rest) = match word {
        "won't" => ("will", "not"),
        "can't" => ("can", "not"),
        _ => match word.split_once('\'') {
            Some((stem, "ve")) => (stem, "have"),
            Some((stem, "ll")) => (stem, "will"),
            Some((stem, "re")) => (stem, "are"),
            Some(("i", "m")) => ("i", "am"),
            Some(("you", "d")) => ("you", "would"),
            Some((stem, "s")) if IS.contains(&stem) => (stem, "is"),
            Some((stem, "t")) if stem.len() > 2 && stem.ends_with('n') => (&stem[..stem.len() - 1], "not"),
            _ => (word, ""),
        },
    };
    out.extend([stem, rest].into_iter().filter(|part| !part.is_empty()).map(str::to_owned));
}

fn without_fillers(words: &[String]) -> Vec<String> {
    let refs: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut out = Vec::with_capacity(refs.len());
    let mut at = 0;
    while at < refs.len() {
        match list("fillers").iter().filter_map(|filler| phrase_length(filler, &refs, at)).max() {
            // All that is said isn't filled up.
            Some(count) if refs.len() > count => at += count,
            _ => {
                out.push(refs[at].to_owned());
                at += 1;
            }
        }
    }
    out
}

/// Whether a token is a name, a path or a command of a program. Our own notes aren't.
fn is_code(token: &str) -> bool {
    const WORDS: &[&str] = &["and/or", "he/she", "she/he", "him/her", "his/her", "s/he"];
    if token.is_empty() || is_our_note(token) || WORDS.contains(&token) {
        return false;
    }
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let is_file = token.rsplit_once('.').is_some_and(|(stem, end)| {
        stem.len() > 1
            && (1..=6).contains(&end.len())
            && end.chars().all(|c| c.is_ascii_alphanumeric())
            && end.starts_with(is_letter)
    });
    // `iPhone` is a word, `saveNote` isn't.
    let is_camel = token.char_indices().zip(token.chars().skip(1)).any(|((at, one), next)| {
        at > 0
            && one.is_ascii_lowercase()
            && next.is_ascii_uppercase()
            && token.starts_with(|c: char| c.is_ascii_lowercase())
    });
    is_file
        || is_camel
        || ["::", "()", "->", "--", "{", "}", "=", "$", "\\", "<", "_"]
            .iter()
            .any(|sign| token.contains(sign))
        // `Europe/Madrid` and `People/Anna` name a zone and a note.
        || token.contains('/') && !token.split('/').all(|part| part.starts_with(char::is_uppercase)) && token.contains(is_letter)
        || token.starts_with('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_words_breaks_and_code() {
        let shown = |text: &str| claim_words(text).join(" ");
        assert_eq!(shown("I've also saved it (in `x`), won't I?"), "i have saved it | in § | will not i");
        assert_eq!(
            shown("Saved to MEMORY.md — see src/main.rs and saveNote."),
            "saved to memory.md | see § and § |"
        );
        assert_eq!(shown("Anna's iPhone, at 7:30 and/or 8 a.m."), "anna's iphone | at 7 30 and or 8 a m |");
    }

    #[test]
    fn patterns_fit_where_they_say() {
        let at = |pattern: &str, text: &str| {
            let words: Vec<&str> = text.split(' ').collect();
            (0..words.len()).find_map(|at| match_end(&parse_pattern(pattern), &words, at))
        };
        assert_eq!(at("a|b … d $", "x b c d for f"), Some(4));
        assert_eq!(at("a … d $", "a c d f"), None, "the noun goes on");
        assert_eq!(at("a … d", "a | d"), None, "a gap stays in its clause");
        assert_eq!(at("a … d", "a not d"), None, "a gap denies nothing");
        assert_eq!((at("^ b", "a b"), at("^ b", "a | b"), at("a? b .", "b")), (None, Some(3), Some(1)));
        assert_eq!((at("long_term x*", "long term xy"), at("*'s", "anna's")), (Some(3), Some(1)));
    }

    #[test]
    fn every_list_that_a_pattern_names_is_there() {
        for pattern in CodeSigns::ALL.iter().flat_map(|care| list(care.name())) {
            for name in pattern.split([' ', '|']).filter(|word| word.starts_with('%')) {
                assert!(!list(name.trim_end_matches('?')).is_empty(), "{name} in {pattern}");
            }
        }
    }

    #[test]
    fn what_is_short_counts_where_something_was_asked() {
        let found = |text| {
            [AnswerSubject::Work, AnswerSubject::Talk, AnswerSubject::Keeping]
                .map(|about| claims(text, about).len())
        };
        assert_eq!(found("Saved!"), [0, 1, 1]);
        assert_eq!(found("Noted."), [0, 0, 1]);
        assert_eq!(found("Saved to memory!"), [1, 1, 1]);
        assert_eq!(found("Saved to `x.rs`!"), [0, 0, 0]);
        assert_eq!(found("The tool says \"I've saved that to your memory\" here."), [0, 0, 0]);
    }
}
