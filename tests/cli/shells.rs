//! Completion in the shells themselves: bash and zsh in a terminal, with the Tab key; fish by its own `complete -C`.
//!
//! A shell that isn't installed is left out, and one line says so; `VAULT_AGENT_TEST_SHELLS=required` makes it a failure.

use crate::pty::Pty;
use crate::support::prelude::*;

/// Whether the shell can be driven here; says so where it can't.
fn has(shell: &str) -> bool {
    let found = Command::new(shell).arg("--version").output().is_ok_and(|output| output.status.success());
    let is_required = std::env::var_os("VAULT_AGENT_TEST_SHELLS").is_some_and(|value| value == "required");
    assert!(found || !is_required, "`{shell}` is not installed");
    if !found {
        eprintln!("left out: completion in {shell}, which is not installed");
    }
    found
}

/// The completion script of a shell in a file, and the shell's command in an environment of its own.
fn scripted(vault: &TestVault, shell: &str) -> (String, Command) {
    let script = vault.home().join(format!("completions.{shell}"));
    fs::write(&script, vault.run(&["completions", shell]).ok().stdout).unwrap();
    let mut command = Command::new(shell);
    command.env_clear().env("HOME", vault.home()).env("PATH", "/usr/bin:/bin").env("TERM", "dumb");
    command.current_dir(vault.home());
    (script.to_str().unwrap().to_owned(), command)
}

/// What is typed behind the program's name, and what becomes of it.
const TYPED: [(&str, &str); 3] =
    [("export --format j", "export --format jsonl"), ("doc", "doctor"), ("remind sno", "remind snooze")];

/// Types each beginning, presses Tab, and sees the completed words.
fn completes(mut terminal: Pty, load: &str) {
    terminal.line(load);
    terminal.line("echo loa''ded");
    terminal.see("loaded");
    for (typed, completed) in TYPED {
        terminal.press(format!("vault-agent {typed}\t").as_bytes());
        terminal.see(&format!("vault-agent {completed}"));
        // Ctrl-U clears the line.
        terminal.press(b"\x15");
    }
    terminal.line("exit");
}

#[test]
fn bash_and_zsh_complete_past_the_first_word() {
    for (shell, args, load) in [
        ("bash", &["--norc", "--noprofile", "-i"][..], "bind 'set enable-bracketed-paste off'"),
        ("zsh", &["-f", "-i"], "unset zle_bracketed_paste; autoload -U compinit && compinit -u -D"),
    ] {
        if has(shell) {
            let vault = TestVault::new("");
            let (script, mut command) = scripted(&vault, shell);
            completes(Pty::start(command.args(args)), &format!("{load}; source '{script}'"));
        }
    }
}

#[test]
fn fish_completes_past_the_first_word() {
    if !has("fish") {
        return;
    }
    let vault = TestVault::new("");
    for (typed, completed) in TYPED {
        let (script, mut fish) = scripted(&vault, "fish");
        fish.args(["--no-config", "-c", &format!("source '{script}'; complete -C 'vault-agent {typed}'")]);
        let output = fish.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let word = completed.rsplit(' ').next().unwrap();
        assert!(said.lines().any(|line| line.starts_with(word)), "{typed}: {output:?}");
    }
}
