//! Runs the helper outside the box: builds the box, watches it, ends it.
//!
//! It ends the box when the command is over, when a limit is reached, and when the program that started it closes its
//! socket (the kernel closes it if that program is killed). If the helper itself is killed, the first process in the
//! box is killed by its parent-death signal, and with it all of its process namespace.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::super::wire::{self, ARGUMENT, HelperJob, HelperReport, INNER};
use super::{failed, root, visible_paths, watch};
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
            root::enter(&proc, job.policy.network)?;
            root::build(&proc, &places, &job.policy.hide, &links)?;
            start = program;
        }
        let own = rustix::process::getpid();
        rustix::process::set_child_subreaper(Some(own)).map_err(|error| error.to_string())?;
        let mut box_ = BoxProcess::start(&start, job.clone(), gate, &proc)?;
        let report = box_.watch(control, &proc, &job.policy.limits, &job.policy.write);
        // With the first process of a process namespace the kernel kills the rest, however quickly they become more.
        let _ = box_.process.kill();
        watch::kill_all(&proc);
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
        if job.namespaces {
            root::keep_admin().map_err(|error| format!("a capability can't be kept: {error}"))?;
        }
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
            job.policy.limits.processes += watch::users_threads(proc);
        }
        let this = Self { process, control: ours };
        // The child reports that it will die with this process, and only then gets its job.
        match wire::receive_mark(&this.control) {
            Ok(Some(_)) => {}
            _ => return Err("the box's first process ended at once".to_owned()),
        }
        wire::send_mark(&this.control, job.namespaces.then(|| proc.as_fd()))
            .map_err(failed("the job can't be sent"))?;
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
            if let Some(exit) = watch::excess(proc, limits) {
                return Ok(HelperReport::Ended(exit));
            }
            if look % SCRATCH_LOOKS == 0 && watch::is_scratch_full(scratch, limits) {
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
