//! Merges two texts with a common base line by line, so that no line of a person is lost. Pure.
//!
//! If the two changed different places, both changes stay. If they changed the same place, the lines of the first
//! stay, followed by those of the second that the first doesn't have.

use std::collections::BTreeMap;

use similar::DiffOp;

use super::merge::{by_regions, lines};
use crate::format::changes::changes;

/// Two texts brought together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreeWayMerge {
    /// The text.
    pub bytes: Vec<u8>,
    /// The places where both stand, one after the other, in their order.
    pub overlaps: Vec<Overlap>,
}

/// A place that both texts changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overlap {
    /// The lines of the first text, with their terminators.
    pub first: Vec<u8>,
    /// The lines of the second one that follow.
    pub second: Vec<u8>,
}

/// Merges the changes from `base` to `first` and to `second`. Without a base only lines that both have count as old, so
/// nothing counts as removed.
pub fn three_way_merge(base: Option<&[u8]>, first: &[u8], second: &[u8]) -> ThreeWayMerge {
    let ends = first.ends_with(b"\n") || second.ends_with(b"\n");
    let (first, second) = (lines(first), lines(second));
    let base = base.map_or_else(
        || {
            let same = changes(&first, &second);
            let same = same.iter().filter(|op| matches!(op, DiffOp::Equal { .. }));
            same.flat_map(|op| first[op.old_range()].to_vec()).collect()
        },
        lines,
    );
    let mut overlaps = Vec::new();
    let bytes = by_regions(&base, &first, &second, ends, |region, sides| {
        let (mut first_side, second_side) = match sides {
            (None, second_side) => return second_side.unwrap_or_default(),
            (Some(first_side), second_side) => (first_side, second_side.unwrap_or_default()),
        };
        let old: Vec<&[u8]> = base[region.clone()].iter().map(|line| &**line).collect();
        let more = missing(&first_side, &second_side, &old);
        if !old.is_empty() && !first_side.is_empty() && !more.is_empty() {
            overlaps.push(Overlap { first: first_side.concat(), second: more.concat() });
        }
        first_side.extend(more);
        first_side
    });
    ThreeWayMerge { bytes, overlaps }
}

/// The lines of `second` that are neither `old` nor in `first`, each as often as it is missing.
fn missing<'a>(first: &[&[u8]], second: &[&'a [u8]], old: &[&[u8]]) -> Vec<&'a [u8]> {
    let mut there: BTreeMap<&[u8], usize> = BTreeMap::new();
    for line in first {
        *there.entry(line).or_default() += 1;
    }
    let is_missing = |line: &&'a [u8]| {
        let count = there.entry(*line).or_default();
        let is_there = *count > 0;
        *count = count.saturating_sub(1);
        !is_there && !old.contains(line)
    };
    second.iter().copied().filter(is_missing).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merged(base: Option<&str>, first: &str, second: &str) -> (String, usize) {
        let merged = three_way_merge(base.map(str::as_bytes), first.as_bytes(), second.as_bytes());
        (String::from_utf8(merged.bytes).unwrap(), merged.overlaps.len())
    }

    #[test]
    fn changes_of_different_places_both_stand() {
        let base = Some("a\nb\nc\nd\n");
        assert_eq!(merged(base, "a\nB\nc\nd\n", "a\nb\nc\nd\ne\n"), ("a\nB\nc\nd\ne\n".to_owned(), 0));
        assert_eq!(merged(base, "b\nc\nd\n", "a\nb\nc\n"), ("b\nc\n".to_owned(), 0));
        assert_eq!(merged(base, "a\nb\nc\nd\n", "a\nd\n"), ("a\nd\n".to_owned(), 0));
    }

    #[test]
    fn one_line_changed_twice_stands_twice() {
        assert_eq!(merged(Some("a\nb\nc\n"), "a\nB\nc\n", "a\nbb\nc\n"), ("a\nB\nbb\nc\n".to_owned(), 1));
        assert_eq!(merged(Some("a\n"), "a\nx\n", "a\ny\n"), ("a\nx\ny\n".to_owned(), 0));
        assert_eq!(merged(Some("a\n"), "a\nx\n", "a\nx\n"), ("a\nx\n".to_owned(), 0));
        assert_eq!(merged(Some("a\nb\n"), "a\n", "a\nbb\n"), ("a\nbb\n".to_owned(), 0));
        assert_eq!(merged(Some("a\nb"), "a\nB", "a\nbb"), ("a\nB\nbb".to_owned(), 1));
    }

    #[test]
    fn without_a_base_nothing_is_removed() {
        assert_eq!(merged(None, "a\nx\nb\n", "a\nb\ny\n"), ("a\nx\nb\ny\n".to_owned(), 0));
        assert_eq!(merged(None, "", "a\n"), ("a\n".to_owned(), 0));
        assert_eq!(merged(None, "a\n", ""), ("a\n".to_owned(), 0));
    }

    proptest! {
        #[test]
        fn no_new_line_of_either_is_lost(
            base in proptest::collection::vec("[a-f]", 0..8),
            first in proptest::collection::vec("[a-j]", 0..8),
            second in proptest::collection::vec("[a-j]", 0..8),
            with_base: bool,
        ) {
            let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let whole = text(&base);
            let once = merged(with_base.then_some(&*whole), &text(&first), &text(&second)).0;
            let is_new = |line: &&String| !with_base || !base.contains(line);
            for line in first.iter().chain(&second).filter(is_new) {
                prop_assert!(once.lines().any(|other| other == line), "{line} is lost: {once}");
            }
            for line in once.lines() {
                prop_assert!([&base, &first, &second].iter().any(|lines| lines.iter().any(|other| other == line)));
            }
        }

        #[test]
        fn a_text_and_itself_are_itself(lines in proptest::collection::vec("[a-c]", 0..8), base in "[a-c\n]{0,8}") {
            let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            prop_assert_eq!(merged(None, &text, &text).0, text.clone());
            prop_assert_eq!(merged(Some(&base), &text, &text).0, text);
        }
    }
}
