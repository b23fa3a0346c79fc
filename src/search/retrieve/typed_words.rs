//! Finds the blocks that have a word of the query as it was typed, or a form of it, in their text, title or headings.
//!
//! A scope and a query's terms come in. Slots go out, and the words that occur nowhere in the scope. All other blocks
//! of an answer are look-alikes: they have similar words, or are near in meaning. Pure.

use roaring::RoaringBitmap;

use crate::search::analyze::function_words;
use crate::search::analyze::stems::is_unspaced;
use crate::search::parallel::share;
use crate::search::query::question::{QueryTerm, Question};
use crate::search::retrieve::term_blocks::{CorpusScope, Occurrences};

/// A query of more words is a description.
const FEW: usize = 3;

/// The blocks that have a word of the query.
#[derive(Debug, Default)]
pub(in crate::search) struct TypedWords {
    /// Their slots.
    pub slots: RoaringBitmap,
    /// The words that no block has, as typed, lower case; a run of a script without spaces where no block has it whole.
    pub missing: Vec<String>,
    /// The only word, where the query has but one.
    pub only: Option<String>,
    /// Whether the blocks that have none of the words stand below all that have one: so it is where few words were typed. A
    /// question, and a description in many words, is about what it means; blocks with one of its words may have less of that.
    pub is_strict: bool,
}

impl TypedWords {
    /// The slots that come before all others.
    pub fn first(&self) -> Option<&RoaringBitmap> {
        self.is_strict.then_some(&self.slots)
    }
}

/// A word as it was typed: of a script without spaces the whole run of characters that a pair is of.
fn as_typed<'t>(text: &'t str, word: &'t str) -> &'t str {
    if !word.starts_with(is_unspaced) {
        return word;
    }
    text.split(|c| !is_unspaced(c)).find(|run| run.contains(word)).unwrap_or(word)
}

/// The blocks of a scope that have a word of the `question`, before its typing errors are mended. Function words count where
/// there are no others. The order `is_strict` for few words, and where that `is_asked`.
pub(in crate::search) fn find_typed_words(
    scope: CorpusScope<'_>,
    occurrences: &Occurrences,
    question: &Question,
    is_asked: bool,
) -> TypedWords {
    let skipped = function_words::of(&question.words);
    let is_content = |term: &&QueryTerm| !skipped.contains(&term.word.as_str());
    let mut words: Vec<&QueryTerm> = question.terms.iter().filter(is_content).collect();
    if words.is_empty() {
        words = question.terms.iter().collect();
    }
    let blocks = share(scope.candidates.count, words.len(), |at| occurrences.of_question(scope, words[at]));
    let mut found = TypedWords::default();
    for (term, of_word) in words.iter().zip(blocks) {
        let slots = of_word.blocks.iter().map(|block| block.slot);
        found.slots |= RoaringBitmap::from_sorted_iter(slots).expect("a term's blocks come in their order");
        let typed = as_typed(&question.text, &term.word);
        if of_word.blocks.is_empty() && !found.missing.iter().any(|known| known == typed) {
            found.missing.push(typed.to_owned());
        }
    }
    found.is_strict = is_asked || words.len() <= FEW && !question.text.trim_end().ends_with('?');
    found.only = Some(words).filter(|words| words.len() == 1).map(|words| words[0].word.clone());
    found
}
