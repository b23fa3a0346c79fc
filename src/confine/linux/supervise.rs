//! Supervises a box (the confinement of one command) from a helper process outside of it: builds the box, watches it,
//! and ends it.
//!
//! The helper ends the box in three cases: the command is over, a limit is reached, or the calling program closes its
//! end of the socket. The limits are those of time, processes, memory and scratch space. The kernel closes the socket
//! if the calling program is killed. If the helper itself is killed, the parent-death signal kills the box's first
//! process. Then the kernel kills all other processes of the box, because they are in the PID namespace of the first;
//! on a machine without namespaces only the first process is killed.

use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::Pid;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::super::wire::{self, ARGUMENT, HelperJob, HelperReport, INNER};
use super::root::{self, read};
use super::{failed, visible_paths};
use crate::confine::{Exit, Limits};

/// How often the box's processes are checked.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// After how many checks the scratch is checked too.
const SCRATCH_LOOKS: u32 = 20;

/// Builds a box for the job on standard input, and stays until all its processes are gone.
pub(in crate::confine) fn supervise() -> u8 {
    wire::serve(|control, mut job, gate| {
        let _ = rustix::process::setsid();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let proc =
            rustix::fs::open("/proc", flags, Mode::empty()).map_err(|error| format!("/proc: {error}"))?;
        // If memory runs out, the kernel kills the box first.
        let _ = root::write(&proc, "self/oom_score_adj", "1000");
        // The kernel counts root's processes for no limit: against a flood of them it has to come first.
        let _ = rustix::process::setpriority_process(None, -20);
        let program = std::fs::read_link("/proc/self/exe").map_err(failed("/proc/self/exe"))?;
        let links = visible_paths::without_links(&mut job.policy);
        let places = visible_paths::of(&job.policy, &program, false).map_err(failed("the scratch folder"))?;
        let mut start = PathBuf::from("/proc/self/exe");
        if job.namespaces {
            root::enter_namespaces(&proc, job.policy.network)?;
            root::build(&proc, &places, &job.policy.hide, &links)?;
            start = program;
        }
        let own = rustix::process::getpid();
        rustix::process::set_child_subreaper(Some(own)).map_err(|error| error.to_string())?;
        let mut box_ = BoxProcess::start(&start, job.clone(), gate, &proc)?;
        let report = box_.watch(control, &proc, &job.policy.limits, &job.policy.write);
        // With the first process of a process namespace the kernel kills the rest, however quickly they become more.
        let _ = box_.process.kill();
        kill_all(&proc);
        report
    })
}

/// The box's first process.
struct BoxProcess {
    process: Child,
    control: OwnedFd,
}

impl BoxProcess {
    fn start(
        program: &PathBuf,
        mut job: HelperJob,
        gate: Option<OwnedFd>,
        proc: &OwnedFd,
    ) -> Result<Self, String> {
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(|error| error.to_string())?;
        let output = std::io::stdout().as_fd().try_clone_to_owned().map_err(failed("standard output"))?;
        let process = Command::new(program)
            .args([ARGUMENT, INNER])
            .env_clear()
            // Memory that the allocator reserves beforehand would count against the memory limit.
            .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
            .stdin(Stdio::from(theirs))
            .stderr(Stdio::from(output))
            .spawn()
            .map_err(failed("the box's first process can't be started"))?;
        if !job.namespaces {
            // Outside a user namespace the kernel counts all processes of the user.
            job.policy.limits.processes += users_threads(proc);
        }
        let this = Self { process, control: ours };
        // The child reports that it will die with this process, and only then gets its job.
        match wire::receive_mark(&this.control) {
            Ok(Some(_)) => {}
            _ => return Err("the box's first process ended at once".to_owned()),
        }
        wire::send(&this.control, &job, gate.as_ref().map(AsFd::as_fd))
            .map_err(failed("the job can't be sent"))?;
        drop(gate);
        Ok(this)
    }

    /// Waits for the first of: the command's end, a limit, the end of the program that started it.
    fn watch(
        &mut self,
        caller: &OwnedFd,
        proc: &OwnedFd,
        limits: &Limits,
        scratch: &std::path::Path,
    ) -> Result<HelperReport, String> {
        let timer = timer(limits).map_err(|error| format!("no timer can be made: {error}"))?;
        for look in 1_u32.. {
            let mut fds = [
                PollFd::new(caller, PollFlags::IN),
                PollFd::new(&self.control, PollFlags::IN),
                PollFd::new(&timer, PollFlags::IN),
            ];
            if poll(&mut fds, Some(&LOOK)).is_err() {
                continue;
            }
            let [is_stopped, is_over, is_late] = fds.map(|fd| !fd.revents().is_empty());
            if is_over {
                return self.over();
            }
            if is_stopped {
                return Ok(HelperReport::Ended(Exit::Stopped));
            }
            if is_late {
                return Ok(HelperReport::Ended(Exit::TimedOut));
            }
            if let Some(exit) = excess(proc, limits) {
                return Ok(HelperReport::Ended(exit));
            }
            if look % SCRATCH_LOOKS == 0 && is_scratch_full(scratch, limits) {
                return Ok(HelperReport::Ended(Exit::TooMuchOutput));
            }
        }
        unreachable!("there is always a next look")
    }

