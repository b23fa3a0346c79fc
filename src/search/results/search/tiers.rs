//! Finds the blocks that have a word of the query as it was typed, or a form of it ([`TypedWords`]), and sorts found blocks
//! into tiers by that: the word itself, a heading with it, or only something like it. Pure, but for the text of found
//! blocks.
//!
//! A scope and a query's terms come in. Each found block goes out with its [`Tier`]; an answer lists one tier after the
//! other. All blocks without a typed word are look-alikes: they have similar words, or are near in meaning.

use roaring::RoaringBitmap;

use crate::search::analyze::function_words;
use crate::search::analyze::stems::is_unspaced;
use crate::search::parallel::share;
use crate::search::query::question::{QueryTerm, Question};
use crate::search::query::syntax::{Item, Syntax};
use crate::search::results::hit::Tier;
use crate::search::retrieve::filter::Filters;
use crate::search::retrieve::term_blocks::{CorpusScope, Occurrences};
use crate::search::{FoundBlock, IndexError};

/// So many words that stand nowhere are named.
const NAMED: usize = 3;
/// A query of more words is a description.
const FEW: usize = 3;

/// The blocks that have a word of the query.
#[derive(Debug, Default)]
pub(super) struct TypedWords {
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
pub(super) fn find_typed_words(
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

/// Says the tier of blocks.
pub(super) struct Tiers<'a> {
    pub typed: &'a TypedWords,
    /// Lets the blocks through whose text has not the only word of the query.
    pub without: Option<Filters<'a>>,
}

/// A query that excludes the only word of another query; none where that has several.
pub(super) fn without_only_word(typed: &TypedWords) -> Option<Syntax> {
    let not = vec![Item::Words(typed.only.clone()?)];
    typed.is_strict.then(|| Syntax { not, ..Syntax::default() })
}

impl Tiers<'_> {
    /// The tier of the found block of a slot.
    ///
    /// # Errors
    /// tantivy's.
    pub fn of(&self, slot: u32, found: &FoundBlock) -> Result<Tier, IndexError> {
        Ok(match &self.without {
            Some(without) if self.typed.slots.contains(slot) && without.pass(found.slot, &found.block)? => {
                Tier::Heading
            }
            _ => self.of_turn(slot),
        })
    }

    /// That of a turn. The name of who speaks stands in a turn's line, so it counts as text.
    pub fn of_turn(&self, slot: u32) -> Tier {
        if self.typed.slots.contains(slot) { Tier::Word } else { Tier::Alike }
    }
}

/// Says which typed words stand nowhere, for a query that is no question.
pub(super) fn missing(typed: &TypedWords, question: &Question, has_alike: bool) -> Option<String> {
    if typed.missing.is_empty() || !has_alike || question.text.trim_end().ends_with('?') {
        return None;
    }
    let named: Vec<String> = typed.missing.iter().take(NAMED).map(|word| format!("`{word}`")).collect();
    let further = if typed.missing.len() > NAMED { " and others" } else { "" };
    let stands = if typed.missing.len() == 1 { "stands" } else { "stand" };
    Some(format!(
        "{}{further} {stands} nowhere here; hits marked ≈ have similar words or a similar meaning",
        named.join(", ")
    ))
}
