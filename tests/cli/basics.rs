//! What holds for every command: finding the vault, settings, exit codes; and whole days of a person and the agent, over several
//! commands.

use crate::support::prelude::*;

/// What names the vault, its state and the time: each wrong one is told with what to do, and nothing is made of it.
#[test]
fn what_names_no_vault_no_state_and_no_time_is_refused() {
    let vault = TestVault::new("//- /note.md\nhello\n");
    let before = vault.tree();
    type Spoil = fn(&mut Command) -> &mut Command;
    let cases: [(Spoil, &str); 7] = [
        (|status| status.current_dir("/"), "--vault DIR"),
        (|status| status.args(["--vault", "note.md"]), "`note.md` is no folder"),
        (|status| status.args(["--vault", ""]), "`--vault` is empty"),
        (|status| status.env("VAULT_AGENT_NOW", "tomorrow"), "`VAULT_AGENT_NOW` is `tomorrow`"),
        (|status| status.env("VAULT_AGENT_STATE_DIR", "state"), "`VAULT_AGENT_STATE_DIR` is `state`"),
        (|status| status.env_remove("VAULT_AGENT_STATE_DIR").env("HOME", "x"), "no home directory is known"),
        (|status| status.arg("--nonsense"), "unexpected argument"),
    ];
    for (spoilt, words) in cases {
        Run::of(spoilt(&mut vault.command(&["status"]))).exits(2).warns(words);
    }
    assert_eq!(vault.tree(), before);
    assert_eq!(vault.run(&[]).code, 2);
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
        refused.exits(2).warns("belongs to the vault `[VAULT]`").warns("VAULT_AGENT_STATE_DIR");
    }
    assert_eq!(second.read("Reminders.md"), "- 2026-12-25 09:00 Goose\n");
    let _ = first.run(&["status"]).ok();
}

/// Every command that works in a vault.
const IN_A_VAULT: &str = "run, tick, tick --now 2026-12-01T09:30:00Z, check, remind list, \
    remind add 2026-12-24 Tree, commitment list, memory save fact, memory list, search word, recall word, reindex, \
    stats, history, history verify, diff, restore --yes, undo, audit, status, doctor, export, mcp, \
    mcp-config recall, hook install --dry-run, import note.md";

