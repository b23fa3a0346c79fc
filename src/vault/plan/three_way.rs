//! Merges two texts with a common base line by line, so that no line of a person is lost. Pure.
//!
//! If the two texts changed different places, both changes stay. If they changed the same place, the lines of the first
//! text stay, followed by those of the second ([`joined`]). [`carry_over`] merges into a note the changes that another
//! program made to a file after a swap displaced the file. If that program and this program's write changed the same
//! line, the other program's line stays.

use similar::DiffOp;

use super::regions::{by_regions, lines};
use crate::format::changes::{changes, differences};
use crate::format::commitment;
use crate::format::lines::terminator_of;
use crate::vault::prelude::*;

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
/// nothing counts as removed. Lines of two follow-ups are never mixed.
pub fn three_way_merge(base: Option<&[u8]>, first: &[u8], second: &[u8]) -> ThreeWayMerge {
    let ends = first.ends_with(b"\n") || second.ends_with(b"\n");
    let end = terminator_of(first).as_bytes();
    let (mut first, in_first) = units(first, end);
    let (mut second, in_second) = units(second, end);
    let mut overlaps = Vec::new();
    let base = match base.map(|base| units(base, end)) {
        Some((base, in_base)) => {
            for (id, at) in in_base {
                let (Some(&one), Some(&other)) = (in_first.get(&id), in_second.get(&id)) else { continue };
                if first[one] != base[at] && second[other] != base[at] {
                    let merged = {
                        let [old, one, other] =
                            [&base[at], &first[one], &second[other]].map(|block| lines(block, end));
                        merge(&old, &one, &other, true, &mut overlaps)
                    };
                    second[other] = Cow::Owned(merged.clone());
                    first[one] = Cow::Owned(merged);
                }
            }
            base
        }
        None => {
            let same = changes(&first, &second).into_iter().filter(|op| matches!(op, DiffOp::Equal { .. }));
            same.flat_map(|op| op.old_range()).map(|at| first[at].clone()).collect()
        }
    };
    let bytes = merge(&base, &first, &second, ends, &mut overlaps);
    ThreeWayMerge { bytes, overlaps }
}

fn merge<'a>(
    base: &'a [Cow<'a, [u8]>],
    first: &'a [Cow<'a, [u8]>],
    second: &'a [Cow<'a, [u8]>],
    ends: bool,
    overlaps: &mut Vec<Overlap>,
) -> Vec<u8> {
    by_regions(base, first, second, ends, |region, sides| match sides {
        [None, one] | [one, None] => one.map_or_else(Vec::new, |one| one.lines(region, |_| true)),
        [Some(one), Some(other)] => {
            let [first, second] = joined(one.lines(region, |line| other.keeps(line)), other.added());
            if !region.is_empty() && !first.is_empty() && !second.is_empty() {
                overlaps.push(Overlap { first: first.concat(), second: second.concat() });
            }
            [first, second].concat()
        }
    })
}

/// The lines of a text, but each follow-up as one, without the blank lines behind it; and the places of the follow-ups
/// whose ids stand once.
fn units<'t>(text: &'t [u8], end: &[u8]) -> (Vec<Cow<'t, [u8]>>, BTreeMap<String, usize>) {
    let (all, blocks) = (lines(text, end), commitment::parse(text).blocks);
    let (mut units, mut places) = (Vec::with_capacity(all.len()), BTreeMap::new());
    let mut at = 0;
    for block in blocks {
        let is_blank = |line: &Cow<'_, [u8]>| line.trim_ascii().is_empty();
        let whole = &all[block.line - 1..block.end_line];
        let blank = whole.iter().rev().take_while(|line| is_blank(line)).count();
        units.extend_from_slice(&all[at..block.line - 1]);
        let place = units.len();
        places.entry(block.commitment.id).and_modify(|place| *place = None).or_insert(Some(place));
        at = block.end_line - blank;
        units.push(Cow::Owned(all[block.line - 1..at].concat()));
    }
    units.extend_from_slice(&all[at..]);
    (units, places.into_iter().filter_map(|(id, place)| Some((id, place?))).collect())
}

