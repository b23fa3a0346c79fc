//! What holds for every command: finding the vault, settings, exit codes; and whole days of a person and the agent, over several
//! commands.

use crate::support::{Run, TestVault};

#[test]
fn without_a_vault_there_is_a_hint() {
    let vault = TestVault::new("");
    let elsewhere = tempfile::tempdir().unwrap();
    let run = Run::of(vault.command(&["status"]).current_dir(elsewhere.path()));
    run.exits(2).warns("no vault at or above").warns("--vault DIR");
}

#[test]
fn a_vault_that_is_no_folder_is_named() {
    let vault = TestVault::new("//- /note.md\nhello\n");
    vault.run(&["--vault", "note.md", "status"]).exits(2).warns("note.md");
}

#[test]
fn a_second_vault_is_refused_the_state_of_the_first() {
    let first = TestVault::new("//- /Reminders.md\n- 2026-12-24 09:00 Tree\n");
    let _ = first.run(&["remind", "list"]).ok();
    let second = TestVault::new("//- /Reminders.md\n- 2026-12-25 09:00 Goose\n");
    let root = second.root();
    let at = ["--vault", root.to_str().unwrap()];
    for command in [&["status"][..], &["tick"], &["undo"], &["search", "goose"]] {
        let refused = first.run(&[&at[..], command].concat());
        assert_eq!(refused.code, 2, "{command:?}: {refused:?}");
        refused.warns("belongs to the vault `[VAULT]`").warns("VAULT_AGENT_STATE_DIR");
    }
    assert_eq!(second.read("Reminders.md"), "- 2026-12-25 09:00 Goose\n");
    let _ = first.run(&["status"]).ok();
}

/// Every command that works in a vault.
const IN_A_VAULT: [&[&str]; 26] = [
    &["run"],
    &["tick"],
    &["tick", "--now", "2026-12-01T09:30:00Z"],
    &["check"],
    &["remind", "list"],
    &["remind", "add", "2026-12-24 09:00", "Tree"],
    &["commitment", "list"],
    &["memory", "save", "a fact"],
    &["memory", "list"],
    &["search", "word"],
    &["recall", "word"],
    &["reindex"],
    &["stats"],
    &["history"],
    &["history", "verify"],
    &["diff"],
    &["restore", "--yes"],
    &["undo"],
    &["audit"],
    &["status"],
    &["doctor"],
    &["export"],
    &["mcp"],
    &["mcp-config", "recall"],
    &["hook", "install", "--dry-run"],
    &["import", "note.md"],
];

#[test]
fn a_folder_that_is_no_vault_asks_for_init_and_stays_as_it_is() {
    let vault = TestVault::new("//- /note.md\n# Plain\n");
    std::fs::remove_dir(vault.path(".obsidian")).unwrap();
    let before = vault.tree();
    let root = vault.root();
    for args in IN_A_VAULT {
        let run = vault.run(&[&["--vault", root.to_str().unwrap()], args].concat());
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        let asks = run.stderr.contains("is no vault") && run.stderr.contains("vault-agent init");
        assert!(asks, "{args:?}: {run:?}");
    }
    for dir in [vault.state(), vault.cache()] {
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0, "{}", dir.display());
    }
    assert_eq!(vault.tree(), before);
    // And the way that it names works.
    let _ = vault.run(&["init", "."]).ok();
    assert_eq!(vault.read("note.md"), before["note.md"]);
    let _ = vault.run(&["memory", "save", "a fact"]).ok();
}

