//! Reverts one change in a text that has changed since. Pure.
//!
//! A three-way merge is tried first. If adjacent lines make the merge conflict, each line is reverted by its content. A
//! line that the agent added is removed if it occurs exactly once; a line that the agent removed comes back beside its
//! old neighbour. If neither way is certain, the result is a conflict. Lines of people never change. A line that got an
//! id or another line ending since then still counts as the same line.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::format::changes::{body, differences, lines, with_line_ends_of};
use crate::format::commitment::{self, Commitment};
use crate::format::lines::terminator_of;
use crate::format::memory;
use crate::format::reminder::split_id;
use crate::vault::plan::without;

/// The most lines beside a removed one that are compared.
const MOST_CONTEXT: usize = 16;

/// `current` without the change from `before` to `after`; `None` if the result isn't certain. Lines of follow-ups are
/// alike (`status: cancelled`), and lines below bullets may be: a result that changes the head of another follow-up, or
/// the lines below another bullet, than the change did isn't certain.
pub fn revert_change(before: &[u8], after: &[u8], current: &[u8]) -> Option<Vec<u8>> {
    let result = revert_lines(before, after, current)?;
    let is_meant = differing_follow_ups(current, &result).is_subset(&differing_follow_ups(before, after))
        && differing_bullets(current, &result).is_subset(&differing_bullets(before, after));
    is_meant.then_some(result)
}

/// The first lines of the bullets that stand in both texts, with other lines below them.
fn differing_bullets(one: &[u8], other: &[u8]) -> BTreeSet<String> {
    let [one, other] = [one, other].map(|text| {
        let mut below: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for bullet in memory::parse(text).bullets {
            let text = bullet.into_text();
            let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
            // It may have got an id since.
            let head = memory::split_block_id(head).0;
            below.entry(head.to_owned()).or_default().insert(rest.to_owned());
        }
        below
    });
    one.into_iter()
        .filter(|(head, below)| other.get(head).is_some_and(|it| it != below))
        .map(|it| it.0)
        .collect()
}

/// The ids of the follow-ups whose heads aren't the same in both texts.
fn differing_follow_ups(one: &[u8], other: &[u8]) -> BTreeSet<String> {
    let [one, other] = [one, other].map(|text| -> BTreeSet<(String, String)> {
        let blocks = commitment::parse(text).blocks.into_iter().map(|block| block.commitment);
        let head = |one: Commitment| (one.id.clone(), Commitment { text: String::new(), ..one }.to_block());
        blocks.map(head).collect()
    });
    one.symmetric_difference(&other).map(|(id, _)| id.clone()).collect()
}

/// As [`revert_change`], line by line.
fn revert_lines(before: &[u8], after: &[u8], current: &[u8]) -> Option<Vec<u8>> {
    let ends = if with_line_ends_of(after, before) == before { current } else { &[] };
    let [before, after] = &[before, after].map(|it| with_later_ids(&with_line_ends_of(ends, it), current));
    if current == after {
        return Some(before.to_vec());
    }
    let before = &with_shared_headings(before, after, current);
    if is_already_reverted(before, after, current) {
        return Some(current.to_vec());
    }
    if let Ok(merged) = diffy::merge_bytes(after, current, before)
        && keeps_lines(after, current, &merged)
    {
        return Some(merged);
    }
    by_content(before, after, current)
}

/// `text` with the ids that its lines have got since, in `current`.
fn with_later_ids(text: &[u8], current: &[u8]) -> Vec<u8> {
    let (mut standing, mut by_words) = (HashSet::new(), HashMap::new());
    for line in lines(current).into_iter().map(body) {
        standing.insert(line);
        if let Some((words, _)) = split_id(line) {
            // Of two that differ by their ids alone it can't be told which one it is.
            by_words.entry(words).and_modify(|known| *known = None).or_insert(Some(line));
        }
    }
    let mut out = Vec::with_capacity(text.len());
    for line in lines(text) {
        let own = body(line);
        let later = if standing.contains(own) { None } else { by_words.get(own).copied().flatten() };
        out.extend_from_slice(later.unwrap_or(own));
        out.extend_from_slice(&line[own.len()..]);
    }
    out
}

