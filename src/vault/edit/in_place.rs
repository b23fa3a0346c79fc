//! Makes one attempt to write a note in place, under a write lease (the protocol in `docs/editing.md`, step by step).
//!
//! The attempt reads the note once it holds the lease, and computes the edit from these bytes. If another program
//! replaced the note between opening and writing, or wrote to it despite the lease, the attempt ends as
//! `EditAttempt::Raced`, and the `Editor` repeats it. Each step carries a failpoint `vault::in-place::STEP`, at which
//! the tests kill the process and cut the power.

use std::os::unix::fs::{FileExt, MetadataExt};

use fail::fail_point;

use super::edit_journal::EditKind;
use super::editor::{EditAttempt, EditTask};
use super::lease::{LeaseGrant, WriteLease};
use crate::vault::plan::FileImages;
use crate::vault::plan::operations::FileAfter;
use crate::vault::prelude::*;
use crate::vault::{EditError, EditReport, Editor, NotePath, OpOutcome, Result, Stat, VaultError};

impl Editor {
    /// Opens, leases, re-reads, applies, journals, writes, checks, releases, notifies, clears.
    pub(super) fn attempt_in_place(&self, task: &mut EditTask<'_>) -> Result<EditAttempt> {
        let (file, stat) = match self.open_to_write(task.path) {
            Ok(opened) => opened,
            Err(EditError::Vault(VaultError::NotFound(_))) => return self.attempt_absent(task),
            Err(error @ EditError::Write { .. }) => return self.attempt_read_only(task, error),
            Err(error) => return Err(error),
        };
        if is_remote(&file) {
            return Ok(EditAttempt::NoLease);
        }
        fail_point!("vault::in-place::opened");
        let lease = match WriteLease::take(&file) {
            LeaseGrant::Granted(lease) => lease,
            LeaseGrant::Busy => return Ok(EditAttempt::Busy),
            LeaseGrant::Unsupported => return Ok(EditAttempt::NoLease),
        };
        fail_point!("vault::in-place::leased");
        if !self.is_same_file(task.path, &file, &stat)? {
            return Ok(EditAttempt::Raced);
        }
        let size = file.metadata().map_err(|error| VaultError::io(task.path, error))?.len();
        let before = self.vault.read_open(task.path, &file, size)?;
        let planned = (task.plan)(Some(&before));
        if planned.after == FileAfter::Same {
            return Ok(EditAttempt::Done(EditReport::of(planned.outcomes, before)));
        }
        if !planned.explicit {
            self.check_content(task.path, &before, &stat)?;
        }
        let place = self.vault.locate(task.path)?;
        self.check_copies(task, &place.dir)?;
        let FileAfter::Bytes(post) = planned.after else {
            let attempt = self.remove(task, &place, before, Some(&stat), planned.outcomes);
            drop(lease);
            return attempt;
        };
        fail_point!("vault::in-place::planned");
        let leased = (&file, &stat, lease);
        self.write_in_place(task, leased, FileImages { pre: before, post }, planned.outcomes)
    }

