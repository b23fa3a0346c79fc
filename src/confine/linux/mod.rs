//! Builds the box on Linux, from the outside in.
//!
//! [`supervise`] runs outside the box: it makes the namespaces and the root that the box sees ([`root`]), watches what
//! the box uses ([`watch`]), and leaves nothing of it behind. [`inner`] runs in the box: it gives up files, signals
//! ([`landlock`]) and system calls ([`seccomp`]), and starts the command. Neither ever has a second thread.

mod inner;
mod landlock;
mod root;
mod seccomp;
mod supervise;
mod visible_paths;
mod watch;

pub(super) use inner::inner;
pub(super) use supervise::supervise;

use std::os::fd::{AsFd, OwnedFd};

use super::wire::{self, Job, Report};

/// This process's standard input, which is the socket to the program that started it.
fn control() -> std::io::Result<OwnedFd> {
    // Whatever else was inherited must not reach a command.
    close_fds::set_fds_cloexec(3, &[]);
    rustix::io::fcntl_dupfd_cloexec(std::io::stdin().as_fd(), 3).map_err(Into::into)
}

/// Runs the job and reports its result at the end.
fn serve(work: impl FnOnce(&OwnedFd, Job, Option<OwnedFd>) -> Result<Report, String>) -> u8 {
    let Ok(control) = control() else { return 1 };
    let report = match wire::receive::<Job, _>(&control) {
        Ok(Some((job, gate))) => work(&control, job, gate).unwrap_or_else(Report::Failed),
        // The program that started it is gone.
        Ok(None) => return 1,
        Err(error) => Report::Failed(format!("the job can't be read: {error}")),
    };
    u8::from(wire::send(&control, &report, None).is_err())
}

/// Reports a failure.
fn failed(what: &str) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{what}: {error}")
}
