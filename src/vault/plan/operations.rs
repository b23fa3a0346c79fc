//! Defines operations on lines, and applies them to a note's bytes. Pure.
//!
//! An edit is a list of [`Operation`]s. Each finds its target by content, never by position, and changes only the bytes
//! it means; one whose target is gone or changed is dropped, because then a person changed it and wins. [`apply`] can
//! so be run again on newer bytes as often as needed, and twice is the same as once for everything but appending.
//!
//! Targets are live lines only: a line in fenced code, a comment or the frontmatter is never ours, however much it
//! looks like a reminder.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::image::ImageChange;
use super::splices::{
    DropReason, OpOutcome, Splice, append, append_to_section, find_range, line_splice, line_splices, splice,
    terminator_at,
};
use crate::format::commitment::{self, CommitmentStatus};
use crate::format::lines::LiveLines;

/// One step of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Deletes the live lines of exactly these bytes, each with its terminator. Identical lines are
    /// one thing here: all of them go.
    DeleteLine {
        /// The line without its terminator.
        line: Vec<u8>,
    },
    /// Replaces the live lines of exactly these bytes; the terminators stay.
    ReplaceLine {
        /// The line without its terminator.
        line: Vec<u8>,
        /// The new text.
        with: Vec<u8>,
    },
    /// Adds text at the end of the file, after a missing last newline, and ends it with one.
    Append {
        /// The text; its lines end as the file's do.
        text: Vec<u8>,
    },
    /// Adds text after the last line that isn't blank of the section `## heading`, which is made at
    /// the end of the file where it doesn't exist.
    AppendToSection {
        /// The heading's words, without the `##`.
        heading: String,
        /// The text; its lines end as the file's do.
        text: Vec<u8>,
    },
    /// Changes the status of a commitment, if it still has the expected one.
    SetCommitmentStatus {
        /// The commitment's id.
        id: String,
        /// Its status now.
        expect: CommitmentStatus,
        /// Its status afterwards.
        to: CommitmentStatus,
    },
    /// Deletes a passage of whole lines that occurs once, with its last terminator.
    DeleteRange {
        /// The passage.
        bytes: Vec<u8>,
    },
    /// Replaces everything, if the file is exactly as expected.
    ReplaceAll {
        /// The whole content now, `None` for no such file.
        expect: Option<Vec<u8>>,
        /// The whole content afterwards.
        with: Vec<u8>,
    },
    /// Removes the file, if it is exactly as expected.
    RemoveFile {
        /// The whole content now.
        expect: Vec<u8>,
    },
}

/// Applies `ops` in order, each to the result of the one before it, and returns the outcome of each. A missing file is
/// empty bytes here; [`apply_to`] distinguishes the two.
pub fn apply(ops: &[Operation], bytes: &[u8]) -> (Vec<u8>, Vec<OpOutcome>) {
    let (after, outcomes) = apply_to(ops, Some(bytes));
    (after.unwrap_or_default(), outcomes)
}

/// As [`apply`], for a file that may be missing before (`None`) or afterwards.
pub fn apply_to(ops: &[Operation], before: Option<&[u8]>) -> (Option<Vec<u8>>, Vec<OpOutcome>) {
    let mut state: Option<Cow<'_, [u8]>> = before.map(Cow::Borrowed);
    let mut outcomes = Vec::with_capacity(ops.len());
    let mut rest = ops;
    while let Some(first) = rest.first() {
        let batch = line_batch(rest, state.as_deref().unwrap_or_default()).max(1);
        let (now, after) = rest.split_at(batch);
        if batch > 1 {
            let bytes = state.as_deref().unwrap_or_default();
            let (splices, done) = batch_splices(now, bytes);
            let after = (!splices.is_empty()).then(|| splice(bytes, &splices));
            state = after.map(Cow::Owned).or(state);
            outcomes.extend(done);
        } else {
            outcomes.push(match step(first, state.as_deref()) {
                Ok(after) => {
                    state = after.map(Cow::Owned);
                    OpOutcome::Done
                }
                Err(reason) => OpOutcome::Dropped(reason),
            });
        }
        rest = after;
    }
    (state.map(Cow::into_owned), outcomes)
}

/// The file after one operation; `None` where there is to be none.
fn step(op: &Operation, now: Option<&[u8]>) -> Result<Option<Vec<u8>>, DropReason> {
    let bytes = now.unwrap_or_default();
    match op {
        Operation::ReplaceAll { expect, with } if expect.as_deref() == now => Ok(Some(with.clone())),
        Operation::RemoveFile { expect } if now == Some(expect) => Ok(None),
        Operation::ReplaceAll { .. } | Operation::RemoveFile { .. } => {
            Err(if now.is_none() { DropReason::Gone } else { DropReason::Changed })
        }
        Operation::SetCommitmentStatus { id, expect, to } => {
            let after = commitment::set_status(bytes, id, *expect, *to);
            after.map(Some).ok_or_else(|| why_not(bytes, id))
        }
        _ => {
            let splices = splices_of(op, bytes).unwrap_or(Err(DropReason::Gone))?;
            Ok(Some(splice(bytes, &splices)))
        }
    }
}

