//! What holds for every command: finding the vault, settings, exit codes.

use crate::support::TestVault;

#[test]
fn without_a_vault_there_is_a_hint() {
    let vault = TestVault::new("");
    let elsewhere = tempfile::tempdir().unwrap();
    let output = vault.command(&["status"]).current_dir(elsewhere.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no vault at or above") && said.contains("--vault DIR"), "{said}");
}

#[test]
fn a_vault_that_is_no_folder_is_named() {
    let vault = TestVault::new("//- /note.md\nhello\n");
    let run = vault.run(&["--vault", "note.md", "status"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("note.md"), "{}", run.stderr);
}

#[test]
fn a_typo_in_the_settings_is_pointed_at() {
    let vault = TestVault::new("//- /vault-agent.toml\n[notify]\nknd = \"console\"\n");
    insta::assert_snapshot!(vault.run(&["status"]).shown(), @r"
    exit 2
    --- stderr
    error: [VAULT]/vault-agent.toml:2:1: unknown key `knd`
    hint: did you mean `kind`?
    ");
}

#[test]
fn a_zone_that_does_not_exist_is_pointed_at() {
    let vault = TestVault::new("//- /vault-agent.toml\n\ntimezone = \"Europe/Londen\"\n");
    let run = vault.run(&["status"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("vault-agent.toml:2:12"), "{}", run.stderr);
    assert!(run.stderr.contains("Europe/London"), "{}", run.stderr);
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let vault = TestVault::new("");
    assert_eq!(vault.run(&["nonsense"]).code, 2);
    assert_eq!(vault.run(&["status", "--nonsense"]).code, 2);
    assert_eq!(vault.run(&[]).code, 2);
}

#[test]
fn a_clock_that_is_no_instant_is_wrong_usage() {
    let mut vault = TestVault::new("");
    vault.env("VAULT_AGENT_NOW", "tomorrow");
    let run = vault.run(&["status"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("`VAULT_AGENT_NOW` is `tomorrow`, which is no instant"), "{}", run.stderr);
}

#[test]
fn a_reader_that_goes_away_ends_the_output_quietly() {
    use std::process::Stdio;
    let vault = TestVault::new("");
    let mut child = vault.command(&["man"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn completions_and_manual_name_the_commands() {
    let vault = TestVault::new("");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(vault.run(&["completions", shell]).ok().stdout.contains("doctor"), "{shell}");
    }
    let page = vault.run(&["man"]).ok().stdout;
    assert!(page.contains(".TH vault-agent") && page.contains("doctor"), "{page}");
    std::fs::create_dir(vault.home().join("man")).unwrap();
    let dir = vault.home().join("man");
    let _ = vault.run(&["man", "--out", dir.to_str().unwrap()]).ok();
    assert!(dir.join("vault-agent-run.1").is_file());
}
