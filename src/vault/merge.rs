//! Carrying late lines over: what somebody wrote into a file that had just been displaced. Pure.
//!
//! Not a merge of texts in general; it exists for the swap alone. The rule is that no line of a
//! person is lost: where the late version and the note's present one have changed different places,
//! both changes stand; where they have changed the same place, the late version stands, followed by
//! what others than we have added there.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A replacement of lines `old` of the base by lines `new` of the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

fn hunks(base: &[&[u8]], other: &[&[u8]]) -> Vec<Hunk> {
    capture_diff_slices(Algorithm::Myers, base, other)
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| Hunk { old: op.old_range(), new: op.new_range() })
        .collect()
}

/// Brings what changed from `base` to `late` into `now`. `ours` is what we had put in the base's
/// place: lines that only it brought give way where a person changed the same place.
pub(super) fn carry_over(base: &[u8], late: &[u8], ours: &[u8], now: &[u8]) -> Vec<u8> {
    if now == base || now == late {
        return late.to_vec();
    }
    let (base, late, ours, now) = (lines(base), lines(late), lines(ours), lines(now));
    let (in_late, in_now) = (hunks(&base, &late), hunks(&base, &now));
    let (mut left, mut right) = (in_late.as_slice(), in_now.as_slice());
    let mut merged: Vec<&[u8]> = Vec::with_capacity(now.len() + late.len());
    let mut at = 0;
    while let Some(start) =
        [left.first(), right.first()].into_iter().flatten().map(|hunk| hunk.old.start).min()
    {
        merged.extend(&base[at..start]);
        // One region of the base that holds every change which touches another in it.
        let mut end = start;
        let (mut of_late, mut of_now) = (0, 0);
        loop {
            let before = (of_late, of_now);
            while left.get(of_late).is_some_and(|hunk| hunk.old.start <= end) {
                end = end.max(left[of_late].old.end);
                of_late += 1;
            }
            while right.get(of_now).is_some_and(|hunk| hunk.old.start <= end) {
                end = end.max(right[of_now].old.end);
                of_now += 1;
            }
            if before == (of_late, of_now) {
                break;
            }
        }
        let region = start..end;
        let late_side = side(&base, &late, &left[..of_late], &region);
        let now_side = side(&base, &now, &right[..of_now], &region);
        let base_side = &base[region.clone()];
        if late_side == base_side || late_side == now_side {
            merged.extend(now_side);
        } else {
            merged.extend(&late_side);
            if now_side != base_side {
                merged.extend(now_side.iter().filter(|line| {
                    !late_side.contains(line) && !base_side.contains(line) && !ours.contains(line)
                }));
            }
        }
        at = end;
        left = &left[of_late..];
        right = &right[of_now..];
    }
    merged.extend(&base[at..]);
    join(&merged)
}

/// The lines that stand in place of `region` of the base on the side that `hunks` lead to.
fn side<'a>(
    base: &[&'a [u8]],
    other: &[&'a [u8]],
    hunks: &[Hunk],
    region: &std::ops::Range<usize>,
) -> Vec<&'a [u8]> {
    let mut lines = Vec::new();
    let mut at = region.start;
    for hunk in hunks {
        lines.extend(&base[at..hunk.old.start]);
        lines.extend(&other[hunk.new.clone()]);
        at = hunk.old.end;
    }
    lines.extend(&base[at..region.end]);
    lines
}

/// The lines as a file: one that had no newline because it was last gets one where it no longer is.
fn join(lines: &[&[u8]]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    for line in lines {
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line);
    }
    bytes
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
            "a\nb\nlate\nother\n"
        );
    }

    #[test]
    fn carrying_over_twice_is_carrying_over_once() {
        let (base, late, ours) = ("a\nb\nc\n", "a\nb\nnew\nc\nlast\n", "b\nc\n");
        let once = merged(base, late, ours, ours);
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
