//! Merges late lines into a note: lines that another program wrote into a file after its displacement. Pure.
//!
//! It exists for the swap alone and is no general text merge. No line of a person is lost: where the late version and
//! the note's present one changed different places, both changes stay; where they changed the same place, the late
//! version stays, followed by the other lines that were added there.

use std::{borrow::Cow, ops::Range};

use similar::DiffOp;

use crate::format::changes::changes;

/// A replacement of lines `old` of the base by lines `new` of the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    old: Range<usize>,
    new: Range<usize>,
}

/// The lines with their terminators; a last one without gets one, so that adding after it is no
/// change of it.
pub(super) fn lines(bytes: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut lines: Vec<Cow<'_, [u8]>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(Cow::Borrowed).collect();
    if let Some(last) = lines.last_mut().filter(|last| !last.ends_with(b"\n")) {
        last.to_mut().push(b'\n');
    }
    lines
}

fn hunks(base: &[Cow<'_, [u8]>], other: &[Cow<'_, [u8]>]) -> Vec<Hunk> {
    changes(base, other)
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| Hunk { old: op.old_range(), new: op.new_range() })
        .collect()
}

/// Brings the changes from `base` to `late` into `now`. `ours` is what we had put in the base's place: lines that it
/// brought in a line's stead give way where a person changed the same line.
pub(in crate::vault) fn carry_over(base: &[u8], late: &[u8], ours: &[u8], now: &[u8]) -> Vec<u8> {
    if now == base || now == late {
        return late.to_vec();
    }
    let ends = late.is_empty() || late.ends_with(b"\n") || now.ends_with(b"\n") && now != base;
    let (base, late, ours, now) = (lines(base), lines(late), lines(ours), lines(now));
    let in_now = hunks(&base, &now);
    // Carried over before, and the two changes were taken for one then?
    let is_there = |region: &Range<usize>, late_side: &[&[u8]]| {
        let touches = |hunk: &&Hunk| hunk.old.end == region.start || hunk.old.start == region.end;
        let mut near = in_now.iter().filter(touches).map(|hunk| &now[hunk.new.clone()]);
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
pub(super) type Sides<'a> = (Option<Vec<&'a [u8]>>, Option<Vec<&'a [u8]>>);

/// Merges two sides with their base, with what `choose` makes of each region that a change stands for. `ends` says
/// whether the last line has its terminator.
pub(super) fn by_regions<'a>(
    base: &'a [Cow<'_, [u8]>],
    first: &'a [Cow<'_, [u8]>],
    second: &'a [Cow<'_, [u8]>],
    ends: bool,
    mut choose: impl FnMut(&Range<usize>, Sides<'a>) -> Vec<&'a [u8]>,
) -> Vec<u8> {
    let (in_first, in_second) = (hunks(base, first), hunks(base, second));
    let (mut left, mut right) = (in_first.as_slice(), in_second.as_slice());
    let (mut merged, mut at): (Vec<&[u8]>, usize) = (Vec::with_capacity(first.len() + second.len()), 0);
    while let Some(region) = region(left, right) {
        let take = |hunks: &mut &'_ [Hunk], other: &'a [Cow<'_, [u8]>]| {
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
        bytes.pop();
    }
    bytes
}

/// The next part of the base that a change of either side, or several that overlap, stand for.
fn region(left: &[Hunk], right: &[Hunk]) -> Option<Range<usize>> {
    let first = [left.first(), right.first()]
        .into_iter()
        .flatten()
        .min_by_key(|hunk| (hunk.old.start, hunk.old.end))?;
    let mut region = first.old.clone();
    loop {
        let end = left.iter().chain(right).filter(|hunk| is_in(hunk, &region)).map(|hunk| hunk.old.end).max();
        match end {
            Some(end) if end > region.end => region.end = end,
            _ => return Some(region),
        }
    }
}

/// Whether a change is one of those that a region stands for: it begins in it, or both only insert at
/// the same place.
fn is_in(hunk: &Hunk, region: &Range<usize>) -> bool {
    hunk.old.start < region.end || hunk.old == *region
}

/// The lines that stand in place of `region` of the base on the side that `hunks` lead to.
fn side<'a>(
    base: &'a [Cow<'_, [u8]>],
    other: &'a [Cow<'_, [u8]>],
    hunks: &[Hunk],
    region: &Range<usize>,
) -> Vec<&'a [u8]> {
    let mut lines: Vec<&[u8]> = Vec::new();
    let mut at = region.start;
    for hunk in hunks {
        lines.extend(base[at..hunk.old.start].iter().map(|line| &**line));
        lines.extend(other[hunk.new.clone()].iter().map(|line| &**line));
        at = hunk.old.end;
    }
    lines.extend(base[at..region.end].iter().map(|line| &**line));
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merged(base: &str, late: &str, ours: &str, now: &str) -> String {
        String::from_utf8(carry_over(base.as_bytes(), late.as_bytes(), ours.as_bytes(), now.as_bytes()))
            .unwrap()
    }

    #[test]
    fn changes_of_different_places_both_stand() {
        assert_eq!(merged("a\nb\nc\n", "a\nb\nc\nlate\n", "A\nb\nc\n", "A\nb\nc\n"), "A\nb\nc\nlate\n");
        assert_eq!(merged("a\nb\n", "a\nb\nlate\n", "b\n", "b\n"), "b\nlate\n");
        assert_eq!(merged("a\nb", "a\nb\nlate", "b", "b"), "b\nlate");
    }

    #[test]
    fn of_the_same_place_the_person_s_stands_and_nobody_s_is_lost() {
        assert_eq!(merged("a\nb\n", "a2\nb\n", "a id\nb\n", "a id\nb\n"), "a2\nb\n");
        assert_eq!(
            merged("a\nb\n", "a\nb\nlate\n", "a\nb\nours\n", "a\nb\nours\nother\n"),
            "a\nb\nlate\nours\nother\n"
        );
    }

    #[test]
    fn carrying_over_twice_is_carrying_over_once() {
        let (base, late, ours) = ("a\nb\nc\n", "a\nb\nnew\nc\nlast\n", "b\nc\n");
        let once = merged(base, late, ours, ours);
        assert_eq!(merged(base, late, ours, &once), once);
        // The two changes touch each other.
        let (base, late, ours) = ("a\nb\nc\n", "a\nb\nnew\nc\n", "a\nc\n");
        let once = merged(base, late, ours, ours);
        assert_eq!(once, "a\nnew\nc\n");
        assert_eq!(merged(base, late, ours, &once), once);
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
            let merged = merged(&base.concat(), &late_lines.concat(), &ours.concat(), &now.concat());
            for line in late_lines.iter().chain(&now).filter(|line| !line.starts_with("base")) {
                prop_assert_eq!(merged.matches(line.as_str()).count(), 1, "{} in {}", line, merged);
            }
        }
    }
}
