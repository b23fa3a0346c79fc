//! `run`: the real daemon over a real folder, with a frozen clock, so that nothing waits for a minute.

use std::sync::mpsc;

use crate::support::prelude::*;

/// A daemon, and the lines that it says.
pub struct Daemon {
    child: Killed,
    lines: mpsc::Receiver<String>,
}

impl Daemon {
    pub fn start(vault: &TestVault, args: &[&str]) -> Self {
        Self::spawn(vault.command(args))
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = Killed(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        let (sender, lines) = mpsc::channel();
        send_lines(child.stdout.take().unwrap(), sender.clone());
        send_lines(child.stderr.take().unwrap(), sender);
        Self { child, lines }
    }

    /// One that watches its vault.
    fn watching(vault: &TestVault) -> Self {
        let daemon = Self::start(vault, &["run"]);
        daemon.hear("watching");
        daemon
    }

    /// Waits for a line with `part`; the limit is only for a daemon that hangs.
    pub fn hear(&self, part: &str) -> String {
        let (mut heard, limit) = (Vec::new(), Instant::now() + Duration::from_secs(60));
        while let Ok(line) = self.lines.recv_timeout(limit.saturating_duration_since(Instant::now())) {
            if line.contains(part) {
                return line;
            }
            heard.push(line);
        }
        panic!("{part:?} never came; heard:\n{}", heard.join("\n"));
    }

    fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.lines.iter().collect()
    }

    fn send(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// SIGTERM; gives the exit code and what was still said.
    pub fn terminate(mut self) -> (Option<i32>, Vec<String>) {
        self.send(rustix::process::Signal::TERM);
        (self.child.wait().unwrap().code(), self.lines.iter().collect())
    }
}

#[test]
fn an_undo_that_was_killed_is_finished_by_the_daemon() {
    let vault = TestVault::new("//- /daily/2026-11-30.md\n- Anna likes tea\n//- /MEMORY.md\n# Memory\n");
    let _ = vault.run(&["memory", "promote", "2026-11-30", "1"]).ok();
    vault.killed("history::restore-step=return", &["undo"]);
    let halves = ["MEMORY.md", "daily/2026-11-30.md"].map(|note| vault.read(note).contains("Anna"));
    assert_eq!(halves[0], halves[1], "taken back in one of two notes");
    let daemon = Daemon::start(&vault, &["run"]);
    vault.until("daily/2026-11-30.md", |text| text == "- Anna likes tea\n");
    vault.until("MEMORY.md", |text| text == "# Memory\n");
    daemon.kill();
}

/// The service starts it again.
#[test]
fn a_daemon_whose_watcher_ended_ends_with_an_error() {
    let mut vault = TestVault::new("");
    vault.env("FAILPOINTS", "vault::watch::begun=panic");
    let mut daemon = Daemon::start(&vault, &["run"]);
    daemon.hear("can't watch the vault: the watcher ended by itself");
    assert_eq!(daemon.child.wait().unwrap().code(), Some(1));
}

/// As `nohup` starts it: the terminal's end is no reason to stop.
#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_was_started_with_hangups_ignored_goes_on_after_one() {
    let vault = TestVault::new("//- /Reminders.md\nhello\n");
    let daemon = Daemon::spawn(vault.started_by(&["sh", "-c", "trap '' HUP; exec \"$0\" run"], &[]));
    daemon.hear("watching");
    wait_for_status(&vault);
    daemon.send(rustix::process::Signal::HUP);
    vault.write("Reminders.md", format!("hello\n{DUE}"));
    daemon.hear("Pay the rent");
    assert_eq!(daemon.terminate().0, Some(0));
}

const DUE: &str = "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"Pay the rent\" id=rid_AAAAAAAAAAAA\n";

#[test]
fn the_second_daemon_is_told_of_the_first() {
    let vault = TestVault::new("//- /Reminders.md\nhello\n");
    let daemon = Daemon::watching(&vault);
    wait_for_status(&vault);
    let second = vault.run(&["run"]);
    second.exits(1).warns("another daemon serves this vault already (process ").warns_not("watching");
    assert_eq!(vault.run(&["--json", "status"]).json()["running"], true);
    daemon.kill();
    assert_eq!(vault.run(&["--json", "status"]).json()["running"], false);
}

#[test]
fn after_a_kill_nothing_comes_twice() {
    let mut vault = TestVault::new(&format!("//- /Reminders.md\n{DUE}"));
    let first = Daemon::start(&vault, &["run"]);
    first.hear("Pay the rent");
    // The journal has it as sent as soon as the status counts it; the note is not still yet.
    until("the status", || report(&vault).contains("\"fired\":1"));
    first.kill();
    assert_eq!(vault.read("Reminders.md"), DUE);
    vault.env("VAULT_AGENT_NOW", "2026-12-01T09:31:00Z@20");
    let second = Daemon::watching(&vault);
    vault.until("Reminders.md", |text| !text.contains("Pay the rent"));
    let said = second.kill();
    assert!(!said.iter().any(|line| line.contains("Pay the rent")), "{said:?}");
}

