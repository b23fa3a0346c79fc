//! Bringing back a file, a folder or the whole vault as it was.
//!
//! First a plan, which is pure: the target snapshot against the present. Then the present is a snapshot
//! of its own, so that the restore can be undone; then every file is written through the editing engine
//! with the content it is expected to have, so that what somebody types meanwhile wins; then one commit
//! says what was restored. A restore that is killed has left a note, and the next one finishes it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::Ordering;

use serde::Serialize;

use super::diff::{FileDiff, within};
use super::entries::EntryFile;
use super::error::{HistoryError, Result};
use super::object::{FileState, Mode};
use super::pending::{self, PendingRestore, PendingStep};
use super::point::{Point, show};
use super::scan::Scanner;
use super::snapshot::{Deletions, History, plural};
use super::store::{failpoint, sync_dir};
use crate::vault::{Actor, EditError, Editor, NotePath, Operation, Why};

/// One file of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Vault-relative.
    pub path: String,
    /// As it is, `None` where there is none.
    pub before: Option<FileState>,
    /// As it will be, `None` where it is removed.
    pub after: Option<FileState>,
}

/// A file that is not restored, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skip {
    /// Vault-relative.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// What a restore is going to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Every file that is written or removed, ordered by path.
    pub steps: Vec<Step>,
    /// Files that are newer than the point; only `--exact` removes them.
    pub newer: Vec<String>,
    /// Files that can't be restored.
    pub blocked: Vec<Skip>,
}

/// What a restore did.
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
    pub skipped: Vec<Skip>,
}

/// What becomes of a restore that was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupted {
    /// The rest is restored too.
    Finish,
    /// What was restored goes back to what it was before.
    RollBack,
}

/// The way from `present` to `target` for the files at or under `scopes` (all where there are none).
pub fn plan(
    target: &BTreeMap<String, FileState>,
    present: &BTreeMap<String, FileState>,
    scopes: &[String],
    exact: bool,
) -> Plan {
    let mut plan = Plan::default();
    let mut removed = BTreeSet::new();
    for (path, before) in present.iter().filter(|(path, _)| within(path, scopes)) {
        if !target.contains_key(path) {
            if exact {
                removed.insert(path.as_str());
                plan.steps.push(Step { path: path.clone(), before: Some(*before), after: None });
            } else {
                plan.newer.push(path.clone());
            }
        }
    }
    let stays = |path: &str| present.contains_key(path) && !removed.contains(path);
    for (path, after) in target.iter().filter(|(path, _)| within(path, scopes)) {
        let before = present.get(path).copied();
        if before == Some(*after) {
            continue;
        }
        if let Some(reason) = in_the_way(path, present, &stays) {
            plan.blocked.push(Skip { path: path.clone(), reason });
            continue;
        }
        plan.steps.push(Step { path: path.clone(), before, after: Some(*after) });
    }
    plan.steps.sort_by(|a, b| a.path.cmp(&b.path));
    plan
}

/// A file where a folder must be, or the other way round.
fn in_the_way(
    path: &str,
    present: &BTreeMap<String, FileState>,
    stays: &impl Fn(&str) -> bool,
) -> Option<String> {
    let parents = path.match_indices('/').map(|(at, _)| &path[..at]);
    for parent in parents {
        if stays(parent) {
            return Some(format!("`{parent}` is a file now, where a folder must be; `--exact` removes it"));
        }
    }
    let inside = format!("{path}/");
    let below = present.range(inside.clone()..).take_while(|(other, _)| other.starts_with(&inside));
    below
        .into_iter()
        .any(|(other, _)| stays(other))
        .then(|| format!("`{path}` is a folder with newer notes now; `--exact` removes them"))
}

