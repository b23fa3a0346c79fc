//! Ends and limits: whatever ends a command, nothing of it is left; a box that takes more than it may is ended, whole.

use crate::rig::*;
use std::time::Duration;

use tokio::task::spawn_blocking;
use vault_agent::confine::{Helper, Limits};

/// Ways to stay when the command is over. Each says `up` in the pipe that every process holds open.
const STAYERS: &[(&str, &str)] = &[
    ("", "sleep 98765 &"),
    ("", "(sleep 98765 &)"),
    ("", "sleep 98765 & disown"),
    ("nohup", "nohup sleep 98765 > /dev/null 2>&1 &"),
    ("setsid", "setsid -f sleep 98765"),
    ("setsid", "setsid bash -c 'setsid sleep 98765 & sleep 98765' &"),
    (
        "setsid",
        "trap '' TERM HUP INT; setsid -f bash -c 'trap \"\" TERM HUP INT; while :; do sleep 98765; done'",
    ),
    ("perl", "perl -MPOSIX -e 'fork and exit; POSIX::setsid(); fork and exit; chdir \"/\"; sleep 98765'"),
    ("", "(kill -STOP $BASHPID) &"),
    ("", "coproc sleep 98765"),
    ("", "bash -c 'bash -c \"bash -c \\\"sleep 98765 &\\\" &\" &'"),
];

/// Those that can be tried here, each with its number.
fn stayers() -> impl Iterator<Item = (usize, &'static str)> {
    STAYERS.iter().enumerate().filter(|(_, (needs, _))| has(needs)).map(|(n, (_, stay))| (n, *stay))
}

/// Makes the pipe `name` in the scratch and reads it to its end, on a thread of its own; says so first when it was
/// opened.
fn pipe(rig: &Rig, name: &str) -> (tokio::sync::oneshot::Receiver<()>, tokio::task::JoinHandle<String>) {
    let path = rig.at("scratch").join(name);
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    let (opened, is_open) = tokio::sync::oneshot::channel();
    let reading = spawn_blocking(move || {
        let mut reader = BufReader::new(std::fs::File::open(path).unwrap());
        let mut text = String::new();
        reader.read_line(&mut text).unwrap();
        let _ = opened.send(());
        reader.read_to_string(&mut text).unwrap();
        text
    });
    (is_open, reading)
}

#[tokio::test]
async fn nothing_is_left_when_the_command_is_over() {
    for (kind, rig) in Rig::both() {
        for (n, stay) in stayers() {
            let (_, reading) = pipe(&rig, &format!("p{n}"));
            let ran = rig.run(&format!("exec 9> p{n}; echo up >&9; {stay}\nexit 5")).await;
            assert_eq!(ran.exit, Exit::Code(5), "{kind}: {stay}: {ran:?}");
            assert_eq!(reading.await.unwrap(), "up\n", "{kind}: {stay}");
        }
    }
}

#[tokio::test]
async fn nothing_is_left_after_the_time_is_over() {
    for (kind, rig) in Rig::both() {
        for (n, stay) in stayers() {
            // A busy machine may need longer to come to the point.
            let mut said = String::new();
            for (turn, millis) in [300, 10_000].into_iter().enumerate() {
                let limits = Limits { time: Duration::from_millis(millis), ..Limits::default() };
                let policy = Policy { limits, ..rig.policy.clone() };
                let pipe_name = format!("p{n}-{turn}");
                let (_, reading) = pipe(&rig, &pipe_name);
                let command = format!("exec 9> {pipe_name}; echo up >&9; {stay}\nsleep 98765");
                let ran = rig.run_with(&policy, &command, None).await;
                assert_eq!(ran.exit, Exit::TimedOut, "{kind}: {stay}: {ran:?}");
                // Who waits for a writer that never came is let go.
                let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK;
                drop(rustix::fs::open(rig.at("scratch").join(&pipe_name), flags, rustix::fs::Mode::empty()));
                said = reading.await.unwrap();
                if !said.is_empty() {
                    break;
                }
            }
            assert_eq!(said, "up\n", "{kind}: {stay}");
        }
    }
}

