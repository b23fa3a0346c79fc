//! Merges sync tools' conflict copies into their notes. A plan is shown first, then carried out as one operation that
//! can be undone.
//!
//! A copy is recognised by its name. The copy is merged line by line (`three_way_merge`), with a base that
//! [`choose_base`] finds in the history. The note is written first, then the copy is removed. If the program is killed
//! in between, the merge runs again, and only removes the copy. The history keeps the copy.
//!
//! - [`Finder`]: searches for copies; [`reminder_lines`]: the lines of one reminder on both sides;
//! - this file: recognising copies, the plan, carrying it out.

mod finder;
mod reminder_lines;

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde::Serialize;

use crate::format::changes::{self, body, differences, with_line_ends_of};
use crate::format::commitment;
use crate::format::lines::bom_len;
use crate::format::reminder::split_id;
use crate::history::{Commit, CommitRecord, History, HistoryError, LogFilter};
use crate::vault::{
    Actor, EditError, Editor, MERGES, NotePath, OPERATION, OpOutcome, Operation, Origin, Overlap, Vault,
    VaultError, conflict, three_way_merge,
};

pub use self::finder::Finder;

/// The most states of a note that are searched for the base of a copy.
const MOST_STATES: usize = 200;

/// A conflict copy, as `conflicts list --json` shows it, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConflictCopy {
    /// The copy.
    pub copy: NotePath,
    /// The note that it is a copy of.
    pub note: NotePath,
    /// Whether the name alone proves that it is a copy; a number at its end (`Reminders 2.md`) may be a person's own.
    #[serde(rename = "certain")]
    pub is_certain: bool,
    /// Whether the note is there.
    pub has_note: bool,
}

/// The planned merge of a note and its copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergePlan {
    /// The copy and the note.
    pub copy: ConflictCopy,
    /// When history kept the common base of both; `None` if history has none, so that no line counts as removed.
    pub base: Option<jiff::Timestamp>,
    /// The note's bytes.
    pub note_before: Vec<u8>,
    /// The note's new bytes.
    pub note_after: Vec<u8>,
    /// The copy's bytes.
    pub copy_before: Vec<u8>,
    /// Places that both changed.
    pub overlaps: Vec<Overlap>,
}

