//! Chooses the snapshot of a restore without `--at`: the last one before a note was deleted or damaged.

use super::plan::RestorePlan;
use crate::history::error::{HistoryError, Result};
use crate::history::read::{LogFilter, Point};
use crate::history::take::History;

impl History {
    /// The newest snapshot where it has what `scopes` have lost since; else, of one path, the state before its last change.
    /// None where nothing was lost and there is no one path to look back for.
    ///
    /// # Errors
    /// The path was never in a snapshot, or the history can't be read.
    pub fn before_last_change(&self, scopes: &[String]) -> Result<Option<Point>> {
        let newest = self.newest()?;
        let differs = |plan: RestorePlan| !plan.steps.is_empty() || !plan.blocked.is_empty();
        if self.plan_restore(&newest, scopes, false).is_ok_and(differs) {
            return Ok(Some(newest));
        }
        let [scope] = scopes else { return Ok(None) };
        let filter = LogFilter { path: Some(scope.clone()), limit: Some(1), ..LogFilter::default() };
        let last = self.records(&filter)?.into_iter().next();
        let last = last.ok_or_else(|| HistoryError::NotInSnapshot(scope.clone(), newest.short()))?;
        match last.commit.parent {
            Some(parent) => self.point(&parent.to_string()).map(Some),
            None => Ok(Some(newest)),
        }
    }
}