#[test]
fn a_pass_that_waited_for_another_process_is_made_once_that_is_done() {
    let vault = TestVault::new(&format!("//- /Reminders.md\n{DUE}"));
    let lock = fs::File::create(vault.state().join("deliver.lock")).unwrap();
    lock.lock().unwrap();
    let daemon = Daemon::start(&vault, &["run"]);
    daemon.hear("another pass over this vault has been running");
    drop(lock);
    // The clock stands still: there is no next minute.
    daemon.hear("Pay the rent");
    let (_, said) = daemon.terminate();
    assert!(!said.iter().any(|line| line.contains("Pay the rent")), "{said:?}");
}

/// The main job of the product, twenty times as fast as life.
#[test]
fn a_new_vault_fires_its_sample_and_a_line_of_a_person() {
    let vault = TestVault::new("").with_env("VAULT_AGENT_NOW", "2026-12-01T09:28:30Z@20");
    let daemon = Daemon::start(&vault, &["run", "--vault", vault.path("fresh").to_str().unwrap()]);
    daemon.hear("made a new vault");
    daemon.hear("watching");
    let own = "- [ ] date=2026-12-01 time=09:31 recur=daily msg=\"water the plants\"\n";
    let note = "fresh/Reminders.md";
    vault.until(note, |text| text.contains("alive"));
    vault.write(note, vault.read(note) + own);
    daemon.hear("Your vault is alive");
    daemon.hear("2026-12-01 09:31 water the plants");
    let text = vault.until(note, |text| text.contains("date=2026-12-02 time=09:31 recur=daily"));
    assert!(!text.contains("alive"), "the sample's line is gone:\n{text}");
    assert!(text.contains("id=rid_"), "the person's line has its id:\n{text}");
    daemon.kill();
}

#[test]
fn a_cache_whose_obstacle_is_gone_is_taken_up_again_by_the_daemon() {
    let vault = TestVault::new("//- now: 2026-07-01T09:30:00Z\n//- /a.md\nzinnia one\n");
    let search = || vault.json(&["search", "zinnia"])["freshness"].clone();
    fs::remove_dir_all(vault.cache()).unwrap();
    fs::write(vault.cache(), "").unwrap();
    let daemon = Daemon::watching(&vault);
    let said = || vault.run(&["status", "--json"]).json()["daemon"]["parts"]["index"].to_string();
    until("the obstacle to be said", || said().contains("not followed"));
    assert!(search()["warnings"][0].as_str().unwrap().contains("without a cache"));
    fs::remove_file(vault.cache()).unwrap();
    vault.write("b.md", "zinnia two\n");
    until("the cache", || search()["checked_by"] == "daemon");
    drop(daemon.kill());
}

#[test]
fn changed_settings_are_taken_on_and_wrong_ones_are_refused() {
    let vault = TestVault::new("//- now: 2026-07-01T09:30:00Z\n//- zone: Europe/London\n");
    vault.write("Reminders.md", "hello\n");
    let daemon = Daemon::start(&vault, &["run"]);
    wait_for_status(&vault);
    vault.write("vault-agent.toml", "timezon = \"UTC\"\n");
    daemon.hear("the settings are invalid, the last valid ones stay");
    for args in [&["status"][..], &["remind", "list"], &["search", "hello"], &["agenda"]] {
        let run = vault.run(args);
        run.exits(i32::from(args == ["status"]));
        run.warns("the settings are invalid, the last valid ones are used: ").warns("unknown key `timezon`");
    }
    let problems = || vault.run(&["status"]).stdout.matches("unknown key `timezon`").count();
    until("the daemon's word of them", || problems() == 1);
    assert_eq!(vault.run(&["remind", "add", "tomorrow 10:00", "x"]).code, 2, "nothing is written by them");
    // This daemon's clock stands still: a line without an id would wait for ever until its words are whole.
    // 09:30 is past in UTC, and an hour ahead in London's summer time it is past too; 10:00 is not in UTC.
    vault.write("vault-agent.toml", "timezone = \"Asia/Tokyo\"\n");
    let tea = "- [ ] date=2026-07-01 time=18:30 recur=none msg=\"tea in Tokyo\" id=rid_AAAAAAAAAAAA\n";
    // What it delivers and what it warns of come by two pipes, in any order.
    daemon.hear("the settings are valid again");
    vault.write("Reminders.md", tea);
    daemon.hear("tea in Tokyo");
    // Its exit code says whether something waits still: the console has it before the journal knows.
    assert!(!vault.run(&["status"]).stderr.contains("last valid"), "they are well");
    // Half a save, or a sync's: nothing is told at other times for it.
    vault.write("vault-agent.toml", "");
    daemon.hear("is gone or empty");
    fs::remove_file(vault.path("vault-agent.toml")).unwrap();
    vault.write("Reminders.md", tea.replace("tea", "more tea").replace("AAAA", "BBBB"));
    daemon.hear("more tea in Tokyo");
    let rest = daemon.kill();
    assert!(!rest.iter().any(|line| line.contains("valid again")), "once: {rest:?}");
}

