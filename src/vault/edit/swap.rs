//! Makes, replaces and removes notes through hidden files beside them. A note is replaced in this way if the settings
//! ask for it, or if no [lease](super::lease) is available, as on macOS.
//!
//! The new bytes go to a hidden temporary file in the same folder, which is made durable. A new note gets its name only
//! if that name is free. For a swap, mode, owner and attributes are copied. Then, if the note's bytes haven't changed,
//! the two files are exchanged in one step. Another program may still write between that check and the exchange, and
//! into the displaced file afterwards. So the displaced file is read at once and kept for a minute, and late writes are
//! [carried over](super::displaced). A program that reads the new note and saves an older buffer over it isn't detected
//! (`docs/editing.md`). A removed note is renamed to a hidden name and kept in the same way.

use std::ffi::OsStr;
use std::io::{self, Write};

use fail::fail_point;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid, XattrFlags};

use super::edit_journal::EditKind;
use super::editor::{EditAttempt, EditTask, lock};
use super::in_place::read_only;
use crate::vault::plan::FileImages;
use crate::vault::plan::operations::FileAfter;
use crate::vault::prelude::*;
use crate::vault::read::conflict::OUR_MARK;
use crate::vault::read::{LocatedNote, names_same_file};
use crate::vault::{EditError, EditReport, Editor, ObservedChange, OpOutcome, Result, Stat, VaultError};

impl Editor {
    /// Reads, applies, writes a temporary file, journals, checks, exchanges, checks the displaced file, notifies,
    /// clears.
    pub(super) fn attempt_swap(&self, task: &mut EditTask<'_>) -> Result<EditAttempt> {
        let (file, stat) = match self.vault.open_file(task.path, OFlags::RDONLY) {
            Err(VaultError::NotFound(_)) => return self.attempt_absent(task),
            opened => opened?,
        };
        if self.options.ask_for_writers && super::lease::no_writers(&file) == Some(false) {
            return Ok(EditAttempt::Busy);
        }
        let before = self.vault.read_open(task.path, &file, stat.size)?;
        let planned = (task.plan)(Some(&before));
        if planned.after == FileAfter::Same {
            return Ok(EditAttempt::Done(EditReport::of(planned.outcomes, before)));
        }
        if stat.mode & 0o222 == 0 {
            return Err(EditError::write(task.path, "opening")(read_only()));
        }
        if !planned.explicit {
            self.check_content(task.path, &before, &stat)?;
        }
        let place = self.vault.locate(task.path)?;
        self.check_copies(task, &place.dir)?;
        let FileAfter::Bytes(post) = planned.after else {
            return self.remove(task, &place, before, None, planned.outcomes);
        };
        fail_point!("vault::swap::planned");
        let images = FileImages { pre: before, post };
        self.write_and_exchange(task, (&file, &stat, &place), images, planned.outcomes)
    }

