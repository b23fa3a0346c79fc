//! Tests `machines`, and what two machines with one vault do: over a real bare repository, with real processes.

use crate::cli::daemon::Daemon;
use crate::support::prelude::*;

const REMINDERS: &str = "//- Reminders.md\n- [ ] date=2026-12-01 time=09:30 recur=none msg=\"Stretch\"\n";

fn settings(store: &Path, more: &str) -> String {
    let store = store.display();
    format!(
        "timezone = \"UTC\"\n\n[machines]\nengine = \"git\"\nremote = \"file://{store}/voice.git\"\nprefer = [\"server\", \"laptop\"]\n{more}"
    )
}

/// A machine of this name with a copy of the vault.
fn machine(name: &str, settings: &str) -> TestVault {
    let vault = TestVault::new(REMINDERS).with_env("VAULT_AGENT_MACHINE", name);
    vault.write("vault-agent.toml", settings);
    vault.set_now("2026-12-01T09:00:00Z");
    vault
}

/// Gives `to` the note as `from` has it, as a sync tool does.
fn sync(from: &TestVault, to: &TestVault, note: &str) {
    to.write(note, from.read(note));
}

fn voice(vault: &TestVault) -> Option<String> {
    vault.run(&["machines", "--json"]).json()["voice"].as_str().map(str::to_owned)
}

