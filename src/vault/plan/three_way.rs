//! Merges two texts with a common base line by line, so that no line of a person is lost. Pure.
//!
//! If the two changed different places, both changes stay. If they changed the same place, the lines of the first
//! stay, followed by those of the second that the first doesn't have. [`carry_over`] does so for lines that another
//! program wrote into a file after its displacement; the swap alone uses it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use similar::DiffOp;

use crate::format::changes::{changes, differences};
use crate::format::lines::terminator_of;

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
    let end = terminator_of(first).as_bytes();
    let lines = |bytes| lines(bytes, end);
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
        let (first_side, second_side) = match sides {
            (None, one) | (one, None) => return one.unwrap_or_default(),
            (Some(first_side), Some(second_side)) => (first_side, second_side),
        };
        let old: Vec<&[u8]> = base[region.clone()].iter().map(|line| &**line).collect();
        let mut first_side = without(&first_side, &without(&old, &second_side));
        let mut more = without(&second_side, &first_side);
        more.retain(|line| !old.contains(line));
        if !old.is_empty() && !first_side.is_empty() && !more.is_empty() {
            overlaps.push(Overlap { first: first_side.concat(), second: more.concat() });
        }
        first_side.extend(more);
        first_side
    });
    ThreeWayMerge { bytes, overlaps }
}

/// The lines of `text` that `other` doesn't have, each as often as it is missing there.
pub(crate) fn without<'a>(text: &[&'a [u8]], other: &[&[u8]]) -> Vec<&'a [u8]> {
    let mut there: BTreeMap<&[u8], usize> = BTreeMap::new();
    for line in other {
        *there.entry(line).or_default() += 1;
    }
    let is_missing = |line: &&'a [u8]| match there.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    text.iter().copied().filter(is_missing).collect()
}

/// The lines with their terminators; a last one without gets `end`, so that adding after it is no change of it.
fn lines<'t>(bytes: &'t [u8], end: &[u8]) -> Vec<Cow<'t, [u8]>> {
    let mut lines: Vec<Cow<'_, [u8]>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(Cow::Borrowed).collect();
    if let Some(last) = lines.last_mut().filter(|last| !last.ends_with(b"\n")) {
        last.to_mut().extend_from_slice(end);
    }
    lines
}