    /// Writes a temporary file, journals, checks, exchanges, checks the displaced file, notifies, clears.
    fn write_and_exchange(
        &self,
        task: &EditTask<'_>,
        (file, stat, place): (&File, &Stat, &LocatedNote),
        images: FileImages,
        outcomes: Vec<OpOutcome>,
    ) -> Result<EditAttempt> {
        let failed = |step| EditError::write(task.path, step);
        let temp = temp_name(&place.name).map_err(failed("naming a temporary file"))?;
        let FileImages { pre, post } = task.begin(EditKind::Swap { temp: temp.clone() }, images)?;
        fail_point!("vault::swap::journalled");
        let written = write_temp(&place.dir, &temp, &post, Mode::from_raw_mode(0o600)).and_then(|written| {
            fail_point!("vault::swap::temp", |_| Ok(()));
            copy_attributes(file, &written)?;
            written.sync_all()
        });
        let displaced = written
            .map_err(failed("writing a temporary file"))
            .and_then(|()| self.displace(task.path, &temp, &pre, &post));
        if let Err(error) = displaced {
            self.abandon(task, &place.dir, &temp)?;
            return Err(error);
        }
        fail_point!("vault::swap::displaced");

        let same = names_same_file(&place.dir, &place.name, stat).map_err(failed("checking"))?
            && read_in(&place.dir, &place.name).map_err(failed("checking"))?.as_deref()
                == Some(pre.as_slice());
        fail_point!("vault::swap::checked");
        let exchanged = if same { exchange(&place.dir, &temp, &place.name) } else { Ok(false) };
        match exchanged {
            Ok(true) => {}
            // The note itself has no other name: its entry stays until it has its own again.
            Err(error) if is_aside(&place.dir, &temp) => {
                return Err(EditError::Unfinished(task.path.clone(), error));
            }
            exchanged => {
                self.abandon(task, &place.dir, &temp)?;
                return exchanged.map(|_| EditAttempt::Raced).map_err(failed("exchanging"));
            }
        }
        fail_point!("vault::swap::exchanged");
        let done =
            self.conclude(task, Some(&place.dir), Some(&pre), Some(post), outcomes, "vault::swap::told");
        // Writes between the check and the exchange are carried over now, the rest later.
        if let Err(error) = self.carry_over_record(task.journal, &self.record_file(&temp), false) {
            tracing::warn!(note = %task.path, %error, "late writes will be looked for again");
        }
        Ok(done)
    }
}

/// Makes the names in a folder durable. A failure doesn't fail the edit, which is made: a power cut may undo it.
pub(super) fn sync_folder(dir: &OwnedFd) {
    fail_point!("vault::sync-folder", |_| ());
    if let Err(error) = rustix::fs::fsync(dir) {
        tracing::warn!(%error, "a note is written, but its folder could not be synced: a power cut may undo that");
    }
}

/// Exchanges the note and `temp`, which then holds the displaced file. `false` if the note is deleted, or was replaced
/// meanwhile.
pub(super) fn exchange(dir: &OwnedFd, temp: &str, name: &OsStr) -> io::Result<bool> {
    fail_point!("vault::swap::by-rename", |_| exchange_by_rename(dir, temp, name));
    match rustix::fs::renameat_with(dir, temp, dir, name, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => exchange_by_rename(dir, temp, name),
        Err(error) => Err(error.into()),
    }
}

/// The same in steps, where the file system can't do it in one. The note has no name for a moment: a rename over it would
/// destroy what another program saves under the name in that moment.
fn exchange_by_rename(dir: &OwnedFd, temp: &str, name: &OsStr) -> io::Result<bool> {
    match rustix::fs::renameat(dir, name, dir, format!("{temp}.old")) {
        Err(Errno::NOENT) => return Ok(false),
        renamed => renamed?,
    }
    fail_point!("vault::swap::aside");
    let named = rename_new(dir, temp, name);
    mend_exchange(dir, temp, name)?;
    named
}

/// Ends an [`exchange_by_rename`], also an interrupted one: the old file gets its name back, or if that is taken
/// becomes the displaced one.
pub(super) fn mend_exchange(dir: &OwnedFd, temp: &str, name: &OsStr) -> io::Result<()> {
    let aside = format!("{temp}.old");
    if is_aside(dir, temp) && !rename_new(dir, &aside, name)? {
        rustix::fs::renameat(dir, &*aside, dir, temp)?;
    }
    Ok(())
}

/// Whether a note stands beside its name, in the middle of an [`exchange_by_rename`].
fn is_aside(dir: &OwnedFd, temp: &str) -> bool {
    rustix::fs::statat(dir, format!("{temp}.old"), AtFlags::SYMLINK_NOFOLLOW).is_ok()
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
    file.write_all(bytes)?;
    Ok(file)
}

/// Removes a file of this program, if it is there.
pub(super) fn remove(dir: &OwnedFd, name: &str) {
    let _ = rustix::fs::unlinkat(dir, name, AtFlags::empty());
}

