//! `init` and what it promises: everything is there, nothing is overwritten.

use crate::support::prelude::*;

#[test]
fn a_new_vault_takes_the_zone_of_the_machine_and_has_its_sample_on_the_next_minute() {
    let mut vault = TestVault::new("//- now: 2026-07-01T09:28:40Z\n").with_env("TZ", "Asia/Tokyo");
    let dir = vault.home().join("New Vault");
    let run = vault.run(&["init", dir.to_str().unwrap()]).ok();
    run.says("created Reminders.md").warns("vault-agent run --vault '[HOME]/New Vault'");
    run.warns("dates and times are meant in Asia/Tokyo (this machine's time zone)");
    assert!(dir.join(".obsidian/snippets/vault-agent-logs.css").is_file());
    assert_eq!(vault.json(&["--vault", dir.to_str().unwrap(), "check"]), json!([]));
    let read = |note: &str| fs::read_to_string(dir.join(note)).unwrap();
    assert!(read("vault-agent.toml").contains("\ntimezone = \"Asia/Tokyo\"\n"));
    assert!(read("Reminders.md").contains("- [ ] date=2026-07-01 time=18:29 recur=none msg="));
    // Somebody's settings are not ours to change. (State belongs to one vault.)
    let own = vault.home().join("own");
    vault.env("VAULT_AGENT_STATE_DIR", vault.home().join("state of own").to_str().unwrap());
    let paris = "timezone = \"Europe/Paris\"\n";
    vault.write(own.join("vault-agent.toml"), paris);
    let run = vault.run(&["init", own.to_str().unwrap()]).ok();
    run.warns("are meant in Europe/Paris (this machine is in Asia/Tokyo)");
    assert_eq!(fs::read_to_string(own.join("vault-agent.toml")).unwrap(), paris);
    // A zone without a name leaves the template's.
    vault.env("TZ", "JST-9");
    let plain = vault.home().join("plain");
    vault.env("VAULT_AGENT_STATE_DIR", vault.home().join("state of plain").to_str().unwrap());
    vault.run(&["init", plain.to_str().unwrap()]).ok().warns("are meant in Europe/London");
}

#[test]
fn nothing_is_overwritten() {
    let vault = TestVault::new("//- /MEMORY.md\nmine\n//- /Reminders.md\nmy own\n");
    vault.run(&["init", "."]).ok().says("kept    MEMORY.md");
    assert_eq!(["MEMORY.md", "Reminders.md"].map(|note| vault.read(note)), ["mine\n", "my own\n"]);
    assert!(vault.has("Welcome.md"));
    let before = vault.tree();
    assert_eq!(vault.json(&["init", "."])["created"], json!([]));
    assert_eq!(vault.tree(), before);
}

#[test]
fn what_cannot_be_written_is_named_and_the_rest_is_made() {
    let vault = TestVault::new("//- /note.md\nhello\n//- /sub/.obsidian\nno folder\n");
    vault.run(&["init", "note.md"]).exits(1).warns("can't make the folder `note.md`");
    assert_eq!(vault.read("note.md"), "hello\n");
    let said = vault.run(&["init", "sub"]);
    said.exits(1).says("created Welcome.md");
    said.warns("not made: .obsidian/app.json: ").warns("make way for them");
    assert!(vault.has("sub/MEMORY.md"));
}

#[test]
fn notes_are_written_where_the_settings_have_them() {
    let vault = TestVault::new(
        "//- /vault-agent.toml\n[paths]\nreminders = \"x/R.md\"\nroutines = \"plans\"\nskills = \"x/s\"\n[assistant]\npersona = \"Me.md\"\n",
    );
    vault.run(&["init", "."]).ok().says("created x/R.md").says("kept    vault-agent.toml");
    let there = ["x/R.md", "plans/morning.md", "x/s/reminders/SKILL.md", "Me.md"];
    there.iter().for_each(|note| assert!(vault.has(note), "{note}"));
    let usual = ["Reminders.md", "routines", "skills", "Assistant.md"];
    usual.iter().for_each(|note| assert!(!vault.has(note), "{note}"));
    let _ = vault.run(&["check"]).ok();
}

#[test]
fn state_below_a_new_vault_is_refused_and_a_vault_above_it_is_said() {
    let mut vault = TestVault::new("");
    vault.run(&["init", "sub"]).ok().warns("lies in the vault");
    let dir = vault.home().join("v");
    vault.env("VAULT_AGENT_STATE_DIR", dir.join("state").to_str().unwrap());
    vault.run(&["init", dir.to_str().unwrap()]).exits(2).warns("where the state belongs");
    assert!(!dir.join("Reminders.md").exists());
}

#[test]
fn a_tilde_that_the_shell_left_is_the_home_folder() {
    let vault = TestVault::new("");
    let _ = vault.run(&["init", "--vault=~/v"]).ok();
    assert!(vault.home().join("v/Reminders.md").is_file() && !vault.has("~"));
}

#[test]
fn the_first_command_says_that_times_are_meant_in_another_zone() {
    let vault = TestVault::new("").with_env("TZ", "America/New_York");
    vault.write("Reminders.md", "- [ ] date=2026-12-01 time=15:27 recur=none msg=\"Tea\"\n");
    vault.run(&["tick"]).ok().warns("are meant in Europe/London (this machine is in America/New_York)");
    assert_eq!(vault.doctor("time zone")[0]["status"], "warn");
    for command in ["remind", "commitment"] {
        let vault = TestVault::new("").with_env("TZ", "America/New_York");
        vault.run(&[command, "add", "tomorrow 9am", "Tea"]).ok().warns("wrote vault-agent.toml");
        assert!(vault.read("vault-agent.toml").contains("\ntimezone = \"America/New_York\"\n"));
    }
}
