//! Computes how rare each of a question's terms is in a scope, and how much it counts for the neighbouring blocks.

use std::sync::Arc;

use crate::embed::BuiltinTable;
use crate::search::query::question::QueryTerm;
use crate::search::retrieve::candidates::{COMMON, RATHER_COMMON, idf};
use crate::search::retrieve::term_blocks::{CorpusScope, Occurrences, TermBlocks, count};
use crate::search::weights::NEAR_WORD;

/// A term that stands nowhere counts as rare as this, so that it doesn't drown the others.
pub(in crate::search) const MOST_IDF: f32 = 5.5;
/// Few blocks tell little of how rare a word is: they are joined by others that don't have it, up to so many.
pub(in crate::search) const FEW: f32 = 400.0;

/// A term with its blocks and its statistics in the whole scope.
#[derive(Debug)]
pub(in crate::search) struct Term {
    pub is_name: bool,
    /// The blocks that have it.
    pub found: Arc<TermBlocks>,
    pub rarity: f32,
    /// How much its word tells in any text.
    pub tells: f32,
    pub is_rather_common: bool,
    /// The blocks of each near word, and what it counts; none that stands everywhere, which tells nothing, and costs the most.
    pub near: Vec<(Arc<TermBlocks>, f32)>,
    pub soft_rarity: f32,
    /// Its rarity among notes.
    pub session_rarity: f32,
    /// Whether it and its near words stand for the block alone.
    pub is_soft_alone: bool,
}

impl Term {
    /// A name stands for itself alone.
    pub fn new(scope: CorpusScope<'_>, occurrences: &Occurrences, term: &QueryTerm, is_name: bool) -> Self {
        let found = occurrences.of_question(scope, term);
        let near = term.near.iter().filter(|_| !is_name);
        let near = near.map(|(word, likeness)| (occurrences.of(scope, word), NEAR_WORD * likeness));
        let near: Vec<_> = near.filter(|(found, _)| !scope.is_common(found.blocks.len(), COMMON)).collect();
        let blocks = found.blocks.len();
        let soft_blocks = blocks + near.iter().map(|(found, _)| found.blocks.len()).sum::<usize>();
        let (all, notes) = (count(scope.candidates.count), count(scope.candidates.notes.len()));
        Self {
            is_name,
            rarity: idf(count(blocks), all),
            tells: BuiltinTable::builtin().weight(&term.word),
            is_rather_common: scope.is_common(blocks, RATHER_COMMON),
            soft_rarity: idf(count(blocks), all.max(FEW)).min(MOST_IDF),
            session_rarity: idf(count(found.notes), notes),
            is_soft_alone: scope.is_common(soft_blocks, COMMON),
            found,
            near,
        }
    }
}