    /// The box's first process has ended or is about to.
    fn over(&mut self) -> Result<HelperReport, String> {
        let said = wire::receive::<HelperReport, _>(&self.control);
        let status = self.process.wait().map_err(failed("the box's first process"))?;
        match said {
            Ok(Some((report, _))) => Ok(report),
            _ => Ok(HelperReport::Ended(super::inner::exit(status))),
        }
    }
}

fn timer(limits: &Limits) -> rustix::io::Result<OwnedFd> {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let value = Timespec {
        tv_sec: i64::try_from(limits.time.as_secs()).unwrap_or(i64::MAX),
        // A timer of nothing would never ring.
        tv_nsec: i64::from(limits.time.subsec_nanos()).max(1),
    };
    let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
    Ok(timer)
}

/// Folders deeper than this are not examined: they count as over the limit.
const DEPTH: usize = 64;

/// With less free memory than this on the machine, the box is ended.
const RESERVE: u64 = 64 << 20;

/// All processes that descend from one.
#[derive(Debug)]
pub(super) struct ProcessTree {
    /// Their ids.
    pub pids: Vec<i32>,
    /// Their threads.
    pub threads: u64,
}

/// The descendants of process `root`, without it; incomplete if they have more threads than `most`.
pub(super) fn tree(proc: &OwnedFd, root: i32, most: u64) -> ProcessTree {
    if rustix::fs::accessat(
        proc,
        format!("{root}/task/{root}/children"),
        rustix::fs::Access::EXISTS,
        rustix::fs::AtFlags::empty(),
    )
    .is_ok()
    {
        walk(proc, root, most)
    } else {
        scan(proc, root)
    }
}

/// Asks each process for its children.
fn walk(proc: &OwnedFd, root: i32, most: u64) -> ProcessTree {
    let mut found = ProcessTree { pids: Vec::new(), threads: 0 };
    let mut seen = HashSet::from([root]);
    let mut open = vec![root];
    while let Some(pid) = open.pop().filter(|_| found.threads <= most) {
        for thread in numbers(proc, &format!("{pid}/task")) {
            found.threads += u64::from(pid != root);
            let children = read(proc, &format!("{pid}/task/{thread}/children")).unwrap_or_default();
            let children = children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
            open.extend(
                children.filter(|child| seen.insert(*child)).inspect(|child| found.pids.push(*child)),
            );
        }
    }
    found
}

/// Reads the parents of all processes, for kernels without lists of children.
fn scan(proc: &OwnedFd, root: i32) -> ProcessTree {
    let mut children: HashMap<i32, Vec<(i32, u64)>> = HashMap::new();
    for pid in numbers(proc, ".") {
        if let Some((parent, threads)) = read(proc, &format!("{pid}/stat")).ok().as_deref().and_then(stat) {
            children.entry(parent).or_default().push((pid, threads));
        }
    }
    let mut found = ProcessTree { pids: Vec::new(), threads: 0 };
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for (child, threads) in children.remove(&pid).unwrap_or_default() {
            found.pids.push(child);
            found.threads += threads;
            open.push(child);
        }
    }
    found
}

/// Parent and threads of a line of `stat`, whose second field may hold anything.
fn stat(line: &str) -> Option<(i32, u64)> {
    let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((fields.nth(1)?.parse().ok()?, fields.nth(15)?.parse().ok()?))
}

/// The entries of a folder of `/proc` that are numbers.
fn numbers(proc: &OwnedFd, dir: &str) -> Vec<i32> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(fd) = rustix::fs::openat(proc, dir, flags, Mode::empty()) else { return Vec::new() };
    let Ok(entries) = rustix::fs::Dir::new(fd) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok()).collect()
}

/// How many threads the user of this process has.
pub(super) fn users_threads(proc: &OwnedFd) -> u64 {
    let own = rustix::process::getuid().as_raw();
    let is_own = |pid: &i32| {
        rustix::fs::statat(proc, pid.to_string(), rustix::fs::AtFlags::empty())
            .is_ok_and(|stat| stat.st_uid == own)
    };
    let stat = |pid| read(proc, &format!("{pid}/stat")).ok().as_deref().and_then(stat);
    numbers(proc, ".").into_iter().filter(is_own).filter_map(stat).map(|(_, threads)| threads).sum()
}

