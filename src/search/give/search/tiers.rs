//! Sorts found blocks into tiers by the typed words: the word itself, a heading with it, or only something like it.
//!
//! The slots of [`Typed`] come in. Each found block goes out with its [`Tier`]; an answer lists one tier after the
//! other.

use crate::search::give::finder::Find;
use crate::search::give::words::Filters;
use crate::search::query::question::Question;
use crate::search::query::syntax::{Item, Syntax};
use crate::search::retrieve::typed::Typed;
use crate::search::store::view::DocRef;
use crate::search::{Block, Found, IndexError};

/// So many words that stand nowhere are named.
const NAMED: usize = 3;

/// The typed words in a block; lower tiers are listed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tier {
    /// Its text has a word, or a form of it. Of a query of several words a title or heading does as well.
    Word,
    /// The only word of the query stands in its title or headings alone.
    Heading,
    /// It has none: it was found by similar words or by meaning.
    Alike,
}

/// A found block in its tier.
#[derive(Debug)]
pub(super) struct Placed {
    pub slot: u32,
    pub tier: Tier,
    pub found: Found,
}

/// Says the tier of blocks.
pub(super) struct Tiers<'a> {
    pub typed: &'a Typed,
    /// Lets the blocks through whose text has not the only word of the query.
    pub without: Option<Filters<'a>>,
}

/// A query that excludes the only word of another query; none where that has several.
pub(super) fn without_only_word(typed: &Typed) -> Option<Syntax> {
    let not = vec![Item::Words(typed.only.clone()?)];
    typed.is_strict.then(|| Syntax { not, ..Syntax::default() })
}

impl Tiers<'_> {
    /// The tier of the block in a slot.
    ///
    /// # Errors
    /// tantivy's.
    pub fn of(&self, slot: u32, at: DocRef, block: &Block) -> Result<Tier, IndexError> {
        Ok(match &self.without {
            _ if !self.typed.slots.contains(slot) => Tier::Alike,
            Some(without) if without.pass(at, block)? => Tier::Heading,
            _ => Tier::Word,
        })
    }

    /// Turns in their tiers. The name of who speaks stands in a turn's line, so it counts as text.
    pub fn of_turns(&self, finds: Vec<Find>) -> Vec<Placed> {
        let tier = |slot| if self.typed.slots.contains(slot) { Tier::Word } else { Tier::Alike };
        finds
            .into_iter()
            .map(|find| Placed { slot: find.ranked.slot, tier: tier(find.ranked.slot), found: find.found })
            .collect()
    }
}

/// Says which typed words stand nowhere, for a query that is no question.
pub(super) fn missing(typed: &Typed, question: &Question, has_alike: bool) -> Option<String> {
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