/// Brings the changes from `base` to `late` into `now`. `ours` is the text with which the swap replaced `base`. Where
/// both `ours` and `late` changed a line, the line of `late` wins, because a person wrote it.
pub(in crate::vault) fn carry_over(base: &[u8], late: &[u8], ours: &[u8], now: &[u8]) -> Vec<u8> {
    if now == base || now == late {
        return late.to_vec();
    }
    let ends = late.is_empty() || late.ends_with(b"\n") || now.ends_with(b"\n") && now != base;
    let end = terminator_of(late).as_bytes();
    let lines = |bytes| lines(bytes, end);
    let (base, late, ours, now) = (lines(base), lines(late), lines(ours), lines(now));
    let in_now: Vec<DiffOp> = differences(&base, &now).collect();
    // Carried over before, and the two changes were taken for one then?
    let is_there = |region: &Range<usize>, late_side: &[&[u8]]| {
        let touches =
            |hunk: &&DiffOp| hunk.old_range().end == region.start || hunk.old_range().start == region.end;
        let mut near = in_now.iter().filter(touches).map(|hunk| &now[hunk.new_range()]);
        region.is_empty() && near.any(|new| new.windows(late_side.len()).any(|lines| lines == late_side))
    };
    by_regions(&base, &late, &now, ends, |region, sides| match sides {
        (None, now_side) => now_side.unwrap_or_default(),
        (Some(late_side), None) if is_there(region, &late_side) => Vec::new(),
        (Some(late_side), None) => late_side,
        (Some(mut late_side), Some(now_side)) => {
            let has = |lines: &[Cow<'_, [u8]>], line: &[u8]| lines.iter().any(|other| **other == *line);
            let is_old =
                |line: &[u8]| has(&base[region.clone()], line) || !region.is_empty() && has(&ours, line);
            let others = now_side.into_iter().filter(|line| !late_side.contains(line) && !is_old(line));
            let others: Vec<&[u8]> = others.collect();
            late_side.extend(others);
            late_side
        }
    })
}

/// The lines of both sides in place of a part of the base; none of a side that changed nothing there.
type Sides<'a> = (Option<Vec<&'a [u8]>>, Option<Vec<&'a [u8]>>);

/// Merges two sides with their base, with what `choose` makes of each region that a change stands for. `ends` says
/// whether the last line has its terminator.
fn by_regions<'a>(
    base: &'a [Cow<'_, [u8]>],
    first: &'a [Cow<'_, [u8]>],
    second: &'a [Cow<'_, [u8]>],
    ends: bool,
    mut choose: impl FnMut(&Range<usize>, Sides<'a>) -> Vec<&'a [u8]>,
) -> Vec<u8> {
    let [in_first, in_second] = [first, second].map(|other| differences(base, other).collect::<Vec<_>>());
    let (mut left, mut right) = (in_first.as_slice(), in_second.as_slice());
    let (mut merged, mut at): (Vec<&[u8]>, usize) = (Vec::with_capacity(first.len() + second.len()), 0);
    while let Some(region) = region(left, right) {
        let take = |hunks: &mut &'_ [DiffOp], other: &'a [Cow<'_, [u8]>]| {
            let (here, rest) = hunks.split_at(hunks.partition_point(|hunk| is_in(hunk, &region)));
            *hunks = rest;
            (!here.is_empty()).then(|| side(base, other, here, &region))
        };
        merged.extend(base[at..region.start].iter().map(|line| &**line));
        let sides = (take(&mut left, first), take(&mut right, second));
        merged.extend(choose(&region, sides));
        at = region.end;
    }
    merged.extend(base[at..].iter().map(|line| &**line));
    let mut bytes = merged.concat();
    if !ends && bytes.ends_with(b"\n") {
        bytes.truncate(bytes.strip_suffix(b"\r\n").map_or(bytes.len() - 1, <[u8]>::len));
    }
    bytes
}

/// The next part of the base that a change of either side, or several that overlap, stand for.
fn region(left: &[DiffOp], right: &[DiffOp]) -> Option<Range<usize>> {
    let first = [left.first(), right.first()].into_iter().flatten().map(DiffOp::old_range);
    let mut region = first.min_by_key(|old| (old.start, old.end))?;
    loop {
        let inside = left.iter().chain(right).filter(|hunk| is_in(hunk, &region));
        match inside.map(|hunk| hunk.old_range().end).max() {
            Some(end) if end > region.end => region.end = end,
            _ => return Some(region),
        }
    }
}

/// Whether a change is one of those that a region stands for: it begins in it, or both only insert at
/// the same place.
fn is_in(hunk: &DiffOp, region: &Range<usize>) -> bool {
    hunk.old_range().start < region.end || hunk.old_range() == *region
}

