//! Carries out a restore of a file, a folder or the whole vault.
//!
//! A [plan](super::plan) compares the target snapshot with the present. The present is recorded as a snapshot, so that
//! the restore can be undone. A file is written only if it still has the recorded content, so a person's edit meanwhile
//! is never overwritten. The restored files are recorded in one commit. If another snapshot is taken during the
//! restore, there are several commits, marked as one operation.
//!
//! A restore that is killed, or stopped by a full disk, leaves its journal. A person can then finish the restore or
//! take it back; otherwise the next restore or undo finishes it before its own work.

use super::plan::{BlockedFile, RestorePlan, plan_renamed};
use super::write_file::StepError;
use crate::history::error::{HistoryError, Result};
use crate::history::prelude::*;
use crate::history::read::{FileDiff, LogFilter, is_within, show};
use crate::history::store::{Commit, FileMode, FileState, FileStates, failpoint, operation_lock};
use crate::history::take::pending::{self, PendingRestore};
use crate::history::take::{Deletions, FileEntries, History, Rename, RestoreStep, pairs, plural};

/// The result of a restore.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RestoreReport {
    /// The snapshot that was restored from.
    pub from: String,
    /// The snapshot of what was there before.
    pub snapshot_before: Option<String>,
    /// The commit that holds the result.
    pub snapshot_after: Option<String>,
    /// The files that were written.
    pub restored: Vec<String>,
    /// The files that were removed.
    pub deleted: Vec<String>,
    /// The files that were not restored, with reasons.
    pub skipped: Vec<BlockedFile>,
}

/// The treatment of a restore that was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupted {
    /// The rest is restored too.
    Finish,
    /// Restored files go back to their state before.
    RollBack,
}

impl History {
    /// The vault's files as they are at this moment, without recording anything.
    pub fn present(&self) -> Result<FileStates> {
        let store = self.store();
        let (_, base) = store.head_tree()?;
        let known = FileEntries::load(self.dir());
        let scan = self.scanner(&store, base, &mut store.dry_objects()).scan_all(&known)?;
        let mut files = store.files(base)?;
        let deleted = scan.deleted.into_iter().map(|path| (path, None));
        for (path, state) in scan.changed.into_iter().chain(deleted) {
            match state {
                Some(state) => drop(files.insert(path, state)),
                None => drop(files.remove(&path)),
            }
        }
        Ok(files)
    }

    /// The plan of restoring `scopes` to `point`; nothing is recorded or written.
    ///
    /// # Errors
    /// Nothing of `scopes` is in that snapshot or in the vault, or something can't be read.
    pub fn plan_restore(&self, point: &Commit, scopes: &[String], exact: bool) -> Result<RestorePlan> {
        let present = self.present()?;
        let target = self.store().files(point.tree)?;
        let renames = self.renames(point, &target, &present, scopes)?;
        for scope in scopes {
            let scope = std::slice::from_ref(scope);
            let known = target.keys().any(|path| is_within(path, scope));
            let newer = exact && present.keys().any(|path| is_within(path, scope));
            let renamed = renames.iter().any(|rename| is_within(&rename.to, scope));
            if !known && !newer && !renamed {
                return Err(HistoryError::NotInSnapshot(scope[0].clone(), point.short()));
            }
        }
        let mut plan = plan_renamed(target, &present, scopes, exact, renames);
        self.block_unmerged(&mut plan, scopes);
        Ok(plan)
    }