impl History {
    /// The vault's files as they are at this moment, without recording anything.
    ///
    /// # Errors
    /// The vault or the history can't be read.
    pub fn present(&self) -> Result<BTreeMap<String, FileState>> {
        let store = self.store();
        let (_, base) = store.head_tree()?;
        let scanner = Scanner { store: &store, vault: self.vault(), selection: self.selection(), base };
        let scan = scanner.look_only(&EntryFile::new(self.dir()).load())?;
        let mut files = store.files(base)?;
        for path in scan.deleted {
            files.remove(&path);
        }
        for (path, state) in scan.changed {
            match state {
                Some(state) => drop(files.insert(path, state)),
                None => drop(files.remove(&path)),
            }
        }
        Ok(files)
    }

    /// What restoring `scopes` to `point` would do; nothing is recorded or written.
    ///
    /// # Errors
    /// Nothing of `scopes` is in that snapshot or in the vault, or something can't be read.
    pub fn plan_restore(&self, point: &Point, scopes: &[String], exact: bool) -> Result<Plan> {
        let present = self.present()?;
        let target = self.store().files(point.commit.tree)?;
        for scope in scopes {
            let scope = std::slice::from_ref(scope);
            let known = target.keys().any(|path| within(path, scope));
            let newer = exact && present.keys().any(|path| within(path, scope));
            if !known && !newer {
                return Err(HistoryError::NotInSnapshot { path: scope[0].clone(), at: point.short() });
            }
        }
        Ok(plan(&target, &present, scopes, exact))
    }

    /// The difference that a step makes, the present read from the vault.
    ///
    /// # Errors
    /// The snapshot's content can't be read.
    pub fn step_diff(&self, step: &Step) -> Result<FileDiff> {
        let old = match step.before {
            Some(state) => Some((state.mode, self.content_now(&step.path, state)?)),
            None => None,
        };
        let new = step
            .after
            .map(|state| Ok::<_, HistoryError>((state.mode, self.content(state.id)?)))
            .transpose()?;
        Ok(FileDiff { path: step.path.clone(), old, new })
    }

    fn content_now(&self, path: &str, state: FileState) -> Result<Vec<u8>> {
        let note = NotePath::new(path)
            .map_err(|error| HistoryError::Outside { path: path.into(), reason: error.to_string() })?;
        match state.mode {
            Mode::Link => Ok(link_target(&self.vault().absolute(&note))),
            _ => Ok(self.vault().read(&note)?),
        }
    }

    /// Does what `plan_restore` says for `scopes`, after a snapshot of the present.
    ///
    /// # Errors
    /// The present can't be kept, or the history can't be written. Files that can't be written are no
    /// error; they are in [`RestoreReport::skipped`].
    pub fn restore(
        &self,
        editor: &Editor,
        point: &Point,
        scopes: &[String],
        exact: bool,
    ) -> Result<RestoreReport> {
        self.finish_pending(editor, Interrupted::Finish)?;
        let mut present = self.present()?;
        if !present.is_empty() {
            // Asking for a restore is the person's word about what is gone: the present is what it is.
            // An empty folder, as on a new machine, has nothing that could be lost.
            self.snapshot_all(Deletions::Accept)?;
            let store = self.store();
            present = store.files(store.head_tree()?.1)?;
        }
        let before = self.newest()?;
        let target = self.store().files(point.commit.tree)?;
        let plan = plan(&target, &present, scopes, exact);
        let mut report = RestoreReport {
            from: point.commit.id.to_string(),
            snapshot_before: Some(before.commit.id.to_string()),
            skipped: plan.blocked.clone(),
            ..RestoreReport::default()
        };
        if plan.steps.is_empty() {
            return Ok(report);
        }
        let steps = plan.steps.iter().map(|step| PendingStep {
            path: step.path.clone(),
            before: step.before.map(Into::into),
            after: step.after.map(Into::into),
        });
        let restore = PendingRestore {
            from: point.commit.id.to_string(),
            subject: subject(&plan, &show(point.commit.time, self.zone())),
            began: self.now(),
            steps: steps.collect(),
        };
        pending::begin(self.dir(), &restore)?;
        failpoint("history::restore-noted");
        self.carry_out(editor, &restore, &plan.steps, &mut report)?;
        Ok(report)
    }

