//! Chooses the events of the next summary, or the summaries that a summary of the next depth combines. Pure: sizes and
//! places decide, no text.
//!
//! - A leaf is a summary of events. A leaf begins where the previous leaf ended. A leaf ends when it has at least
//!   [`LEAF_TOKENS`] tokens and [`LEAF_EVENTS`] events.
//! - A question and its answer stay in one leaf, unless the leaf would grow to twice its size.
//! - No new leaf takes any of the last [`TAIL`] events.
//! - Four neighbouring summaries of one depth become one of the next depth.
//! - If a request grows too large for its brain ([`DueScope::Pressed`]), [`LEAF_TARGET`] tokens or two summaries are
//!   enough.
//! - A deleted leaf between others is made again with the same events. A deleted last leaf is planned anew.
//!
//! The numbers are those of source 002 (see `ARCHITECTURE.md`), phase 2.

use std::collections::BTreeMap;
use std::ops::Range;

/// The last events of a log that are never summarised.
pub const TAIL: usize = 64;
/// Tokens outside the tail that make a leaf.
pub const LEAF_TOKENS: u64 = 20_000;
/// The fewest events of a leaf.
pub const LEAF_EVENTS: usize = 8;
/// The tokens that a leaf should have.
pub const LEAF_TARGET: u64 = 2_400;
/// How many summaries of a depth are condensed into one.
pub const FANOUT: usize = 4;
/// The fewest summaries that are condensed into one under pressure.
pub const FLOOR: usize = 2;
/// The tokens that a condensed summary should have.
pub const CONDENSED_TARGET: u64 = 2_000;
/// The percentage of a brain's context that a request may fill before more is summarised.
pub const PRESSURE: u64 = 75;
/// A text longer than its target by this factor is refused.
pub const MOST_TIMES: u64 = 3;

/// The condition under which summaries are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueScope {
    /// New events alone.
    New,
    /// Missing and outdated ones, too.
    All,
    /// A request would pass three quarters of its brain's context.
    Pressed,
}

/// The data of an event that planning uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventSize {
    /// Its estimated tokens.
    pub tokens: u64,
    /// Whether a summary may begin or end with it: it has a block id that no other event has.
    pub is_linkable: bool,
    /// Whether it is a person's message, so that the exchange before it is complete.
    pub begins: bool,
}

/// The tokens that a summary of this depth should have.
pub fn target(depth: u32) -> u64 {
    if depth == 0 { LEAF_TARGET } else { CONDENSED_TARGET }
}

/// The due leaves, oldest first. `covered` are the events of existing leaves, in order. A gap between two leaves gets a
/// leaf, however small it is.
pub fn leaves(sizes: &[EventSize], covered: &[Range<usize>], scope: DueScope) -> Vec<Range<usize>> {
    let sealed = sizes.len().saturating_sub(TAIL);
    let (mut due, mut from) = (Vec::new(), 0);
    for taken in covered {
        if scope != DueScope::New {
            fill(sizes, from, taken.start, &mut due);
        }
        from = from.max(taken.end);
    }
    while let Some(leaf) = next(sizes, from, sealed, scope) {
        from = leaf.end;
        due.push(leaf);
    }
    due
}

/// Leaves for a whole gap, which was covered before.
fn fill(sizes: &[EventSize], mut from: usize, end: usize, due: &mut Vec<Range<usize>>) {
    while let Some(leaf) = next(sizes, from, end, DueScope::New).or_else(|| remaining_range(sizes, from, end))
    {
        from = leaf.end;
        due.push(leaf);
    }
}

/// The next leaf between two places, if they hold enough.
fn next(sizes: &[EventSize], from: usize, limit: usize, scope: DueScope) -> Option<Range<usize>> {
    let from = (from..limit).find(|at| sizes[*at].is_linkable)?;
    let mut tokens = 0;
    for at in from..limit {
        tokens += sizes[at].tokens;
        let is_full = tokens >= LEAF_TOKENS && at + 1 - from >= LEAF_EVENTS;
        // A question and its answer stay together, unless that makes twice the leaf.
        // So do events that no leaf can begin with, and what stands before them: else they'd be in none.
        let is_whole =
            sizes.get(at + 1).is_none_or(|next| next.begins && next.is_linkable) || tokens >= 2 * LEAF_TOKENS;
        if is_full && is_whole && sizes[at].is_linkable {
            return Some(from..at + 1);
        }
    }
    let is_worth_it = tokens >= LEAF_TARGET && limit - from >= LEAF_EVENTS;
    if scope == DueScope::Pressed && is_worth_it { remaining_range(sizes, from, limit) } else { None }
}

/// All that a summary can be about between two places.
fn remaining_range(sizes: &[EventSize], from: usize, limit: usize) -> Option<Range<usize>> {
    let from = (from..limit).find(|at| sizes[*at].is_linkable)?;
    let last = (from..limit).rfind(|at| sizes[*at].is_linkable)?;
    Some(from..last + 1)
}