/// What the daemon says of the machines.
fn words(vault: &TestVault) -> String {
    let status = vault.run(&["status", "--json"]).json();
    status["daemon"]["parts"]["machines"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_vault_on_one_machine_says_so() {
    let vault = TestVault::new(REMINDERS);
    vault.run(&["machines"]).ok().says("only one machine uses this vault");
    assert_eq!(vault.json(&["machines"])["engine"], "none");
    for action in ["join", "leave", "take"] {
        vault.run(&["machines", action]).exits(2);
    }
}

#[test]
fn a_machine_joins_and_leaves() {
    let (store, _) = bare_repository();
    let server = machine("server", &settings(store.path(), ""));
    let joined = server.run(&["machines", "join"]).ok();
    for said in ["store ", "vault ", "name ", "clock ", "rights ", "settings "] {
        joined.says(format!("fine  {said}"));
    }
    let id = server.read("vault-agent.toml");
    assert!(id.contains("\nvault = \"v-"), "{id}");
    // Once more: the id stays, and all is well.
    assert_eq!(server.json(&["machines", "join"])["ok"], true);
    assert_eq!(server.read("vault-agent.toml"), id);

    let _ = server.run(&["tick"]).ok();
    let status = server.json(&["machines"]);
    let wanted = json!(["git", true, 1, "server", "server", true]);
    assert_eq!(pick(&status, "engine ok epoch voice machines/0/name machines/0/holds"), wanted);
    let shown = server.run(&["machines"]).ok();
    shown.says("voice     server (epoch 1)").says("machine   server, this one: seen");

    server.run(&["machines", "leave"]).ok().says("`server` has left");
    assert_eq!(pick(&server.json(&["machines"]), "voice machines"), json!([null, []]));
    assert!(server.run(&["machines", "leave"]).ok().stdout.contains("is not in the list"));
    server.run(&["machines", "take"]).exits(1).warns("no daemon runs here");
}

#[test]
fn a_store_that_can_not_be_used_is_said_in_one_sentence() {
    let temp = tempfile::tempdir().unwrap();
    let server = machine("server", &settings(temp.path(), ""));
    for action in [&["machines", "join"][..], &["machines"]] {
        server.run(action).exits(1).says("git init --bare");
    }
    assert_eq!(server.run(&["machines", "--json"]).json()["ok"], false);
    let odd = machine("my laptop", &settings(bare_repository().0.path(), ""));
    odd.run(&["machines", "join"]).exits(2).warns("VAULT_AGENT_MACHINE");
}

#[test]
fn another_vaults_store_and_a_taken_name_are_refused() {
    let (store, _) = bare_repository();
    let server = machine("server", &settings(store.path(), "vault = \"v-1\"\n"));
    let _ = server.run(&["machines", "join"]).ok();
    let _ = server.run(&["tick"]).ok();
    for (id, name, said) in [
        ("vault = \"v-2\"\n", "laptop", "the vault with the id `v-1`"),
        ("", "laptop", "the vault with the id `v-1`"),
        ("vault = \"v-1\"\n", "server", "another machine is called `server`"),
    ] {
        let other = machine(name, &settings(store.path(), id));
        other.run(&["machines", "join"]).exits(1).says(said);
        other.set_now("2026-12-01T09:31:00Z");
        other.run(&["tick"]).warns(said).lacks("Stretch");
    }
    assert_eq!(voice(&server).as_deref(), Some("server"));
}

/// Half of the settings has come: which machine goes first, and what it does without the store, is its own; the reminder is
/// told once.
#[test]
fn settings_that_lag_change_at_most_which_machine_goes_first() {
    let (store, _) = bare_repository();
    let text = settings(store.path(), "vault = \"v-1\"\n");
    let other = text.replace("[\"server\", \"laptop\"]", "[\"laptop\"]\non_partition = \"tell\"");
    assert_ne!(text, other);
    let (server, laptop) = (machine("server", &text), machine("laptop", &other));
    let _ = server.run(&["tick"]).ok();
    sync(&server, &laptop, "Reminders.md");
    let _ = laptop.run(&["tick"]).ok();
    server.set_now("2026-12-01T09:30:00Z");
    laptop.set_now("2026-12-01T09:30:00Z");
    let told = [&laptop, &server].map(|vault| vault.run(&["tick"]).ok().stdout.matches("Stretch").count());
    assert_eq!(told, [1, 0]);
}

#[test]
fn a_machine_whose_settings_lost_the_table_says_that_it_tells_everything() {
    let (store, _) = bare_repository();
    let text = settings(store.path(), "vault = \"v-1\"\n");
    let mut server = machine("server", &text).with_env("VAULT_AGENT_NOW", "2026-12-01T09:00:00Z@1");
    let (lost, daemon) = ("`[machines]` is not in the settings", Daemon::start(&server, &["run"]));
    until("the server is the voice", || words(&server) == "this one is the voice");
    // The sync tool brings settings that another machine wrote before it had the table.
    server.write("vault-agent.toml", "timezone = \"UTC\"\n");
    until("status says so", || words(&server).starts_with(lost));
    assert!(server.run(&["status"]).stdout.contains("delivers everything by itself"));
    let found = server.doctor("machines");
    assert_eq!((found.len(), found[0]["status"].as_str()), (1, Some("warn")), "{found:?}");
    assert!(found[0]["detail"].as_str().unwrap().starts_with(lost), "{found:?}");
    // It does what it says, and takes part again when the table comes.
    server.write("vault-agent.toml", &text);
    until("it takes part", || words(&server) == "this one is the voice");
    daemon.terminate();
    server.write("vault-agent.toml", "timezone = \"UTC\"\n");
    server.env("VAULT_AGENT_NOW", "2026-12-01T09:30:00Z");
    server.run(&["tick"]).ok().says("Stretch");
    // One that never took part has nothing to say.
    assert!(machine("laptop", "timezone = \"UTC\"\n").doctor("machines").is_empty());
}

#[test]
fn the_voice_is_handed_over_to_who_takes_it() {
    let (store, _) = bare_repository();
    let text = settings(store.path(), "vault = \"v-1\"\n");
    // A second is a minute and a half.
    let [server, laptop] = ["server", "laptop"]
        .map(|name| machine(name, &text).with_env("VAULT_AGENT_NOW", "2026-12-01T09:00:00Z@90"));
    let first = Daemon::start(&server, &["run"]);
    until("the server is the voice", || voice(&laptop).as_deref() == Some("server"));
    let second = Daemon::start(&laptop, &["run"]);
    let there = || laptop.run(&["machines", "--json"]).json()["machines"].as_array().unwrap().len();
    until("both are there", || there() == 2);
    until("the laptop says who speaks", || words(&laptop) == "server is the voice");
    laptop.run(&["machines", "leave"]).exits(1);
    until("the daemon is asked", || laptop.run(&["machines", "take"]).code == 0);
    until("the laptop is the voice", || voice(&laptop).as_deref() == Some("laptop"));
    until("the server says so", || server.run(&["status"]).stdout.contains("machines  laptop is the voice"));
    first.terminate();
    second.terminate();
}