#[test]
fn a_folder_that_is_no_vault_asks_for_init_and_stays_as_it_is() {
    let vault = TestVault::new("//- /note.md\n# Plain\n");
    fs::remove_dir(vault.path(".obsidian")).unwrap();
    let (before, root) = (vault.tree(), vault.root());
    for args in IN_A_VAULT.split(", ") {
        let words: Vec<&str> = args.split(' ').collect();
        let run = vault.run(&[&["--vault", root.to_str().unwrap()], &words[..]].concat());
        run.exits(2).warns("is no vault").warns("vault-agent init");
    }
    assert_eq!([vault.state(), vault.cache()].map(names_in), [vec![], Vec::<String>::new()]);
    assert_eq!(vault.tree(), before);
    // And the way that it names works.
    let _ = vault.run(&["init", "."]).ok();
    let _ = vault.run(&["import", "--from", "tasks", "."]).ok();
    assert_eq!(vault.read("note.md"), before["note.md"]);
    let _ = vault.run(&["memory", "save", "a fact"]).ok();
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
        (&["--json", "agenda", "--week", "soon"], 2, "write a day as `2026-12-01`"),
        (&["--json", "check", ".obsidian"], 2, "`.obsidian` is a folder"),
        (&["--json", "import", "--from", "tasks", "nowhere"], 1, "`nowhere` is not in the vault"),
    ] {
        let document = vault.run(args).exits(code).warns(words).json();
        assert!(document["error"].as_str().unwrap().contains(words), "{args:?}: {document}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn results_that_can_not_be_written_are_a_problem() {
    let vault = TestVault::new("");
    let _ = vault.run(&["memory", "save", "Likes tea"]).ok();
    let all =
        "--help, status, --json status, status --watch, check, man, completions zsh, memory list, history";
    for args in all.split(", ").map(|line| line.split(' ').collect::<Vec<_>>()) {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let run = Run::of(vault.command(&args).stdout(full));
        assert!(run.exits(1).stderr.starts_with("error: "), "{run:?}");
        run.warns("could not be written");
    }
}

#[test]
fn a_folder_that_is_gone_is_named_with_what_to_do() {
    let vault = TestVault::new("");
    let gone = vault.home().join("gone");
    for args in [&["status"][..], &["init"], &["search", "x"]] {
        fs::create_dir(&gone).unwrap();
        // The shell stands in a folder that it removes.
        let mut shell = vault.started_by(&["sh", "-c", "/bin/rmdir \"$PWD\"; exec \"$0\" \"$@\""], args);
        let run = Run::of(shell.env_remove("VAULT_AGENT_VAULT").current_dir(&gone));
        run.exits(1).warns("the current folder can't be used: ").warns("`--vault DIR`");
    }
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
        vault.run(args).ok().says(saved);
    }
    assert!(vault.run(&["memory", "working"]).ok().stdout.contains("- x"));
    vault.write("Light.md", "light theme\n");
    vault.write("Dark.md", "dark theme\n");
    for args in [&["search", "-light theme", "-n", "3"][..], &["search", "theme", "-light yellow"]] {
        let hits = vault.json(args)["hits"].clone();
        assert_eq!((hits.as_array().unwrap().len(), &hits[0]["path"]), (1, &json!("Dark.md")), "{args:?}");
    }
    let said = vault.run(&["search", "--json", "-light"]);
    assert!(said.exits(2).json()["hints"][0].as_str().unwrap().contains("'-- -l'"), "{said:?}");
    let said = vault.run(&["search", "--json"]);
    assert!(said.exits(2).json()["error"].as_str().unwrap().ends_with("provided: <QUERY>..."), "{said:?}");
    // What looks like an option is one, and a misspelt one is no text.
    for args in [&["memory", "save", "--sectoin", "A", "x"][..], &["remind", "list", "-x"]] {
        vault.run(args).exits(2).warns("unexpected argument");
    }
}

#[test]
fn what_prints_a_document_prints_json_when_asked() {
    let mut vault = TestVault::new("");
    let script = vault.json(&["completions", "fish"]);
    assert!(script["script"].as_str().unwrap().contains("doctor") && script["shell"] == "fish");
    assert!(vault.json(&["man"])["page"].as_str().unwrap().contains(".TH"));
    let unit = vault.json(&["service", "install", "--print"]);
    assert!(unit["unit"].as_str().unwrap().contains("run --vault") && unit["path"].is_string());
    let pages = vault.home().join("pages");
    vault.write(pages.join("other.1"), "another program's\n");
    let written = vault.json(&["man", "--out", pages.to_str().unwrap()]);
    let there = names_in(&pages).len() - 1;
    assert!(written["pages"] == there && there > 20 && pages.join("vault-agent-run.1").is_file());
    vault.env("PATH", "/no/such/folder");
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
    // What an earlier edit left and can't be looked at holds up nothing.
    vault.write("hidden/x.md", "");
    let record =
        json!({ "path": "Reminders.md", "name": "hidden", "since": "2026-12-01T09:00:00Z", "base_len": 0 });
    let displaced = vault.state().join("edits/displaced");
    fs::create_dir_all(&displaced).unwrap();
    fs::write(displaced.join("hidden.record"), format!("{record}\n")).unwrap();
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
    let _ = vault.run(&["memory", "save", "a mistake"]).ok();
    let _ = vault.run(&["tick"]).ok();
    for args in ["audit", "undo", "audit"] {
        let _ = vault.run(&[args]).ok();
    }
    let again = vault.json(&["tick"]);
    assert_eq!(again["fired"], json!([]), "undone, but never told twice: {again}");
    // What the tick does anew holds no undo up.
    vault.run(&["undo"]).ok().says("a mistake");
}