/// The groups that are to be condensed, by their places in `roots`, which have a depth and the events that they cover, in
/// the order of their events: the lowest depth alone, so that the new summaries are known before the next depth is
/// planned. A group's roots stand side by side, with no event between them that none covers.
pub fn condense(roots: &[(u32, Range<usize>)], scope: DueScope) -> Vec<Range<usize>> {
    let fewest = if scope == DueScope::Pressed { FLOOR } else { FANOUT };
    let mut groups: BTreeMap<u32, Vec<Range<usize>>> = BTreeMap::new();
    let mut start = 0;
    for run in roots.chunk_by(|(depth, events), (next, after)| depth == next && events.end == after.start) {
        let end = start + run.len();
        let parts = (start..end).step_by(FANOUT).map(|from| from..end.min(from + FANOUT));
        groups.entry(run[0].0).or_default().extend(parts.filter(|part| part.len() >= fewest));
        start = end;
    }
    groups.into_values().find(|groups| !groups.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::single_range_in_vec_init, reason = "lists of ranges are what is planned")]
    use super::*;

    fn sizes(tokens: &[u64]) -> Vec<EventSize> {
        let size = |(at, tokens): (usize, &u64)| EventSize {
            tokens: *tokens,
            is_linkable: true,
            begins: at % 2 == 0,
        };
        tokens.iter().enumerate().map(size).collect()
    }

    #[test]
    fn a_leaf_is_due_at_twenty_thousand_tokens_outside_the_tail() {
        let mut log = sizes(&[1_000; 20]);
        log.extend(sizes(&[5_000; TAIL]));
        assert_eq!(leaves(&log, &[], DueScope::New), [0..20]);
        assert!(leaves(&log[1..], &[], DueScope::New).is_empty(), "nineteen thousand");
        assert_eq!(leaves(&log[1..], &[], DueScope::Pressed), [0..19]);
        // Fewer than eight events are none, however long; nor is it worth it for a few words.
        let mut few = sizes(&[9_000; 7]);
        few.extend(sizes(&[1; TAIL]));
        assert!(leaves(&few, &[], DueScope::Pressed).is_empty());
        let mut short = sizes(&[10; 60]);
        short.extend(sizes(&[1; TAIL]));
        assert!(leaves(&short, &[], DueScope::Pressed).is_empty());
    }

    #[test]
    fn an_answer_stays_with_its_question() {
        let mut log = sizes(&[4_000; 13]);
        log.extend(sizes(&[1; TAIL]));
        assert_eq!(leaves(&log, &[], DueScope::New), [0..8], "eight events, up to a question");
        log[8].begins = false;
        assert_eq!(leaves(&log, &[], DueScope::New), [0..10]);
        log.iter_mut().for_each(|size| size.begins = false);
        assert_eq!(leaves(&log, &[], DueScope::New), [0..10], "twice the leaf is enough");
        log[0].is_linkable = false;
        assert_eq!(leaves(&log, &[], DueScope::New), [1..11]);
    }

    #[test]
    fn events_without_an_id_are_within_a_leaf() {
        let mut log = sizes(&[4_000; 24]);
        log.extend(sizes(&[1; TAIL]));
        log[8].is_linkable = false;
        assert_eq!(leaves(&log, &[], DueScope::New), [0..10, 10..18], "no leaf could begin with the ninth");
        log[0].is_linkable = false;
        assert_eq!(leaves(&log, &[], DueScope::New)[0], 1..10, "none can begin with the first");
    }

    #[test]
    fn a_gap_is_filled_and_what_follows_goes_on() {
        let mut log = sizes(&[2_500; 40]);
        log.extend(sizes(&[1; TAIL]));
        let all = leaves(&log, &[], DueScope::New);
        assert_eq!(all, [0..8, 8..16, 16..24, 24..32, 32..40]);
        let without = [all[0].clone(), all[3].clone()];
        assert_eq!(leaves(&log, &without, DueScope::New), [32..40]);
        assert_eq!(leaves(&log, &without, DueScope::All), [8..16, 16..24, 32..40]);
    }

    #[test]
    fn four_of_a_depth_become_one() {
        let root = |depth, start, end| (depth, start..end);
        let flat: Vec<_> = (0..9).map(|at| root(0, at * 8, at * 8 + 8)).collect();
        assert_eq!(condense(&flat, DueScope::New), [0..4, 4..8]);
        assert!(condense(&flat[..3], DueScope::New).is_empty());
        assert_eq!(condense(&flat[..3], DueScope::Pressed), [0..3]);
        assert!(condense(&flat[..1], DueScope::Pressed).is_empty());
        // Over a gap nothing is condensed, nor are different depths.
        let mut gap = flat[..5].to_vec();
        gap.remove(2);
        assert!(condense(&gap, DueScope::New).is_empty());
        let mixed = [root(1, 0, 32), root(0, 32, 40), root(0, 40, 48), root(0, 48, 56), root(0, 56, 64)];
        assert_eq!(condense(&mixed, DueScope::New), [1..5]);
        let high: Vec<_> = (0..4).map(|at| root(1, at * 32, at * 32 + 32)).collect();
        assert_eq!(condense(&high, DueScope::New), [0..4]);
    }
}