/// `before` with the headings that the change added and that other lines stand below by now: those stay in their
/// section.
fn with_shared_headings(before: &[u8], after: &[u8], current: &[u8]) -> Vec<u8> {
    // Where the change ended the last line, a heading there isn't one that was added.
    let is_ended = before.last().is_none_or(|b| *b == b'\n') || lines(before).last() == lines(after).last();
    let end = if is_ended { "" } else { terminator_of(after) };
    let ended = [before, end.as_bytes()].concat();
    let (old, new, now) = (lines(&ended), lines(after), lines(current));
    let is_heading = |line: &[u8]| memory::heading(line).is_some();
    let (mut out, mut at): (Vec<&[u8]>, usize) = (Vec::new(), 0);
    for op in differences(&old, &new) {
        out.extend(&old[at..op.old_range().end]);
        at = op.old_range().end;
        let come = &new[op.new_range()];
        let is_shared = |line: &[u8]| {
            let below = now.iter().skip_while(|other| body(other) != body(line)).skip(1);
            let mut below = below.take_while(|other| !is_heading(other));
            is_heading(line) && below.any(|other| !body(other).is_empty() && !come.contains(other))
        };
        let kept = come.iter().rposition(|line| is_shared(line)).map_or(0, |last| last + 1);
        out.extend(come[..kept].iter().filter(|line| body(line).is_empty() || is_heading(line)));
    }
    out.extend(&old[at..]);
    let out = out.concat();
    if out == ended { before.to_vec() } else { out }
}

/// Whether `current` has each line that was added or removed on the way from `before` to `after` as often as `before`
/// has: a person has put back what was removed, and written elsewhere. Lines that were only moved or added don't say.
fn is_already_reverted(before: &[u8], after: &[u8], current: &[u8]) -> bool {
    let (old, new, now) = (counts(before), counts(after), counts(current));
    let of = |counts: &BTreeMap<&[u8], i64>, line: &[u8]| counts.get(line).copied().unwrap_or_default();
    let all: BTreeSet<&[u8]> = old.keys().chain(new.keys()).copied().collect();
    let changed: Vec<&[u8]> = all.into_iter().filter(|line| of(&old, line) != of(&new, line)).collect();
    let moved = {
        let touched = differences(&lines(before), &lines(after));
        let touched: usize = touched.map(|op| op.old_range().len() + op.new_range().len()).sum();
        let differs: u64 = changed.iter().map(|line| of(&old, line).abs_diff(of(&new, line))).sum();
        touched as u64 != differs
    };
    let came_back = changed.iter().any(|line| of(&old, line) > of(&new, line));
    came_back && !moved && changed.iter().all(|line| of(&now, line) == of(&old, line))
}

/// Whether every line that people added to `base` is still in `merged`.
fn keeps_lines(base: &[u8], current: &[u8], merged: &[u8]) -> bool {
    let (old, new) = (lines(base), lines(current));
    let added = differences(&old, &new).flat_map(|op| &new[op.new_range()]).map(|line| body(line));
    let merged: Vec<&[u8]> = lines(merged).into_iter().map(body).collect();
    without(&added.collect::<Vec<_>>(), &merged).is_empty()
}

fn counts(bytes: &[u8]) -> BTreeMap<&[u8], i64> {
    let mut out = BTreeMap::new();
    for line in lines(bytes) {
        *out.entry(body(line)).or_default() += 1;
    }
    out
}

/// Line by line: what was added goes, what was removed comes back next to a neighbour.
fn by_content(before: &[u8], after: &[u8], current: &[u8]) -> Option<Vec<u8>> {
    let (old, new) = (lines(before), lines(after));
    let mut text: Vec<Vec<u8>> = lines(current).into_iter().map(<[u8]>::to_vec).collect();
    for op in differences(&old, &new) {
        let (gone, come) = (&old[op.old_range()], &new[op.new_range()]);
        if come.is_empty() {
            let at = place(&text, &new[..op.new_range().start], &new[op.new_range().end..])?;
            splice(&mut text, at, 0, gone);
        } else {
            let at = find(&text, come)?;
            splice(&mut text, at, come.len(), gone);
        }
    }
    Some(text.concat())
}

/// The place in `text` between the lines that stood above and below, as far as they still stand: after the end of those
/// above, or before the beginning of those below, whichever are nearer. As many are compared as stand there exactly
/// once.
fn place(text: &[Vec<u8>], above: &[&[u8]], below: &[&[u8]]) -> Option<usize> {
    let standing: HashSet<&[u8]> = text.iter().map(|line| body(line)).collect();
    let stands = |line: &&&[u8]| standing.contains(body(line));
    let mut up: Vec<&[u8]> = above.iter().rev().filter(stands).take(MOST_CONTEXT).copied().collect();
    up.reverse();
    let down: Vec<&[u8]> = below.iter().filter(stands).take(MOST_CONTEXT).copied().collect();
    let after = match above {
        [] => Some(0),
        _ => (1..=up.len()).find_map(|count| Some(find(text, &up[up.len() - count..])? + count)),
    };
    let before = match below {
        [] => Some(text.len()),
        _ => (1..=down.len()).find_map(|count| find(text, &down[..count])),
    };
    let gone = |side: &mut dyn Iterator<Item = &&[u8]>| side.take_while(|line| !stands(line)).count();
    if gone(&mut above.iter().rev()) <= gone(&mut below.iter()) { after.or(before) } else { before.or(after) }
}

