//! Whatever goes wrong, the host goes on: exit code 0, not a word, one line in the log.

use crate::hooks::host::*;

const SECRET: &str = "the code word is xyzzy";

fn silent(vault: &TestVault, event: HostEvent, input: &str, cause: &str) {
    let event = event.as_str();
    let run = vault.run_with(&["hook", event], input);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{event}: {}", run.stderr);
    let log = log(vault);
    let last = log.lines().last().unwrap_or_default();
    assert!(last.contains(&format!(" {event}: ")) && last.contains(cause), "{event}: {log:?}");
    assert!(!log.contains("xyzzy"), "{log}");
}

fn sound(vault: &TestVault, event: HostEvent) -> String {
    let prompt = format!("Do you remember that {SECRET}?");
    input(vault, event.host_name(), json!({ "prompt": prompt, "source": "startup", "reason": "other" }))
}

#[test]
fn input_that_is_no_message() {
    let vault = TestVault::new("");
    let with_secret = [json!(SECRET), json!({ "prompt": [SECRET] })].map(|text| text.to_string());
    let texts = ["", "{", "null", "[]", "\0\u{1}", "{\"stop_hook_active\": \"xyzzy\"}"];
    for event in HostEvent::ALL {
        for text in texts.into_iter().chain(with_secret.iter().map(String::as_str)) {
            silent(&vault, event, text, "no message of a host");
        }
    }
}

#[test]
fn whatever_goes_wrong_within_is_one_line_in_the_log() {
    let (at_once, work) = (("VAULT_AGENT_HOOK_PATIENCE_MS", ""), "FAILPOINTS");
    for (cause, environment, settings) in [
        ("vault-agent.toml", &[][..], "timezone = 3\n"),
        ("/nowhere/at/all", &[("VAULT_AGENT_VAULT", "/nowhere/at/all")], ""),
        ("no answer within 300 ms", &[at_once, (work, "hooks::work=pause")], ""),
        ("without an answer", &[(work, "hooks::work=panic")], ""),
        ("a failpoint", &[(work, "hooks::work=return")], ""),
    ] {
        let mut vault = TestVault::new("");
        vault.write("vault-agent.toml", settings);
        environment.iter().for_each(|(name, value)| vault.env(name, value));
        for event in HostEvent::ALL {
            silent(&vault, event, &sound(&vault, event), cause);
        }
    }
}

#[test]
fn a_vault_that_is_not_there() {
    for event in HostEvent::ALL {
        let vault = TestVault::new("");
        let input = sound(&vault, event);
        std::fs::remove_dir_all(vault.path(".obsidian")).unwrap();
        silent(&vault, event, &input, "no vault at or above");
    }
}

#[test]
fn a_host_that_never_finishes_its_message() {
    let vault = TestVault::new("").with_env("VAULT_AGENT_HOOK_PATIENCE_MS", "");
    let mut hook = vault.command(&["hook", "user-prompt-submit"]);
    let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // The pipe stays open, and half of the message never comes.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"prompt\": \"Do you").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b""[..]));
    assert!(log(&vault).contains("user-prompt-submit: no answer within 300 ms"));
}

#[test]
fn a_cache_that_cannot_be_written_still_gives_memories() {
    let vault = TestVault::new("//- MEMORY.md\n## People\n\n- Anna's birthday is on the third of May\n");
    std::fs::remove_dir_all(vault.cache()).unwrap();
    std::fs::write(vault.cache(), "a file in the folder's place").unwrap();
    vault.run_with(&["hook", "user-prompt-submit"], &sound(&vault, HostEvent::UserPromptSubmit)).exits(0);
}

#[test]
fn wrong_usage_never_refuses_a_prompt() {
    let mut vault = TestVault::new("");
    for args in [&["hook", "stop", "--new-option"][..], &["hook", "unheard-of"], &["hook"]] {
        // To the host, 2 would mean: refuse.
        assert_eq!(vault.run(args).code, 1, "{args:?}");
    }
    // Nor does a log that can't be written.
    vault.env("VAULT_AGENT_STATE_DIR", "/proc/nowhere");
    let run = vault.run_with(&["hook", "stop"], "{");
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
}
