//! Defines operations on a note's lines, and applies them to the note's bytes. Pure.
//!
//! An edit is a list of [`Operation`]s. Each operation finds its target by content, never by position, and changes only
//! the bytes of its target. An operation whose target is gone or changed is dropped, because a person's change takes
//! precedence. So [`apply`] can be run again on newer bytes as often as needed; all operations but appending are
//! idempotent.
//!
//! Target lines are live lines only: a line in fenced code, a comment or the frontmatter is never a target, however
//! much it looks like a reminder.

use super::splices::{DropReason, OpOutcome, Splice, append, append_to_section, line_splice, splice};
use crate::format::lines::{LiveLines, lines};
use crate::vault::prelude::*;

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
/// empty bytes here; [`change_to`] distinguishes the two.
pub fn apply(ops: &[Operation], bytes: &[u8]) -> (Vec<u8>, Vec<OpOutcome>) {
    let (after, outcomes) = change_to(ops, Some(bytes));
    let after = match after {
        FileAfter::Same => bytes.to_vec(),
        FileAfter::Missing => Vec::new(),
        FileAfter::Bytes(after) => after,
    };
    (after, outcomes)
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
}

/// As [`apply`], for a file that may be missing before (`None`) or afterwards.
pub(in crate::vault) fn change_to(ops: &[Operation], before: Option<&[u8]>) -> (FileAfter, Vec<OpOutcome>) {
    let mut state: Option<Cow<'_, [u8]>> = before.map(Cow::Borrowed);
    let mut outcomes = Vec::with_capacity(ops.len());
    let mut rest = ops;
    while let [op, others @ ..] = rest {
        let bytes = state.as_deref().unwrap_or_default();
        let batch = line_batch(rest, bytes);
        if batch > 0 {
            let (splices, done) = batch_splices(&rest[..batch], bytes);
            if !splices.is_empty() {
                state = Some(Cow::Owned(splice(bytes, &splices)));
            }
            outcomes.extend(done);
            rest = &rest[batch..];
            continue;
        }
        match effect(op, state.as_deref()) {
            Ok(after) => {
                state = after.map(Cow::Owned);
                outcomes.push(OpOutcome::Done);
            }
            Err(reason) => outcomes.push(OpOutcome::Dropped(reason)),
        }
        rest = others;
    }
    let after = match state {
        after if after.as_deref() == before => FileAfter::Same,
        Some(after) => FileAfter::Bytes(after.into_owned()),
        None => FileAfter::Missing,
    };
    (after, outcomes)
}

/// The file after an operation that is none on lines; `None` where there is to be none.
fn effect(op: &Operation, now: Option<&[u8]>) -> Result<Option<Vec<u8>>, DropReason> {
    let bytes = now.unwrap_or_default();
    let change = match op {
        Operation::Append { text } => append(bytes, bytes.len(), text),
        Operation::AppendToSection { heading, text } => append_to_section(bytes, heading, text),
        Operation::ReplaceAll { expect, with } if expect.as_deref() == now => {
            return Ok(Some(with.clone()));
        }
        Operation::RemoveFile { expect } if now == Some(expect) => return Ok(None),
        _ => return Err(if now.is_none() { DropReason::Gone } else { DropReason::Changed }),
    };
    Ok(Some(splice(bytes, &[change])))
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
/// lines live or dead, so that one pass over the file does them all; 0 if the first is none on a line.
fn line_batch(ops: &[Operation], bytes: &[u8]) -> usize {
    const MARKS: [&[u8]; 6] = [b"```", b"~~~", b"<!--", b"-->", b"%%", b"---"];
    let has_mark = |line: &[u8]| MARKS.iter().any(|mark| memchr::memmem::find(line, mark).is_some());
    // A fence that doesn't begin its line may stand in a list item, which an operation can end.
    let is_inner = |line: &[u8]| MARKS[..2].iter().any(|mark| memchr::memmem::find(line, mark) > Some(0));
    let is_alone =
        memchr::memmem::find(bytes, b"\n---").is_some() || lines(bytes).any(|line| is_inner(line.text));
    let mut seen = std::collections::HashSet::new();
    let mut count = 0;
    for (line, with) in ops.iter().map_while(line_target) {
        let is_apart = is_alone || seen.contains(line) || has_mark(line) || with.is_some_and(has_mark);
        if is_apart {
            return count.max(1);
        }
        seen.insert(line);
        seen.extend(with);
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
