//! Takes a write lease on a file. The kernel grants the lease only if no other program has the file open. If another
//! program then opens the leased file, the kernel makes that program wait.
//!
//! No safe wrapper of `F_SETLEASE` exists, so this module has `unsafe` code. Each block makes only `fcntl` calls on a
//! descriptor that a borrow keeps open. When a program opens the leased file, the kernel sends the holder a signal, by
//! default SIGIO, whose default action ends the process. This module asks for SIGURG instead, which is ignored unless
//! it is handled. No reaction is needed, since a lease is held for milliseconds only.
#![allow(unsafe_code)]

use std::fs::File;
#[cfg(target_os = "linux")]
use std::io;
use std::os::fd::AsRawFd;

/// From `linux/fcntl.h`, the same on every architecture that Rust's standard library knows as Linux;
/// the `libc` crate lacks it.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

/// The result of asking for a lease.
#[derive(Debug)]
pub(super) enum LeaseGrant<'f> {
    /// It is ours until the value is dropped.
    Granted(WriteLease<'f>),
    /// Another program has the file open.
    Busy,
    /// This system, file system or owner gives no leases.
    Unsupported,
}

/// A write lease on an open file, given back when dropped (and by the kernel when the process dies).
#[derive(Debug)]
pub(super) struct WriteLease<'f> {
    file: &'f File,
    since: std::time::Instant,
}

impl<'f> WriteLease<'f> {
    /// Asks for a write lease on `file`, which must be open for writing.
    #[cfg(target_os = "linux")]
    pub(super) fn take(file: &'f File) -> LeaseGrant<'f> {
        let fd = file.as_raw_fd();
        // SAFETY: F_SETSIG takes an integer; `file` keeps the descriptor open during the call.
        if unsafe { libc::fcntl(fd, F_SETSIG, libc::SIGURG) } == -1 {
            return LeaseGrant::Unsupported;
        }
        // SAFETY: F_SETLEASE takes an integer; `file` keeps the descriptor open during the call.
        if unsafe { libc::fcntl(fd, libc::F_SETLEASE, libc::F_WRLCK) } == 0 {
            return LeaseGrant::Granted(WriteLease { file, since: std::time::Instant::now() });
        }
        match io::Error::last_os_error().raw_os_error() {
            Some(libc::EAGAIN) => LeaseGrant::Busy,
            _ => LeaseGrant::Unsupported,
        }
    }

    /// No leases here.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn take(_: &'f File) -> LeaseGrant<'f> {
        LeaseGrant::Unsupported
    }

    /// Whether the lease may have been lost. The kernel breaks it after a program has waited for `lease-break-time` (45
    /// s by default), which can happen if this process is stopped or the disk is slow. The kernel lists a lease that is
    /// held, also while a program waits; a clock decides where the list can't be read.
    pub(super) fn may_be_lost(&self) -> bool {
        fail::fail_point!("vault::lease::lost", |_| true);
        let listed = std::fs::read(format!("/proc/self/fdinfo/{}", self.file.as_raw_fd()));
        listed.map_or_else(
            |_| self.since.elapsed() > std::time::Duration::from_secs(20),
            |listed| memchr::memmem::find(&listed, b"LEASE").is_none(),
        )
    }
}

#[cfg(target_os = "linux")]
impl Drop for WriteLease<'_> {
    fn drop(&mut self) {
        // SAFETY: F_SETLEASE takes an integer; `file` keeps the descriptor open during the call.
        unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK) };
    }
}

/// Whether no program has the file open for writing; `file` must be open for reading alone. `None` if that is unknown.
#[cfg(target_os = "linux")]
pub(super) fn no_writers(file: &File) -> Option<bool> {
    let fd = file.as_raw_fd();
    // SAFETY: as above, integers only, and the descriptor is open.
    let asked = unsafe {
        if libc::fcntl(fd, F_SETSIG, libc::SIGURG) == -1 {
            return None;
        }
        libc::fcntl(fd, libc::F_SETLEASE, libc::F_RDLCK)
    };
    if asked == 0 {
        // SAFETY: as above.
        unsafe { libc::fcntl(fd, libc::F_SETLEASE, libc::F_UNLCK) };
        return Some(true);
    }
    (io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)).then_some(false)
}

/// It is unknown on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn no_writers(_: &File) -> Option<bool> {
    None
}
