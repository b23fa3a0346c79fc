//! Sessions as logs, under `kill -9` at any instant, several processes at once, a daemon, and long transcripts.

use crate::hooks::archive::{ON, Tape, bytes, kept, log_of, logs, stops};
use crate::hooks::host::*;

/// A session of some length: long lines, long results, many turns.
fn long(turns: usize, words: usize) -> Tape {
    let mut tape = Tape::new();
    for number in 0..turns {
        tape.turn(number);
        tape.call(&format!("long_{number}"), "Read", json!({ "file_path": "x" }));
        tape.result(&format!("long_{number}"), &format!("{number} {}", "some words of it\n".repeat(words)));
    }
    tape
}

fn start(vault: &TestVault, transcript: &Path) -> Killed {
    vault.spawn(&["hook", "archive", transcript.to_str().unwrap()])
}

#[test]
fn killed_at_any_instant_everything_comes_once() {
    let tape = long(300, 700);
    let whole = TestVault::new(ON);
    assert!(start(&whole, &tape.write(&whole)).wait().unwrap().success());
    let expected = bytes(&whole);
    assert_eq!(kept(&whole).len(), 1200);

    let vault = TestVault::new(ON);
    let path = tape.write(&vault);
    let mut killed = 0;
    for round in 0..24_u64 {
        killed += usize::from(start(&vault, &path).kill_after(Duration::from_millis(20 + round * 17 % 150)));
        if round % 3 == 0 {
            let _ = std::fs::remove_dir_all(vault.state().join("sessions"));
        }
        if let [log] = &logs(&vault)[..] {
            let now = std::fs::read(log).unwrap();
            assert!(expected.starts_with(&now), "after {round} kills the log is the whole one's beginning");
        }
    }
    assert!(killed > 0, "no process was killed");
    assert!(start(&vault, &path).wait().unwrap().success());
    assert_eq!(bytes(&vault), expected);
}

#[test]
fn several_at_once_write_everything_once() {
    let tape = long(60, 60);
    let vault = TestVault::new(ON);
    let path = tape.write(&vault);
    let mut children: Vec<Killed> = (0..4).map(|_| start(&vault, &path)).collect();
    stops(&vault);
    children.iter_mut().for_each(|child| assert!(child.wait().unwrap().success()));
    assert_eq!(kept(&vault).len(), 240);
    let text = std::fs::read_to_string(log_of(&vault, SESSION)).unwrap();
    assert!((0..60).all(|number| text.matches(&format!("> Prompt {number} about the roses\n")).count() == 1));
}

#[test]
fn a_hook_out_of_time_leaves_the_rest_to_a_process_beside_it() {
    let vault = TestVault::new(ON).with_env("VAULT_AGENT_HOOK_PATIENCE_MS", "");
    let path = long(1500, 60).write(&vault);
    // On a busy machine its answer, too, may be out of time, and then its log says so.
    let _ = tell(&vault, "stop", json!({}));
    // Whoever is at it has the lock; this one waits for it, and finds nothing left or does it.
    let _ = vault.run(&["hook", "archive", path.to_str().unwrap()]).ok();
    assert_eq!(kept(&vault).len(), 6000);
}

#[test]
fn what_was_left_comes_though_the_transcript_has_not_grown() {
    let vault = TestVault::new(ON);
    let mut child = start(&vault, &long(300, 700).write(&vault));
    // Some of it is on disk, and how far is kept.
    let is_kept = || names_in(vault.state().join("sessions")).iter().any(|name| name.ends_with(".json"));
    while child.try_wait().unwrap().is_none() && !is_kept() {
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(child);
    stops(&vault);
    assert_eq!(kept(&vault).len(), 1200);
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_transcript_takes_little_memory() {
    let vault = TestVault::new(ON);
    let path = long(1200, 700).write(&vault);
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size > 14_000_000, "{size}");
    let mut child = start(&vault, &path);
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        // Its own: the pages of a program that was built for tests are no matter of the transcript.
        let peak = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.trim().parse().ok());
        most = peak.unwrap_or(most).max(most);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(kept(&vault).len(), 4800);
    assert!(most > 0 && most < 40_000, "{most} kB for {size} bytes");
}

#[test]
fn a_daemon_takes_it_over() {
    let vault = TestVault::new(ON);
    let _daemon = vault.listening_daemon();
    let mut tape = Tape::new();
    for number in 1..4 {
        tape.turn(number);
        tape.stop(&vault);
    }
    until("the whole log", || !logs(&vault).is_empty() && kept(&vault).len() == 9);
}
