//! Takes a query's words apart: their folded forms, and their stems.
//!
//! Text comes in; words go out, each once. Pure.

use crate::search::analyze::text::{Analyzer, Form, fold};
use crate::search::query::syntax::Item;

/// One word as the index may hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryWord {
    /// As written, folded.
    pub exact: String,
    /// Its stem; the same where there is none.
    pub stem: String,
    /// The form of the text that it came from.
    pub form: Form,
}

/// The words of `text`, each once, in order.
pub fn words(analyzer: &mut Analyzer, text: &str) -> Vec<QueryWord> {
    let mut words: Vec<QueryWord> = Vec::new();
    let mut previous_pair = String::new();
    analyzer.terms(text, &mut |form, exact, stem| {
        // The last character of a run is indexed for the sake of one-character queries alone.
        let tail = form == Form::Pair && exact.chars().nth(1).is_none() && previous_pair.ends_with(exact);
        previous_pair.clear();
        if form == Form::Pair && !tail {
            previous_pair.push_str(exact);
        }
        let word = QueryWord { exact: exact.to_owned(), stem: stem.unwrap_or(exact).to_owned(), form };
        if !tail && !words.contains(&word) {
            words.push(word);
        }
    });
    words
}

/// A word of a query to look for.
#[derive(Debug)]
pub enum WordMatcher {
    /// Any that begins so.
    Prefix(String),
    /// This one, or another with its stem.
    Form(QueryWord),
}

impl WordMatcher {
    /// A word; a lone character of a script without spaces begins pairs.
    pub fn of(word: QueryWord) -> Self {
        let is_lone = word.form == Form::Pair && word.exact.chars().nth(1).is_none();
        if is_lone { Self::Prefix(word.exact) } else { Self::Form(word) }
    }

    /// Whether a term of a text is that.
    pub fn is(&self, exact: &str, stem: Option<&str>) -> bool {
        match self {
            Self::Prefix(prefix) => exact.starts_with(prefix.as_str()),
            Self::Form(word) => *exact == word.exact || stem.unwrap_or(exact) == word.stem,
        }
    }
}

/// The words to look for of an item.
pub fn matchers(analyzer: &mut Analyzer, item: &Item) -> Vec<WordMatcher> {
    match item {
        Item::Prefix(text) => vec![WordMatcher::Prefix(fold(text))],
        Item::Words(text) | Item::Phrase(text) => {
            words(analyzer, text).into_iter().map(WordMatcher::of).collect()
        }
    }
}