/// The limit that the box is over, if one.
pub(super) fn excess(proc: &OwnedFd, limits: &Limits) -> Option<Exit> {
    // One more: the process that starts the command is no concern of the command's.
    let most = limits.processes.saturating_add(1);
    let tree = tree(proc, rustix::process::getpid().as_raw_nonzero().get(), most);
    if tree.threads > most {
        return Some(Exit::TooManyProcesses);
    }
    // Shared memory is counted for each process; only if that exceeds the limit is it measured exactly.
    let over = |measure: fn(&OwnedFd, i32) -> Option<u64>| {
        tree.pids.iter().filter_map(|pid| measure(proc, *pid)).sum::<u64>() > limits.memory_bytes
    };
    let is_short = || available(proc).is_some_and(|free| free < RESERVE);
    (over(resident) && over(|proc, pid| proportional(proc, pid).or_else(|| resident(proc, pid)))
        || is_short())
    .then_some(Exit::TooMuchMemory)
}

/// The memory that a process has.
fn resident(proc: &OwnedFd, pid: i32) -> Option<u64> {
    let pages: u64 = read(proc, &format!("{pid}/statm")).ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// The memory of a process, with its part of shared memory.
fn proportional(proc: &OwnedFd, pid: i32) -> Option<u64> {
    kilobytes(&read(proc, &format!("{pid}/smaps_rollup")).ok()?, "Pss:")
}

/// The free memory of the machine.
fn available(proc: &OwnedFd) -> Option<u64> {
    kilobytes(&read(proc, "meminfo").ok()?, "MemAvailable:")
}

fn kilobytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Whether the scratch holds more than it may.
pub(super) fn is_scratch_full(scratch: &Path, limits: &Limits) -> bool {
    let (mut bytes, mut files) = (0, 0);
    let mut open = vec![(scratch.to_path_buf(), 0)];
    while let Some((dir, depth)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            files += 1;
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                open.push((entry.path(), depth + 1));
            }
            let stat = rustix::fs::statat(CWD, entry.path(), rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
            bytes += stat.map_or(0, |stat| stat.st_blocks.cast_unsigned() * 512);
            if files > limits.scratch_files || bytes > limits.scratch_bytes || depth >= DEPTH {
                return true;
            }
        }
    }
    false
}

/// Kills all descendants of this process until none is left. A process that loses its parent becomes a child of this
/// process, so nothing gets away.
pub(super) fn kill_all(proc: &OwnedFd) {
    use rustix::process::{Signal, WaitOptions, getpid, kill_process, wait};
    let own = getpid().as_raw_nonzero().get();
    loop {
        for pid in tree(proc, own, u64::MAX).pids.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        // Blocks until one is gone; all that live have been killed or will be in the next round.
        match wait(WaitOptions::NOHANG) {
            Err(rustix::io::Errno::CHILD) => return,
            Ok(Some(_)) => while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {},
            _ => {
                let _ = wait(WaitOptions::empty());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat_is_read_whatever_the_program_is_called() {
        let line = "7 (a) b) S 3 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 5 0 100 2 3";
        assert_eq!(stat(line), Some((3, 5)));
        assert_eq!(stat("nonsense"), None);
    }

    #[test]
    fn both_ways_find_the_same_children() {
        let proc = rustix::fs::open("/proc", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let own = std::process::id().cast_signed();
        let pid = child.id().cast_signed();
        assert!(scan(&proc, own).pids.contains(&pid));
        assert!(tree(&proc, own, u64::MAX).pids.contains(&pid));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn memory_is_found() {
        let proc = rustix::fs::open("/proc", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let own = std::process::id().cast_signed();
        assert!(resident(&proc, own).unwrap() > 1 << 20);
        assert!(available(&proc).unwrap() > RESERVE);
        assert!(users_threads(&proc) >= 1);
    }

    #[test]
    fn a_full_scratch_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let limits = Limits { scratch_bytes: 100_000, scratch_files: 5, ..Limits::default() };
        assert!(!is_scratch_full(dir.path(), &limits));
        std::fs::write(dir.path().join("large"), vec![1; 200_000]).unwrap();
        assert!(is_scratch_full(dir.path(), &limits));
        std::fs::remove_file(dir.path().join("large")).unwrap();
        (0..6).for_each(|n| std::fs::write(dir.path().join(n.to_string()), "").unwrap());
        assert!(is_scratch_full(dir.path(), &limits));
    }
}
