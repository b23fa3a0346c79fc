//! Limits: a box that takes more than it may is ended, whole.

use std::time::Duration;

use vault_agent::confine::{Exit, Limits, Policy};

use crate::rig::{Rig, has};

/// Limits that are reached quickly.
fn small(rig: &Rig) -> Policy {
    let limits = Limits {
        time: Duration::from_secs(20),
        memory_bytes: 200 << 20,
        processes: 24,
        output_bytes: 2_000,
        whole_bytes: 1 << 20,
        file_bytes: 4 << 20,
        scratch_bytes: 8 << 20,
        scratch_files: 300,
    };
    Policy { limits, ..rig.policy.clone() }
}

/// What takes too much, what it needs, and how it ends.
const CASES: &[(&str, &str, &[Exit])] = &[
    ("", ":(){ :|:& };:; sleep 60", &[Exit::TooManyProcesses]),
    ("", "f() { f & f & wait; }; f & sleep 60", &[Exit::TooManyProcesses]),
    ("sleep", "for i in {1..60}; do sleep 60 & done; wait", &[Exit::TooManyProcesses]),
    ("setsid", "for i in {1..60}; do setsid -f sleep 60; done; sleep 60", &[Exit::TooManyProcesses]),
    (
        "python3",
        "python3 -c 'import threading, time\nfor i in range(60): threading.Thread(target=time.sleep, args=(60,)).start()'",
        &[Exit::TooManyProcesses],
    ),
    ("tail", "tail /dev/zero", &[Exit::TooMuchMemory]),
    ("perl", "perl -e '$x .= \"x\" x 1e6 while 1'", &[Exit::TooMuchMemory]),
    ("perl", "for i in {1..8}; do perl -e '$x = \"x\" x 4e7; sleep 60' & done; wait", &[Exit::TooMuchMemory]),
    (
        "python3",
        "python3 -c 'import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1'",
        &[Exit::TooMuchMemory],
    ),
    ("yes", "yes", &[Exit::TooMuchOutput]),
    ("head", "head -c 1G /dev/zero", &[Exit::TooMuchOutput]),
    ("", "while :; do echo an endless line of words; done >&2", &[Exit::TooMuchOutput]),
    // A signal ends what makes a file too large; the shell goes on.
    ("head", "head -c 1G /dev/zero > f; [ $(stat -c %s f) -le 4194304 ]", &[Exit::Code(0)]),
    ("", "for i in {1..9}; do head -c 3M /dev/zero > f$i; done; sleep 60", &[Exit::TooMuchOutput]),
    ("", "for i in {1..1000}; do : > f$i; done; sleep 60", &[Exit::TooMuchOutput]),
    ("", "for i in {1..200}; do mkdir d; cd d; done; sleep 60", &[Exit::TooMuchOutput]),
    (
        "python3",
        "python3 -c 'import socket\nwhile True: l = [*globals().get(\"l\", []), *socket.socketpair()]'",
        &[Exit::Code(1)],
    ),
];

#[tokio::test]
async fn whatever_takes_too_much_is_ended() {
    let mut wrong = Vec::new();
    for (kind, rig) in Rig::both() {
        let policy = small(&rig);
        for (needs, command, exits) in CASES {
            // Nothing but a process namespace can end a bomb that the kernel does not slow down, as it does not for root.
            let is_bomb = command.contains(":|:") || command.starts_with("f()");
            if is_bomb && kind == "no namespaces" && rustix::process::geteuid().is_root() {
                eprintln!("skipped for root without namespaces: {command}");
                continue;
            }
            if !has(needs) {
                continue;
            }
            rig.clear();
            let ran = rig.run_with(&policy, command, None).await;
            if !exits.contains(&ran.exit) {
                wrong.push(format!("{kind}: {command}\n{ran:?}"));
            }
            let text = ran.text.len();
            assert!(text < 3_000, "{command}: {text}");
            assert!(ran.bytes <= policy.limits.whole_bytes, "{command}: {}", ran.bytes);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A fork bomb of root's can't fill the machine's process table before the helper's next look: the kernel bounds the ids.
#[tokio::test]
async fn the_ids_of_processes_are_bounded() {
    let Some(rig) = Rig::new(true) else { return };
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split('.').map_while(|number| number.parse::<u32>().ok());
    if (numbers.next(), numbers.next()) < (Some(6), Some(14)) {
        eprintln!("skipped: process ids belong to the machine before Linux 6.14");
        return;
    }
    let policy = small(&rig);
    let ran =
        rig.run_with(&policy, "for i in {1..400}; do (echo $BASHPID); done | sort -n | tail -1", None).await;
    let highest: u32 = ran.text.trim().parse().unwrap_or_else(|_| panic!("{ran:?}"));
    assert!((200..=301).contains(&highest), "{ran:?}");
}

/// What doesn't want to end, in time.
const ENDLESS: &[&str] = &[
    "sleep 1000",
    "while :; do :; done",
    "trap '' TERM INT HUP QUIT USR1; while :; do :; done",
    "kill -STOP $$",
    "kill -STOP 0",
    "kill -STOP -1; sleep 1000",
    "setsid sleep 1000",
    "read < <(sleep 1000) || sleep 1000",
    "nohup sleep 1000",
    "exec >&- 2>&-; sleep 1000",
    "trap 'exec sleep 1000' EXIT",
];

#[tokio::test]
async fn what_runs_for_too_long_is_ended() {
    for (kind, rig) in Rig::both() {
        let limits = Limits { time: Duration::from_millis(400), ..Limits::default() };
        let policy = Policy { limits, ..rig.policy.clone() };
        for command in ENDLESS.iter().filter(|command| !command.contains("trap 'exec")) {
            let ran = rig.run_with(&policy, command, None).await;
            assert_eq!(ran.exit, Exit::TimedOut, "{kind}: {command}: {ran:?}");
        }
        // What it said until then is kept.
        let ran = rig.run_with(&policy, "echo begun; sleep 1000", None).await;
        assert_eq!((ran.exit, ran.text.as_str()), (Exit::TimedOut, "begun\n"), "{kind}");
    }
}