/// Gives a file its name if that is free; `false` if it is taken.
pub(super) fn rename_new(dir: &OwnedFd, from: &str, to: &OsStr) -> io::Result<bool> {
    fail_point!("vault::swap::rename-new", |_| Err(Errno::IO.into()));
    let named = match rustix::fs::renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rename_by_link(dir, from, to),
        renamed => renamed,
    };
    match named {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The same without that flag, and at last without hard links (rclone, s3fs).
fn rename_by_link(dir: &OwnedFd, from: &str, to: &OsStr) -> rustix::io::Result<()> {
    match rustix::fs::linkat(dir, from, dir, to, AtFlags::empty()) {
        Err(Errno::PERM | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            match rustix::fs::statat(dir, to, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => rustix::fs::renameat(dir, from, dir, to),
                found => found.and(Err(Errno::EXIST)),
            }
        }
        linked => linked.and_then(|()| rustix::fs::unlinkat(dir, from, AtFlags::empty())),
    }
}

impl Editor {
    /// The attempt for a note that doesn't exist: nothing, or a new note.
    pub(super) fn attempt_absent(&self, task: &mut EditTask<'_>) -> Result<EditAttempt> {
        if task.begun.elapsed() < super::editor::GONE_FOR && lock(&self.known).knows(task.path) {
            // Some programs save by deleting and making anew; the file that they are about to write counts.
            return Ok(EditAttempt::Raced);
        }
        let planned = (task.plan)(None);
        let FileAfter::Bytes(post) = planned.after else {
            return Ok(EditAttempt::Done(EditReport::of(planned.outcomes, Vec::new())));
        };
        self.vault.create_parents(task.path)?;
        let place = self.vault.locate(task.path)?;
        self.check_copies(task, &place.dir)?;
        let failed = |step| EditError::write(task.path, step);

        let temp = temp_name(&place.name).map_err(failed("naming a temporary file"))?;
        let images = FileImages { pre: Vec::new(), post };
        let FileImages { post, .. } = task.begin(EditKind::Create { temp: temp.clone() }, images)?;
        fail_point!("vault::create::journalled");
        let written = write_temp(&place.dir, &temp, &post, Mode::from_raw_mode(0o666)).and_then(|file| {
            fail_point!("vault::create::temp", |_| Ok(()));
            file.sync_all()
        });
        if let Err(source) = written {
            self.abandon(task, &place.dir, &temp)?;
            return Err(failed("writing a temporary file")(source));
        }
        fail_point!("vault::create::synced");
        let named = rename_new(&place.dir, &temp, &place.name);
        if !matches!(named, Ok(true)) {
            self.abandon(task, &place.dir, &temp)?;
            return named.map(|_| EditAttempt::Raced).map_err(failed("giving it its name"));
        }
        fail_point!("vault::create::named");
        let outcomes = planned.outcomes;
        Ok(self.conclude(task, Some(&place.dir), None, Some(post), outcomes, "vault::create::told"))
    }

    /// Ends an attempt whose note has its new bytes, or is gone: makes its changed name in `renamed_in` durable, notifies
    /// the observer, and clears the journal. A test may end the process at `told`, in between.
    pub(super) fn conclude(
        &self,
        task: &EditTask<'_>,
        renamed_in: Option<&OwnedFd>,
        before: Option<&[u8]>,
        after: Option<Vec<u8>>,
        outcomes: Vec<OpOutcome>,
        told: &'static str,
    ) -> EditAttempt {
        if let Some(dir) = renamed_in {
            sync_folder(dir);
        }
        let change = ObservedChange { path: task.path, before, after: after.as_deref(), why: task.why };
        let warning = self.finished(&change);
        if fail::has_failpoints() {
            fail::eval(told, |_| ());
        }
        // The note is written: the next edit finds it so, and clears the entry.
        if let Err(error) = task.journal.clear() {
            tracing::warn!(note = %task.path, %error, "the edit is done, and its entry stays");
        }
        let removed = after.is_none();
        let report = EditReport::of(outcomes, after.unwrap_or_default());
        EditAttempt::Done(EditReport { changed: true, removed, warning, ..report })
    }

    /// Ends an attempt whose temporary file did not get the note's name.
    fn abandon(&self, task: &EditTask<'_>, dir: &OwnedFd, temp: &str) -> Result<()> {
        remove(dir, temp);
        self.forget_displaced(temp);
        task.journal.clear()
    }

    /// Removes a note with the bytes `before`, keeping its inode for a minute. Under a lease (`leased` is the file's
    /// stat) the note isn't opened again: its bytes can't have changed, and opening it would wait for our own lease.
    pub(super) fn remove(
        &self,
        task: &EditTask<'_>,
        place: &LocatedNote,
        before: Vec<u8>,
        leased: Option<&Stat>,
        outcomes: Vec<OpOutcome>,
    ) -> Result<EditAttempt> {
        let failed = |step| EditError::write(task.path, step);
        let kept = temp_name(&place.name).map_err(failed("naming a temporary file"))?;
        let images = FileImages { pre: before, post: Vec::new() };
        let FileImages { pre, .. } = task.begin(EditKind::Remove { kept: kept.clone() }, images)?;
        fail_point!("vault::remove::journalled");
        self.displace(task.path, &kept, &pre, &[])?;
        match rustix::fs::renameat_with(&place.dir, &place.name, &place.dir, &*kept, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::renameat(&place.dir, &place.name, &place.dir, &*kept)
            }
            renamed => renamed,
        }
        .map_err(|error| {
            self.forget_displaced(&kept);
            drop(task.journal.clear());
            failed("removing")(error.into())
        })?;
        fail_point!("vault::remove::renamed");
        let same = match leased {
            Some(stat) => names_same_file(&place.dir, OsStr::new(&kept), stat),
            None => read_in(&place.dir, &kept).map(|bytes| bytes.as_ref() == Some(&pre)),
        };
        if !same.map_err(failed("removing"))? {
            // It had changed in the last moment: it gets its name back, or is carried over later.
            if rename_new(&place.dir, &kept, &place.name).map_err(failed("removing"))? {
                self.forget_displaced(&kept);
            }
            task.journal.clear()?;
            return Ok(EditAttempt::Raced);
        }
        Ok(self.conclude(task, Some(&place.dir), Some(&pre), None, outcomes, "vault::remove::told"))
    }
}

