//! Merges sync tools' conflict copies into their notes: makes a plan that is shown first, then carries it out as one
//! operation that can be undone.
//!
//! A copy is recognised by its name. It is merged line by line (`three_way_merge`), with a base from history
//! ([`base`]). The note is written first, then the copy is removed: if the program is killed in between, the merge runs
//! again, and no line comes twice. History keeps the copy.
//!
//! - [`base`]: the base of the merge, and line ends. Pure;
//! - [`Finder`]: repeated searches for copies, by folders;
//! - this file: finding copies, the plan, carrying it out.

pub mod base;
mod finder;

use std::ops::ControlFlow;

use serde::Serialize;

use crate::history::{History, HistoryError, LogFilter};
use crate::vault::{
    EditError, Editor, MERGES, NotePath, OPERATION, OpOutcome, Operation, Origin, Overlap, Vault, VaultError,
    WalkOptions, conflict, three_way_merge,
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
    /// Whether the name says so; a number at its end (`Reminders 2.md`) may be a person's own.
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
    /// When history kept the state that both came of; `None` where it knows none, so that nothing is taken for removed.
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
    /// There is nothing to bring it into.
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

/// All conflict copies of notes, by their paths.
///
/// # Errors
/// The vault can't be listed.
pub fn find(vault: &Vault) -> Result<Vec<ConflictCopy>, ConflictError> {
    let walk = vault.walk(&WalkOptions::default())?;
    let copies = walk.entries.iter().filter_map(|entry| copy_of(vault, &entry.path));
    // A number at the end of a name without a namesake is a name.
    Ok(copies.filter(ConflictCopy::is_meant).collect())
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
    let note = match path.parent() {
        Some(folder) => NotePath::new(&format!("{folder}/{original}")).ok()?,
        None => NotePath::new(&original).ok()?,
    };
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
    let states = states(history, &copy.note, &note_before)?;
    let chosen = base::choose(states.iter().map(|(_, bytes)| bytes.as_slice()), &copy_before);
    let base = chosen.map(|at| base::with_line_ends_of(&note_before, &states[at].1));
    let merged =
        three_way_merge(base.as_deref(), &note_before, &base::with_line_ends_of(&note_before, &copy_before));
    Ok(MergePlan {
        copy,
        base: chosen.map(|at| states[at].0),
        note_before,
        note_after: merged.bytes,
        copy_before,
        overlaps: merged.overlaps,
    })
}

/// The states of a note that history keeps, newest first, without the one that stands there now.
fn states(
    history: &History,
    note: &NotePath,
    now: &[u8],
) -> Result<Vec<(jiff::Timestamp, Vec<u8>)>, ConflictError> {
    let filter = LogFilter { path: Some(note.to_string()), limit: Some(MOST_STATES), ..LogFilter::default() };
    let mut states: Vec<(jiff::Timestamp, Vec<u8>)> = Vec::new();
    history.log(&filter, |record| {
        if let Some(bytes) = history.read_at(&record.commit, note.as_str())?
            && bytes != now
        {
            states.push((record.commit.time, bytes));
        }
        Ok(ControlFlow::Continue(()))
    })?;
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
