//! Writes one file of a restore: a regular file through the editing engine, a symbolic link directly. A file that the
//! restore wrote before an interruption is recognized and left alone.

use crate::history::prelude::*;
use crate::history::store::{FileMode, FileState, sync_dir};
use crate::history::take::{History, RestoreStep, is_reserved};
use crate::vault::{ChangeReason, EditError, Editor, NotePath, Operation, VaultError};

impl History {
    pub(super) fn write_step(
        &self,
        editor: &Editor,
        step: &RestoreStep,
        why: &ChangeReason,
    ) -> Result<(), StepError> {
        let path = NotePath::new(&step.path).map_err(skip)?;
        // A history that was fetched may hold what no snapshot does, such as a hook of the person's own `.git`.
        if step.path.split('/').any(is_reserved) {
            return Err(StepError::Skip("git reserves this name".into()));
        }
        // Before a folder is made or removed: a parent may be a link out of the vault by now.
        if path.parent().is_some_and(|parent| self.vault.resolved(&parent).is_none()) {
            return Err(skip(VaultError::Escapes(path)));
        }
        let place = self.vault.absolute(&path);
        let content = |state: FileState| self.content(state.id).map_err(skip);
        let is_link = |state: Option<FileState>| state.is_some_and(|state| state.mode == FileMode::Link);
        if is_link(step.before) || is_link(step.after) {
            return self.write_link(editor, step, &path, &place, why);
        }
        match (step.before, step.after) {
            // Gone already, as after an interruption.
            (Some(_), None) if !self.vault.exists(&path) => {}
            (Some(before), None) => {
                edit(editor, &path, Operation::RemoveFile { expect: content(before)? }, why)?;
                remove_empty_parents(self.vault.root(), &place);
            }
            (None, Some(after)) => {
                let bytes = content(after)?;
                clear_way(&place);
                match editor.create(&path, &bytes, why) {
                    Ok(_) => {}
                    // Begun before an interruption: it may be there already.
                    Err(EditError::Exists(_)) if self.vault.read(&path).is_ok_and(|now| now == bytes) => {}
                    Err(error) => return Err(error.into()),
                }
                set_mode(&place, after.mode);
            }
            (Some(before), Some(after)) => {
                let bytes = content(after)?;
                if before.id != after.id && !self.vault.read(&path).is_ok_and(|now| now == bytes) {
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

    /// The content at `path` (a text, or a link's target), if it equals this state; the right to execute doesn't count.
    pub(super) fn written(&self, path: &NotePath, state: FileState) -> Option<Vec<u8>> {
        let now = match (state.mode, self.present_link(path)) {
            (FileMode::Link, link) => link,
            (_, Some(_)) => None,
            (_, None) => self.vault.read(path).ok(),
        };
        now.filter(|now| Oid::hash_object(ObjectType::Blob, now).is_ok_and(|id| id == state.id))
    }

    /// The target of the symbolic link at `path`, which may be outside of the vault.
    pub(super) fn present_link(&self, path: &NotePath) -> Option<Vec<u8>> {
        let target = std::fs::read_link(self.vault.absolute(path)).ok()?;
        Some(std::os::unix::ffi::OsStringExt::into_vec(target.into_os_string()))
    }

    /// The editing engine writes notes; a link is no note, and is set in one step.
    fn write_link(
        &self,
        editor: &Editor,
        step: &RestoreStep,
        path: &NotePath,
        place: &Path,
        why: &ChangeReason,
    ) -> Result<(), StepError> {
        // Begun before an interruption: it may be there already.
        if step.after.is_some_and(|after| self.written(path, after).is_some()) {
            return Ok(());
        }
        match step.before {
            Some(before) if before.mode == FileMode::Link => {
                if self.written(path, before).is_some() {
                    std::fs::remove_file(place).map_err(skip)?;
                } else if place.symlink_metadata().is_ok() {
                    return Err(StepError::Skip("the link has changed meanwhile".into()));
                }
            }
            Some(_) if step.after.is_some() => {
                let removal = RestoreStep { after: None, ..step.clone() };
                self.write_step(editor, &removal, why)?;
            }
            _ => {}
        }
        let Some(after) = step.after else { return Ok(()) };
        if after.mode != FileMode::Link {
            return self.write_step(editor, &RestoreStep { before: None, ..step.clone() }, why);
        }
        let target = self.content(after.id).map_err(skip)?;
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent).map_err(skip)?;
        }
        let target: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(&target);
        std::os::unix::fs::symlink(target, place).map_err(skip)?;
        place.parent().map(sync_dir);
        Ok(())
    }
}

/// The reason why a step was not done.
pub(super) enum StepError {
    /// This file alone.
    Skip(String),
    /// All files: the disk is full or can't be written.
    Stop(String),
}

fn skip(error: impl std::error::Error) -> StepError {
    StepError::Skip(error.to_string())
}

impl From<EditError> for StepError {
    fn from(error: EditError) -> Self {
        use std::io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let reason = error.to_string();
        match error {
            EditError::Write { source, .. }
            | EditError::Unfinished(_, source)
            | EditError::Journal(_, source)
                if matches!(source.kind(), StorageFull | ReadOnlyFilesystem | QuotaExceeded) =>
            {
                Self::Stop(reason)
            }
            EditError::Journal { .. } => Self::Stop(reason),
            _ => Self::Skip(reason),
        }
    }
}

fn edit(editor: &Editor, path: &NotePath, operation: Operation, why: &ChangeReason) -> Result<(), StepError> {
    let report = editor.edit(path, &[operation], why)?;
    let changed = || StepError::Skip("it was changed meanwhile; the newer text stays".into());
    report.all_done().then_some(()).ok_or_else(changed)
}

/// Sets or clears the right to execute, for every class of users that may read.
fn set_mode(place: &Path, mode: FileMode) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(metadata) = std::fs::symlink_metadata(place) else { return };
    if !metadata.is_file() {
        return;
    }
    let now = metadata.permissions().mode() & 0o7777;
    let wanted = if mode == FileMode::Executable { now | ((now & 0o444) >> 2) } else { now & !0o111 };
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
