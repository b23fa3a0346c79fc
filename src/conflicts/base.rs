//! Chooses the base of a merge from a note's states in history, and the lines of it that both sides surely had.
//!
//! A note, its copy and the note's history come in; a state, and its lines that count as old, go out. A line that only
//! one side surely had counts as new, so the merge keeps it.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::format::changes::{self, body, differences};
use crate::format::commitment;
use crate::format::reminder::split_id;
use crate::history::{CommitRecord, History, HistoryError, LogFilter};
use crate::vault::{Actor, MERGES, NotePath};

/// The most states of a note that are searched for the base of a copy.
const MOST_STATES: usize = 200;

/// A state of a note that history keeps.
pub(super) struct NoteState {
    pub(super) time: jiff::Timestamp,
    pub(super) bytes: Vec<u8>,
    /// Whether no other machine makes the same change: a person made it, here.
    is_own: bool,
}

/// The states of a note that history keeps, newest first, without the one that stands there now. An older state that
/// stands there again counts if this program didn't bring it back (`ours`: the note's last write is its own): a sync
/// tool may have, since the other machine has it still.
pub(super) fn states(
    history: &History,
    note: &NotePath,
    now: &[u8],
    ours: bool,
) -> Result<Vec<NoteState>, HistoryError> {
    let filter = LogFilter { path: Some(note.to_string()), limit: Some(MOST_STATES), ..LogFilter::default() };
    let mut states: Vec<NoteState> = Vec::new();
    history.log(&filter, |CommitRecord { commit, .. }| {
        if let Some(bytes) = history.read_at(&commit, note.as_str())?
            && (bytes != now || !ours && !states.is_empty())
        {
            let message = &commit.message;
            let is_shared = [Actor::Scheduler, Actor::Restore].map(Actor::as_str).contains(&message.actor());
            let is_own = !is_shared && message.trailer(MERGES).is_none();
            states.push(NoteState { time: commit.time, bytes, is_own });
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(states)
}

/// The index, among a note's `states` (newest first), of the base of the merge of `note` with `copy`, and those of the two
/// that may be another machine's; none if no state shares a line with both.
///
/// Sync tools don't name the base. Of the other machine's side it is the state from which that side differs in the
/// fewest lines, and the oldest of several such; see [`known_to`]. Mostly the copy is the other machine's; but a tool
/// may keep the other machine's as the note, and then the copy has what was written here, as one that is a state itself.
/// So the older one of both sides' nearest states is the base, and not a newer one than the copy is. If that is one
/// state, and it isn't the copy, either side may be the other machine's.
pub(super) fn choose_base<'a>(
    states: &(impl Iterator<Item = &'a [u8]> + Clone),
    note: &'a [u8],
    copy: &'a [u8],
) -> Option<(usize, Vec<&'a [u8]>)> {
    let (of_note, of_copy) = (nearest(states.clone(), note)?, nearest(states.clone(), copy)?);
    let is_state = states.clone().nth(of_copy) == Some(copy);
    Some(match of_note.cmp(&of_copy) {
        // The other machine's note took its place, and went on there.
        Ordering::Less if is_state => {
            // The last of several that are as near is chosen: the copy, unless an older state is nearer.
            let older = states.clone().skip(of_copy + 1);
            let at = nearest(older.clone().chain([copy]), note).filter(|at| *at < older.count());
            (of_copy + at.map_or(0, |at| at + 1), vec![note])
        }
        Ordering::Less => (of_copy, vec![copy]),
        Ordering::Equal if !is_state => (of_copy, vec![note, copy]),
        Ordering::Equal | Ordering::Greater => (of_note, vec![note]),
    })
}

/// The index of the state from which `text` differs in the fewest lines, of several such the oldest; none if none shares
/// a line with it. A reminder with another time or other words differs less than one that is missing: it has its id.
pub(super) fn nearest<'a>(states: impl Iterator<Item = &'a [u8]>, text: &'a [u8]) -> Option<usize> {
    let named = |line: &&'a [u8]| split_id(line).map_or(*line, |(_, id)| id);
    let both = |text: &'a [u8]| [lines(text), lines(text).iter().map(named).collect()];
    let text = both(text);
    let mut best: Option<(usize, usize)> = None;
    for (at, state) in states.enumerate() {
        let state = both(state);
        let of = |at: usize| -> usize {
            let differ = differences(&state[at], &text[at]);
            differ.map(|op| op.old_range().len() + op.new_range().len()).sum()
        };
        let distance = of(0) + 2 * of(1);
        let has_common = distance < 3 * (state[0].len() + text[0].len());
        if has_common && best.is_none_or(|(least, _)| distance <= least) {
            best = Some((distance, at));
        }
    }
    best.map(|(_, at)| at)
}

/// The lines of the base (the first of `states`, newest first) that each of `others` surely had. All others count as
/// added on the other side, so they stay.
///
/// The base may be too new, since machines change a note alike; and it may be of one machine alone, as the first state
/// of the history if the machines were apart before. So a side surely had a line that stands in it, changed or not, and
/// one that stands in all states back to one that its machine surely had: a person added lines to it here, and that side
/// has all of them. Of a follow-up it had all lines or none. At worst a line comes back that was removed.
pub(super) fn known_to(states: &[NoteState], others: &[&[u8]]) -> Vec<u8> {
    let known: Vec<KnownLines> = states.iter().map(|state| KnownLines::of(&state.bytes)).collect();
    let base = changes::lines(&states[0].bytes);
    let mut had = vec![true; base.len()];
    for other in others.iter().map(|other| KnownLines::of(other)) {
        let was_there = |at: &usize| {
            let state = lines(&states[*at].bytes).into_iter();
            let older = known.get(at + 1);
            let mut new = state.filter(|line| older.is_none_or(|older| !older.has(line))).peekable();
            states[*at].is_own && new.peek().is_some() && new.all(|line| other.has(line))
        };
        let shared = (0..known.len()).find(was_there).map(|at| &known[..=at]);
        let is_shared = |line| shared.is_some_and(|shared| shared.iter().all(|state| state.has(line)));
        for (line, had) in base.iter().zip(&mut had) {
            *had &= other.has(body(line)) || is_shared(body(line));
        }
    }
    keep_whole(&states[0].bytes, &mut had);
    base.into_iter().zip(had).filter(|(_, had)| *had).map(|(line, _)| line).collect::<Vec<_>>().concat()
}

/// Of the lines of a text that count as old, takes those of each follow-up that isn't old as a whole: its lines are like
/// another follow-up's by chance.
fn keep_whole(text: &[u8], is_old: &mut [bool]) {
    for block in commitment::parse(text).blocks {
        let lines = &mut is_old[block.line - 1..block.end_line];
        if lines.contains(&false) {
            lines.fill(false);
        }
    }
}

/// The lines of a text: reminders without their ids, and the ids by themselves.
struct KnownLines(HashSet<Vec<u8>>);

impl KnownLines {
    fn of(text: &[u8]) -> Self {
        let mut known = HashSet::new();
        for line in lines(text) {
            match split_id(line) {
                Some((rest, id)) => known.extend([rest, id.to_owned()]),
                None => known.extend([line.to_owned()]),
            }
        }
        Self(known)
    }

    /// Whether the line stands there, perhaps changed or without its id. Blank lines stand everywhere.
    fn has(&self, line: &[u8]) -> bool {
        line.trim_ascii().is_empty()
            || self.0.contains(line)
            || split_id(line).is_some_and(|(rest, id)| self.0.contains(&rest) || self.0.contains(id))
    }
}

/// The lines without their ends.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    changes::lines(bytes).into_iter().map(body).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The index, and which sides may be the other machine's.
    fn chosen(states: &[&str], note: &str, copy: &str) -> Option<(usize, &'static str)> {
        let states = states.iter().map(|state| state.as_bytes());
        choose_base(&states, note.as_bytes(), copy.as_bytes()).map(|(at, others)| match others[..] {
            [_, _] => (at, "both"),
            [one] => (at, if one == copy.as_bytes() { "copy" } else { "note" }),
            _ => unreachable!("one or two"),
        })
    }

    #[test]
    fn the_closest_state_and_of_several_the_oldest() {
        let (note, copy, both) = ("note", "copy", "both");
        let states = ["a\nb\nc\n", "a\nb\n", "a\n"];
        assert_eq!(chosen(&states, "a\nb\nc\nd\n", "a\nb\nx\n"), Some((1, copy)));
        assert_eq!(chosen(&["a\nd\n", "a\n"], "a\nd\ne\n", "a\nb\n"), Some((1, copy)));
        assert_eq!(chosen(&["a\nd\n", "a\nb\n"], "a\nd\n", "a\n"), Some((1, copy)), "as far from both");
        assert_eq!(chosen(&["a\nc\n", "a\nb\nc\n", "a\n"], "a\nc\nd\n", "a\nb\nc\n"), Some((1, note)));
        // The copy is what was written here, one line after the other.
        assert_eq!(chosen(&states, "x\na\n", "a\nb\nc\n"), Some((2, note)));
        assert_eq!(chosen(&["a\nB\n", "a\nb\n"], "x\na\nb\n", "a\nB\n"), Some((1, note)));
        assert_eq!(chosen(&["a\nb\n"], "x\na\n", "a\nb\n"), Some((0, note)));
        assert_eq!(chosen(&["x\na\n", "a\nb\n", "a\n"], "x\ny\na\n", "a\nb\n"), Some((2, note)));
        // Both sides changed a line alike, or in two ways.
        assert_eq!(chosen(&["A\nb\nc\nd\n", "a\nb\n"], "A\nb\nc\nd\ne\n", "A\nb\nx\n"), Some((1, copy)));
        assert_eq!(chosen(&["a\nB\nc\n", "a\nb\nc\nd\n"], "a\nB\nc\nx\n", "a\nbb\nc\nd\n"), Some((1, copy)));
        // A reminder in other words is nearer than one that is missing.
        let line =
            |words: &str, id: &str| format!("- [ ] date=2027-01-01 time=10:00 msg=\"{words}\" id=rid_{id}\n");
        let (a, [b, c]) = (line("a", "AAAAAAAAAAAA"), ["b", "c"].map(|words| line(words, "BBBBBBBBBBBB")));
        let note = format!("{a}{b}x\n");
        assert_eq!(chosen(&[&format!("{a}{b}"), &a], &note, &format!("{a}{c}y\n")), Some((0, both)));
        assert_eq!(chosen(&["x\n"], "a\n", "a\n"), None);
        assert_eq!(chosen(&[], "a\n", "a\n"), None);
    }

    /// States, newest first: whether a person made it here, and its text.
    #[test]
    fn a_line_that_the_copy_may_never_have_had_stays_in_the_note() {
        let known = |states: &[(bool, &str)], copy: &str| {
            let state = |&(is_own, text): &(bool, &str)| NoteState {
                time: jiff::Timestamp::UNIX_EPOCH,
                bytes: text.into(),
                is_own,
            };
            let states: Vec<NoteState> = states.iter().map(state).collect();
            String::from_utf8(known_to(&states, &[copy.as_bytes()])).unwrap()
        };
        let (a, b) = ("a id=rid_AAAAAAAAAAAA\n", "b id=rid_BBBBBBBBBBBB\n");
        for (states, copy, kept) in [
            // The ids were given on both machines; `b` was written here.
            (&[(false, &*format!("{a}{b}")), (true, "a\nb\n"), (true, "x\n")][..], a, a),
            (&[(false, &format!("{a}b\n")), (true, "a\nb\n"), (true, "x\n")], a, a),
            // The copy had it: it has what was written later.
            (&[(false, &format!("{a}{b}")), (true, "a\nb\n"), (true, "b\n")], a, &format!("{a}{b}")),
            (&[(true, "b\nc\n\n"), (true, "b\n"), (true, "x\n")], "c\n", "b\nc\n\n"),
            (&[(true, "b\nc\n\n"), (true, "x\n")], "c\n", "c\n\n"),
            // It has it still, changed.
            (&[(false, "B id=rid_BBBBBBBBBBBB\n"), (true, "x\n")], b, "B id=rid_BBBBBBBBBBBB\n"),
            // Nothing says that the copy is of the first state.
            (&[(true, "b\nc\n")], "c\n", "c\n"),
            (&[(true, "b\nc\nd\n"), (true, "b\nc\n")], "c\nd\n", "b\nc\nd\n"),
        ] {
            assert_eq!(known(states, copy), kept, "{states:?} {copy:?}");
        }
    }
}
