//! Supervises a harness: `vault-agent __supervise PROGRAM ARGUMENTS…` is the process between us and the harness.
//!
//! The supervisor starts the program, which inherits its pipes, and waits for it. Before the supervisor ends, it ends
//! all processes that the program has started; on Linux also those in the background or in another session, because
//! orphans become its children. Its parent holds the other end of its standard input. When the parent closes that, the
//! program has five seconds to end by itself; when the parent has died, the program is ended at once. So no process
//! outlives us.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::mpsc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use super::tree;

/// The hidden command's name.
pub const COMMAND: &str = "__supervise";
/// The exit code where the program can't be started.
pub const NOT_STARTED: u8 = 127;
/// The interval and the number of checks whether the parent still runs while the program may end by itself.
const LOOK: (Duration, u32) = (Duration::from_millis(50), 100);

enum SupervisorEvent {
    Exited(Option<ExitStatus>),
    InputClosed,
}

/// Runs the program and returns its exit code, 128 and the signal where one ended it.
pub fn run(command: &[OsString]) -> u8 {
    let Some((program, arguments)) = command.split_first() else { return NOT_STARTED };
    let us = rustix::process::getppid();
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let mut child = match Command::new(program).args(arguments).spawn() {
        Ok(child) => child,
        Err(error) => {
            use std::io::Write as _;
            let program = program.to_string_lossy();
            let _ = writeln!(std::io::stderr(), "the program `{program}` can't be started: {error}");
            return NOT_STARTED;
        }
    };
    let (tell, heard) = mpsc::channel();
    let exited = tell.clone();
    std::thread::spawn(move || exited.send(SupervisorEvent::Exited(child.wait().ok())));
    std::thread::spawn(move || {
        let stdin = std::io::stdin();
        while poll(&mut [PollFd::new(&stdin, PollFlags::empty())], None)
            .is_err_and(|error| error == rustix::io::Errno::INTR)
        {}
        tell.send(SupervisorEvent::InputClosed)
    });
    let status = match heard.recv() {
        Ok(SupervisorEvent::Exited(status)) => status,
        Ok(SupervisorEvent::InputClosed) | Err(_) => wait_for_exit(&heard, us),
    };
    end_all();
    status.map_or(128 + 9, |status| {
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
    })
}

/// How the program ended, if it does so in time and while `us` is there.
fn wait_for_exit(
    heard: &mpsc::Receiver<SupervisorEvent>,
    us: Option<rustix::process::Pid>,
) -> Option<ExitStatus> {
    let (pause, most) = LOOK;
    for _ in 0..most {
        if rustix::process::getppid() != us {
            return None;
        }
        if let Ok(SupervisorEvent::Exited(status)) = heard.recv_timeout(pause) {
            return status;
        }
    }
    None
}

fn end_all() {
    #[cfg(target_os = "linux")]
    tree::end_below(std::process::id());
    // Elsewhere the group goes, and we with it.
    #[cfg(not(target_os = "linux"))]
    tree::end_tree(std::process::id());
}
