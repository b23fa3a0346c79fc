//! What whole processes cost: a command against `/bin/true`, the daemon while nothing happens.
//!
//! `cargo bench --bench process`; prints medians and their ratio, and asserts nothing.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 200;
const IDLE: Duration = Duration::from_secs(20);

fn main() {
    let temp = tempfile::tempdir().unwrap();
    let vault = temp.path().join("vault");
    run(temp.path(), &["init", vault.to_str().unwrap()]);
    let list = ["--vault", vault.to_str().unwrap(), "remind", "list"];
    let ours = median(|| run(temp.path(), &list));
    let nothing = median(|| {
        Command::new("/bin/true").status().unwrap();
    });
    println!(
        "remind list on the template: {ours:.2?}; /bin/true: {nothing:.2?}; apart by {:.2?}",
        ours - nothing
    );
    idle(temp.path(), &vault);
}

fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vault-agent"));
    command.args(args).env("HOME", home).env("VAULT_AGENT_STATE_DIR", home.join("state"));
    command.env("VAULT_AGENT_CACHE_DIR", home.join("cache")).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn run(home: &Path, args: &[&str]) {
    assert!(command(home, args).status().unwrap().success(), "{args:?}");
}

fn median(mut act: impl FnMut()) -> Duration {
    let mut times: Vec<_> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            act();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[RUNS / 2]
}

/// Memory and processor time of a daemon with nothing to do (Linux).
fn idle(home: &Path, vault: &Path) {
    let mut daemon = command(home, &["run", "--vault", vault.to_str().unwrap()]).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let before = ticks(daemon.id());
    std::thread::sleep(IDLE);
    let used = ticks(daemon.id()).zip(before).map(|(after, before)| after - before);
    let memory = std::fs::read_to_string(format!("/proc/{}/status", daemon.id())).unwrap_or_default();
    let rss = memory.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("VmRSS: unknown");
    println!("idle daemon: {rss}; {used:?} clock ticks of 10 ms in {IDLE:?}");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

/// User and system time of a process in clock ticks.
fn ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<_> = stat.rsplit(')').next()?.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}
