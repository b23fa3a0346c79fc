//! Builds the box on macOS: a profile for `sandbox-exec` with the rules of a [`Policy`].
//!
//! A pure function makes the profile, and is tested on all systems. The rest was written without a Mac to run it on.
//! macOS has no way to find processes that left the command's group, or to count a command's resources. So the box on
//! macOS is partial, and reports that.

#![cfg_attr(not(target_os = "macos"), allow(dead_code))]

use std::path::Path;

use super::Policy;

/// The system's paths that programs need.
const SYSTEM: &str = "/bin /sbin /usr /System /Library/Apple /Library/Developer/CommandLineTools \
/opt/homebrew /private/etc/ssl /private/var/db/dyld";

/// The profile of a policy, in Seatbelt's language. `program` is this program's own file.
pub(super) fn profile(policy: &Policy, program: &Path) -> String {
    let mut text = String::from(
        "(version 1)\n(deny default)\n(allow process-fork)\n(allow signal (target same-sandbox))\n(allow sysctl-read)\n\
         (allow file-read-metadata)\n",
    );
    let read = SYSTEM.split(' ').map(Path::new).chain(policy.read.iter().map(std::path::PathBuf::as_path));
    for path in read.chain([program, &policy.write]) {
        let path = quoted(path);
        text.push_str(&format!("(allow file-read* process-exec (subpath {path}))\n"));
    }
    // The last rule that fits counts.
    for path in &policy.hide {
        text.push_str(&format!("(deny file-read* process-exec (subpath {}))\n", quoted(path)));
    }
    let files = "/ /private/etc/passwd /private/etc/group /private/etc/localtime /dev/random /dev/urandom";
    for file in files.split(' ') {
        text.push_str(&format!("(allow file-read* (literal {}))\n", quoted(Path::new(file))));
    }
    text.push_str("(allow file-read* file-write-data (literal \"/dev/null\") (literal \"/dev/zero\") (regex #\"^/dev/fd/\"))\n");
    text.push_str(&format!("(allow file-write* (subpath {}))\n", quoted(&policy.write)));
    if policy.network {
        text.push_str("(allow network-outbound (remote ip))\n(allow system-socket)\n(allow mach-lookup (global-name \"com.apple.dnssd.service\"))\n(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n");
    }
    text
}

/// A path as a string of the profile's language.
fn quoted(path: &Path) -> String {
    let escaped = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

/// Runs the job on standard input, and ends its process group with it.
#[cfg(target_os = "macos")]
pub(super) fn supervise() -> u8 {
    super::wire::serve(|control, job, gate| work(control, &job, gate))
}

#[cfg(target_os = "macos")]
fn work(
    control: &std::os::fd::OwnedFd,
    job: &super::wire::HelperJob,
    gate: Option<std::os::fd::OwnedFd>,
) -> Result<super::wire::HelperReport, String> {
    use std::os::fd::AsFd;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Command, Stdio};
    use std::sync::mpsc;

    use super::wire::{HelperReport, Layers};
    use super::{Exit, gate as door};

    let Some(text) = &job.command else {
        return Ok(HelperReport::Built(Layers { profile: true, ..Layers::default() }));
    };
    let policy = &job.policy;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let gate = gate.map(|gate| {
        let gate = rustix::io::fcntl_dupfd_cloexec(gate, door::NUMBER)?;
        rustix::io::fcntl_setfd(&gate, rustix::io::FdFlags::empty())?;
        Ok::<_, rustix::io::Errno>(gate)
    });
    let gate = gate.transpose().map_err(|error| format!("the gate: {error}"))?;
    let output = rustix::io::dup(std::io::stdout().as_fd()).map_err(|error| error.to_string())?;
    let mut child = Command::new("/usr/bin/sandbox-exec")
        .args(["-p", &profile(policy, &program), "/bin/bash", "-c", text])
        .env_clear()
        .env("PATH", "/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        .env("HOME", &policy.write)
        .env("TMPDIR", &policy.write)
        .env("LANG", "C.UTF-8")
        .envs(gate.is_some().then(|| (door::VARIABLE, door::NUMBER.to_string())))
        .envs(policy.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&policy.write)
        .stdin(Stdio::null())
        .stderr(Stdio::from(output))
        .process_group(0)
        .spawn()
        .map_err(|error| format!("sandbox-exec can't be started: {error}"))?;
    let group = rustix::process::Pid::from_child(&child);
    let (over, comes) = mpsc::channel();
    let (end, caller) = (over.clone(), rustix::io::dup(control).map_err(|error| error.to_string())?);
    std::thread::spawn(move || {
        // A byte or the end: the caller has stopped it.
        let _ = rustix::io::read(caller, &mut [0; 1]);
        let _ = end.send(Exit::Stopped);
    });
    std::thread::spawn(move || {
        let status = child.wait().ok();
        let exit = status.map_or(Exit::Code(1), |status| match status.signal() {
            Some(signal) => Exit::Signal(signal),
            None => Exit::Code(status.code().unwrap_or(1)),
        });
        let _ = over.send(exit);
    });
    let exit = comes.recv_timeout(policy.limits.time).unwrap_or(Exit::TimedOut);
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    Ok(HelperReport::Ended(exit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_denies_all_but_what_the_policy_names() {
        let mut policy = Policy::new("/tmp/scratch");
        policy.read.push("/Users/anna/my \"vault\"".into());
        policy.hide.push("/Users/anna/my \"vault\"/Code/.env".into());
        let text = profile(&policy, Path::new("/usr/local/bin/vault-agent"));
        assert!(text.starts_with("(version 1)\n(deny default)\n"));
        let read = text.find(r#"(allow file-read* process-exec (subpath "/Users/anna/my \"vault\""))"#);
        let hidden =
            text.find(r#"(deny file-read* process-exec (subpath "/Users/anna/my \"vault\"/Code/.env"))"#);
        assert!(read.is_some() && read < hidden, "{text}");
        let writes: Vec<&str> = text.lines().filter(|line| line.contains("file-write*")).collect();
        assert_eq!(writes, [r#"(allow file-write* (subpath "/tmp/scratch"))"#]);
        assert!(!text.contains("network"), "{text}");
        assert!(!text.contains("/Users/anna\""), "{text}");
        policy.network = true;
        assert!(profile(&policy, Path::new("/x")).contains("(allow network-outbound (remote ip))"));
    }

    #[test]
    fn brackets_in_a_path_stay_within_its_string() {
        let policy = Policy::new(r#"/tmp/x") (allow default) (subpath "/"#);
        assert!(!profile(&policy, Path::new("/x")).contains(r#""/tmp/x")"#));
    }
}
