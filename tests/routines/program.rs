//! The program itself: the daemon beside its reminders, and `kill -9` in the middle of ticks.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::deliver::world::{id, line};
use crate::models::{ModelServer, Reply};
use crate::routines::rig::{note, write_at};
use crate::support::processes::Killed;
use crate::support::{TestVault, until};

/// A server, and a vault whose brain it is.
fn served(now: &str) -> (tokio::runtime::Runtime, ModelServer, TestVault) {
    let (runtime, server) = ModelServer::alone();
    let vault = TestVault::new(&format!("//- now: {now}\n"));
    vault.write("vault-agent.toml", server.brain("local", "chat", ""));
    (runtime, server, vault)
}

struct Daemon {
    _child: Killed,
    lines: mpsc::Receiver<String>,
}

impl Daemon {
    fn start(vault: &TestVault) -> Self {
        let mut child = vault.command(&["run"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let out = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)));
        });
        Self { _child: Killed(child), lines }
    }

    /// Waits for a line with `part`; the limit is only for a daemon that hangs.
    fn hear(&self, part: &str) -> String {
        let limit = Instant::now() + Duration::from_secs(60);
        while let Ok(line) = self.lines.recv_timeout(limit.saturating_duration_since(Instant::now())) {
            if line.contains(part) {
                return line;
            }
        }
        panic!("{part:?} never came");
    }
}

#[test]
fn a_routine_that_hangs_keeps_no_reminder_and_a_new_daemon_takes_it_up() {
    let (runtime, server, vault) = served("2026-12-01T08:00:00Z");
    vault.write("routines/a.md", note("schedule: daily 08:00\ndeliver: note\nnote: Log", "What now?"));
    server.respond(|_| Reply::hang());
    let daemon = Daemon::start(&vault);
    runtime.block_on(server.wait_for(1));
    // The brain is silent; what is due comes.
    vault.write("Reminders.md", line("2026-12-01", "08:00", "none", "Pay the rent", &id('A')));
    daemon.hear("Pay the rent");
    drop(daemon);
    server.respond(|_| Reply::text("the answer"));
    vault.set_now("2026-12-01T08:10:00Z");
    let daemon = Daemon::start(&vault);
    until("the run is taken up", || vault.has("Log.md"));
    assert_eq!(vault.read("Log.md").matches("> the answer").count(), 1);
    // One that is written while the daemon runs is seen at once.
    vault.write("routines/b.md", note("schedule: 10 8 * * *", "And now?"));
    daemon.hear("the answer");
}

#[test]
fn kill_nine_in_the_middle_of_ticks_leaves_each_run_once() {
    let (_runtime, server, vault) = served("2026-12-01T00:00:00Z");
    let text = note("schedule: daily 08:00\ndeliver: note\nnote: Log", "A line?");
    write_at(&vault.path("routines/log.md"), &text, vault.now());
    let mut count = 0;
    server.respond(move |_| {
        count += 1;
        Reply::text(format!("line {count}"))
    });
    drop(vault.run(&["tick"]).ok());
    let (mut kills, days) = (0, 12);
    for day in 1..=days {
        vault.set_now(&format!("2026-12-{day:02}T08:00:00Z"));
        for round in 0..3u64 {
            let mut child =
                vault.command(&["tick"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(3 + (day * 31 + round * 47) % 110));
            if child.try_wait().unwrap().is_none() {
                child.kill().unwrap();
                kills += 1;
            }
            child.wait().unwrap();
        }
        drop(vault.run(&["tick"]).ok());
    }
    let log = vault.read("Log.md");
    assert_eq!(log.matches("\n^run-").count() as u64, days, "{log}");
    let names = std::fs::read_dir(vault.path("logs/routines/log")).unwrap();
    let names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    // A file that was being made when the kill came is hidden, and none of the runs.
    let runs = names.iter().filter(|name| !name.starts_with('.')).count();
    assert_eq!(runs as u64, days, "{names:?}");
    // Nothing of the vault or of the journals is left half-way.
    let turns = vault.json(&["turns"]);
    assert!(turns.as_array().unwrap().iter().all(|turn| turn["state"] == "done"), "{turns}");
    println!("{kills} kills over {days} runs, each once");
}
