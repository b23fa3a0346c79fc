//! Computes how rare each of a question's terms is in a scope, and how much it counts for the neighbouring blocks.

use crate::embed::Table;
use crate::search::query::question::QueryTerm;
use crate::search::retrieve::candidates::{COMMON, Candidates, RATHER_COMMON, idf};
use crate::search::retrieve::scope::{Scope, TermMatches, count};
use crate::search::weights::NEAR_WORD;

/// A term that stands nowhere counts as rare as this, so that it doesn't drown the others.
pub(in crate::search) const MOST_IDF: f32 = 5.5;
/// Few blocks tell little of how rare a word is: they are joined by others that don't have it, up to so many.
pub(in crate::search) const FEW: f32 = 400.0;

/// The statistics of a term in the whole scope.
#[derive(Debug)]
pub(in crate::search) struct Term {
    pub is_name: bool,
    /// How many blocks have it.
    pub blocks: usize,
    pub rarity: f32,
    /// How much its word tells in any text.
    pub tells: f32,
    pub is_rather_common: bool,
    /// What each near word counts; one that stands everywhere tells nothing, and costs the most.
    pub near: Vec<Option<f32>>,
    pub soft_rarity: f32,
    /// Its rarity among notes.
    pub session_rarity: f32,
    /// Whether it and its near words stand for the block alone.
    pub is_soft_alone: bool,
}

impl Term {
    pub fn new<'f>(
        scope: Scope<'_>,
        asked: &QueryTerm,
        is_name: bool,
        found: &(impl Iterator<Item = &'f TermMatches> + Clone),
    ) -> Self {
        let blocks = found.clone().map(|found| found.counts.blocks).sum();
        let notes = found.clone().map(|found| found.counts.notes).sum();
        let Candidates { count: all, notes: all_notes, .. } = scope.candidates;
        let mut soft_blocks: usize = blocks;
        let near = asked.near.iter().filter(|_| !is_name).enumerate().map(|(n, (_, likeness))| {
            let blocks = found.clone().map(|found| found.near_counts[n].blocks).sum();
            (!scope.is_common(blocks, COMMON)).then(|| {
                soft_blocks += blocks;
                NEAR_WORD * likeness
            })
        });
        let near = near.collect();
        Self {
            is_name,
            blocks,
            rarity: idf(count(blocks), count(*all)),
            tells: Table::builtin().weight(&asked.word),
            is_rather_common: scope.is_common(blocks, RATHER_COMMON),
            near,
            soft_rarity: idf(count(blocks), count(*all).max(FEW)).min(MOST_IDF),
            session_rarity: idf(count(notes), count(all_notes.len())),
            is_soft_alone: scope.is_common(soft_blocks, COMMON),
        }
    }
}