/// Two passages for the same place, without what is the same in both: a passage that stands in the other as it is, or
/// lines of two plain lists. All else stays whole, since a fence or a head belongs to its own passage.
fn joined<'a>(first: Vec<&'a [u8]>, second: Vec<&'a [u8]>) -> [Vec<&'a [u8]>; 2] {
    let is_in = |part: &[&[u8]], whole: &[&[u8]]| {
        part.is_empty() || whole.windows(part.len()).any(|lines| lines == part)
    };
    let is_item =
        |line: &&[u8]| line.trim_ascii().is_empty() || matches!(line, [b'-' | b'*' | b'+', b' ', ..]);
    if is_in(&second, &first) {
        [first, Vec::new()]
    } else if is_in(&first, &second) {
        [Vec::new(), second]
    } else if first.iter().chain(&second).all(is_item) {
        let more = without(&second, &first);
        [first, more]
    } else {
        [first, second]
    }
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
    by_regions(&base, &late, &now, ends, |region, sides| {
        match sides.map(|side| side.map(|side| side.lines(region, |_| true))) {
            [None, now_side] => now_side.unwrap_or_default(),
            [Some(late_side), None] if is_there(region, &late_side) => Vec::new(),
            [Some(late_side), None] => late_side,
            [Some(late_side), Some(now_side)] if region.is_empty() => joined(late_side, now_side).concat(),
            [Some(mut late_side), Some(mut now_side)] => {
                let is_old =
                    |line: &[u8]| base[region.clone()].iter().chain(&ours).any(|other| **other == *line);
                now_side.retain(|line| !late_side.contains(line) && !is_old(line));
                late_side.extend(now_side);
                late_side
            }
        }
    })
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
    fn what_both_added_in_one_place_stays_whole() {
        let (one, other) =
            ("```\nmake\n```\n- [ ] cook\n  - eggs\n", "```\nmake\ntest\n```\n- [ ] bake\n  - eggs\n");
        let both = format!("a\n{one}{other}");
        let merge = |first: &str, second: &str| merged(Some("a\n"), &format!("a\n{first}"), second).0;
        assert_eq!(merge(one, &format!("a\n{other}")), both);
        assert_eq!(
            carried("a\n", &format!("a\n{one}"), &format!("a\n{other}"), &format!("a\n{other}")),
            both
        );
        // Again, after a crash.
        assert_eq!(merge(&format!("{one}{other}"), &format!("a\n{other}")), both);
        // Both replaced one line; or the lines are of a list, where each stands for itself.
        assert_eq!(merged(Some("x\n"), one, other).0, format!("{one}{other}"));
        assert_eq!(merge("- x\n- y\n", "a\n- x\n- z\n"), "a\n- x\n- y\n- z\n");
        assert_eq!(merged(Some("- x\n- y\n"), "- X\n- y2\n", "- X\n- y3\n").0, "- X\n- y2\n- y3\n");
    }

    #[test]
    fn a_follow_up_is_old_as_a_whole_or_not_at_all() {
        let block = |text: &str| format!("---\nid: c-2026-12-01-001\nstatus: pending\n---\n{text}\n");
        let (one, other) = (block("Anna"), block("Bob"));
        assert_eq!(
            merged(None, &format!("# C\n{one}"), &format!("# C\n{other}")).0,
            format!("# C\n{one}{other}")
        );
        assert_eq!(merged(None, &format!("{one}{other}"), &one).0, format!("{one}{other}"));
    }

    #[test]
    fn lines_of_two_follow_ups_are_never_mixed() {
        let block = |id: u8, status: &str, text: &str| {
            format!("\n---\nid: c-2026-12-01-00{id}\nstatus: {status}\n---\n{text}\n")
        };
        let text = |blocks: &[String]| format!("# C\n{}", blocks.concat());
        let (one, two) = (block(1, "pending", "Anna"), block(2, "pending", "Bob\nat noon"));
        let told = block(1, "delivered", "Anna");
        let both = block(2, "delivered", "Bob\nat noon\nor one");
        for (first, second, expected) in [
            // Removed here and changed there: it stays, as it is there.
            (vec![two.clone()], vec![told.clone(), two.clone()], vec![told.clone(), two.clone()]),
            (vec![block(1, "pending", "Bea"), two.clone()], vec![], vec![block(1, "pending", "Bea")]),
            // Each changed another line of one.
            (
                vec![one.clone(), block(2, "delivered", "Bob\nat noon")],
                vec![one.clone(), block(2, "pending", "Bob\nat noon\nor one")],
                vec![one.clone(), both.clone()],
            ),
            (
                vec![block(1, "pending", "Bea"), both.clone()],
                vec![two.clone()],
                vec![block(1, "pending", "Bea"), both],
            ),
            // The last one was removed, and one was added.
            (
                vec![one.clone(), two.clone(), block(3, "pending", "Cy")],
                vec![one.clone()],
                vec![one.clone(), block(3, "pending", "Cy")],
            ),
        ] {
            let base = text(&[one.clone(), two.clone()]);
            let merged = merged(Some(&base), &text(&first), &text(&second)).0;
            // A blank line behind one may go with it.
            let [merged, expected] = [merged, text(&expected)].map(|text| text.replace("\n\n", "\n"));
            assert_eq!(merged, expected, "{first:?} {second:?}");
        }
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
            base in proptest::collection::vec("(- )?[a-c]", 0..8),
            first in proptest::collection::vec("(- )?[a-e]", 0..8),
            second in proptest::collection::vec("(- )?[a-e]", 0..8),
            with_base: bool,
        ) {
            let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let whole = text(&base);
            let once = merged(with_base.then_some(&*whole), &text(&first), &text(&second)).0;
            let count = |lines: &[String], line: &String| lines.iter().filter(|other| *other == line).count();
            let merged: Vec<String> = once.lines().map(str::to_owned).collect();
            for line in first.iter().chain(&second).filter(|line| !with_base || !base.contains(line)) {
                let most = count(&first, line).max(count(&second, line));
                prop_assert!(count(&merged, line) >= most, "{line} is lost: {once}");
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