fn wait_for_status(vault: &TestVault) {
    until("a pass", || report(vault).contains("\"last_pass\":\""));
}

fn report(vault: &TestVault) -> String {
    fs::read_to_string(vault.state().join("status.json")).unwrap_or_default()
}

#[cfg(target_os = "linux")]
#[test]
fn beside_a_daemon_whose_state_directory_was_deleted_nothing_comes_twice() {
    let mut vault = TestVault::new(&format!("//- /Reminders.md\n{DUE}"));
    vault.env("VAULT_AGENT_NOW", "2026-12-01T09:30:00Z@20");
    let daemon = Daemon::start(&vault, &["run"]);
    daemon.hear("Pay the rent");
    vault.until("Reminders.md", str::is_empty);
    until("the state to be gone", || fs::remove_dir_all(vault.state()).is_ok() && !vault.state().exists());
    let id = daemon.child.id();
    let gone = format!("with another state directory (process {id})");
    vault.run(&["status"]).says(&gone).says("if that was deleted, restart it");
    vault.write("Reminders.md", DUE.replace("AAAA", "BBBB").replace("rent", "milkman"));
    daemon.hear("Pay the milkman");
    for args in [&["run"][..], &["tick"]] {
        vault.run(args).exits(1).warns(&gone).warns("restart it").lacks("Pay the");
    }
    assert!(vault.doctor("daemon")[0]["detail"].as_str().unwrap().contains(&gone));
    assert_eq!(vault.run(&["status", "--json"]).json()["elsewhere"], id);
    vault.until("Reminders.md", str::is_empty);
    let (_, said) = daemon.terminate();
    assert!(!said.iter().any(|line| line.contains("Pay the")), "{said:?}");
    // Anew, with a state of its own.
    let daemon = Daemon::watching(&vault);
    wait_for_status(&vault);
    vault.run(&["status"]).lacks("deleted");
    let (_, said) = daemon.terminate();
    assert!(!said.iter().any(|line| line.contains("Pay the")), "{said:?}");
}

#[test]
fn a_history_that_is_deleted_under_the_daemon_is_made_again_and_said() {
    // A snapshot waits until it has been quiet for two seconds.
    let mut vault = TestVault::new("//- /a.md\none\n//- /b.md\ntwo\n");
    vault.env("VAULT_AGENT_NOW", "2026-12-01T09:30:00Z@10");
    let daemon = Daemon::start(&vault, &["run"]);
    let said = || vault.run(&["status", "--json"]).json()["daemon"]["parts"]["history"].to_string();
    let wait_for = |part: &str| until(part, || said().contains(part));
    wait_for("last snapshot");
    fs::remove_dir_all(vault.state().join("history.git")).unwrap();
    vault.write("a.md", "changed\n");
    wait_for("a new one begins; last snapshot");
    let (_, heard) = daemon.terminate();
    assert!(heard.iter().any(|line| line.contains("a new one begins")), "{heard:?}");
    vault.run(&["history", "verify"]).ok().warns("`history.git` was gone on");
    let listed = vault.json(&["history"]);
    assert!(listed[0]["paths"].to_string().contains("b.md"), "{listed}");
}

#[cfg(feature = "assistant")]
#[test]
fn doctor_says_whether_the_page_listens_and_a_stop_holds() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = format!("[web]\nenabled = true\nlisten = \"{}\"\n", taken.local_addr().unwrap());
    let mut vault = TestVault::new(&format!("//- /vault-agent.toml\n{settings}"));
    vault.env("VAULT_AGENT_NOW", "2026-12-01T09:30:00Z@20");
    let page = |words: &str| vault.doctor("page")[0]["detail"].as_str().unwrap().starts_with(words);
    let daemon = Daemon::start(&vault, &["run", "-v"]);
    until("the failure", || page("can't listen"));
    drop(taken);
    // Also where note after note is saved.
    until("the page", || {
        vault.write("busy.md", format!("{:?}", Instant::now()));
        page("listens on http")
    });
    // Other names close it for no moment.
    vault.write("vault-agent.toml", format!("{settings}trusted_hosts = [\"a.example\"]\n"));
    daemon.hear("the changed settings are in use");
    let _ = vault.run(&["web", "--json"]).ok();
    assert!(page("listens on http"));
    let _ = vault.run(&["web", "--stop"]).ok();
    assert!(page("closed"));
    let _ = vault.run(&["pause", "--until", "14:00"]).ok();
    daemon.hear("the changed settings are in use");
    // By its answer the part has taken the settings on.
    let _ = vault.run(&["web", "--stop"]).ok().says("the page was not open");
    drop(daemon.terminate());
}
