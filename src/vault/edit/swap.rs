//! Makes one attempt to write a note by a swap, where no lease is available (DESIGN §4.4): macOS, network file systems,
//! a file of another owner, or one that a program keeps open.
//!
//! The new bytes go to a hidden temporary file in the same folder, with mode, owner and attributes copied; if the note
//! still reads as it did, the two are exchanged in one step. Between that check and the exchange, and into the
//! displaced file afterwards, another program may still write; so the displaced file is read at once and kept for a
//! minute, and late writes are [carried over](super::displaced). A program that reads the new note and saves an older
//! buffer over it isn't detected here; the lease prevents that, and `docs/editing.md` has the figures.

use std::{ffi::OsStr, fs::File, io, os::fd::OwnedFd};

use fail::fail_point;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid, XattrFlags};
use rustix::io::Errno;

use super::create::{read_in, remove, rename_new, temp_name, write_temp};
use super::editor::{EditAttempt, EditTask, Editor};
use super::in_place::read_only;
use super::journal::{EditKind, JournalLock};
use super::report::EditReport;
use crate::vault::Result;
use crate::vault::error::{EditError, VaultError};
use crate::vault::plan::operations::FileAfter;
use crate::vault::plan::{ImageChange, OldImageGuard, OpOutcome};
use crate::vault::read::{LocatedNote, Stat, names_same_file};

impl Editor {
    /// Reads, applies, writes a temporary file, journals, checks, exchanges, checks the displaced file, notifies,
    /// clears.
    pub(super) fn attempt_swap(
        &self,
        task: &mut EditTask<'_>,
        journal: &JournalLock<'_>,
    ) -> Result<EditAttempt> {
        let (file, stat) = match self.vault.open_file(task.path, OFlags::RDONLY) {
            Err(VaultError::NotFound(_)) => return self.attempt_absent(task, journal),
            opened => opened?,
        };
        let before = self.vault.read_open(task.path, &file, stat.size)?;
        let planned = (task.plan)(Some(&before));
        if planned.after == FileAfter::Same {
            return Ok(EditAttempt::Done(EditReport::of(planned.outcomes, before)));
        }
        if stat.mode & 0o222 == 0 {
            return Err(EditError::write(task.path, "opening")(read_only()));
        }
        if self.options.ask_for_writers && super::lease::no_writers(&file) == Some(false) {
            return Ok(EditAttempt::Busy);
        }
        self.check_content(task, &planned, &before, &stat)?;
        let place = self.vault.locate(task.path)?;
        self.check_copies(task, &place.dir)?;
        let (script, after) = match planned.after {
            FileAfter::Missing | FileAfter::Same => {
                return self.remove(task, journal, &place, &before, None, planned.outcomes);
            }
            FileAfter::Bytes(after) => (ImageChange::between(&before, &after), after),
            FileAfter::Change(script) => {
                let mut after = before.clone();
                script.carry_out(&mut after);
                (script, after)
            }
        };
        fail_point!("vault::swap::planned");
        self.write_and_exchange(
            task,
            journal,
            (&file, &stat, &place),
            (before, script, after),
            planned.outcomes,
        )
    }

