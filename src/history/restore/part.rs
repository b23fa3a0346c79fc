//! Plans and carries out a restore of a part of a note: a line, a reminder by its id, or a section.
//!
//! The plan is a value that is shown first. When it is carried out, it is computed again from the note's newest bytes,
//! so that a person's edit meanwhile stays.

use std::ops::ControlFlow;

use super::execute::RestoreReport;
use super::line::{LineTarget, restore_line};
use crate::history::error::{HistoryError, Result};
use crate::history::read::{FileDiff, LogFilter, Point};
use crate::history::store::{FileMode, RESTORED_FROM};
use crate::history::take::{Deletions, History};
use crate::vault::{Actor, ChangeReason, EditPlan, Editor, NotePath};

/// The plan of restoring a part of a note.
#[derive(Debug, Clone)]
pub struct PartPlan {
    /// The note.
    pub path: NotePath,
    /// Which part.
    pub target: LineTarget,
    /// The snapshot that it is taken from.
    pub point: Point,
    /// The note's text there.
    source: Vec<u8>,
    /// The note as it stands; empty where there is none.
    pub now: Vec<u8>,
    /// The note as it will stand.
    pub after: Vec<u8>,
}

impl PartPlan {
    /// Whether the part is there already.
    pub fn is_unchanged(&self) -> bool {
        self.now == self.after
    }

    /// Its changes.
    pub fn diff(&self) -> FileDiff {
        let file = |bytes: &[u8]| Some((FileMode::File, bytes.to_vec()));
        FileDiff { path: self.path.to_string(), old: file(&self.now), new: file(&self.after) }
    }
}

impl History {
    /// How a part of a note comes back from a point; without one from the newest snapshot that has it and differs from now.
    ///
    /// # Errors
    /// The note or the part was not there, or something can't be read.
    pub fn plan_part(&self, path: &NotePath, target: &LineTarget, at: Option<Point>) -> Result<PartPlan> {
        let now = self.vault().read_or_empty(path)?;
        let (point, source) = match at {
            Some(point) => {
                let source = self.read_at(&point.commit, path.as_str())?;
                let missing = || HistoryError::NotInSnapshot(path.to_string(), point.short());
                let source = source.ok_or_else(missing)?;
                (point, source)
            }
            None => self.newest_with(path, target, &now)?,
        };
        let after = restore_line(&now, &source, target).ok_or_else(|| {
            let at = point.short();
            HistoryError::NoPart(match target {
                LineTarget::Id(id) => format!("`{path}` has never had a line with the id `{id}`"),
                LineTarget::Number(number) => format!("`{path}` had no line {number} at {at}"),
                LineTarget::Section(heading) => {
                    format!("`{path}` has no section `{heading}`, now or at {at}, or more than one")
                }
            })
        })?;
        Ok(PartPlan { path: path.clone(), target: target.clone(), point, source, now, after })
    }

    fn newest_with(&self, path: &NotePath, target: &LineTarget, now: &[u8]) -> Result<(Point, Vec<u8>)> {
        let newest = self.newest()?;
        let gains = |source: &[u8]| restore_line(now, source, target).is_some_and(|after| after != now);
        let held = self.read_at(&newest.commit, path.as_str())?;
        if let Some(source) = held.as_ref().filter(|source| gains(source)) {
            return Ok((newest, source.clone()));
        }
        let mut found = None;
        let filter = LogFilter { path: Some(path.to_string()), ..LogFilter::default() };
        self.log(&filter, |record| {
            let change = record.changes.iter().find(|change| change.path == path.as_str());
            if let (Some(old), Some(parent)) = (change.and_then(|change| change.old), record.commit.parent) {
                let source = self.content(old.id)?;
                if gains(&source) {
                    found = Some((parent, source));
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if let Some((parent, source)) = found {
            return Ok((self.point(&parent.to_string())?, source));
        }
        let missing = || HistoryError::NotInSnapshot(path.to_string(), newest.short());
        let source = held.ok_or_else(missing)?;
        Ok((newest, source))
    }

    /// Brings it back, after a snapshot of the present.
    ///
    /// # Errors
    /// The present can't be kept, or the note can't be written.
    pub fn restore_part(&self, editor: &Editor, plan: &PartPlan) -> Result<RestoreReport> {
        self.snapshot_all(Deletions::Hold)?;
        let newest = |history: &Self| history.newest().ok().map(|point| point.commit.id.to_string());
        let from = plan.point.commit.id.to_string();
        let mut report =
            RestoreReport { from: from.clone(), snapshot_before: newest(self), ..RestoreReport::default() };
        let what = if matches!(plan.target, LineTarget::Section(_)) { "section" } else { "line" };
        let mut why = ChangeReason::new(Actor::Restore, format!("restored: a {what} of {}", plan.path));
        why = why.trailer(RESTORED_FROM, from);
        if let LineTarget::Id(id) = &plan.target {
            why = why.trailer("Reminder", id.clone());
        }
        let again = |bytes: &[u8]| {
            let after = restore_line(bytes, &plan.source, &plan.target);
            EditPlan::Bytes(after.unwrap_or_else(|| bytes.to_vec()))
        };
        editor
            .edit_with(&plan.path, &why, again)
            .map_err(|error| HistoryError::Edit(plan.path.clone(), error))?;
        report.restored.push(plan.path.to_string());
        report.snapshot_after = newest(self);
        Ok(report)
    }
}