    /// Finishes or takes back a restore that was interrupted. `None` where there was none.
    ///
    /// # Errors
    /// As [`History::restore`].
    pub fn finish_pending(&self, editor: &Editor, what: Interrupted) -> Result<Option<RestoreReport>> {
        let Some(restore) = pending::load(self.dir())? else { return Ok(None) };
        let steps = restore.steps.iter().map(|step| {
            let (before, after) = (step.before.as_ref(), step.after.as_ref());
            let (before, after) = (
                before.and_then(super::pending::StoredState::state),
                after.and_then(super::pending::StoredState::state),
            );
            match what {
                Interrupted::Finish => Step { path: step.path.clone(), before, after },
                Interrupted::RollBack => Step { path: step.path.clone(), before: after, after: before },
            }
        });
        let mut report = RestoreReport { from: restore.from.clone(), ..RestoreReport::default() };
        let steps: Vec<Step> = steps.collect();
        self.carry_out(editor, &restore, &steps, &mut report)?;
        Ok(Some(report))
    }

    /// Writes the files, commits the result, and clears the note.
    fn carry_out(
        &self,
        editor: &Editor,
        restore: &PendingRestore,
        steps: &[Step],
        report: &mut RestoreReport,
    ) -> Result<()> {
        let why = Why {
            actor: Actor::Restore,
            subject: restore.subject.clone(),
            body: None,
            trailers: vec![(super::message::RESTORED_FROM.into(), restore.from.clone())],
        };
        self.restoring.store(true, Ordering::SeqCst);
        // Removals first: a folder may have to make way for a file.
        let (removals, writes): (Vec<&Step>, Vec<&Step>) =
            steps.iter().partition(|step| step.after.is_none());
        let mut stopped = None;
        for step in removals.into_iter().chain(writes) {
            if let Some(reason) = &stopped {
                report.skipped.push(Skip { path: step.path.clone(), reason: format!("not begun: {reason}") });
                continue;
            }
            match self.write_step(editor, step, &why) {
                Ok(()) => {}
                Err(StepError::Skip(reason)) => report.skipped.push(Skip { path: step.path.clone(), reason }),
                Err(StepError::Stop(reason)) => {
                    report.skipped.push(Skip { path: step.path.clone(), reason: reason.clone() });
                    stopped = Some(reason);
                }
            }
            failpoint("history::restore-step");
        }
        self.restoring.store(false, Ordering::SeqCst);
        let paths: BTreeSet<NotePath> =
            steps.iter().filter_map(|step| NotePath::new(&step.path).ok()).collect();
        let made = self.snapshot_paths(&paths, Deletions::Accept)?;
        failpoint("history::restore-committed");
        report.snapshot_after = made.commits.last().cloned();
        self.verify(steps, report)?;
        if stopped.is_none() {
            pending::end(self.dir())?;
        }
        Ok(())
    }

    /// What counts as restored is what a fresh look at the vault has found.
    fn verify(&self, steps: &[Step], report: &mut RestoreReport) -> Result<()> {
        let store = self.store();
        let (_, tree) = store.head_tree()?;
        for step in steps {
            let skipped = report.skipped.iter().any(|skip| skip.path == step.path);
            if store.file(tree, &step.path)? == step.after && !skipped {
                let list = if step.after.is_some() { &mut report.restored } else { &mut report.deleted };
                list.push(step.path.clone());
            } else if !skipped {
                let reason = "it was changed again meanwhile; the newer text stays".to_owned();
                report.skipped.push(Skip { path: step.path.clone(), reason });
            }
        }
        Ok(())
    }

