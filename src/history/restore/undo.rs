//! Carries out an [`UndoPlan`] as a whole or not at all: writes all its notes, then makes one commit.
//!
//! All writes are journaled before the first is made. So the next command finishes a killed undo
//! ([`History::finish_pending`]), and a snapshot in between attributes none of the writes to a person. If a person
//! changes a note at the same moment, the notes that the undo wrote are restored, and a new plan is made from the
//! present notes.

use super::plan::BlockedFile;
use super::undo_plan::Conflict;
use crate::history::prelude::*;
use crate::history::store::{failpoint, operation_lock};
use crate::history::take::RestoreStep;
use crate::history::take::pending::{self, PendingRestore, PendingUndo};
use crate::history::{Deletions, FileMode, History, Interrupted, RestoreReport, Result, UndoPlan};

/// The most plans of an undo while a person is typing.
const MAX_ATTEMPTS: usize = 3;

/// The result of an undo.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct UndoReport {
    /// The commits that were taken back, newest first.
    pub undone: Vec<String>,
    /// The notes that were written.
    pub notes: Vec<String>,
    /// Notes that could not be written; then no note was.
    pub skipped: Vec<BlockedFile>,
    /// Conflicts that need a person; these operations stay as they are.
    pub conflicts: Vec<Conflict>,
    /// The snapshot that holds the result.
    pub snapshot: Option<String>,
}

impl History {
    /// Carries out `plan` as one commit. If a note can't be written none is, and the report says why.
    ///
    /// # Errors
    /// Another process restores or undoes; the history can't be written.
    pub fn undo(&self, editor: &Editor, plan: &UndoPlan) -> Result<UndoReport> {
        let _lock = operation_lock(self.dir())?;
        let plan =
            if self.finish_earlier(editor)? { self.plan_of(plan.writes.clone())? } else { plan.clone() };
        self.carry_out_undo(editor, plan)
    }

    fn carry_out_undo(&self, editor: &Editor, mut plan: UndoPlan) -> Result<UndoReport> {
        let mut report = UndoReport::default();
        for _ in 0..MAX_ATTEMPTS {
            report = UndoReport { conflicts: plan.conflicts.clone(), ..UndoReport::default() };
            if plan.writes.is_empty() {
                break;
            }
            let noted = self.journal_undo(&plan)?;
            report.skipped = self.write_undo(editor, &noted);
            if report.skipped.is_empty() {
                report.snapshot = Some(self.commit_undo_result(editor, &noted)?);
                report.undone = plan.writes.iter().map(|write| write.commit.id.to_string()).collect();
                report.notes = plan.notes.keys().cloned().collect();
                break;
            }
            self.roll_undo_back(editor, &noted)?;
            let mut anew = self.plan_of(plan.writes)?;
            anew.conflicts.splice(0..0, plan.conflicts);
            plan = anew;
        }
        Ok(report)
    }

    /// Journals the writes of the undo, and keeps every text that it needs in the history.
    fn journal_undo(&self, plan: &UndoPlan) -> Result<PendingRestore> {
        let paths = plan.notes.keys().filter_map(|path| NotePath::new(path).ok()).collect();
        // Changes of people in the meantime are a snapshot of their own.
        self.snapshot_paths(&paths, Deletions::Hold)?;
        let store = self.store();
        let _lock = store.lock()?;
        let mut objects = store.objects();
        let mut steps = Vec::new();
        for (path, note) in &plan.notes {
            let mut write = |side: &Option<(FileMode, Vec<u8>)>| {
                side.as_ref().map_or(Ok(None), |(mode, bytes)| objects.write_file(Some(bytes), *mode))
            };
            let (before, after) = (write(&note.old)?, write(&note.new)?);
            steps.push(RestoreStep { path: path.clone(), before, after });
        }
        objects.sync()?;
        let (subject, body) = words(plan);
        let undoes = plan.writes.iter().map(|write| write.commit.id.to_string()).collect();
        let noted = PendingRestore {
            from: String::new(),
            subject,
            began: self.now(),
            steps,
            undoing: Some(PendingUndo { undoes, body }),
        };
        pending::begin(self.dir(), &noted)?;
        failpoint("history::undo-noted");
        Ok(noted)
    }

    /// Writes the notes; returns those that could not be.
    fn write_undo(&self, editor: &Editor, noted: &PendingRestore) -> Vec<BlockedFile> {
        let why = ChangeReason::new(Actor::Restore, noted.subject.clone());
        let mut report = RestoreReport::default();
        self.write_steps(editor, &noted.steps, &why, &mut report);
        report.skipped
    }

