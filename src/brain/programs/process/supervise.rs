//! Supervises the program of a harness or an MCP server: `vault-agent __supervise PROGRAM ARGUMENTS…` is its parent.
//! Also makes the program's environment, and ends the processes that a killed run left behind.
//!
//! The program inherits the supervisor's pipes. When the supervisor ends, it first ends all processes that the program
//! has started: on Linux those that `/proc` shows as its descendants, elsewhere the process group. On Linux orphans
//! become the supervisor's children, so processes in the background or in another session are found too.
//!
//! The process that started the supervisor writes to the supervisor's standard input. When that process closes the
//! pipe, the program has five seconds to end by itself. When that process has died, the program is ended at once. If
//! the supervisor itself is killed, the next start of vault-agent ends the processes; on Linux a variable in their
//! environment identifies them.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::mpsc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::MARK;

/// A process as `/proc/PID/stat` tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcStat {
    parent: u32,
    /// The start, in clock ticks since the machine started; with the id it identifies a process for good.
    started: u64,
    dead: bool,
}

/// When a process began; none if there is no such process.
pub(super) fn start_time(pid: u32) -> Option<u64> {
    stat(pid).filter(|stat| !stat.dead).map(|stat| stat.started)
}

fn stat(pid: u32) -> Option<ProcStat> {
    parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name stands in brackets and may hold anything, brackets too.
fn parse(text: &str) -> Option<ProcStat> {
    let mut fields = text[text.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    Some(ProcStat { parent, started, dead: matches!(state, "Z" | "X" | "x") })
}

/// The ids of all processes.
pub(super) fn all_pids() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The living processes below `root`, without it.
pub(super) fn descendants(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<(u32, bool)>> = HashMap::new();
    for pid in all_pids() {
        if let Some(stat) = stat(pid) {
            children.entry(stat.parent).or_default().push((pid, stat.dead));
        }
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for (pid, dead) in children.remove(&parent).unwrap_or_default() {
            open.push(pid);
            if !dead {
                found.push(pid);
            }
        }
    }
    found
}

/// Ends all descendants of `root`, but not itself. Processes that are started meanwhile are found again.
pub(super) fn end_descendants(root: u32) {
    for _ in 0..200 {
        let found = descendants(root);
        if found.is_empty() {
            return;
        }
        found.into_iter().for_each(end);
        std::thread::yield_now();
    }
}

/// Ends `root`, which leads a process group, and all of its descendants.
pub(super) fn end_tree(root: u32) {
    end_descendants(root);
    if let Some(pid) = pid(root) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    // A signal is sent at once and takes its moment.
    for _ in 0..1000 {
        if start_time(root).is_none() {
            return;
        }
        std::thread::yield_now();
    }
}

/// Ends one process.
pub(super) fn end(pid: u32) {
    if let Some(pid) = self::pid(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn pid(raw: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(raw).ok()?)
}

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
    end_descendants(std::process::id());
    // Elsewhere the group goes, and we with it.
    #[cfg(not(target_os = "linux"))]
    end_tree(std::process::id());
}

/// The part of `ours` that a program is given.
pub(super) fn environment(
    ours: impl Iterator<Item = (OsString, OsString)>,
    pass: &[&str],
) -> impl Iterator<Item = (OsString, OsString)> {
    let is = |name: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        let is_needed = |name: &str| ENVIRONMENT.split(' ').any(|needed| needed == name);
        let upper = name.to_ascii_uppercase();
        upper.ends_with("_PROXY") && is_needed(&upper)
            || is_needed(name)
            || pass.contains(&name)
            || FAMILIES.iter().any(|family| name.starts_with(family))
    };
    ours.filter(move |(name, _)| is(name))
}

/// The variables that every program needs.
const ENVIRONMENT: &str = "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR \
HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS TERM";

/// Families of such variables.
const FAMILIES: [&str; 2] = ["LC_", "XDG_"];

/// Ends the processes that an earlier process with the same state directory left behind. Returns their number.
pub fn sweep(state: &Path) -> usize {
    let place = state_hash(state);
    let mut ended = 0;
    end_marked(|mark| {
        let orphan = is_orphan(mark, &place, start_time);
        ended += usize::from(orphan);
        orphan
    });
    ended
}

/// Whether a mark names this place and a process that has ended.
pub(super) fn is_orphan(mark: &str, place: &str, started: impl Fn(u32) -> Option<u64>) -> bool {
    let mut parts = mark.split('.');
    let (Some(pid), Some(at), Some(of)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let (Ok(pid), Ok(at)) = (pid.parse(), at.parse()) else { return false };
    of == place && started(pid) != Some(at)
}

pub(super) fn end_marked(mut is_meant: impl FnMut(&str) -> bool) {
    for pid in all_pids() {
        let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { continue };
        let mut variables = environment.split(|byte| *byte == 0);
        let mark = variables.find_map(|variable| variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"="));
        if mark.and_then(|mark| std::str::from_utf8(mark).ok()).is_some_and(&mut is_meant) {
            end(pid);
        }
    }
}

/// The beginning of the marks of this process's children.
pub(super) fn mark_prefix(state: &Path) -> String {
    let us = std::process::id();
    format!("{us}.{}.{}.", start_time(us).unwrap_or_default(), state_hash(state))
}

pub(super) fn state_hash(state: &Path) -> String {
    blake3::hash(state.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_brackets_and_blanks() {
        let line = "42 (a ) S 1) b) Z 7 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 98765 0 0";
        assert_eq!(parse(line), Some(ProcStat { parent: 7, started: 98765, dead: true }));
        assert_eq!(parse("42 (sh"), None);
        assert_eq!(parse("42 (sh) S 1"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn all_that_came_of_a_process_is_found_and_ended() {
        use std::io::Read as _;
        use std::process::{Command, Stdio};
        let script = "sleep 600 & sh -c 'sleep 600 & echo ready; wait'";
        let mut root = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0; 6];
        root.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        let found = descendants(root.id());
        assert_eq!(found.len(), 3, "{found:?}");
        end_descendants(root.id());
        assert!(descendants(root.id()).is_empty());
        root.kill().unwrap();
        root.wait().unwrap();
        assert!(start_time(std::process::id()).is_some());
        assert_eq!(start_time(u32::MAX), None);
    }
}