    fn write_step(&self, editor: &Editor, step: &Step, why: &Why) -> std::result::Result<(), StepError> {
        let path = NotePath::new(&step.path).map_err(|error| StepError::Skip(error.to_string()))?;
        let place = self.vault().absolute(&path);
        let content =
            |state: FileState| self.content(state.id).map_err(|error| StepError::Skip(error.to_string()));
        let is_link = |state: Option<FileState>| state.is_some_and(|state| state.mode == Mode::Link);
        if is_link(step.before) || is_link(step.after) {
            return self.write_link(editor, step, &path, &place, why);
        }
        match (step.before, step.after) {
            // Gone already, as after an interruption.
            (Some(_), None) if !self.vault().exists(&path) => {}
            (Some(before), None) => {
                edit(editor, &path, Operation::RemoveFile { expect: content(before)? }, why)?;
                remove_empty_parents(self.vault().root(), &place);
            }
            (None, Some(after)) => {
                let bytes = content(after)?;
                clear_way(&place);
                match editor.create(&path, &bytes, why) {
                    Ok(_) => {}
                    // Begun before an interruption: it may be there already.
                    Err(EditError::Exists(_)) if self.vault().read(&path).is_ok_and(|now| now == bytes) => {}
                    Err(error) => return Err(error.into()),
                }
                set_mode(&place, after.mode);
            }
            (Some(before), Some(after)) => {
                let bytes = content(after)?;
                if before.id != after.id && !self.vault().read(&path).is_ok_and(|now| now == bytes) {
                    let operation = Operation::ReplaceAll { expect: Some(content(before)?), with: bytes };
                    edit(editor, &path, operation, why)?;
                }
                if before.mode != after.mode {
                    set_mode(&place, after.mode);
                }
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// The editing engine writes notes; a link is no note, and is set in one step.
    fn write_link(
        &self,
        editor: &Editor,
        step: &Step,
        path: &NotePath,
        place: &Path,
        why: &Why,
    ) -> std::result::Result<(), StepError> {
        let skip = |error: std::io::Error| StepError::Skip(error.to_string());
        let now_link = std::fs::symlink_metadata(place).is_ok_and(|metadata| metadata.is_symlink());
        match step.before {
            Some(before) if before.mode == Mode::Link => {
                let expected = self.content(before.id).map_err(|error| StepError::Skip(error.to_string()))?;
                if now_link && link_target(place) == expected {
                    std::fs::remove_file(place).map_err(skip)?;
                } else if now_link || place.exists() {
                    return Err(StepError::Skip("the link has changed meanwhile".into()));
                }
            }
            Some(_) if step.after.is_some() => {
                let removal = Step { after: None, ..step.clone() };
                self.write_step(editor, &removal, why)?;
            }
            _ => {}
        }
        let Some(after) = step.after else { return Ok(()) };
        if after.mode != Mode::Link {
            return self.write_step(editor, &Step { before: None, ..step.clone() }, why);
        }
        let target = self.content(after.id).map_err(|error| StepError::Skip(error.to_string()))?;
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent).map_err(skip)?;
        }
        // A parent that is a link out of the vault must not carry the new link out with it.
        let parent = place.parent().and_then(|parent| parent.canonicalize().ok());
        if !parent.is_some_and(|parent| parent.starts_with(self.vault().root())) {
            return Err(StepError::Skip(format!("`{path}` leads out of the vault")));
        }
        let target: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(&target);
        std::os::unix::fs::symlink(target, place).map_err(skip)?;
        place.parent().map(sync_dir);
        Ok(())
    }
}

/// Why a step was not done.
enum StepError {
    /// This file alone.
    Skip(String),
    /// No other will go better: the disk is full or can't be written.
    Stop(String),
}

impl From<EditError> for StepError {
    fn from(error: EditError) -> Self {
        use std::io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let reason = error.to_string();
        match error {
            EditError::Write { source, .. } | EditError::Journal { source, .. }
                if matches!(source.kind(), StorageFull | ReadOnlyFilesystem | QuotaExceeded) =>
            {
                Self::Stop(reason)
            }
            EditError::Journal { .. } => Self::Stop(reason),
            _ => Self::Skip(reason),
        }
    }
}

fn edit(
    editor: &Editor,
    path: &NotePath,
    operation: Operation,
    why: &Why,
) -> std::result::Result<(), StepError> {
    let report = editor.edit(path, &[operation], why)?;
    if report.all_done() {
        return Ok(());
    }
    Err(StepError::Skip("it was changed meanwhile; the newer text stays".into()))
}

fn link_target(place: &Path) -> Vec<u8> {
    let target = std::fs::read_link(place).unwrap_or_default();
    std::os::unix::ffi::OsStrExt::as_bytes(target.as_os_str()).to_vec()
}

/// Sets or clears the right to execute, for whoever may read.
fn set_mode(place: &Path, mode: Mode) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(metadata) = std::fs::symlink_metadata(place) else { return };
    if !metadata.is_file() {
        return;
    }
    let now = metadata.permissions().mode() & 0o7777;
    let wanted = if mode == Mode::Executable { now | ((now & 0o444) >> 2) } else { now & !0o111 };
    if wanted != now {
        let _ = std::fs::set_permissions(place, std::fs::Permissions::from_mode(wanted));
    }
}