    /// Takes back the writes of an undo, where they were not changed since.
    fn roll_undo_back(&self, editor: &Editor, noted: &PendingRestore) -> Result<()> {
        let back = noted.reversed();
        pending::begin(self.dir(), &back)?;
        failpoint("history::undo-rolls-back");
        self.write_undo(editor, &back);
        self.commit_undo_result(editor, &back).map(drop)
    }

    /// Finishes a killed undo; or takes it back, where that is requested or had begun. If a person has changed one of
    /// its notes since, the plan is made anew.
    pub(super) fn finish_undo(
        &self,
        editor: &Editor,
        noted: &PendingRestore,
        what: Interrupted,
    ) -> Result<RestoreReport> {
        let undoes = noted.undoing.iter().flat_map(|undoing| undoing.undoes.clone());
        let undoes: HashSet<String> = undoes.collect();
        let noted = match what {
            Interrupted::RollBack if !undoes.is_empty() => noted.reversed(),
            _ => noted.clone(),
        };
        pending::begin(self.dir(), &noted)?;
        let skipped = self.write_undo(editor, &noted);
        if !skipped.is_empty() && !noted.is_rolling_back() {
            self.roll_undo_back(editor, &noted)?;
            let writes = self.writes_where(|it, _| undoes.contains(&it.id.to_string()), 1, undoes.len())?;
            let done = self.carry_out_undo(editor, self.plan_of(writes)?)?;
            let conflicts =
                done.conflicts.into_iter().map(|it| BlockedFile { path: it.path, reason: it.reason });
            return Ok(RestoreReport {
                snapshot_after: done.snapshot,
                restored: done.notes,
                skipped: done.skipped.into_iter().chain(conflicts).collect(),
                ..RestoreReport::default()
            });
        }
        let snapshot = self.commit_undo_result(editor, &noted)?;
        let is_done = |path: &&RestoreStep| !skipped.iter().any(|skip| skip.path == path.path);
        let restored = noted.steps.iter().filter(is_done).map(|step| step.path.clone()).collect();
        Ok(RestoreReport { snapshot_after: Some(snapshot), restored, skipped, ..RestoreReport::default() })
    }

    /// Commits the undo's result once and removes the journal. Returns the newest snapshot.
    fn commit_undo_result(&self, editor: &Editor, noted: &PendingRestore) -> Result<String> {
        let store = self.store();
        let mut commits = self.committer(&store)?;
        let mut changes = Vec::new();
        for step in noted.steps.clone() {
            let Ok(path) = NotePath::new(&step.path) else { continue };
            let known = store.file(commits.tree, path.as_str())?;
            let stands = match step.after {
                Some(state) => self
                    .written(&path, state)
                    .is_some_and(|now| !self.selection.is_too_large(path.as_str(), now.len() as u64)),
                None => !self.vault.exists(&path),
            };
            // A snapshot's changes by other actors are left to it.
            if self.keeps(&path) && stands && known != step.after && known == step.before {
                changes.push((step.path, step.after));
            }
        }
        let message = noted.message(noted.steps.iter().map(|step| step.path.as_str()));
        let began = noted.began.as_second();
        let is_said = commits.is_committed(&message, usize::MAX, |it| it.time.as_second() >= began)?;
        if !changes.is_empty() || !is_said && !noted.is_rolling_back() {
            // Also where nothing of the tree changes.
            let tree = store.update_tree(commits.tree, &changes, &mut commits.objects)?;
            commits.commit_tree(tree, &message)?;
        }
        failpoint("history::restore-committed");
        pending::end(self.dir())?;
        editor.delete_removed();
        Ok(commits.head.map(|id| id.to_string()).unwrap_or_default())
    }
}

/// The subject and the body of an undo's commit.
fn words(plan: &UndoPlan) -> (String, Option<String>) {
    let subjects: Vec<String> = plan.operations().into_iter().map(|operation| operation.subject).collect();
    match subjects.as_slice() {
        [one] => (format!("undid: {one}"), None),
        many => (format!("undid {} operations", many.len()), Some(subjects.join("\n"))),
    }
}

impl PendingRestore {
    /// Whether this is a failed undo that is rolling back.
    fn is_rolling_back(&self) -> bool {
        self.undoing.as_ref().is_some_and(|undoing| undoing.undoes.is_empty())
    }

    /// The journal with states swapped.
    fn reversed(&self) -> Self {
        Self {
            steps: self.steps.iter().map(RestoreStep::reversed).collect(),
            subject: format!("not done: {}", self.subject),
            undoing: Some(PendingUndo { undoes: Vec::new(), body: None }),
            ..self.clone()
        }
    }
}
