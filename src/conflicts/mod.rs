//! Merges sync tools' conflict copies into their notes. A plan is shown first, then carried out as one operation that
//! can be undone.
//!
//! A copy is recognised by its name. The copy is merged line by line (`three_way_merge`), with a base from the history.
//! The note is written first, then the copy is removed. If the program is killed in between, the merge runs again, and
//! only removes the copy. The history keeps the copy.
//!
//! - [`Finder`]: searches for copies; [`base`]: the base of a merge; [`reminder_lines`]: the lines of one reminder on
//!   both sides;
//! - this file: recognising copies, the plan, carrying it out.

mod base;
mod finder;
mod reminder_lines;

use serde::Serialize;

use crate::format::changes::with_line_ends_of;
use crate::format::lines::bom_len;
use crate::history::{Commit, History, HistoryError, LogFilter};
use crate::vault::{
    Actor, EditError, Editor, MERGES, NotePath, OPERATION, OpOutcome, Operation, Origin, Overlap, Vault,
    VaultError, conflict, three_way_merge,
};

use self::base::{choose_base, known_to, nearest, states};

pub use self::finder::Finder;

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
    // This program wrote the note as it stands, so the copy is the other machine's; but a merge, or its undo, may have
    // begun with the other machine's note.
    let is_new = |last: &Commit| {
        last.message.trailer(MERGES).is_none() && last.message.actor() != Actor::Restore.as_str()
    };
    let is_mixed = ours.as_ref().is_some_and(|last| !is_new(last));
    let written =
        ours.filter(is_new).map(|last| history.read_at(&last, copy.note.as_str())).transpose()?.flatten();
    let is_note_ours = written.as_deref() == Some(&*note_before);
    let texts = states.iter().map(|state| state.bytes.as_slice());
    let chosen = if is_note_ours {
        nearest(texts, &copy_before).map(|at| (at, vec![copy_before.as_slice()]))
    } else {
        // A merge left lines of both machines in the note: of neither side it is known that it had all of the base.
        let either = || vec![note_before.as_slice(), copy_before.as_slice()];
        let chosen = choose_base(&texts, &note_before, &copy_before);
        chosen.map(|(at, others)| (at, if is_mixed { either() } else { others }))
    };
    let base = chosen.as_ref().map(|(at, others)| known_to(&states[*at..], others));
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
