//! Runs the first process in the box: drops its privileges, starts the command, and ends when the command ends.
//!
//! In a PID namespace the first process is the init process: when it ends, the kernel kills all other processes of the
//! box.

use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use rustix::process::{
    DumpableBehavior, Resource, Rlimit, Signal, WaitOptions, set_dumpable_behavior,
    set_parent_process_death_signal, setrlimit, wait,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::super::wire::{self, HelperJob, HelperReport, Layers};
use super::{failed, landlock, seccomp, visible_paths};
use crate::confine::{Exit, Policy, gate};

/// The most open files of one process.
const OPEN_FILES: u64 = 512;

/// A lower priority than interactive programs and the helper.
const NICE: i32 = 5;

/// Runs the command of the job that comes on standard input.
pub(in crate::confine) fn inner() -> u8 {
    // In this order: the sender of the job knows that this process won't outlive it.
    let is_bound = set_parent_process_death_signal(Some(Signal::KILL)).is_ok()
        && set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok();
    // A session of its own, which the scheduler weighs against the helper's.
    let _ = rustix::process::setsid();
    if !is_bound {
        return 1;
    }
    if wire::control().and_then(|control| wire::send_mark(&control, None)).is_err() {
        return 1;
    }
    wire::serve(|_, job, gate| {
        let gate = gate.map(kept).transpose().map_err(failed("the gate"))?;
        // In a root of its own there is no `/proc`, and it was started by its path.
        let program =
            std::fs::read_link("/proc/self/exe").ok().or_else(|| std::env::args_os().next().map(Into::into));
        let layers = restrict(&job, program.as_deref())?;
        match &job.command {
            None => Ok(HelperReport::Built(layers)),
            Some(text) => run(&job.policy, text, program.as_deref(), gate.is_some()).map(HelperReport::Ended),
        }
    })
}

/// The gate under its number, for all that is started here.
fn kept(gate: OwnedFd) -> std::io::Result<OwnedFd> {
    let gate = rustix::io::fcntl_dupfd_cloexec(gate, gate::NUMBER)?;
    if gate.as_raw_fd() != gate::NUMBER {
        return Err(std::io::Error::other("its number is taken"));
    }
    rustix::io::fcntl_setfd(&gate, rustix::io::FdFlags::empty())?;
    Ok(gate)
}

/// Gives up all that the command shall not have.
fn restrict(job: &HelperJob, program: Option<&Path>) -> Result<Layers, String> {
    let policy = &job.policy;
    std::env::set_current_dir(&policy.write).map_err(failed("the scratch folder"))?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let _ = rustix::process::setpriority_process(None, NICE);
    let limits = &policy.limits;
    for (resource, value) in [
        (Resource::Core, 0),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, OPEN_FILES),
        // The helper ends the box at the limits; these hold if a box is quicker than the helper's checks.
        (Resource::Nproc, limits.processes.saturating_mul(2)),
        (Resource::Data, limits.memory_bytes.saturating_mul(2)),
        (Resource::Memlock, 1 << 20),
        (Resource::Msgqueue, 0),
    ] {
        let _ = setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) });
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).map_err(|error| format!("root's rights can't be given up: {error}"))?;
    rustix::thread::set_no_new_privs(true).map_err(|error| format!("no_new_privs: {error}"))?;
    let places = visible_paths::of(policy, program.unwrap_or(Path::new("/")), !job.namespaces)
        .map_err(failed("the scratch folder"))?;
    let landlock =
        landlock::restrict(&places, policy.network).map_err(|error| format!("Landlock: {error}"))?;
    seccomp::restrict(policy.network, job.namespaces).map_err(|error| format!("seccomp: {error}"))?;
    Ok(Layers { namespaces: job.namespaces, landlock, calls: true, counted: true, profile: false })
}

/// Runs the command and waits for its end, and meanwhile for all that lost its parent.
fn run(policy: &Policy, text: &str, program: Option<&Path>, gate: bool) -> Result<Exit, String> {
    let bash = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
    let bash = bash
        .into_iter()
        .find(|path| Path::new(path).exists())
        .ok_or("there is no bash in /bin or /usr/bin")?;
    let folder = program.and_then(Path::parent).map(|dir| format!(":{}", dir.display()));
    let mut command = Command::new(bash);
    command
        .args(["-c", text])
        .env_clear()
        .env("PATH", format!("{}{}", visible_paths::PATH, folder.unwrap_or_default()))
        .env("HOME", &policy.write)
        .env("TMPDIR", &policy.write)
        .env("LANG", "C.UTF-8")
        .envs(gate.then(|| (gate::VARIABLE, gate::NUMBER.to_string())))
        .envs(policy.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null());
    let started = command.spawn().map_err(|error| match error.raw_os_error() {
        Some(libc::E2BIG) => "the command is too long".to_owned(),
        _ => format!("bash can't be started: {error}"),
    })?;
    let pid = started.id();
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((gone, status))) if gone.as_raw_nonzero().get().cast_unsigned() == pid => {
                return Ok(exit(ExitStatus::from_raw(status.as_raw())));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(format!("the command's end can't be waited for: {error}")),
        }
    }
}

/// How a process ended.
pub(super) fn exit(status: ExitStatus) -> Exit {
    status.signal().map_or_else(|| Exit::Code(status.code().unwrap_or(1)), Exit::Signal)
}
