//! Writes a batch of imported items into the vault: one edit for each note, planned from the note's newest bytes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::merge::{MergedNote, NoteKind, merge};
use super::{FoundItem, ImportBatch, ImportItem, ImportProblem};
use crate::config::Settings;
use crate::format::daily;
use crate::memory::Origin;
use crate::template::TEMPLATE;
use crate::vault::{EditError, EditPlan, Editor, NotePath, OPERATION, Vault};

/// Writes batches.
#[derive(Debug, Clone, Copy)]
pub struct Importer<'a> {
    /// Reads notes.
    pub vault: &'a Vault,
    /// Writes notes.
    pub editor: &'a Editor,
    /// The paths of the notes.
    pub settings: &'a Settings,
    /// The writer, and the program that the batch is from: stands in the snapshots.
    pub origin: &'a Origin,
    /// The name that ties these writes to others, which `undo` takes back together.
    pub operation: &'a str,
    /// Whether to say what would be written, and write nothing.
    pub dry_run: bool,
}

/// The additions to a note, made or planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoteReport {
    /// The note.
    pub path: NotePath,
    /// Whether it is made.
    pub created: bool,
    /// The added texts, as they stand there.
    pub added: Vec<String>,
    /// How many items were there already.
    pub duplicates: usize,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct ImportReport {
    /// Whether nothing was written because nothing was to be.
    pub dry_run: bool,
    /// How many items were added, or would be.
    pub added: usize,
    /// How many were there already.
    pub duplicates: usize,
    /// The notes concerned.
    pub notes: Vec<NoteReport>,
    /// Items that could not be used, with their places.
    pub skipped: Vec<ImportProblem>,
    /// Further remarks.
    pub remarks: Vec<ImportProblem>,
}

impl Importer<'_> {
    /// Adds to the vault those items of the batch that it lacks. If a note can't be read or written, only its items are
    /// lost.
    pub fn import(&self, batch: ImportBatch) -> ImportReport {
        let mut report = ImportReport {
            dry_run: self.dry_run,
            skipped: batch.skipped,
            remarks: batch.remarks,
            ..ImportReport::default()
        };
        let mut by_note: BTreeMap<(NoteKind, NotePath), Vec<FoundItem>> = BTreeMap::new();
        for found in batch.found {
            by_note.entry(self.target(&found.item)).or_default().push(found);
        }
        for ((kind, path), found) in by_note {
            self.note(kind, path, &found, &mut report);
        }
        report
    }

    /// The note that an item belongs to.
    fn target(&self, item: &ImportItem) -> (NoteKind, NotePath) {
        let paths = &self.settings.paths;
        let (kind, path) = match item {
            ImportItem::Memory { .. } => (NoteKind::Memory, paths.memory.clone()),
            ImportItem::Daily { date, .. } | ImportItem::Day { date, .. } => {
                (NoteKind::Daily(*date), format!("{}/{}", paths.daily, daily::file_name(*date)))
            }
            ImportItem::Reminder(_) => (NoteKind::Reminders, paths.reminders.clone()),
            ImportItem::Commitment(_) => (NoteKind::Commitments, paths.commitments.clone()),
            ImportItem::Pin { .. } => (NoteKind::Pinned, paths.pinned.clone()),
            ImportItem::Profile { .. } => (NoteKind::Profile, paths.profile.clone()),
            ImportItem::Persona { .. } => (NoteKind::Persona, self.settings.assistant.persona.clone()),
            ImportItem::Routine { name, .. } => (NoteKind::Other, format!("{}/{name}.md", paths.routines)),
            ImportItem::Note { path, .. } => return (NoteKind::Other, path.clone()),
        };
        (kind, NotePath::new(&path).expect("the settings' paths are validated when they are read"))
    }

    fn note(&self, kind: NoteKind, path: NotePath, found: &[FoundItem], report: &mut ImportReport) {
        let items: Vec<&ImportItem> = found.iter().map(|found| &found.item).collect();
        let (before, created) = match self.vault.read_if_there(&path) {
            Ok(Some(bytes)) => (bytes, false),
            Ok(None) => (Vec::new(), true),
            Err(error) => return report.skipped.extend(problems(found, &error)),
        };
        let mut merged = self.merged(kind, &before, &items);
        if !merged.added.is_empty()
            && !self.dry_run
            && let Err(error) = self.write(kind, &path, &items, &mut merged)
        {
            return report.skipped.extend(problems(found, &error));
        }
        let kept = merged
            .refused
            .iter()
            .map(|(at, reason)| ImportProblem { place: found[*at].place.clone(), reason: reason.clone() });
        // A note that a person has written stays: that is a remark, not a problem.
        match kind {
            NoteKind::Profile | NoteKind::Persona | NoteKind::Other => report.remarks.extend(kept),
            _ => report.skipped.extend(kept),
        }
        report.added += merged.count;
        report.duplicates += merged.duplicates;
        if !merged.added.is_empty() {
            let (added, duplicates) = (merged.added, merged.duplicates);
            report.notes.push(NoteReport { path, created, added, duplicates });
        }
    }

    fn merged(&self, kind: NoteKind, before: &[u8], items: &[&ImportItem]) -> MergedNote {
        // An unchanged note of the template counts as none.
        let is_blank = matches!(kind, NoteKind::Profile | NoteKind::Persona)
            && TEMPLATE.iter().any(|(_, text)| before == text.as_bytes());
        merge(kind, if is_blank { b"" } else { before }, items)
    }

    /// Writes the note, and leaves in `merged` what really was added to it.
    fn write(
        &self,
        kind: NoteKind,
        path: &NotePath,
        items: &[&ImportItem],
        merged: &mut MergedNote,
    ) -> Result<(), EditError> {
        let count = merged.count;
        let from = self.origin.client.as_deref().unwrap_or("elsewhere");
        let subject = format!("imported from {from}: {count} to {path}");
        let why = self.origin.why(subject).trailer(OPERATION, self.operation);
        self.editor.edit_with(path, &why, |bytes| {
            *merged = self.merged(kind, bytes, items);
            if merged.added.is_empty() { EditPlan::NOTHING } else { EditPlan::Bytes(merged.after.clone()) }
        })?;
        Ok(())
    }
}

/// All items of a note as problems, for one reason.
fn problems(found: &[FoundItem], reason: &impl std::fmt::Display) -> Vec<ImportProblem> {
    found
        .iter()
        .map(|found| ImportProblem { place: found.place.clone(), reason: reason.to_string() })
        .collect()
}
