//! Corrects typing errors of a question: a word that the vault doesn't have becomes the word of the vault that is one
//! slip away (two neighbours swapped, a letter too many, too few, or another one).
//!
//! A word of the built-in table is correct, whether or not the vault has it. Of several words the likelier slip wins,
//! then the word that more blocks have. Pure.

use std::collections::HashSet;

use crate::embed::BuiltinTable;
use crate::search::analyze::stems::{Terms, words};
use crate::search::query::question::{QueryTerm, Question};
use crate::search::retrieve::term_blocks::{CorpusScope, Occurrences};

/// Shorter words have too many others one slip away; two swapped letters tell from this length on.
const SHORTEST: usize = 4;
const SHORTEST_SWAPPED: usize = 3;
/// Longer ones are no words.
const LONGEST: usize = 24;
/// Letters that a hand puts in a wrong place or leaves out.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzäöüßéèáíóúñç";

/// `question` as it was meant, where it has words that the scope has not and that nobody writes so.
pub(in crate::search) fn correct_typos(
    question: Question,
    scope: CorpusScope<'_>,
    occurrences: &Occurrences,
    today: jiff::civil::Date,
) -> Question {
    let table = BuiltinTable::builtin();
    let blocks_with = |term: &str| occurrences.of(scope, term).blocks.len();
    let is_wrong = |term: &&QueryTerm| {
        (SHORTEST_SWAPPED..=LONGEST).contains(&term.word.chars().count())
            && term.word.chars().all(char::is_alphabetic)
            && !table.has(&term.word)
            && occurrences.of_question(scope, term).blocks.is_empty()
    };
    let mut terms = Terms::new();
    let slips = question.terms.iter().filter(is_wrong);
    let meant: Vec<(String, String)> = slips
        .filter_map(|term| Some((term.word.clone(), meant(&term.word, blocks_with, &mut terms)?)))
        .collect();
    if meant.is_empty() {
        return question;
    }
    let mut text = question.text.clone();
    for (wrong, right) in &meant {
        text = with(&text, wrong, right);
    }
    Question { is_plain: question.is_plain, ..Question::new(&text, today) }
}

/// The likeliest word of the scope that is one slip away.
fn meant(word: &str, blocks_with: impl Fn(&str) -> usize, terms: &mut Terms) -> Option<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut tried: HashSet<String> = HashSet::new();
    let mut likeliest = |slips: Vec<Vec<char>>| {
        let mut best: Option<(usize, String)> = None;
        for slip in slips {
            let slip: String = slip.into_iter().collect();
            if slip == word || !tried.insert(slip.clone()) {
                continue;
            }
            let Some(term) = terms.term(&slip) else { continue };
            let blocks = blocks_with(term);
            if blocks > best.as_ref().map_or(0, |(most, _)| *most) {
                best = Some((blocks, slip));
            }
        }
        best.map(|(_, slip)| slip)
    };
    let swapped = likeliest(swapped(&letters));
    if swapped.is_some() || letters.len() < SHORTEST {
        return swapped;
    }
    likeliest(others(&letters))
}

/// Two neighbours swapped.
fn swapped(letters: &[char]) -> Vec<Vec<char>> {
    let swap = |at: usize| {
        let mut slip = letters.to_vec();
        slip.swap(at, at + 1);
        slip
    };
    (0..letters.len() - 1).map(swap).collect()
}

/// A letter left out, another one, or one more; the first letter stays.
fn others(letters: &[char]) -> Vec<Vec<char>> {
    let mut slips = Vec::new();
    for at in 1..=letters.len() {
        if at < letters.len() {
            let mut slip = letters.to_vec();
            slip.remove(at);
            slips.push(slip);
        }
        for letter in LETTERS.chars() {
            if at < letters.len() {
                let mut slip = letters.to_vec();
                slip[at] = letter;
                slips.push(slip);
            }
            let mut slip = letters.to_vec();
            slip.insert(at, letter);
            slips.push(slip);
        }
    }
    slips
}

/// `text` with another word in place of one, wherever it stands.
fn with(text: &str, wrong: &str, right: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let start = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
        let (between, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_alphanumeric()).unwrap_or(from.len());
        let (word, behind) = from.split_at(end);
        out.push_str(between);
        let mut same = false;
        words(word, |lower| same = lower == wrong);
        out.push_str(if same { right } else { word });
        rest = behind;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::read::block::{Block, Kind, ParsedNote};
    use crate::search::retrieve::candidates::Candidates;
    use crate::search::store::corpus::Corpus;

    fn mend(text: &str) -> String {
        let mut corpus = Corpus::default();
        let said = "Caroline adopted a guinea pig and a dog; the Hausbatterie hums, 東京";
        let blocks = vec![Block::new(Kind::Paragraph, 0, 0, said.to_owned())];
        let note = ParsedNote { blocks, ..ParsedNote::default() };
        corpus.put([("a.md".to_owned(), note)]).unwrap();
        let candidates = Candidates::new(&corpus, |_| true);
        let today = jiff::civil::date(2026, 11, 23);
        correct_typos(
            Question::new(text, today),
            CorpusScope { corpus: &corpus, candidates: &candidates },
            &Occurrences::default(),
            today,
        )
        .text
    }

    #[test]
    fn a_slip_is_mended_and_a_word_that_is_meant_stays() {
        for (typed, meant) in [
            ("What did Carolnie adotp?", "What did caroline adopt?"),
            ("the guniea pig", "the guinea pig"),
            ("the dgo", "the dog"),
            ("Hausbaterie", "hausbatterie"),
            ("a trombone for the dog", "a trombone for the dog"),
            ("xyzzyqqq 12 東京 ", "xyzzyqqq 12 東京"),
        ] {
            assert_eq!(mend(typed), meant);
        }
    }
}