/// The lines that stand in place of `region` of the base on the side that `hunks` lead to.
fn side<'a>(
    base: &'a [Cow<'_, [u8]>],
    other: &'a [Cow<'_, [u8]>],
    hunks: &[DiffOp],
    region: &Range<usize>,
) -> Vec<&'a [u8]> {
    let mut lines: Vec<&[u8]> = Vec::new();
    let mut at = region.start;
    for hunk in hunks {
        lines.extend(base[at..hunk.old_range().start].iter().map(|line| &**line));
        lines.extend(other[hunk.new_range()].iter().map(|line| &**line));
        at = hunk.old_range().end;
    }
    lines.extend(base[at..region.end].iter().map(|line| &**line));
    lines
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
    fn what_one_side_alone_removed_or_changed_beside_a_change_of_the_other_goes() {
        let base = Some("a\nb\nc\n");
        assert_eq!(merged(base, "A\nb\nc\n", "aa\nc\n"), ("A\naa\nc\n".to_owned(), 1));
        assert_eq!(merged(base, "A\nb\nc\n", "aa\nB\nc\n"), ("A\naa\nB\nc\n".to_owned(), 1));
        assert_eq!(merged(base, "aa\nc\n", "A\nb\nc\n"), ("aa\nA\nc\n".to_owned(), 1));
        assert_eq!(merged(Some("a\nb\nb\n"), "A\nb\nb\n", "aa\nb\n"), ("A\naa\nb\n".to_owned(), 1));
    }

    #[test]
    fn a_last_line_without_an_end_gets_the_texts_own() {
        let base = Some("a\r\nb");
        assert_eq!(merged(base, "a\r\nb", "a\r\nb\r\nc"), ("a\r\nb\r\nc".to_owned(), 0));
        assert_eq!(merged(base, "a\r\nb\r\nc", "a\r\nb\r\nd\r\n"), ("a\r\nb\r\nc\r\nd\r\n".to_owned(), 0));
        assert_eq!(merged(None, "a\r\nb", "a\r\nc"), ("a\r\nb\r\nc".to_owned(), 0));
        assert_eq!(carried("a\r\nb", "a\r\nb\r\nlate", "a", "a"), "a\r\nlate");
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

    fn carried(base: &str, late: &str, ours: &str, now: &str) -> String {
        String::from_utf8(carry_over(base.as_bytes(), late.as_bytes(), ours.as_bytes(), now.as_bytes()))
            .unwrap()
    }

    #[test]
    fn late_changes_of_different_places_both_stand() {
        assert_eq!(carried("a\nb\nc\n", "a\nb\nc\nlate\n", "A\nb\nc\n", "A\nb\nc\n"), "A\nb\nc\nlate\n");
        assert_eq!(carried("a\nb\n", "a\nb\nlate\n", "b\n", "b\n"), "b\nlate\n");
        assert_eq!(carried("a\nb", "a\nb\nlate", "b", "b"), "b\nlate");
    }

    #[test]
    fn of_the_same_place_the_person_s_stands_and_nobody_s_is_lost() {
        assert_eq!(carried("a\nb\n", "a2\nb\n", "a id\nb\n", "a id\nb\n"), "a2\nb\n");
        assert_eq!(
            carried("a\nb\n", "a\nb\nlate\n", "a\nb\nours\n", "a\nb\nours\nother\n"),
            "a\nb\nlate\nours\nother\n"
        );
    }

    #[test]
    fn carrying_over_twice_is_carrying_over_once() {
        let (base, late, ours) = ("a\nb\nc\n", "a\nb\nnew\nc\nlast\n", "b\nc\n");
        let once = carried(base, late, ours, ours);
        assert_eq!(carried(base, late, ours, &once), once);
        // The two changes touch each other.
        let (base, late, ours) = ("a\nb\nc\n", "a\nb\nnew\nc\n", "a\nc\n");
        let once = carried(base, late, ours, ours);
        assert_eq!(once, "a\nnew\nc\n");
        assert_eq!(carried(base, late, ours, &once), once);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn every_added_line_is_there_once(
            base in 0usize..8,
            late in proptest::collection::vec((0usize..9, 0usize..100), 0..4),
            other in proptest::collection::vec((0usize..9, 0usize..100), 0..4),
            gone in 0usize..8,
        ) {
            let base: Vec<String> = (0..base).map(|line| format!("base {line}\n")).collect();
            let with = |added: &[(usize, usize)], who: &str| {
                let mut lines = base.clone();
                for (index, (at, word)) in added.iter().enumerate() {
                    lines.insert((*at).min(lines.len()), format!("{who} {index} {word}\n"));
                }
                lines
            };
            let late_lines = with(&late, "late");
            let ours: Vec<String> = base.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, line)| line.clone()).collect();
            let now: Vec<String> = with(&other, "other").into_iter().filter(|line| gone >= base.len() || *line != base[gone]).collect();
            let merged = carried(&base.concat(), &late_lines.concat(), &ours.concat(), &now.concat());
            for line in late_lines.iter().chain(&now).filter(|line| !line.starts_with("base")) {
                prop_assert_eq!(merged.matches(line.as_str()).count(), 1, "{} in {}", line, merged);
            }
        }
    }
}
