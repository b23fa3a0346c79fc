//! Reads the names in an open folder, complete also while an editor or a sync tool replaces files in it.
//!
//! A file system may list a replaced file at a new position. If the list is read in several pieces, such a file can
//! stand in none of them (seen on tmpfs: half of all lists of a busy folder of 1,000 files). Therefore the pieces are
//! large, and a folder that changed while it was read, or shortly before, is read again: a file system's clock may be as
//! coarse as two seconds. The result holds the names of all readings, so a name may belong to a file that was removed
//! meanwhile.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{SeekFrom, fstat, seek};
use rustix::io::Errno;

use super::stat_of;

/// The number of readings of a folder that does not stop changing.
const MOST_READINGS: usize = 4;

/// The names in an open folder without `.` and `..`, in byte order.
///
/// # Errors
/// The folder can't be read.
pub(super) fn names_in(dir: impl AsFd) -> Result<BTreeSet<CString>, Errno> {
    let (dir, mut names) = (dir.as_fd(), BTreeSet::new());
    for _ in 0..MOST_READINGS {
        let before = stat_of(&fstat(dir)?);
        seek(dir, SeekFrom::Start(0))?;
        match read_once(dir, &mut |name| _ = names.insert(name.to_owned())) {
            // The folder itself was removed.
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
        if before == stat_of(&fstat(dir)?)
            && before.has_settled(jiff::Timestamp::now().as_nanosecond() as i64)
        {
            break;
        }
    }
    names.remove(c".");
    names.remove(c"..");
    Ok(names)
}

/// Gives all names of one reading. 64 KiB are 1,000 to 2,000 names.
#[cfg(target_os = "linux")]
fn read_once(dir: BorrowedFd<'_>, give: &mut dyn FnMut(&CStr)) -> Result<(), Errno> {
    let mut buffer = Vec::with_capacity(65_536);
    let mut items = rustix::fs::RawDir::new(dir, buffer.spare_capacity_mut());
    while let Some(item) = items.next() {
        give(item?.file_name());
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn read_once(dir: BorrowedFd<'_>, give: &mut dyn FnMut(&CStr)) -> Result<(), Errno> {
    for item in rustix::fs::Dir::read_from(dir)? {
        give(item?.file_name());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn files_that_are_replaced_meanwhile_are_listed() {
        const FILES: usize = 5000;
        // On tmpfs nearly every single reading of so many files lacks some.
        let shm = std::path::Path::new("/dev/shm");
        let folder = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
        let note = |n: usize| folder.path().join(format!("{n}.md"));
        (0..FILES).for_each(|n| std::fs::write(note(n), "x").unwrap());
        let dir = std::fs::File::open(folder.path()).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let new = folder.path().join("new.tmp");
                for n in (0..FILES).cycle().take_while(|_| !is_over.load(Ordering::Relaxed)) {
                    std::fs::write(&new, "y").unwrap();
                    std::fs::rename(&new, note(n)).unwrap();
                }
            });
            let lists = std::iter::repeat_with(|| names_in(&dir).unwrap());
            let lists =
                lists.map(|names| names.iter().filter(|name| name.to_bytes().ends_with(b".md")).count());
            let shortest = lists.take(20).min();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(shortest, Some(FILES));
        });
    }
}