    /// Journals, writes, checks, releases, notifies, clears.
    fn write_in_place(
        &self,
        task: &EditTask<'_>,
        (file, stat, lease): (&File, &Stat, WriteLease<'_>),
        images: FileImages,
        outcomes: Vec<OpOutcome>,
    ) -> Result<EditAttempt> {
        reserve(file, &images).map_err(EditError::write(task.path, "reserving space"))?;
        let images = task.begin(EditKind::InPlace, images)?;
        fail_point!("vault::in-place::journalled");
        if lease.may_be_lost() {
            // Another program may have saved since the file was read.
            task.journal.clear()?;
            return Ok(EditAttempt::Raced);
        }
        if let Err(source) = write_images(file, &images) {
            let is_back = take_back(file, &images).is_ok()
                || self.vault.read_open(task.path, file, 0).is_ok_and(|now| now == images.pre);
            if !is_back {
                return Err(EditError::Unfinished(task.path.clone(), source));
            }
            task.journal.clear()?;
            return Err(EditError::write(task.path, "writing")(source));
        }
        fail_point!("vault::in-place::written");

        let here = self.is_same_file(task.path, file, stat)?;
        let FileImages { pre, post } = images;
        let ours = !lease.may_be_lost() || self.vault.read_open(task.path, file, post.len() as u64)? == post;
        drop(lease);
        if !here || !ours {
            // The bytes went into a replaced file: nothing has happened to the note.
            task.journal.clear()?;
            return Ok(EditAttempt::Raced);
        }
        fail_point!("vault::in-place::released");
        let done = self.conclude(task, None, Some(&pre), Some(post), outcomes, "vault::in-place::told");
        fail_point!("vault::in-place::cleared");
        Ok(done)
    }

    /// Opens a note for writing. If it is not writable, the error is [`EditError::Write`].
    pub(super) fn open_to_write(&self, path: &NotePath) -> Result<(File, Stat)> {
        let denied = EditError::write(path, "opening");
        match self.vault.open_file(path, OFlags::RDWR) {
            // The superuser could write it all the same, but its owner has said not to.
            Ok((_, stat)) if stat.mode & 0o222 == 0 => Err(denied(read_only())),
            Err(VaultError::Io(_, source))
                if matches!(
                    source.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                Err(denied(source))
            }
            opened => Ok(opened?),
        }
    }

    /// The attempt for a file that isn't writable. It is an error only if the edit would change the file.
    pub(super) fn attempt_read_only(&self, task: &mut EditTask<'_>, error: EditError) -> Result<EditAttempt> {
        let before = self.vault.read(task.path)?;
        let planned = (task.plan)(Some(&before));
        if planned.after == FileAfter::Same {
            return Ok(EditAttempt::Done(EditReport::of(planned.outcomes, before)));
        }
        Err(error)
    }

    /// Whether the open file is still the one that the path names, and has a name at all.
    pub(super) fn is_same_file(&self, path: &NotePath, file: &File, stat: &Stat) -> Result<bool> {
        let linked = file.metadata().map_err(|error| VaultError::io(path, error))?.nlink() > 0;
        let named = match self.vault.stat(path) {
            Ok(Some(now)) => now.inode == stat.inode && now.dev == stat.dev,
            Ok(None) | Err(VaultError::NotFound(_)) => false,
            Err(error) => return Err(error.into()),
        };
        Ok(linked && named)
    }
}

/// The failure to open a file that may not be written.
pub(super) fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only; make it writable with `chmod u+w`")
}

/// Makes sure that a growing file finds room before its first byte changes.
fn reserve(file: &File, images: &FileImages) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if images.post.len() > images.pre.len() {
        use rustix::{fs::FallocateFlags, io::Errno};
        let (at, len) = (images.pre.len() as u64, (images.post.len() - images.pre.len()) as u64);
        return match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, at, len) {
            Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
            // A file system that can't reserve will say so while writing.
            _ => Ok(()),
        };
    }
    let _ = (file, images);
    Ok(())
}

/// Writes the differing bytes, truncates, and waits for the disk.
pub(super) fn write_images(file: &File, images: &FileImages) -> io::Result<()> {
    let range = images.written();
    let bytes = &images.post[range.clone()];
    if torn() {
        // Only tests come here: a disk that has written some sectors when the power goes.
        let half = ((range.start + bytes.len() / 2).next_multiple_of(512) - range.start).min(bytes.len());
        file.write_all_at(&bytes[..half], range.start as u64)?;
        file.sync_data()?;
        fail_point!("vault::in-place::half-written");
    }
    file.write_all_at(bytes, range.start as u64)?;
    fail_point!("vault::in-place::before-cut");
    if images.post.len() < images.pre.len() {
        file.set_len(images.post.len() as u64)?;
    }
    fail_point!("vault::in-place::before-sync", |_| Err(io::Error::other("a bad disk")));
    file.sync_data()
}

fn torn() -> bool {
    fail_point!("vault::in-place::torn", |_| true);
    false
}

/// Puts the old bytes back after a write that failed.
fn take_back(file: &File, images: &FileImages) -> io::Result<()> {
    fail_point!("vault::in-place::take-back", |_| Err(io::Error::other("a bad disk")));
    let (pre, [old, _]) = (&images.pre, images.differing());
    file.write_all_at(&pre[old.start..], old.start as u64)?;
    file.set_len(pre.len() as u64)?;
    file.sync_data()
}

/// File systems whose leases, if they give any, bind only this machine.
#[cfg(target_os = "linux")]
fn is_remote(file: &File) -> bool {
    // NFS, SMB, CIFS, SMB2, 9P, AFS, Coda, Ceph, FUSE (linux/magic.h).
    const REMOTE: [u64; 9] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x5346_414f,
        0x7375_7245,
        0x00c3_6400,
        0x6573_5546,
    ];
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss)]
    rustix::fs::fstatfs(file).is_ok_and(|stat| REMOTE.contains(&(stat.f_type as u64 & 0xffff_ffff)))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_: &File) -> bool {
    true
}