#[test]
fn settings_that_are_suddenly_gone_or_empty_stay_as_they_were() {
    let line = "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"New York morning\" id=rid_AAAAAAAAAAAA\n";
    let vault = TestVault::new(&format!("//- zone: America/New_York\n//- /Reminders.md\n{line}"));
    let (tick, own) = (["tick", "--now", "2026-12-01T10:00:00Z"], vault.read("vault-agent.toml"));
    vault.run(&tick).ok().warns_not("last valid");
    let gone = "bring it back with `vault-agent restore vault-agent.toml`";
    for (text, why) in [(Some("[notify"), "unclosed table"), (Some(""), gone), (None, gone)] {
        match text {
            None => fs::remove_file(vault.path("vault-agent.toml")).unwrap(),
            Some(text) => vault.write("vault-agent.toml", text),
        }
        for (args, code) in [(&tick[..], 1), (&["remind", "list"][..], 0)] {
            vault.run(args).exits(code).warns(why);
        }
        assert_eq!(vault.read("Reminders.md"), line);
        assert_eq!(vault.doctor("settings")[0]["status"], "fail");
        let _ = vault.run(&["restore", "--yes", "vault-agent.toml"]).ok();
        assert_eq!(vault.read("vault-agent.toml"), own);
    }
    // With a comment, the defaults are meant.
    vault.write("vault-agent.toml", "# none\n");
    vault.run(&tick).ok().says("New York morning").warns_not("last valid");
}

#[test]
fn a_vault_that_is_not_mounted_is_not_made_anew() {
    for (zone, made) in [("//- zone: UTC\n", false), ("//- zone: UTC\n", true), ("", false), ("", true)] {
        let vault = TestVault::new(&format!("{zone}//- /a.md\nwords\n"));
        let _ = vault.run(&["history"]).ok();
        let root = vault.root();
        fs::rename(&root, root.with_extension("away")).unwrap();
        if made {
            fs::create_dir(&root).unwrap();
        }
        let at = |args: &[&str]| {
            let mut command = vault.command(&[&["--vault", root.to_str().unwrap()], args].concat());
            Run::of(command.current_dir(vault.home()))
        };
        at(&["run"]).exits(2).warns("is missing or empty, and had notes before").warns("vault-agent init");
        assert!(fs::read_dir(&root).map_or(!made, |mut names| made && names.next().is_none()));
        let _ = at(&["init", root.to_str().unwrap()]).ok();
    }
}

#[test]
fn a_service_is_installed_for_what_run_takes_and_uninstalled_for_what_is_gone() {
    let mut vault = TestVault::new("//- /file.md\nwords\n//- /plain/a.md\nwords\n");
    let tools = vault.home().join("tools");
    fs::create_dir(&tools).unwrap();
    vault.env("PATH", tools.to_str().unwrap());
    for (place, why) in [("file.md", "is no folder"), ("plain", "is no vault"), ("none", "is not there")] {
        vault.run(&["--vault", place, "service", "install"]).exits(2).warns(why).warns("hint: ");
    }
    let installed = vault.run(&["--json", "service", "install"]).json();
    let unit = installed["path"].as_str().unwrap().strip_prefix("[HOME]/").unwrap();
    let unit = vault.home().join(unit);
    assert!(unit.is_file());
    if cfg!(target_os = "linux") {
        write_program(tools.join("systemctl"), "#!/bin/sh\necho \"$@\" >> \"$HOME/said\"\n");
        let _ = vault.run(&["service", "install"]).ok();
        let said = std::fs::read_to_string(vault.home().join("said")).unwrap();
        let unit = unit.file_name().unwrap().to_str().unwrap();
        // One that runs has another program or vault now.
        assert_eq!(said, format!("--user daemon-reload\n--user enable {unit}\n--user restart {unit}\n"));
    }
    // While it may still run, its unit is what stops it.
    ["systemctl", "launchctl"].iter().for_each(|tool| write_program(tools.join(tool), "#!/bin/sh\nexit 1\n"));
    vault.run(&["service", "uninstall"]).exits(1).warns("the service may still run").lacks("removed");
    assert!(unit.is_file());
    fs::remove_dir_all(tools).unwrap();
    let root = vault.root();
    fs::rename(&root, root.with_extension("away")).unwrap();
    let mut command = vault.command(&["--vault", root.to_str().unwrap(), "service", "uninstall"]);
    let _ = Run::of(command.current_dir(vault.home())).ok();
    assert!(!unit.exists());
}

