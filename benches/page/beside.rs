//! What the page costs the daemon: memory and processor time at rest, of one process before it listens and with three pages
//! open (Linux). Memory is what the process has for itself (`RssAnon`); the pages of the binary aren't.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

use crate::kept::Kept;
use crate::large::Large;
use crate::numbers::Numbers;
use crate::times::Daemon;

const OPEN: [&str; 3] = ["/", "/calendar", "/memory"];

pub fn measure(notes: usize, quick: bool, numbers: &mut Numbers) {
    let vault = Large { notes, reminders: 0, operations: 0, facts: 100 }.vault();
    let (rest, idle) = if quick {
        (Duration::ZERO, Duration::from_millis(50))
    } else {
        (Duration::from_secs(2), Duration::from_secs(20))
    };
    // One run that nothing is taken of: the index is made.
    drop(vault.run(&["search", "topic"]).ok());
    println!("\n{:<36} {:>9} {:>9} {:>16}", "one daemon at rest", "anon MB", "RSS MB", "ms in 20 s");
    let daemon = Daemon::start(&vault, true);
    let look = |what: &str| reason_for_rest(&daemon, what, rest, idle);
    let without = look("without the page");
    let visitor = daemon.visitor(&vault);
    let _open: Vec<Kept> = OPEN
        .iter()
        .map(|path| {
            let mut kept = Kept::open(&visitor);
            drop(kept.get(path));
            kept.follow()
        })
        .collect();
    let with = look("with three pages open");
    numbers.take("daemon's memory, more with three pages open", with.0 - without.0, 6.0, "MB");
    numbers.take("daemon's processor time in 20 s, more with three pages", with.1 - without.1, 5.0, "ms");
}

/// The daemon's own memory and what it does in a while, once it has nothing more to do.
fn reason_for_rest(daemon: &Daemon, what: &str, rest: Duration, idle: Duration) -> (f64, f64) {
    let pid = daemon.0.id();
    let began = Instant::now();
    loop {
        let before = threads(pid);
        std::thread::sleep(rest);
        if since(&before, pid) < 2.0 || began.elapsed() > Duration::from_secs(120) {
            break;
        }
    }
    let before = threads(pid);
    std::thread::sleep(idle);
    let (own, all, time) = (memory(pid, "RssAnon:"), memory(pid, "VmRSS:"), since(&before, pid));
    println!("{what:<36} {own:>9.1} {all:>9.1} {time:>16.1}");
    (own, time)
}

/// Processor time of each thread in milliseconds.
fn threads(pid: u32) -> BTreeMap<OsString, f64> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        Some((task.file_name(), text.split(' ').next()?.parse::<f64>().ok()? / 1e6))
    };
    tasks.filter_map(of).collect()
}

/// What they spent since.
fn since(before: &BTreeMap<OsString, f64>, pid: u32) -> f64 {
    threads(pid).iter().map(|(thread, now)| now - before.get(thread).copied().unwrap_or_default()).sum()
}

/// A line of what the process holds, in megabytes.
fn memory(pid: u32, name: &str) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or_default() / 1024.0
}
