//! Creates a note where there is none, and removes one.
//!
//! A new note is written to a hidden temporary file beside its place, made durable, and given its name only if that is
//! free (`RENAME_NOREPLACE`). A removed one is first renamed to a hidden name and kept for a minute like any
//! [displaced](super::displaced) file, because a program may still have it open.

use std::{ffi::OsStr, fs::File, io, io::Write, os::fd::OwnedFd};

use fail::fail_point;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::editor::{EditAttempt, EditTask, Editor, lock};
use super::journal::{EditKind, JournalLock};
use super::report::EditReport;
use crate::vault::Result;
use crate::vault::error::EditError;
use crate::vault::plan::operations::FileAfter;
use crate::vault::plan::{ImageChange, OldImageGuard, OpOutcome};
use crate::vault::read::conflict::OUR_MARK;
use crate::vault::read::{LocatedNote, Stat, names_same_file};

/// A hidden, unused name beside `name`.
pub(super) fn temp_name(name: &OsStr) -> io::Result<String> {
    let mut random = [0; 5];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let random = data_encoding::BASE32_NOPAD.encode(&random).to_lowercase();
    // Names may be 255 bytes long; the cut only affects people who read it.
    let shown: String = name.to_string_lossy().chars().take(40).collect();
    Ok(format!(".{shown}{OUR_MARK}{random}.tmp"))
}

/// Makes a temporary file in `dir` and writes `bytes` to it; the caller syncs it.
pub(super) fn write_temp(dir: &OwnedFd, temp: &str, bytes: &[u8], mode: Mode) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(dir, temp, flags, mode)?);
    if let Err(error) = file.write_all(bytes) {
        remove(dir, temp);
        return Err(error);
    }
    Ok(file)
}

/// Removes a file of ours, if it is there.
pub(super) fn remove(dir: &OwnedFd, name: &str) {
    let _ = rustix::fs::unlinkat(dir, name, AtFlags::empty());
}

/// Gives a file its name if that is free; `false` if it is taken.
pub(super) fn rename_new(dir: &OwnedFd, from: &str, to: &OsStr) -> io::Result<bool> {
    match rustix::fs::renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            match rustix::fs::linkat(dir, from, dir, to, AtFlags::empty()) {
                Ok(()) => {
                    rustix::fs::unlinkat(dir, from, AtFlags::empty())?;
                    Ok(true)
                }
                Err(Errno::EXIST) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

impl Editor {
    /// The attempt for a note that doesn't exist: nothing, or a new note.
    pub(super) fn attempt_absent(
        &self,
        task: &mut EditTask<'_>,
        journal: &JournalLock<'_>,
    ) -> Result<EditAttempt> {
        if task.begun.elapsed() < super::editor::GONE_FOR && lock(&self.known).knows(task.path) {
            // Some programs save by deleting and making anew; the file that they are about to write counts.
            return Ok(EditAttempt::Raced);
        }
        let planned = (task.plan)(None);
        let FileAfter::Bytes(after) = planned.after else {
            return Ok(EditAttempt::Done(EditReport::of(planned.outcomes, Vec::new())));
        };
        self.vault.create_parents(task.path)?;
        let place = self.vault.locate(task.path)?;
        self.check_copies(task, &place.dir)?;
        let failed = |step| EditError::write(task.path, step);

        let temp = temp_name(&place.name).map_err(failed("naming a temporary file"))?;
        let (kind, script) = (EditKind::Create { temp: temp.clone() }, ImageChange::between(&[], &after));
        journal.write(&task.entry(kind, script, OldImageGuard::Whole(Vec::new())))?;
        fail_point!("vault::create::journalled");
        let written = write_temp(&place.dir, &temp, &after, Mode::from_raw_mode(0o666)).and_then(|file| {
            fail_point!("vault::create::temp", |_| Ok(()));
            file.sync_all()
        });
        if let Err(source) = written {
            remove(&place.dir, &temp);
            journal.clear()?;
            return Err(failed("writing a temporary file")(source));
        }
        fail_point!("vault::create::synced");
        match rename_new(&place.dir, &temp, &place.name) {
            Ok(true) => {}
            refused => {
                remove(&place.dir, &temp);
                journal.clear()?;
                return match refused {
                    Ok(_) => Ok(EditAttempt::Raced),
                    Err(source) => Err(failed("giving it its name")(source)),
                };
            }
        }
        fail_point!("vault::create::named");
        rustix::fs::fsync(&place.dir).map_err(|error| failed("syncing its folder")(error.into()))?;
        let warning = self.finished(task.path, task.why, None, Some(&after));
        fail_point!("vault::create::told");
        journal.clear()?;
        Ok(EditAttempt::Done(EditReport {
            changed: true,
            warning,
            ..EditReport::of(planned.outcomes, after)
        }))
    }

    /// Removes a note that reads `before`, keeping its inode for a minute. Under a lease (`leased` is
    /// the file's stat) its bytes can't have changed since, and opening it would wait for ourselves.
    pub(super) fn remove(
        &self,
        task: &EditTask<'_>,
        journal: &JournalLock<'_>,
        place: &LocatedNote,
        before: &[u8],
        leased: Option<&Stat>,
        outcomes: Vec<OpOutcome>,
    ) -> Result<EditAttempt> {
        let failed = |step| EditError::write(task.path, step);
        let kept = temp_name(&place.name).map_err(failed("naming a temporary file"))?;
        let (kind, script) = (EditKind::Remove { kept: kept.clone() }, ImageChange::between(before, &[]));
        journal.write(&task.entry(kind, script, OldImageGuard::Whole(before.to_vec())))?;
        fail_point!("vault::remove::journalled");
        self.displace(task.path, &kept, before, &[])?;
        match rustix::fs::renameat_with(&place.dir, &place.name, &place.dir, &*kept, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::renameat(&place.dir, &place.name, &place.dir, &*kept)
            }
            renamed => renamed,
        }
        .map_err(|error| {
            self.forget_displaced(&kept);
            drop(journal.clear());
            failed("removing")(error.into())
        })?;
        fail_point!("vault::remove::renamed");
        let same = match leased {
            Some(stat) => names_same_file(&place.dir, OsStr::new(&kept), stat),
            None => read_in(&place.dir, &kept).map(|bytes| bytes.as_deref() == Some(before)),
        };
        if !same.map_err(failed("removing"))? {
            // It had changed in the last moment: it gets its name back, or is carried over later.
            if rename_new(&place.dir, &kept, &place.name).map_err(failed("removing"))? {
                self.forget_displaced(&kept);
            }
            journal.clear()?;
            return Ok(EditAttempt::Raced);
        }
        rustix::fs::fsync(&place.dir).map_err(|error| failed("syncing its folder")(error.into()))?;
        let warning = self.finished(task.path, task.why, Some(before), None);
        fail_point!("vault::remove::told");
        journal.clear()?;
        let report = EditReport::of(outcomes, Vec::new());
        Ok(EditAttempt::Done(EditReport { changed: true, removed: true, warning, ..report }))
    }
}

/// The bytes of a file that lies in the open folder, not following links; `None` if there is none.
pub(super) fn read_in(dir: &OwnedFd, name: impl rustix::path::Arg) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(file) => {
            let mut bytes = Vec::new();
            io::Read::read_to_end(&mut File::from(file), &mut bytes)?;
            Ok(Some(bytes))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