#[test]
fn what_can_not_be_written_is_named() {
    let vault = TestVault::new("");
    for file in [".config", "Library", ".claude/settings.json", ".claude/settings.json.before-vault-agent/x"]
    {
        vault.write(vault.home().join(file), "{}\n");
    }
    for args in [&["service", "install"][..], &["hook", "install", "--no-memories"]] {
        vault.run(args).exits(1).warns("can't write `[HOME]/").warns("the right to write there");
    }
    let pages = vault.home().join("pages");
    fs::create_dir_all(pages.join("vault-agent.1")).unwrap();
    vault.run(&["man", "--out", pages.to_str().unwrap()]).exits(1).warns("can't write `[HOME]/pages`: ");
}

#[test]
fn an_empty_variable_names_no_vault_and_hook_is_a_command() {
    let vault = TestVault::new("//- /a.md\nwords\n").with_env("VAULT_AGENT_VAULT", "");
    let _ = vault.run(&["search", "words"]).ok();
    let _ = vault.run_with(&["hook", "stop"], "{}").ok();
    for (args, code) in [
        (&["search", "hook", "--bogus"][..], 2),
        (&["--vault", "hook", "search", "--bogus"], 2),
        (&["hook", "install", "--bogus"], 2),
        (&["hook", "stop", "--bogus"], 1),
        (&["--vault", ".", "hook", "--bogus", "user-prompt-submit"], 1),
    ] {
        vault.run(args).exits(code);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_no_utf_8_is_in_no_configuration() {
    use std::os::unix::ffi::OsStrExt;
    let vault = TestVault::new("");
    let odd = vault.home().join(std::ffi::OsStr::from_bytes(b"v\xff"));
    fs::create_dir_all(odd.join(".obsidian")).unwrap();
    let mut command = vault.command(&["mcp-config", "recall"]);
    Run::of(command.env("VAULT_AGENT_VAULT", &odd)).exits(2).warns("isn't UTF-8");
}

#[test]
fn a_line_that_stands_twice_is_named_and_gets_its_id_once_it_stands_once() {
    let line = "- [ ] date=2027-12-01 time=09:30 recur=daily msg=\"salt\"\n";
    let vault = TestVault::new(&format!("//- zone: Europe/London\n//- /Reminders.md\n{line}{line}"));
    let why = "this line stands more than once and is delivered once";
    vault.run(&["check"]).exits(1).says(format!("Reminders.md:2:1: {why}"));
    assert_eq!(vault.json(&["tick"])["near_misses"][0]["reason"], why);
    assert_eq!(vault.json(&["tick"])["near_misses"], json!([]), "each finding once");
    vault.run(&["remind", "rm", "salt"]).exits(1).warns("stands more than once: delete the others");
    vault.write("Reminders.md", line.trim_end());
    vault.run(&["remind", "rm", "salt"]).exits(1).warns("once its line ends with a line break");
    vault.write("Reminders.md", line);
    vault.run(&["remind", "rm", "salt"]).exits(1).warns("`vault-agent tick`");
    let _ = vault.run(&["tick"]).ok();
    let _ = vault.run(&["remind", "rm", "salt"]).ok();
}