/// The splices of an operation that doesn't concern the file as a whole.
fn splices_of(op: &Operation, now: &[u8]) -> Option<Result<Vec<Splice>, DropReason>> {
    Some(match op {
        Operation::DeleteLine { line } => line_splices(now, line, None),
        Operation::ReplaceLine { line, with } => line_splices(now, line, Some(with)),
        Operation::Append { text } => Ok(vec![append(now, now.len(), text)]),
        Operation::AppendToSection { heading, text } => Ok(vec![append_to_section(now, heading, text)]),
        Operation::DeleteRange { bytes } => find_range(now, bytes).map(|at| {
            let ended = bytes.ends_with(b"\n");
            let end = if ended { at.end } else { at.end + terminator_at(now, at.end) };
            vec![Splice { at: at.start..end, with: Vec::new() }]
        }),
        Operation::ReplaceAll { .. }
        | Operation::RemoveFile { .. }
        | Operation::SetCommitmentStatus { .. } => return None,
    })
}

/// The new state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::vault) enum FileAfter {
    /// Nothing.
    Same,
    /// There is to be none.
    Missing,
    /// These bytes.
    Bytes(Vec<u8>),
    /// One change of its bytes.
    Change(ImageChange),
}

/// As [`apply_to`], but with a change instead of a whole new file where that saves copying it.
pub(in crate::vault) fn change_to(ops: &[Operation], before: Option<&[u8]>) -> (FileAfter, Vec<OpOutcome>) {
    if let Some(now) = before {
        if let [op] = ops {
            match splices_of(op, now) {
                Some(Ok(splices)) => return (one_change(now, &splices), vec![OpOutcome::Done]),
                Some(Err(reason)) => return (FileAfter::Same, vec![OpOutcome::Dropped(reason)]),
                None => {}
            }
        } else if ops.len() > 1 && line_batch(ops, now) == ops.len() {
            let (splices, outcomes) = batch_splices(ops, now);
            return (one_change(now, &splices), outcomes);
        }
    }
    let (after, outcomes) = apply_to(ops, before);
    let after = match after {
        after if after.as_deref() == before => FileAfter::Same,
        Some(after) => FileAfter::Bytes(after),
        None => FileAfter::Missing,
    };
    (after, outcomes)
}

/// Several replacements, in order, as one of everything between the first and the last.
fn one_change(now: &[u8], splices: &[Splice]) -> FileAfter {
    let (Some(first), Some(last)) = (splices.first(), splices.last()) else { return FileAfter::Same };
    let range = first.at.start..last.at.end;
    let mut with = Vec::new();
    let mut from = range.start;
    for splice in splices {
        with.extend_from_slice(&now[from..splice.at.start]);
        with.extend_from_slice(&splice.with);
        from = splice.at.end;
    }
    let script = ImageChange::of_change(now, range, &with);
    if script.is_empty() { FileAfter::Same } else { FileAfter::Change(script) }
}

/// Why the status of a commitment could not be changed.
fn why_not(bytes: &[u8], id: &str) -> DropReason {
    match commitment::parse(bytes).blocks.iter().filter(|block| block.commitment.id == id).count() {
        0 => DropReason::Gone,
        1 => DropReason::Changed,
        _ => DropReason::NotUnique,
    }
}

/// The target and the replacement of an operation on lines.
fn line_target(op: &Operation) -> Option<(&[u8], Option<&[u8]>)> {
    match op {
        Operation::DeleteLine { line } => Some((line, None)),
        Operation::ReplaceLine { line, with } => Some((line, Some(with))),
        _ => None,
    }
}

/// How many operations from the first on work on lines, don't meet each other and can't make other
/// lines live or dead, so that one pass over the file does them all.
fn line_batch(ops: &[Operation], bytes: &[u8]) -> usize {
    const MARKS: [&[u8]; 6] = [b"```", b"~~~", b"<!--", b"-->", b"%%", b"---"];
    let has_mark = |line: &[u8]| MARKS.iter().any(|mark| memchr::memmem::find(line, mark).is_some());
    if ops.len() < 2 || memchr::memmem::find(bytes, b"\n---").is_some() {
        return 1;
    }
    let mut seen = std::collections::HashSet::new();
    let mut count = 0;
    for op in ops {
        let Some((line, with)) = line_target(op) else { break };
        if seen.contains(line) || has_mark(line) || with.is_some_and(has_mark) {
            break;
        }
        seen.insert(line);
        if let Some(with) = with {
            seen.insert(with);
        }
        count += 1;
    }
    count
}

/// The splices of a [batch](line_batch).
fn batch_splices(ops: &[Operation], now: &[u8]) -> (Vec<Splice>, Vec<OpOutcome>) {
    let targets: std::collections::HashMap<&[u8], usize> = ops
        .iter()
        .enumerate()
        .filter_map(|(index, op)| line_target(op).map(|(line, _)| (line, index)))
        .collect();
    let mut outcomes = vec![OpOutcome::Dropped(DropReason::Gone); ops.len()];
    let mut splices = Vec::new();
    for line in LiveLines::new(now) {
        if let Some(&index) = targets.get(line.text) {
            outcomes[index] = OpOutcome::Done;
            splices.push(line_splice(&line, line_target(&ops[index]).and_then(|(_, with)| with)));
        }
    }
    (splices, outcomes)
}