/// The place of `run` in `text`, if it stands there exactly once; line ends don't count.
fn find(text: &[Vec<u8>], run: &[&[u8]]) -> Option<usize> {
    let is_at = |at: usize| run.iter().zip(&text[at..]).all(|(a, b)| body(a) == body(b));
    let last = text.len().checked_sub(run.len())?;
    let mut places = (0..=last).filter(|at| is_at(*at));
    let at = places.next()?;
    places.next().is_none().then_some(at)
}

/// Replaces lines, and keeps every line but the last ended.
fn splice(text: &mut Vec<Vec<u8>>, at: usize, remove: usize, with: &[&[u8]]) {
    let ended = text.last().is_none_or(|line| line.ends_with(b"\n"));
    text.splice(at..at + remove, with.iter().map(|line| line.to_vec()));
    let end: &[u8] = if text.iter().any(|line| line.ends_with(b"\r\n")) { b"\r\n" } else { b"\n" };
    let count = text.len();
    for (index, line) in text.iter_mut().enumerate() {
        let is_last = index + 1 == count;
        if !line.ends_with(b"\n") && (!is_last || ended && at + with.len() == count && !with.is_empty()) {
            line.extend(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn back(before: &str, after: &str, now: &str) -> Option<String> {
        revert_change(before.as_bytes(), after.as_bytes(), now.as_bytes())
            .map(|b| String::from_utf8(b).unwrap())
    }

    #[test]
    fn what_people_changed_since_stays() {
        assert_eq!(back("- A\n", "- A\n  x\n", "- A ^a1\n  x\n").as_deref(), Some("- A ^a1\n"));
        assert_eq!(back("a\n", "a\nagent\n", "a\nagent\nmine\n").as_deref(), Some("a\nmine\n"));
        assert_eq!(back("a\nb\nc\n", "a\nc\n", "a\nmine\nc\n").as_deref(), Some("a\nb\nmine\nc\n"));
        assert_eq!(back("a\nb\n", "a\nB\n", "top\na\nB\n").as_deref(), Some("top\na\nb\n"));
        assert_eq!(back("a\nb", "a\n", "a\n").as_deref(), Some("a\nb"));
        assert_eq!(back("", "agent\n", "agent\nmine").as_deref(), Some("mine"));
        assert_eq!(
            back("a\nb\n", "a\n", "a\r\n").as_deref(),
            Some("a\r\nb\r\n"),
            "its line ends are others now"
        );
        assert_eq!(
            back("a\r\nb\r\n", "a\nb\n", "a\nb\n").as_deref(),
            Some("a\r\nb\r\n"),
            "it changed the line ends"
        );
        let (after, now) = ("# M\n\n## A\n- x\n", "# M\n\n## A\n- x\n- mine\n");
        assert_eq!(back("# M\n", after, now).as_deref(), Some("# M\n\n## A\n- mine\n"), "in its section");
        let (before, now) = ("# M\n- a\n## B", "# M\n## B\n- mine\n");
        assert_eq!(back(before, "# M\n## B", now).as_deref(), Some("# M\n- a\n## B\n- mine\n"));
        for end in ["\n", "\r\n"] {
            let back = |texts: [&str; 3]| {
                let [before, after, now] = texts.map(|text| text.replace('\n', end));
                back(&before, &after, &now).map(|text| text.replace(end, "\n"))
            };
            assert_eq!(back(["# R", "# R\n- x\n", "# R\n- x\n- mine\n"]).as_deref(), Some("# R\n- mine\n"));
            let now = "# R\n\n## A\n- x\n- mine\n";
            assert_eq!(back(["# R", "# R\n\n## A\n- x\n", now]).as_deref(), Some("# R\n\n## A\n- mine\n"));
        }
    }

    #[test]
    fn what_a_person_has_taken_back_by_hand_is_not_taken_back_twice() {
        assert_eq!(back("a\n", "", "mine\na\n").as_deref(), Some("mine\na\n"));
        assert_eq!(back("a\nb\nc\n", "a\nc\n", "a\nb\nmine\nc\n").as_deref(), Some("a\nb\nmine\nc\n"));
        assert_eq!(back("a\nb\n", "b\na\n", "b\na\nmine\n").as_deref(), Some("a\nb\nmine\n"));
    }

    #[test]
    fn a_line_that_got_an_id_since_is_the_same_line() {
        let id = " id=rid_AAAAAAAAAAAA";
        assert_eq!(back("a\n", "a\nx\n", &format!("a\nx{id}\nmine\n")).as_deref(), Some("a\nmine\n"));
        let now = format!("a\nmine\nx{id}\nb\nx{}\n", id.replace('A', "B"));
        assert_eq!(back("a\nb\n", "a\nx\nb\nx\n", &now), None, "which of them is which can't be told");
    }

    #[test]
    fn a_removed_line_comes_back_where_its_neighbours_stood() {
        for (before, after, now, wanted) in [
            // Neither neighbour is unique, but the lines around them are.
            ("t\n\nA\nB\n\nend\n", "t\n\nB\n\nend\n", "t\n\nb\n\nend\n", "t\n\nA\nb\n\nend\n"),
            ("t\n\nA\nB\n\nend\n", "t\n\nA\n\nend\n", "t\n\n\nend\n", "t\n\nB\n\nend\n"),
            // Both are gone.
            ("t\nA\nB\nC\nend\n", "t\nA\nC\nend\n", "t\nend\n", "t\nB\nend\n"),
            // The nearer side counts.
            ("t\n## H\nA\n## I\n", "t\n## H\n## I\n", "t\n## h\n## I\n", "t\n## h\nA\n## I\n"),
        ] {
            assert_eq!(back(before, after, now).as_deref(), Some(wanted), "{now:?}");
        }
    }

    #[test]
    fn no_other_follow_up_changes_because_its_lines_are_alike() {
        let block = |id: &str, status: &str| format!("---\nid: {id}\nstatus: {status}\n---\nCall {id}\n\n");
        let [a, b] = ["a", "b"].map(|id| move |status: &str| block(id, status));
        let (before, after) = (a("pending") + &b("pending"), a("cancelled") + &b("pending"));
        let taken_out = b("cancelled");
        assert_eq!(back(&before, &after, &taken_out), None);
        // The same two where both still stand.
        let now = a("cancelled") + &b("cancelled");
        assert_eq!(back(&before, &after, &now), Some(a("pending") + &b("cancelled")));
        // One that was added goes, whatever became of the other.
        assert_eq!(back(&a("pending"), &before, &(a("cancelled") + &b("pending"))), Some(a("cancelled")));
    }

    #[test]
    fn no_line_below_a_bullet_goes_to_another_one_because_it_is_alike() {
        let (before, after) = ("- A\n  x\n- B\n  x\n", "- A\n  x\n");
        for now in ["- A\n  y\n", "- A\n  x\n  y\n", "- A\n", "- C\n  x\n- A\n  y\n"] {
            let result = back(before, after, now);
            let is_whole = |result: String| result.replacen("- B\n  x\n", "", 1) == now;
            assert!(result.clone().is_none_or(is_whole), "{now:?}: {result:?}");
        }
        assert_eq!(
            back(before, "- B\n  x\n", "- mine\n- B\n  x\n").as_deref(),
            Some("- A\n  x\n- mine\n- B\n  x\n")
        );
    }

    #[test]
    fn a_line_that_people_rewrote_is_a_conflict() {
        assert_eq!(back("a\nb\n", "a\nB\n", "a\nB!\n"), None);
        assert_eq!(back("a\n", "a\nx\n", "x\na\nx\nx\n"), None);
    }

    proptest! {
        #[test]
        fn no_line_of_a_person_is_lost(
            base in proptest::collection::vec("[a-d]", 0..6),
            agent in proptest::collection::vec((0usize..6, proptest::option::of("agent[0-3]")), 1..3),
            human in proptest::collection::vec((0usize..8, "human[0-9]"), 0..4),
        ) {
            let text = |lines: &[String]| lines.iter().map(|l| format!("{l}\n")).collect::<String>();
            let mut after = base.clone();
            for (at, line) in agent {
                match line {
                    Some(line) => after.insert(at.min(after.len()), line),
                    None if at < after.len() => drop(after.remove(at)),
                    None => {}
                }
            }
            let mut now = after.clone();
            for (at, line) in &human {
                now.insert((*at).min(now.len()), line.clone());
            }
            if let Some(result) = back(&text(&base), &text(&after), &text(&now)) {
                for (_, line) in &human {
                    prop_assert!(result.contains(line.as_str()), "{result}");
                }
                // Without the person's lines it is what it was before the agent wrote.
                let rest: String = result.lines().filter(|l| !l.starts_with("human")).map(|l| format!("{l}\n")).collect();
                let mut sorted: Vec<_> = rest.lines().map(str::to_owned).collect();
                let mut wanted = base.clone();
                sorted.sort();
                wanted.sort();
                prop_assert_eq!(sorted, wanted);
            }
        }
    }
}