/// Opens a file that lies in the open folder to read it, not following links; `more` are further flags.
pub(super) fn open_in(dir: &OwnedFd, name: impl rustix::path::Arg, more: OFlags) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
    rustix::fs::openat(dir, name, flags, Mode::empty()).map(File::from)
}

/// The bytes of a file that lies in the open folder, not following links; `None` if there is none.
pub(super) fn read_in(dir: &OwnedFd, name: impl rustix::path::Arg) -> io::Result<Option<Vec<u8>>> {
    match open_in(dir, name, OFlags::empty()) {
        Ok(mut file) => {
            let mut bytes = Vec::new();
            io::Read::read_to_end(&mut file, &mut bytes)?;
            Ok(Some(bytes))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_in_the_middle_of_an_exchange_in_steps_stays() {
        let folder = tempfile::tempdir().unwrap();
        let dir = OwnedFd::from(File::open(folder.path()).unwrap());
        let path = |name: &str| folder.path().join(name);
        let exchanged = || {
            std::fs::write(path("temp"), "new").unwrap();
            exchange_by_rename(&dir, "temp", OsStr::new("note")).unwrap()
        };
        let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
        std::fs::write(path("note"), "old").unwrap();
        let note = path("note");
        fail::cfg_callback("vault::swap::aside", move || std::fs::write(&note, "saved").unwrap()).unwrap();
        assert!(!exchanged());
        assert_eq!(read("note"), "saved");
        fail::remove("vault::swap::aside");
        assert!(exchanged());
        assert_eq!((read("note"), read("temp")), ("new".to_owned(), "saved".to_owned()));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        assert_eq!(rename_by_link(&dir, "temp", OsStr::new("note")), Err(Errno::EXIST));
    }
}