#[tokio::test]
async fn a_command_can_be_stopped() {
    for (kind, rig) in Rig::both() {
        let stop = CancellationToken::new();
        let (is_open, reading) = pipe(&rig, "p");
        let command = "trap '' TERM; echo begun; exec 9> p; echo up >&9; (sleep 98765 &); sleep 98765";
        let (ran, ()) = tokio::join!(rig.helper.run(&rig.policy, command, None, &stop), async {
            is_open.await.unwrap();
            stop.cancel();
        });
        let ran = ran.unwrap();
        assert_eq!((ran.exit, ran.text.as_str()), (Exit::Stopped, "begun\n"), "{kind}");
        assert_eq!(reading.await.unwrap(), "up\n", "{kind}");
        // One that is stopped before it begins, too.
        let ran = rig.helper.run(&rig.policy, "sleep 98765", None, &stop).await.unwrap();
        assert_eq!(ran.exit, Exit::Stopped, "{kind}");
    }
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_any_more_ends() {
    for (kind, rig) in Rig::both() {
        let (is_open, reading) = pipe(&rig, "p");
        tokio::select! {
            ran = rig.run("exec 9> p; echo up >&9; (setsid sleep 98765 &); sleep 98765") => panic!("{kind}: {ran:?}"),
            _ = is_open => {}
        }
        assert_eq!(reading.await.unwrap(), "up\n", "{kind}");
    }
}

/// The scratch of [`host`], in another process.
const HOST: &str = "CONFINE_TEST_HOST";

/// No test: the process that another test kills while it runs a command.
#[tokio::test]
async fn host() {
    let Ok(scratch) = std::env::var(HOST) else { return };
    let helper = Helper::new(PROGRAM);
    let helper = if scratch.ends_with("no namespaces") { helper.without_namespaces() } else { helper };
    let stop = CancellationToken::new();
    let command = "exec 9> p; echo up >&9; (setsid bash -c 'trap \"\" TERM; sleep 98765' &); sleep 98765";
    let _ = helper.run(&Policy::new(scratch), command, None, &stop).await;
}

/// The host with a scratch that is named after the kind of box, once its command runs; and what is said in its pipe.
async fn start_host(rig: &Rig, kind: &str) -> (Child, tokio::task::JoinHandle<String>) {
    let scratch = rig.at("scratch").join(kind);
    std::fs::create_dir(&scratch).unwrap();
    let (is_open, reading) = pipe(rig, &format!("{kind}/p"));
    let mut host = Command::new(std::env::current_exe().unwrap());
    host.args(["--exact", "ends::host", "--nocapture"]).env(HOST, scratch);
    let host = host.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    is_open.await.unwrap();
    (host, reading)
}

#[tokio::test]
async fn nothing_is_left_when_the_program_is_killed() {
    for (kind, rig) in Rig::both() {
        let (mut host, reading) = start_host(&rig, kind).await;
        host.kill().unwrap();
        host.wait().unwrap();
        assert_eq!(reading.await.unwrap(), "up\n", "{kind}");
    }
}

#[tokio::test]
async fn nothing_is_left_when_the_helper_is_killed() {
    // Without a process namespace nobody is left who could find the rest: `docs/tools.md` says so.
    let Some(rig) = Rig::new(true) else { return };
    let (mut host, reading) = start_host(&rig, "namespaces").await;
    let tasks = std::fs::read_dir(format!("/proc/{}/task", host.id())).unwrap().flatten();
    let children = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children"));
    let children: String = tasks.map(|task| children(task).unwrap_or_default()).collect();
    let [child] = children.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{children}") };
    let child = rustix::process::Pid::from_raw(child.parse().unwrap()).unwrap();
    rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
    assert_eq!(reading.await.unwrap(), "up\n");
    host.wait().unwrap();
}

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
const CASES: &[(&str, &str, Exit)] = &[
    ("", ":(){ :|:& };:; sleep 60", Exit::TooManyProcesses),
    ("", "f() { f & f & wait; }; f & sleep 60", Exit::TooManyProcesses),
    ("sleep", "for i in {1..60}; do sleep 60 & done; wait", Exit::TooManyProcesses),
    ("setsid", "for i in {1..60}; do setsid -f sleep 60; done; sleep 60", Exit::TooManyProcesses),
    (
        "python3",
        "python3 -c 'import threading, time\nfor i in range(60): threading.Thread(target=time.sleep, args=(60,)).start()'",
        Exit::TooManyProcesses,
    ),
    ("tail", "tail /dev/zero", Exit::TooMuchMemory),
    ("perl", "perl -e '$x .= \"x\" x 1e6 while 1'", Exit::TooMuchMemory),
    ("perl", "for i in {1..8}; do perl -e '$x = \"x\" x 4e7; sleep 60' & done; wait", Exit::TooMuchMemory),
    (
        "python3",
        "python3 -c 'import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1'",
        Exit::TooMuchMemory,
    ),
    ("yes", "yes", Exit::TooMuchOutput),
    ("head", "head -c 1G /dev/zero", Exit::TooMuchOutput),
    ("", "while :; do echo an endless line of words; done >&2", Exit::TooMuchOutput),
    // A signal ends what makes a file too large; the shell goes on.
    ("head", "head -c 1G /dev/zero > f; [ $(stat -c %s f) -le 4194304 ]", Exit::Code(0)),
    ("", "for i in {1..9}; do head -c 3M /dev/zero > f$i; done; sleep 60", Exit::TooMuchOutput),
    ("", "for i in {1..1000}; do : > f$i; done; sleep 60", Exit::TooMuchOutput),
    ("", "for i in {1..200}; do mkdir d; cd d; done; sleep 60", Exit::TooMuchOutput),
    (
        "python3",
        "python3 -c 'import socket\nwhile True: l = [*globals().get(\"l\", []), *socket.socketpair()]'",
        Exit::Code(1),
    ),
];

#[tokio::test]
async fn whatever_takes_too_much_is_ended() {
    let mut wrong = Vec::new();
    for (kind, rig) in Rig::both() {
        let policy = small(&rig);
        for (needs, command, exit) in CASES {
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
            if ran.exit != *exit {
                wrong.push(format!("{kind}: {command}\n{ran:?}"));
            }
            assert!(ran.text.len() < 3_000, "{command}: {}", ran.text.len());
            assert!(ran.bytes <= policy.limits.whole_bytes, "{command}: {}", ran.bytes);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
];

#[tokio::test]
async fn what_runs_for_too_long_is_ended() {
    for (kind, rig) in Rig::both() {
        let limits = Limits { time: Duration::from_millis(400), ..Limits::default() };
        let policy = Policy { limits, ..rig.policy.clone() };
        for command in ENDLESS {
            let ran = rig.run_with(&policy, command, None).await;
            assert_eq!(ran.exit, Exit::TimedOut, "{kind}: {command}: {ran:?}");
        }
        // What it said until then is kept.
        let ran = rig.run_with(&policy, "echo begun; sleep 1000", None).await;
        assert_eq!((ran.exit, ran.text.as_str()), (Exit::TimedOut, "begun\n"), "{kind}");
    }
}