#[test]
fn a_typo_in_the_settings_is_pointed_at() {
    let vault = TestVault::new("//- /vault-agent.toml\n[notify]\nknd = \"console\"\n");
    insta::assert_snapshot!(vault.run(&["status"]).shown(), @"
    --- exit 2
    error: [VAULT]/vault-agent.toml:2:1: unknown key `knd`
    hint: did you mean `kind`?
    ");
}

#[test]
fn a_zone_that_does_not_exist_is_pointed_at() {
    let vault = TestVault::new("//- /vault-agent.toml\n\ntimezone = \"Europe/Londen\"\n");
    vault.run(&["status"]).exits(2).warns("vault-agent.toml:2:12").warns("Europe/London");
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
    vault.run(&["status"]).exits(2).warns("`VAULT_AGENT_NOW` is `tomorrow`, which is no instant");
}

#[test]
fn with_json_a_failure_is_one_document_too() {
    let vault = TestVault::new("//- /Reminders.md\n# R\n");
    for (args, code, words) in [
        (&["--json", "remind", "rm", "rid_AAAAAAAAAAAA"][..], 1, "no reminder"),
        (&["--json", "remind", "add", "soonish", "x"], 2, "can't read `soonish` as a time"),
        (&["--json", "--vault", "nowhere", "status"], 2, "is not there"),
        (&["status", "--json", "--nonsense"], 2, "unexpected argument"),
        (&["--json", "remind", "preview", "--count", "99999999999"], 2, "99999999999"),
        (&["--json", "remind", "preview", "--count", "0"], 2, "0"),
    ] {
        let run = vault.run(args);
        assert_eq!(run.code, code, "{args:?}: {run:?}");
        assert!(run.json()["error"].as_str().unwrap().contains(words), "{args:?}: {run:?}");
        assert!(run.stderr.contains(words), "{args:?}: {run:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn results_that_can_not_be_written_are_a_problem() {
    let vault = TestVault::new("");
    let _ = vault.run(&["memory", "save", "Likes tea"]).ok();
    for args in [
        &["status"][..],
        &["--json", "status"],
        &["status", "--watch"],
        &["check"],
        &["man"],
        &["completions", "zsh"],
        &["memory", "list"],
        &["history"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = vault.command(args).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.starts_with("error: ") && said.contains("could not be written"), "{args:?}: {said}");
    }
}

#[test]
fn warnings_are_sentences_unless_all_is_asked_for_and_have_no_colours_in_a_pipe() {
    for args in [&["-v", "status"][..], &["status"]] {
        let vault = TestVault::new("");
        std::fs::write(vault.state().join("deliveries.sqlite"), "no database").unwrap();
        let run = vault.run(args).ok();
        let said = "warning: the delivery journal is no database any more: put aside, a new one begun (from ";
        let is_plain = args.len() == 1;
        assert_eq!(run.stderr.starts_with(said), is_plain, "{run:?}");
        assert_eq!(
            (run.stderr.contains("WARN"), run.stderr.contains('\u{1b}')),
            (!is_plain, false),
            "{run:?}"
        );
        assert!(!is_plain || !run.stderr.contains("vault_agent::"), "{run:?}");
    }
}

#[test]
fn a_home_that_is_no_path_from_the_root_is_none() {
    let vault = TestVault::new("");
    for home in ["elsewhere", "./x"] {
        let mut command = vault.command(&["status"]);
        let run = Run::of(command.env("HOME", home).env_remove("VAULT_AGENT_STATE_DIR"));
        run.exits(2).warns("no home directory is known");
        assert!(!vault.has(home));
    }
}

#[test]
fn completions_and_manual_name_the_commands() {
    let vault = TestVault::new("");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(vault.run(&["completions", shell]).ok().stdout.contains("doctor"), "{shell}");
    }
    let page = vault.run(&["man"]).ok().stdout;
    assert!(page.contains(".TH vault-agent") && page.contains("doctor"), "{page}");
}

#[test]
fn a_text_may_begin_with_a_dash() {
    let vault = TestVault::new("//- /vault-agent.toml\n[memory]\nuser_namespace = \"user\"\n");
    for (args, saved) in [
        (&["memory", "save", "-5 degrees"][..], "-5 degrees"),
        (&["memory", "save", "-7"], "-7"),
        (&["memory", "save", "--section", "Food", "- eggs = protein"], "- eggs = protein"),
        (&["remind", "add", "in 1 hour", "- milk", "--recur", "weekly"], "recur=weekly msg=\"- milk\""),
        (&["remind", "add", "--json", "in 1 hour", "-- a line --"], "-- a line --"),
        (&["memory", "working", "--set", "- x"], ""),
    ] {
        let run = vault.run(args).ok();
        assert!(run.stdout.contains(saved), "{args:?}: {run:?}");
    }
    assert!(vault.run(&["memory", "working"]).ok().stdout.contains("- x"));
    // What looks like an option is one, and a misspelt one is no text.
    for args in [&["memory", "save", "--sectoin", "A", "x"][..], &["remind", "list", "-x"]] {
        let run = vault.run(args);
        assert!(run.code == 2 && run.stderr.contains("unexpected argument"), "{args:?}: {run:?}");
    }
}

#[test]
fn what_prints_a_document_prints_json_when_asked() {
    let vault = TestVault::new("");
    let script = vault.json(&["completions", "fish"]);
    assert!(script["script"].as_str().unwrap().contains("doctor") && script["shell"] == "fish");
    assert!(vault.json(&["man"])["page"].as_str().unwrap().contains(".TH"));
    let unit = vault.json(&["service", "install", "--print"]);
    assert!(unit["unit"].as_str().unwrap().contains("run --vault") && unit["path"].is_string());
    let pages = vault.home().join("pages");
    std::fs::create_dir(&pages).unwrap();
    let written = vault.json(&["man", "--out", pages.to_str().unwrap()]);
    assert!(written["pages"].as_u64().unwrap() > 20 && pages.join("vault-agent-run.1").is_file());
    let installed = vault.run(&["--json", "service", "install"]).json();
    assert!(installed["path"].is_string() && installed["running"].is_boolean());
    assert_eq!(vault.json(&["service", "uninstall"])["removed"], true);
}

#[test]
fn a_note_that_a_person_made_short_is_still_rewritten_by_tick() {
    let long = "- [ ] date=2027-01-01 time=09:00 recur=none msg=\"later\"\n".repeat(20);
    let vault = TestVault::new(&format!("//- /Reminders.md\n{long}"));
    let _ = vault.run(&["tick"]).ok();
    vault.write("Reminders.md", "- [ ] date=2026-12-01 time=09:00 recur=none msg=\"now\"\n");
    let report = vault.json(&["tick"]);
    assert_eq!(report["fired"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(vault.read("Reminders.md"), "");
}

#[test]
fn a_reminder_that_fires_before_it_has_an_id_passes_the_audit() {
    let vault = TestVault::new(
        "//- /Reminders.md\n- [ ] date=2026-12-01 time=09:00 recur=none msg=\"a\"\n\
         - [ ] date=2026-12-01 time=09:00 recur=daily msg=\"b\"\n",
    );
    let _ = vault.run(&["tick"]).ok();
    let audit = vault.run(&["audit"]);
    audit.exits(0);
    let _ = vault.run(&["undo"]).ok();
    assert_eq!(vault.run(&["audit"]).code, 0);
    let again = vault.json(&["tick"]);
    assert_eq!(again["fired"], serde_json::json!([]), "undone, but never told twice: {again}");
}
