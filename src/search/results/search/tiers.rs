//! Sorts found blocks into tiers by the typed words: the word itself, a heading with it, or only something like it.
//!
//! The slots of [`TypedWords`] come in. Each found block goes out with its [`Tier`]; an answer lists one tier after the
//! other.

use crate::search::query::question::Question;
use crate::search::query::syntax::{Item, Syntax};
use crate::search::results::word_search::Tier;
use crate::search::retrieve::filter::Filters;
use crate::search::retrieve::typed_words::TypedWords;
use crate::search::{FoundBlock, IndexError};

/// So many words that stand nowhere are named.
const NAMED: usize = 3;

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
            Some(without) if self.typed.slots.contains(slot) && without.pass(found.at, &found.block)? => {
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