    /// Writes a temporary file, journals, checks, exchanges, checks the displaced file, notifies, clears: `script`
    /// leads from the bytes `before` to `after`.
    fn write_and_exchange(
        &self,
        task: &EditTask<'_>,
        journal: &JournalLock<'_>,
        (file, stat, place): (&File, &Stat, &LocatedNote),
        (before, script, after): (Vec<u8>, ImageChange, Vec<u8>),
        outcomes: Vec<OpOutcome>,
    ) -> Result<EditAttempt> {
        let failed = |step| EditError::write(task.path, step);
        let temp = temp_name(&place.name).map_err(failed("naming a temporary file"))?;
        let (kind, guard) = (EditKind::Swap { temp: temp.clone() }, OldImageGuard::Whole(before.clone()));
        journal.write(&task.entry(kind, script, guard))?;
        fail_point!("vault::swap::journalled");
        let written = write_temp(&place.dir, &temp, &after, Mode::from_raw_mode(0o600)).and_then(|written| {
            fail_point!("vault::swap::temp", |_| Ok(()));
            copy_attributes(file, &written)?;
            written.sync_all()
        });
        let displaced = written
            .map_err(failed("writing a temporary file"))
            .and_then(|()| self.displace(task.path, &temp, &before, &after));
        if let Err(error) = displaced {
            remove(&place.dir, &temp);
            self.forget_displaced(&temp);
            journal.clear()?;
            return Err(error);
        }
        fail_point!("vault::swap::displaced");

        let same = names_same_file(&place.dir, &place.name, stat).map_err(failed("checking"))?
            && read_in(&place.dir, &place.name).map_err(failed("checking"))?.as_deref()
                == Some(before.as_slice());
        fail_point!("vault::swap::checked");
        let exchanged = if same { exchange(&place.dir, &temp, &place.name) } else { Ok(false) };
        match exchanged {
            Ok(true) => {}
            refused => {
                remove(&place.dir, &temp);
                self.forget_displaced(&temp);
                journal.clear()?;
                return match refused {
                    Ok(_) => Ok(EditAttempt::Raced),
                    Err(source) => Err(failed("exchanging")(source)),
                };
            }
        }
        fail_point!("vault::swap::exchanged");
        rustix::fs::fsync(&place.dir).map_err(|error| failed("syncing its folder")(error.into()))?;
        let warning = self.finished(task.path, task.why, Some(&before), Some(&after));
        fail_point!("vault::swap::told");
        journal.clear()?;
        // Writes between the check and the exchange are carried over now, the rest later.
        if let Err(error) = self.carry_over_late_writes(journal, Some(&temp)) {
            tracing::warn!(note = %task.path, %error, "late writes will be looked for again");
        }
        Ok(EditAttempt::Done(EditReport { changed: true, warning, ..EditReport::of(outcomes, after) }))
    }
}

/// Exchanges the two, so that `temp` holds the displaced file. `false` if the note is deleted.
pub(super) fn exchange(dir: &OwnedFd, temp: &str, name: &OsStr) -> io::Result<bool> {
    match rustix::fs::renameat_with(dir, temp, dir, name, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => exchange_by_rename(dir, temp, name),
        Err(error) => Err(error.into()),
    }
}

/// The same in three steps, where the file system can't do it in one: the old file gets a second
/// name, the new one takes its place.
fn exchange_by_rename(dir: &OwnedFd, temp: &str, name: &OsStr) -> io::Result<bool> {
    let aside = format!("{temp}.old");
    match rustix::fs::linkat(dir, name, dir, &*aside, AtFlags::empty()) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(false),
        // No hard links here either (FAT): rename it aside, for a moment without its name.
        Err(_) => rustix::fs::renameat(dir, name, dir, &*aside)?,
    }
    rustix::fs::renameat(dir, temp, dir, name)?;
    rename_new(dir, &aside, OsStr::new(temp))
}

/// Finishes or undoes an [`exchange_by_rename`] that was cut short: no file is without its name.
pub(super) fn mend_exchange(dir: &OwnedFd, temp: &str, name: &OsStr) -> io::Result<()> {
    let exists = |name: &OsStr| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    let aside = format!("{temp}.old");
    if !exists(OsStr::new(&aside)) {
        return Ok(());
    }
    if !exists(name) {
        rename_new(dir, &aside, name)?;
    } else if !exists(OsStr::new(temp)) {
        rename_new(dir, &aside, OsStr::new(temp))?;
    } else {
        rustix::fs::unlinkat(dir, &*aside, AtFlags::empty())?;
    }
    Ok(())
}

/// Gives the new file the mode, the owner and the extended attributes of the old one. An owner or an
/// attribute that may not be set is left; the mode must be.
fn copy_attributes(from: &File, to: &File) -> io::Result<()> {
    let stat = rustix::fs::fstat(from)?;
    // The owner first: a change of owner clears bits of the mode.
    let owner = rustix::fs::fchown(to, Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)));
    if owner.is_err() {
        let _ = rustix::fs::fchown(to, None, Some(Gid::from_raw(stat.st_gid)));
    }
    rustix::fs::fchmod(to, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
    let mut names = vec![0_u8; 64 * 1024];
    let Ok(len) = rustix::fs::flistxattr(from, names.as_mut_slice()) else { return Ok(()) };
    for name in names[..len].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; 64 * 1024];
        if let Ok(len) = rustix::fs::fgetxattr(from, name, value.as_mut_slice()) {
            let _ = rustix::fs::fsetxattr(to, name, &value[..len], XattrFlags::empty());
        }
    }
    Ok(())
}