    /// The files of `scopes` that have another path now than at `point`: by their texts, or, where those
    /// have changed too much, by what the history says.
    fn renames(
        &self,
        point: &Commit,
        target: &FileStates,
        present: &FileStates,
        scopes: &[String],
    ) -> Result<Vec<Rename>> {
        let (gone, come) = (only_in(target, present), only_in(present, target));
        let text = |path: &str, id| {
            // Files that are in no snapshot yet are read from the vault.
            self.content(id).or_else(|_| {
                Ok(NotePath::new(path).ok().and_then(|path| self.vault.read(&path).ok()).unwrap_or_default())
            })
        };
        let mut renames = pairs(&gone, &come, text)?;
        let left = |path: &str| renames.iter().all(|rename| rename.to != path && rename.from != path);
        let unexplained: Vec<&str> = gone.keys().copied().filter(|path| left(path)).collect();
        // Each path that is new since the point, under the name that it had before each snapshot.
        let mut names: HashMap<String, &str> =
            come.keys().filter(|path| left(path)).map(|path| ((*path).to_owned(), *path)).collect();
        if !unexplained.is_empty() && !names.is_empty() {
            self.log_between(&LogFilter::default(), None, Some(point.id), |record| {
                for rename in self.renames_of(&record, |path| names.contains_key(path))? {
                    if let Some(now) = names.remove(&rename.to) {
                        names.insert(rename.from, now);
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
            let found = unexplained.iter().filter_map(|path| names.get_key_value(*path));
            renames.extend(found.map(|(from, to)| Rename { from: from.clone(), to: (*to).to_owned() }));
            renames.sort_unstable_by(|a, b| a.from.cmp(&b.from));
        }
        renames.retain(|rename| is_within(&rename.from, scopes) || is_within(&rename.to, scopes));
        Ok(renames)
    }

    /// The difference that a step makes, the present read from the vault.
    pub fn step_diff(&self, step: &RestoreStep) -> Result<FileDiff> {
        let old = step
            .before
            .map(|state| Ok::<_, HistoryError>((state.mode, self.content_now(&step.path, state)?)));
        let new = step.after.map(|state| Ok::<_, HistoryError>((state.mode, self.content(state.id)?)));
        Ok(FileDiff { path: step.path.clone(), old: old.transpose()?, new: new.transpose()? })
    }

    fn content_now(&self, path: &str, state: FileState) -> Result<Vec<u8>> {
        let note =
            NotePath::new(path).map_err(|error| HistoryError::Outside(path.into(), error.to_string()))?;
        match state.mode {
            FileMode::Link => Ok(self.present_link(&note).unwrap_or_default()),
            _ => Ok(self.vault.read(&note)?),
        }
    }

    /// Carries out the plan of `plan_restore` for `scopes`, after a snapshot of the present.
    ///
    /// # Errors
    /// The present can't be kept, or the history can't be written. Files that can't be written are no
    /// error; they are in [`RestoreReport::skipped`].
    pub fn restore(
        &self,
        editor: &Editor,
        point: &Commit,
        scopes: &[String],
        exact: bool,
    ) -> Result<RestoreReport> {
        self.restore_if(editor, point, scopes, exact, |_| Ok(()))
    }

    /// As [`History::restore`], for one note whose text is still `was`. `prepare` is called after that was checked and
    /// before the note is written.
    ///
    /// # Errors
    /// As there; the note is another by now; those of `prepare`.
    pub fn restore_note(
        &self,
        editor: &Editor,
        point: &Commit,
        path: &NotePath,
        was: &[u8],
        prepare: impl Fn() -> Result<()>,
    ) -> Result<RestoreReport> {
        let was = Oid::hash_object(ObjectType::Blob, was).ok();
        let is_other = |state: FileState| state.mode != FileMode::Link && Some(state.id) != was;
        self.restore_if(editor, point, &[path.to_string()], false, |plan| {
            let mut own = plan.steps.iter().filter(|step| step.path == path.as_str());
            if own.any(|step| step.before.is_some_and(is_other)) {
                return Err(HistoryError::Changed(path.clone()));
            }
            if plan.steps.is_empty() { Ok(()) } else { prepare() }
        })
    }

    /// As [`History::restore`], where `check` lets the plan through.
    fn restore_if(
        &self,
        editor: &Editor,
        point: &Commit,
        scopes: &[String],
        exact: bool,
        check: impl Fn(&RestorePlan) -> Result<()>,
    ) -> Result<RestoreReport> {
        let _lock = operation_lock(self.dir())?;
        self.finish_earlier(editor)?;
        let mut present = self.present()?;
        if !present.is_empty() {
            // An empty folder, as on a new machine, has nothing that could be lost.
            self.snapshot_all(Deletions::Hold)?;
            present = self.present()?;
        }
        let before = self.newest()?;
        let target = self.store().files(point.tree)?;
        let renames = self.renames(point, &target, &present, scopes)?;
        let mut plan = plan_renamed(target, &present, scopes, exact, renames);
        self.block_unmerged(&mut plan, scopes);
        check(&plan)?;
        let mut report = RestoreReport {
            from: point.id.to_string(),
            snapshot_before: Some(before.id.to_string()),
            skipped: plan.blocked.clone(),
            ..RestoreReport::default()
        };
        if plan.steps.is_empty() {
            return Ok(report);
        }
        let restore = PendingRestore {
            from: point.id.to_string(),
            subject: subject(&plan, &show(point.time, self.zone())),
            began: self.now(),
            steps: plan.steps.clone(),
            undoing: None,
        };
        pending::begin(self.dir(), &restore)?;
        failpoint("history::restore-noted");
        self.carry_out(editor, &restore, &plan.steps, &mut report)?;
        Ok(report)
    }

    /// Finishes or takes back a restore or an undo that was interrupted. `None` where there was none.
    ///
    /// # Errors
    /// As [`History::restore`]; [`HistoryError::UnderWay`] where it isn't interrupted but goes on in another process.
    pub fn finish_pending(&self, editor: &Editor, what: Interrupted) -> Result<Option<RestoreReport>> {
        if pending::load(self.dir())?.is_none() {
            return Ok(None);
        }
        let _lock = operation_lock(self.dir())?;
        self.finish_under_way(editor, what)
    }

    /// Finishes what was interrupted, before another restore or undo replaces its journal: whether there was something.
    pub(super) fn finish_earlier(&self, editor: &Editor) -> Result<bool> {
        let Some(done) = self.finish_under_way(editor, Interrupted::Finish)? else { return Ok(false) };
        if pending::load(self.dir())?.is_none() {
            return Ok(true);
        }
        let why = done.skipped.first().map_or("", |skip| &skip.reason);
        Err(HistoryError::Failed(format!("an interrupted restore has to be finished first: {why}")))
    }

    /// As [`History::finish_pending`], for a caller that holds the operation lock.
    pub(super) fn finish_under_way(
        &self,
        editor: &Editor,
        what: Interrupted,
    ) -> Result<Option<RestoreReport>> {
        let Some(restore) = pending::load(self.dir())? else { return Ok(None) };
        // While the journal exists, a recovered write belongs to the restore. One that can't be recovered is skipped below.
        let _ = editor.recover();
        if restore.undoing.is_some() {
            return self.finish_undo(editor, &restore, what).map(Some);
        }
        let steps = match what {
            Interrupted::Finish => restore.steps.clone(),
            Interrupted::RollBack => restore.steps.iter().map(RestoreStep::reversed).collect(),
        };
        let mut report = RestoreReport { from: restore.from.clone(), ..RestoreReport::default() };
        self.carry_out(editor, &restore, &steps, &mut report)?;
        Ok(Some(report))
    }

    /// Writes the files, commits the result, and removes the journal.
    fn carry_out(
        &self,
        editor: &Editor,
        restore: &PendingRestore,
        steps: &[RestoreStep],
        report: &mut RestoreReport,
    ) -> Result<()> {
        let stopped = self.write_steps(editor, steps, &restore.why(), report);
        let paths: BTreeSet<NotePath> =
            steps.iter().filter_map(|step| NotePath::new(&step.path).ok()).collect();
        let made = self.snapshot_paths(&paths, Deletions::Accept)?;
        failpoint("history::restore-committed");
        report.snapshot_after = made.commits.last().cloned();
        self.confirm(steps, report)?;
        if !stopped {
            pending::end(self.dir())?;
        }
        Ok(())
    }

    /// Writes the files without commits. True where it stopped because no further file could be written.
    pub(super) fn write_steps(
        &self,
        editor: &Editor,
        steps: &[RestoreStep],
        why: &ChangeReason,
        report: &mut RestoreReport,
    ) -> bool {
        // Removals first: a folder may have to make way for a file.
        let (removals, writes): (Vec<&RestoreStep>, Vec<&RestoreStep>) =
            steps.iter().partition(|step| step.after.is_none());
        let mut stopped: Option<String> = None;
        for step in removals.into_iter().chain(writes) {
            let mut skip = |reason| report.skipped.push(BlockedFile { path: step.path.clone(), reason });
            if let Some(reason) = &stopped {
                skip(format!("not begun: {reason}"));
                continue;
            }
            match self.write_step(editor, step, why) {
                Ok(()) => {}
                Err(StepError::Skip(reason)) => skip(reason),
                Err(StepError::Stop(reason)) => {
                    skip(reason.clone());
                    stopped = Some(reason);
                }
            }
            failpoint("history::restore-step");
        }
        stopped.is_some()
    }

    /// A file counts as restored if a fresh scan of the vault finds it so.
    fn confirm(&self, steps: &[RestoreStep], report: &mut RestoreReport) -> Result<()> {
        let store = self.store();
        let (_, tree) = store.head_tree()?;
        for step in steps {
            let skipped = report.skipped.iter().any(|skip| skip.path == step.path);
            if store.file(tree, &step.path)? == step.after && !skipped {
                let list = if step.after.is_some() { &mut report.restored } else { &mut report.deleted };
                list.push(step.path.clone());
            } else if !skipped {
                let reason = "it was changed again meanwhile; the newer text stays".to_owned();
                report.skipped.push(BlockedFile { path: step.path.clone(), reason });
            }
        }
        Ok(())
    }

    /// The snapshot that is restored by default. It is the newest one, if `scopes` have lost files since; otherwise,
    /// for a single path, the snapshot before its last change that had something there. `None` if nothing was lost and
    /// there are several paths.
    ///
    /// # Errors
    /// The path was never in a snapshot, or the history can't be read.
    pub fn before_last_change(&self, scopes: &[String]) -> Result<Option<Commit>> {
        let newest = self.newest()?;
        let differs = |plan: RestorePlan| !plan.steps.is_empty() || !plan.blocked.is_empty();
        if self.plan_restore(&newest, scopes, false).is_ok_and(differs) {
            return Ok(Some(newest));
        }
        let [scope] = scopes else { return Ok(None) };
        let filter = LogFilter { path: Some(scope.clone()), ..LogFilter::default() };
        let (mut last, mut found) = (None, None);
        self.log(&filter, |record| {
            let parent = record.commit.parent().map(|parent| self.point(&parent.to_string())).transpose()?;
            let parent = parent.unwrap_or_else(|| newest.clone());
            if let Err(HistoryError::NotInSnapshot(..)) = self.plan_restore(&parent, scopes, false) {
                last.get_or_insert(parent);
                return Ok(ControlFlow::Continue(()));
            }
            found = Some(parent);
            Ok(ControlFlow::Break(()))
        })?;
        let before = found.or(last);
        before.ok_or_else(|| HistoryError::NotInSnapshot(scope.clone(), newest.short())).map(Some)
    }
}

/// The files of `one` whose paths aren't in the `other`.
fn only_in<'a>(one: &'a FileStates, other: &FileStates) -> BTreeMap<&'a str, FileState> {
    let only = one.iter().filter(|(path, _)| !other.contains_key(*path));
    only.map(|(path, state)| (path.as_str(), *state)).collect()
}

fn subject(plan: &RestorePlan, time: &str) -> String {
    match plan.steps.as_slice() {
        [step] => format!("restored: {} as of {time}", step.path),
        steps => format!("restored: {} {} as of {time}", steps.len(), plural(steps.len(), "file")),
    }
}
