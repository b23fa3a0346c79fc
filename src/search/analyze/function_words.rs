//! Lists function words of languages other than English, and detects a text's language by them. Function words show the
//! form of a question, not its subject.
//!
//! A language has to have more function words in a text than any other language. A question counts as English if no
//! other language has more. Words are lower case. Pure.

use crate::search::analyze::STOP;
#[cfg(feature = "assistant")]
use crate::search::analyze::stems::STOP_WORDS;
#[cfg(feature = "assistant")]
use std::{collections::HashSet, sync::LazyLock};

/// A line for each language: its code of ISO 639-1, a tab, and its function words.
const LANGUAGES: &str = include_str!("../data/function_words.txt");

/// The most words of a short query.
const FEW: usize = 3;

/// The code and the function words of each language but English.
fn others() -> impl Iterator<Item = (&'static str, &'static str)> {
    LANGUAGES.lines().filter_map(|line| line.split_once('\t'))
}

/// Each language's code, function words, and how many of `words` are among them; English first.
fn counts(words: &[String]) -> impl Iterator<Item = (&'static str, Vec<&'static str>, usize)> {
    let all = std::iter::once(("en", STOP)).chain(others());
    all.map(|(code, text)| {
        let list: Vec<&str> = text.split_ascii_whitespace().collect();
        let count = words.iter().filter(|word| list.contains(&word.as_str())).count();
        (code, list, count)
    })
}

/// The code of the language that `words` are in. `None` if there are fewer than two function words, or if another
/// language has as many.
pub(in crate::search) fn language(words: &[String]) -> Option<&'static str> {
    let mut all: Vec<_> = counts(words).map(|(code, _, count)| (count, code)).collect();
    all.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    (all[0].0 >= 2 && all[0].0 > all[1].0).then_some(all[0].1)
}

/// The function words of the language that `words` are in, which may be English. In a short text, a word that is a
/// function word of one language and a content word of another proves nothing: "great war" isn't German.
pub(in crate::search) fn of(words: &[String]) -> Vec<&'static str> {
    let (mut best, mut most) = (Vec::new(), 0);
    for (code, list, count) in counts(words) {
        if code == "en" || count > most {
            (best, most) = (list, count.max(usize::from(words.len() <= FEW)));
        }
    }
    best
}

/// Whether a lower-case word is a function word of any of these languages.
#[cfg(feature = "assistant")]
pub(crate) fn is_one(word: &str) -> bool {
    static OTHERS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| others().flat_map(|(_, words)| words.split_ascii_whitespace()).collect());
    STOP_WORDS.contains(word) || OTHERS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_told_by_its_function_words() {
        let has = |text: &str, word| {
            let words: Vec<String> = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
            of(&words).contains(&word)
        };
        assert!(has("wie sichere ich die daten", "die") && has("die hard with a vengeance", "with"));
        assert!(!has("die hard with a vengeance", "die") && !has("", "die"));
        let language = |text: &str| language(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(language("wie sichere ich die daten"), Some("de"));
        assert_eq!(language("who repaired the boiler when it was broken"), Some("en"));
        assert_eq!(language("boiler the"), None);
        assert!(has("où est la clé de la maison", "la") && has("¿dónde está el libro de mi abuela", "el"));
    }
}