/// A folder in a file's place goes if it holds nothing but what the editing engine displaced from it.
fn clear_way(folder: &Path) {
    if !std::fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir()) {
        return;
    }
    let entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    let displaced =
        |name: &str| name.starts_with('.') && name.contains(".vault-agent-") && name.ends_with(".tmp");
    for entry in &entries {
        if entry.path().is_dir() {
            clear_way(&entry.path());
        } else if displaced(&entry.file_name().to_string_lossy()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_dir(folder);
}

/// Folders that have become empty go, up to the vault's own.
fn remove_empty_parents(root: &Path, place: &Path) {
    let mut folder = place.parent();
    while let Some(at) = folder.filter(|at| *at != root && at.starts_with(root)) {
        if std::fs::remove_dir(at).is_err() {
            break;
        }
        folder = at.parent();
    }
}

fn subject(plan: &Plan, time: &str) -> String {
    match plan.steps.as_slice() {
        [step] => format!("restored: {} as of {time}", step.path),
        steps => format!("restored: {} {} as of {time}", steps.len(), plural(steps.len(), "file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> BTreeMap<String, FileState> {
        let state = |content: &str| FileState {
            id: git2::Oid::hash_object(git2::ObjectType::Blob, content.as_bytes()).unwrap(),
            mode: Mode::File,
        };
        list.iter().map(|(path, content)| ((*path).to_owned(), state(content))).collect()
    }

    fn names(plan: &Plan) -> Vec<String> {
        let sign = |step: &Step| match (step.before, step.after) {
            (None, _) => '+',
            (_, None) => '-',
            _ => '~',
        };
        plan.steps.iter().map(|step| format!("{}{}", sign(step), step.path)).collect()
    }

    #[test]
    fn newer_files_stay_unless_exact() {
        let target = files(&[("a", "1"), ("d/b", "1"), ("same", "1")]);
        let present = files(&[("a", "2"), ("new", "1"), ("same", "1")]);
        let loose = plan(&target, &present, &[], false);
        assert_eq!(names(&loose), ["~a", "+d/b"]);
        assert_eq!(loose.newer, ["new"]);
        assert_eq!(names(&plan(&target, &present, &[], true)), ["~a", "+d/b", "-new"]);
        assert_eq!(names(&plan(&target, &present, &["d".into()], true)), ["+d/b"]);
    }

    #[test]
    fn a_folder_in_a_files_place_is_named() {
        let (target, present) = (files(&[("a", "1")]), files(&[("a/b", "2")]));
        let loose = plan(&target, &present, &[], false);
        assert!(loose.steps.is_empty());
        assert!(loose.blocked[0].reason.contains("is a folder"), "{loose:?}");
        assert_eq!(names(&plan(&target, &present, &[], true)), ["+a", "-a/b"]);
        assert!(plan(&present, &target, &[], false).blocked[0].reason.contains("is a file now"));
    }
}
