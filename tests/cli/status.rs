//! `status` without a daemon: what comes next, what waits; `pause` and `resume`: nothing due is lost.

use crate::support::prelude::*;

const FIXTURE: &str = r#"
//- now: 2026-12-01T09:30:00Z
//- /Reminders.md
- [ ] date=2026-12-03 time=08:00 recur=none msg="Bins" id=rid_AAAAAAAAAAAA
- [ ] date=2026-01-01 time=10:00 recur=daily msg="Stretch" id=rid_BBBBBBBBBBBB
- [x] date=2026-12-02 time=08:00 recur=none msg="asleep"
- [ ] date=2026-12-02 time=08:00 recur=none msg="no id yet"
"#;

#[test]
fn the_next_reminders_are_in_their_order() {
    let vault = TestVault::new(FIXTURE);
    insta::assert_snapshot!(vault.run(&["status"]).shown(), @r"
    daemon    not running: start it with `vault-agent run`, or install it with `vault-agent service install`
    late
      Mon 30 Nov 10:00 (23 h ago)  rid_[ID]  Stretch
    next
      10:00 (in 30 min)          rid_[ID]  Stretch
      Wed 2 Dec 08:00 (in 22 h)  no id yet         no id yet
      Thu 3 Dec 08:00 (in 46 h)  rid_[ID]  Bins
    ");
    let status = vault.json(&["status", "--count", "1"]);
    let first = json!(["rid_BBBBBBBBBBBB", "2026-12-01T10:00:00+00:00"]);
    assert_eq!(pick(&status, "running next/1"), json!([false, null]));
    assert_eq!(pick(&status["next"][0], "id at"), first);
}

#[test]
fn what_is_overdue_is_shown_wherever_one_looks() {
    let vault = vault("2026-12-01T09:30:00Z");
    vault.write("Reminders.md", DUE.replace("12-01", "11-30"));
    assert_eq!(pick(&vault.json(&["status"]), "late/0/state late/0/kind"), json!(["late", "reminder"]));
    vault.run(&["status", "--count", "0"]).ok().says("late      1 more\nnext");
    vault.run(&["agenda"]).ok().warns("1 of the days before is late: `vault-agent status` lists that");
    vault.run(&["agenda", "--from", "2026-12-01"]).ok().warns_not("late");
    vault.run(&["remind", "list"]).ok().says("2026-11-30 09:00  late     Pay rent");
    assert!(vault.doctor("daemon")[0]["detail"].as_str().unwrap().ends_with("overdue and not delivered: 1"));
    let _ = vault.run(&["tick"]).ok();
    assert_eq!(vault.json(&["status"])["late"], json!([]));
}

#[test]
fn a_note_of_reminders_that_was_moved_is_a_problem() {
    let vault = TestVault::new(FIXTURE);
    for there in ["reminders.md", "Agent/Reminders.md"] {
        fs::create_dir_all(vault.path("Agent")).unwrap();
        fs::rename(vault.path("Reminders.md"), vault.path(there)).unwrap();
        let said = format!("`Reminders.md` is missing, so nothing of `{there}` is delivered");
        vault.run(&["status"]).exits(1).says(format!("problem   {said}"));
        vault.run(&["doctor"]).exits(1).says(format!("FAIL notes        {said}"));
        fs::rename(vault.path(there), vault.path("Reminders.md")).unwrap();
    }
}

/// Each row: a file with its text, and what is said.
#[test]
fn what_keeps_from_firing_is_said_beside_what_comes() {
    for (file, text, code, said) in [
        ("../state/deliveries.sqlite/x", "", 1, "problem   the delivery journal `"),
        ("Reminders 2.md", "x\n", 1, "problem   `Reminders 2.md` is a conflicting copy of `Reminders.md`"),
        ("vault-agent.toml", "[schedule]\nhost = \"other-host\"\n", 0, "firing    no: `other-host`"),
    ] {
        let vault = TestVault::new(FIXTURE);
        vault.write(file, text);
        let status = vault.run(&["status"]);
        assert_eq!(status.exits(code).stdout.matches(said).count(), 1, "{status:?}");
        status.says("Bins");
    }
}

#[test]
fn a_search_that_finds_nothing_names_what_was_not_searched() {
    let vault = TestVault::new("//- /Small.md\nwheels\n");
    vault.write("vault-agent.toml", "[index]\nmax_file_bytes = 1000\n");
    assert!(vault.run(&["search", "zebra"]).ok().stderr.ends_with("nothing found\n"));
    vault.write("Long.md", "zebra ".repeat(400));
    vault.write("Longer.md", "zebra ".repeat(500));
    for _ in ["read directly", "from the index"] {
        let said = vault.run(&["search", "zebra"]).ok().stderr;
        let told = ["nothing found, but 2 files were not searched: ", "`Long.md` (", "`Longer.md` ("];
        contains_all(&said, &told);
        assert!(!said.ends_with("nothing found\n"), "{said}");
        let _ = vault.run(&["reindex"]).ok();
    }
    vault.run(&["search", "wheels"]).ok().warns_not("not searched");
    assert_eq!(vault.json(&["search", "zebra"])["freshness"]["not_searched"], 2);
}

/// The daemon's own report is kept there, so it is of a time before.
#[test]
fn a_full_disk_is_a_problem() {
    let mut vault = TestVault::new(FIXTURE);
    vault.run(&["status"]).ok().lacks("less than 1 MB");
    vault.env("FAILPOINTS", "config::full-disk=return");
    vault.run(&["status"]).exits(1).says("problem   less than 1 MB is free on the disk of `[STATE]`");
}

#[test]
fn a_slow_tick_is_said_without_a_daemon() {
    let vault = TestVault::new(FIXTURE);
    assert_eq!(vault.json(&["status"])["tick"], Value::Null);
    let _ = vault.run(&["tick", "--dry-run"]).ok();
    assert_eq!(vault.json(&["status"])["tick"], Value::Null);
    let _ = vault.run(&["tick", "--now", "2026-12-01T09:31:00Z"]).ok();
    let tick = vault.json(&["status"])["tick"].clone();
    assert!(tick["at"] == "2026-12-01T09:31:00Z" && tick["took_ms"].is_u64() && tick["slow"].is_boolean());
    vault.set_now("2026-12-01T09:34:00Z");
    let slow = json!({ "at": "2026-12-01T09:31:00Z", "took_ms": 3287, "slow": true });
    fs::write(vault.state().join("tick.json"), slow.to_string()).unwrap();
    vault.run(&["status"]).ok().says("slow      the last tick, 3 min ago, took 3287 ms, longer than 2 s\n");
}

#[test]
fn wrong_settings_are_a_problem_of_a_tick_and_of_status() {
    let vault = TestVault::new(&format!("{FIXTURE}//- /vault-agent.toml\ntimezone = \"UTC\"\n"));
    let _ = vault.run(&["tick"]).ok();
    vault.write("vault-agent.toml", "timezone = \"UTC\"\nbogus = 1\n");
    vault.set_now("2026-12-02T08:00:00Z");
    let document = vault.run(&["--json", "tick"]).exits(1).json();
    assert!(document["problems"][0].as_str().unwrap().contains("unknown key `bogus`"), "{document}");
    assert!(document["fired"].to_string().contains("no id yet"), "the last valid ones are used: {document}");
    assert!(vault.run(&["tick"]).exits(1).shown().contains("unknown key `bogus`"));
    assert!(vault.run(&["status"]).exits(1).shown().contains("unknown key `bogus`"));
}

#[test]
fn a_note_that_can_not_be_read_hides_nothing_else() {
    for (note, fired) in [("Reminders.md", 0), ("COMMITMENTS.md", 1), ("routines", 1)] {
        let vault = TestVault::new(FIXTURE);
        let _ = fs::remove_file(vault.path(note));
        std::os::unix::fs::symlink("nowhere", vault.path(note)).unwrap();
        let problem = format!("`{note}` is a symbolic link to nothing");
        let status = vault.run(&["status"]);
        status.exits(1).says(format!("problem   {problem}")).says("daemon    not running");
        assert!(!status.stdout.contains("nothing is scheduled"), "{note}");
        vault.run(&["agenda"]).exits(1).warns(&problem);
        vault.run(&["check"]).exits(1).says(format!("{note}:1:1: {problem}"));
        let ticked = vault.run(&["--json", "tick"]);
        assert_eq!(ticked.exits(1).json()["fired"].as_array().unwrap().len(), fired, "{note}");
    }
    let vault = TestVault::new("//- /vault-agent.toml\n[skill.x]\n");
    for (count, note) in ["skills", "summaries"].iter().enumerate() {
        std::os::unix::fs::symlink("nowhere", vault.path(note)).unwrap();
        let found = vault.run(&["check"]).exits(1).stdout.clone();
        assert_eq!(found.matches("is a symbolic link to nothing").count(), count + 1, "{found}");
    }
}

#[test]
fn open_questions_of_the_assistant_are_shown_and_near_misses_checked() {
    let asked = "- [ ] ap_K5V4M2J7Q2ZP until=2026-12-01T09:50Z brain=claude run=\"curl \\*\"";
    let notes = format!(
        "//- /Approvals.md\n# Approvals\n\n{asked}\n{}\n{}\n",
        asked.replace("K5V4", "AAAA").replace("09:50", "09:20"),
        asked.replace("K5V4", "BBBB").replace("[ ]", "[x]") + " state=used",
    );
    let vault = TestVault::new(&notes);
    let json = vault.json(&["status"]);
    assert_eq!(json["approvals"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!((&json["approvals"][0]["line"], &json["approvals"][0]["run"]), (&3.into(), &"curl *".into()));
    let shown = vault.run(&["status"]).ok().stdout;
    assert!(shown.contains("asked     Approvals.md:3: claude wants to run \"curl \\*\"; tick it"), "{shown}");
    assert!(vault.run(&["check"]).ok().stdout.contains("every line is understood"));
    vault.write("Approvals.md", asked.replace("brain=claude", "brian=claude"));
    vault.run(&["check"]).says("Approvals.md:1:47: `brian` is no field; did you mean `brain`?");
}

#[test]
fn people_read_local_times_and_no_nanoseconds() {
    let vault = TestVault::new("//- zone: Asia/Tokyo\n//- /Reminders.md\nhello\n")
        .with_env("VAULT_AGENT_NOW", "2026-12-01T09:30:00.123456789Z@20");
    let daemon = super::daemon::Daemon::start(&vault, &["run"]);
    let said = || vault.run(&["status"]).stdout;
    until("a snapshot", || said().contains("last snapshot"));
    let said = said();
    assert!(said.contains("since 18:30 (") && said.contains("last snapshot 18:3"), "{said}");
    let has_instant = |line: &str| line.split_whitespace().any(|word| word.parse::<Timestamp>().is_ok());
    assert!(!said.lines().any(has_instant) && !said.contains(".123"), "{said}");
    drop(daemon.terminate());
}

const DUE: &str = "- [ ] date=2026-12-01 time=09:00 recur=none msg=\"Pay rent\" id=rid_AAAAAAAAAAAA\n";

fn vault(now: &str) -> TestVault {
    let vault = TestVault::new("//- /vault-agent.toml\n# mine\n[paths]\n#inbox = \"Inbox.md\"\n");
    vault.write("Reminders.md", DUE);
    vault.set_now(now);
    vault
}

#[test]
fn reminders_go_on_in_a_pause_unless_they_wait_too_and_come_late_and_once() {
    let it = vault("2026-12-01T08:50:00Z");
    let paused = it.run(&["pause", "--until", "14:00", "--reminders"]).ok();
    let told = "paused until 2026-12-01 14:00, reminders too (`vault-agent resume` ends it)";
    assert_eq!(paused.stdout.trim(), told);
    let settings = it.read("vault-agent.toml");
    assert!(settings.contains("paused_until = \"2026-12-01 14:00\"\n"), "{settings}");
    assert!(settings.ends_with("# mine\n[paths]\n#inbox = \"Inbox.md\"\n"), "{settings}");
    it.set_now("2026-12-01T09:30:00Z");
    let tick = it.run(&["tick"]).ok();
    tick.warns("nothing fires here: paused until 2026-12-01 14:00");
    assert_eq!(it.read("Reminders.md"), DUE);
    // The same pause without reminders takes its place.
    let plain = it.run(&["pause", "--json", "--until", "14:00"]).ok().json();
    assert_eq!((&plain["paused"], &plain["reminders"]), (&true.into(), &false.into()));
    assert!(it.run(&["tick", "--dry-run"]).ok().stdout.contains("Pay rent"));
    // It ends by itself: what fell into it is told late, and once.
    drop(it.run(&["pause", "--until", "14:00", "--reminders"]).ok());
    it.set_now("2026-12-01T14:00:00Z");
    assert_eq!(it.run(&["status", "--json"]).json()["pause"]["paused"], false);
    contains_all(it.run(&["tick"]).ok().stdout, &["Pay rent", "09:00"]);
    assert_eq!(it.run(&["tick"]).ok().stdout, "");
    assert_eq!(it.read("Reminders.md"), "");
}

#[test]
fn status_says_it_and_resume_ends_it() {
    let it = vault("2026-12-01T08:50:00Z");
    drop(it.run(&["pause"]).ok());
    assert!(it.read("vault-agent.toml").starts_with("paused_until = \"resumed\"\n"));
    it.run(&["status"]).says("\npaused    until it is resumed, reminders go on (`vault-agent resume`");
    it.run(&["doctor"]).says("paused until it is resumed");
    assert_eq!(it.run(&["resume"]).ok().stdout.trim(), "nothing is paused");
    assert!(it.read("vault-agent.toml").starts_with("#paused_until = \"resumed\"\n"));
    it.run(&["resume"]).ok().warns("nothing was paused");
    it.run(&["pause", "--until", "yesterday"]).exits(2);
}

#[cfg(feature = "assistant")]
#[test]
fn routines_wait_and_are_due_after_it() {
    let it = vault("2026-12-01T08:50:00Z");
    it.write("routines/a.md", "---\nschedule: every 1m\nenabled: true\n---\nGo.\n");
    drop(it.run(&["pause"]).ok());
    it.set_now("2026-12-01T08:55:00Z");
    let dry = || it.run(&["tick", "--dry-run", "--json"]).ok().json();
    assert_eq!(dry()["routines"], Value::Null);
    drop(it.run(&["resume"]).ok());
    assert_eq!(dry()["routines"]["ran"][0]["run"], "a");
}