/// Why a copy can't be brought into its note.
#[derive(Debug, thiserror::Error)]
pub enum ConflictError {
    /// The file isn't named as a sync tool's copy.
    #[error("`{0}` is not named as a conflict copy of a note")]
    NoCopy(NotePath),
    /// The note is missing.
    #[error("the note `{0}` isn't there; rename the copy to it, if it is to be the note")]
    NoNote(NotePath),
    /// One of the two can't be merged by lines.
    #[error("`{0}` {1}")]
    NoText(NotePath, &'static str),
    /// The note was changed meanwhile.
    #[error("`{0}` was changed meanwhile: run it again")]
    Changed(NotePath),
    /// A note can't be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// A note can't be written.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// History can't be read.
    #[error(transparent)]
    History(#[from] HistoryError),
}

impl ConflictCopy {
    /// Whether it is a copy, and not a note that is named like one.
    fn is_meant(&self) -> bool {
        self.is_certain || self.has_note
    }
}

/// The copy that `path` is by its name.
pub fn copy_of(vault: &Vault, path: &NotePath) -> Option<ConflictCopy> {
    let original = conflict::original_of(path.file_name()).filter(|name| name.ends_with(".md"))?;
    let note = path.beside(&original)?;
    let is_certain = conflict::is_conflict_copy(path.file_name());
    Some(ConflictCopy { copy: path.clone(), has_note: vault.exists(&note), note, is_certain })
}

/// Plans the merge of `copy` into its note; nothing is written.
///
/// # Errors
/// One of the two is missing, or isn't text that can be merged by lines.
pub fn plan(vault: &Vault, history: &History, copy: ConflictCopy) -> Result<MergePlan, ConflictError> {
    if !copy.has_note {
        return Err(ConflictError::NoNote(copy.note));
    }
    let text = |path: &NotePath| -> Result<Vec<u8>, ConflictError> {
        let bytes = vault.read(path)?;
        let wrong = |reason| ConflictError::NoText(path.clone(), reason);
        if std::str::from_utf8(&bytes).is_err() {
            return Err(wrong("is not UTF-8 text"));
        }
        if conflict::conflict_markers(&bytes).is_some() {
            return Err(wrong("holds the markers of a merge conflict: resolve it first"));
        }
        Ok(bytes)
    };
    let (note_before, copy_before) = (text(&copy.note)?, text(&copy.copy)?);
    let filter = LogFilter { path: Some(copy.note.to_string()), limit: Some(1), ..LogFilter::default() };
    let last = history.records(&filter)?.pop().map(|record| record.commit);
    if let Some(last) = &last
        && is_merged(history, last, &copy.copy, &copy_before)?
    {
        let (note_after, overlaps) = (note_before.clone(), Vec::new());
        return Ok(MergePlan { copy, base: None, note_before, note_after, copy_before, overlaps });
    }
    let ours = last.filter(|last| last.message.actor() != Actor::Human.as_str());
    let states = states(history, &copy.note, &note_before, ours.is_some())?;
    // This program wrote the note as it stands, so the copy is the other machine's.
    let written = ours.map(|last| history.read_at(&last, copy.note.as_str())).transpose()?.flatten();
    let is_note_ours = written.as_deref() == Some(&*note_before);
    let texts = states.iter().map(|state| state.bytes.as_slice());
    let chosen = if is_note_ours {
        nearest(texts, &copy_before).map(|at| (at, copy_before.as_slice()))
    } else {
        choose_base(&texts, &note_before, &copy_before)
    };
    let base = chosen.map(|(at, other)| known_to(&states[at..], other));
    // Line ends and a byte order mark are the note's.
    let bare = |text: &[u8]| with_line_ends_of(&note_before, &text[bom_len(text)..]).into_owned();
    let base = base.as_deref().map(bare);
    let [ours, theirs] = reminder_lines::aligned(base.as_deref(), &bare(&note_before), &bare(&copy_before));
    let merged = three_way_merge(base.as_deref(), &ours, &theirs);
    Ok(MergePlan {
        copy,
        base: chosen.map(|(at, _)| states[at].time),
        note_after: [&note_before[..bom_len(&note_before)], &merged.bytes].concat(),
        note_before,
        copy_before,
        overlaps: merged.overlaps,
    })
}

/// Whether the note's last write merged this very copy: the program was killed before it removed it.
fn is_merged(history: &History, last: &Commit, copy: &NotePath, copied: &[u8]) -> Result<bool, HistoryError> {
    let is_it = last.message.trailer(MERGES) == Some(copy.as_str());
    Ok(is_it && history.read_at(last, copy.as_str())?.as_deref() == Some(copied))
}

/// A state of a note that history keeps.
struct NoteState {
    time: jiff::Timestamp,
    bytes: Vec<u8>,
    /// Whether no other machine makes the same change: a person made it, here.
    is_own: bool,
}

/// The states of a note that history keeps, newest first, without the one that stands there now. The oldest is empty if
/// the note was made here: the other machine may have made its own. An older state that stands there again counts if
/// this program didn't bring it back (`ours`: the note's last write is its own): a sync tool may have, since the other
/// machine has it still.
fn states(
    history: &History,
    note: &NotePath,
    now: &[u8],
    ours: bool,
) -> Result<Vec<NoteState>, HistoryError> {
    let filter = LogFilter { path: Some(note.to_string()), limit: Some(MOST_STATES), ..LogFilter::default() };
    let mut states: Vec<NoteState> = Vec::new();
    let mut made = None;
    history.log(&filter, |CommitRecord { commit, changes }| {
        let is_new = changes.iter().any(|change| change.path == note.as_str() && change.old.is_none());
        made = (is_new && commit.parent().is_some()).then_some(commit.time);
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
    states.extend(made.map(|time| NoteState { time, bytes: Vec::new(), is_own: false }));
    Ok(states)
}

/// Writes the note and removes the copy, as one operation of history; `operation` is its id.
///
/// # Errors
/// One of the two was changed since it was planned, or can't be written. Then the copy is still there.
pub fn execute(
    editor: &Editor,
    plan: &MergePlan,
    origin: &Origin,
    operation: &str,
) -> Result<(), ConflictError> {
    let why = |subject: String| {
        origin.why(subject).trailer(OPERATION, operation).trailer(MERGES, plan.copy.copy.to_string())
    };
    let run = |path: &NotePath, step: Operation, subject: String| -> Result<(), ConflictError> {
        let report = editor.edit(path, &[step], &why(subject))?;
        match report.outcomes.first() {
            Some(OpOutcome::Dropped(_)) => Err(ConflictError::Changed(path.clone())),
            _ => Ok(()),
        }
    };
    let ConflictCopy { copy, note, .. } = &plan.copy;
    if plan.note_after != plan.note_before {
        let expect = Some(plan.note_before.clone());
        let step = Operation::ReplaceAll { expect, with: plan.note_after.clone() };
        run(note, step, format!("merged {copy} into {note}"))?;
    }
    let step = Operation::RemoveFile { expect: plan.copy_before.clone() };
    run(copy, step, format!("removed {copy}, which is merged into {note}"))
}

/// The index, among a note's `states` (newest first), of the base of the merge of `note` with `copy`, and that one of the two
/// that is another machine's; none if no state shares a line with both.
///
/// Sync tools don't name the base. Of the other machine's side it is the state from which that side differs in the
/// fewest lines, and the oldest of several such; see [`known_to`]. Mostly the copy is the other machine's; but a tool
/// may keep the other machine's as the note, and then the copy has what was written here, as one that is a state itself.
/// So the older one of both sides' nearest states is the base.
fn choose_base<'a>(
    states: &(impl Iterator<Item = &'a [u8]> + Clone),
    note: &'a [u8],
    copy: &'a [u8],
) -> Option<(usize, &'a [u8])> {
    let (of_note, of_copy) = (nearest(states.clone(), note)?, nearest(states.clone(), copy)?);
    let is_copy_ours = of_note > of_copy || of_note == of_copy && states.clone().nth(of_copy) == Some(copy);
    Some(if is_copy_ours { (of_note, note) } else { (of_copy, copy) })
}

/// The index of the state from which `text` differs in the fewest lines, of several such the oldest; none if none shares
/// a line with it. A reminder with another time or other words differs less than one that is missing: it has its id.
fn nearest<'a>(states: impl Iterator<Item = &'a [u8]>, text: &'a [u8]) -> Option<usize> {
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

/// The lines of the base (the first of `states`, newest first) that the other machine's side surely had. All others
/// count as added here afterwards, so they stay.
///
/// The base may be too new, since machines change a note alike. So that side surely had a line that stands in it, changed
/// or not, and one that stands in all states back to one that its machine surely had: a person added lines to it,
/// and that side has all of them. Without such a state it is the oldest. Of a follow-up it had all lines or none. At worst
/// a line comes back that was removed.
fn known_to(states: &[NoteState], other: &[u8]) -> Vec<u8> {
    let other = KnownLines::of(other);
    let known: Vec<KnownLines> = states.iter().map(|state| KnownLines::of(&state.bytes)).collect();
    let was_there = |at: &usize| {
        let state = lines(&states[*at].bytes).into_iter();
        let mut new = state.filter(|line| known.get(at + 1).is_none_or(|older| !older.has(line))).peekable();
        states[*at].is_own && new.peek().is_some() && new.all(|line| other.has(line))
    };
    let shared = &known[..=(0..known.len()).find(was_there).unwrap_or(known.len() - 1)];
    let base = changes::lines(&states[0].bytes);
    let is_known = |line: &[u8]| other.has(line) || shared.iter().all(|state| state.has(line));
    let mut had: Vec<bool> = base.iter().map(|line| is_known(body(line))).collect();
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

    /// The index, and whether the copy is the other machine's.
    fn chosen(states: &[&str], note: &str, copy: &str) -> Option<(usize, bool)> {
        let states = states.iter().map(|state| state.as_bytes());
        choose_base(&states, note.as_bytes(), copy.as_bytes())
            .map(|(at, other)| (at, other == copy.as_bytes()))
    }

    #[test]
    fn the_closest_state_and_of_several_the_oldest() {
        let (note, copy) = (false, true);
        let states = ["a\nb\nc\n", "a\nb\n", "a\n"];
        assert_eq!(chosen(&states, "a\nb\nc\nd\n", "a\nb\nx\n"), Some((1, copy)));
        assert_eq!(chosen(&["a\nd\n", "a\n"], "a\nd\ne\n", "a\nb\n"), Some((1, copy)));
        assert_eq!(chosen(&["a\nd\n", "a\nb\n"], "a\nd\n", "a\n"), Some((1, copy)), "as far from both");
        // The copy is what was written here, one line after the other.
        assert_eq!(chosen(&states, "x\na\n", "a\nb\nc\n"), Some((2, note)));
        assert_eq!(chosen(&["a\nB\n", "a\nb\n"], "x\na\nb\n", "a\nB\n"), Some((1, note)));
        // Both sides changed a line alike, or in two ways.
        assert_eq!(chosen(&["A\nb\nc\nd\n", "a\nb\n"], "A\nb\nc\nd\ne\n", "A\nb\nx\n"), Some((1, copy)));
        assert_eq!(chosen(&["a\nB\nc\n", "a\nb\nc\nd\n"], "a\nB\nc\nx\n", "a\nbb\nc\nd\n"), Some((1, copy)));
        // A reminder in other words is nearer than one that is missing.
        let line =
            |words: &str, id: &str| format!("- [ ] date=2027-01-01 time=10:00 msg=\"{words}\" id=rid_{id}\n");
        let (a, [b, c]) = (line("a", "AAAAAAAAAAAA"), ["b", "c"].map(|words| line(words, "BBBBBBBBBBBB")));
        let note = format!("{a}{b}x\n");
        assert_eq!(chosen(&[&format!("{a}{b}"), &a], &note, &format!("{a}{c}y\n")), Some((0, copy)));
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
            String::from_utf8(known_to(&states, copy.as_bytes())).unwrap()
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
            (&[(true, "b\n")], "", "b\n"),
        ] {
            assert_eq!(known(states, copy), kept, "{states:?} {copy:?}");
        }
    }
}
