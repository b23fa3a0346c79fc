//! `doctor`: each finding with its mend.

use crate::support::prelude::*;

/// The row of a check whose detail has these words.
#[track_caller]
fn row(vault: &TestVault, check: &str, words: &str) -> Value {
    let found = vault.doctor(check);
    let says = |row: &&Value| row["detail"].as_str().unwrap().contains(words);
    found.iter().find(says).unwrap_or_else(|| panic!("{words}: {found:?}")).clone()
}

#[test]
fn a_sound_vault_has_only_the_daemon_to_start() {
    let vault = TestVault::new("");
    vault.write("Reminders.md", "- [ ] date=2026-12-03 time=08:00 recur=none msg=\"Bins\"\n");
    let _ = vault.run(&["doctor"]).ok();
    for name in ["settings", "directories", "deliveries", "notes", "vault"] {
        assert_eq!(vault.doctor(name)[0]["status"], "ok", "{name}");
    }
    assert_eq!(vault.doctor("notes")[0]["detail"], "1 reminder and 0 follow-ups, all understood");
    assert_eq!(vault.doctor("daemon")[0]["status"], "warn");
}

#[test]
fn every_file_is_looked_at_once() {
    let vault = TestVault::new("//- /Note.md\nwords\n").with_env("FAILPOINTS", "index-scan=1*off->return");
    let found = vault.doctor("index").remove(0);
    assert_eq!(found["status"], "ok", "{found}");
}

#[test]
fn a_model_for_vectors_that_gives_none_is_said() {
    let vault = TestVault::new("//- /Note.md\nx\n");
    for (settings, why) in [
        ("provider = \"openai\"", "OPENAI_API_KEY"),
        ("provider = \"local:models/none\"", "models/none"),
        ("provider = \"ollama\"\nmodel = \"m\"\nurl = \"http://127.0.0.1:9\"", "can't be reached"),
    ] {
        vault.write("vault-agent.toml", format!("[embed]\n{settings}\n"));
        vault.run(&["doctor"]).exits(1);
        assert_eq!(row(&vault, "embeddings", why)["status"], "fail", "{settings}");
    }
    vault.write("vault-agent.toml", "# none\n");
    assert_eq!(vault.doctor("embeddings")[0]["status"], "ok");
}

#[test]
fn a_note_or_a_state_file_that_can_not_be_written_is_named() {
    let vault = TestVault::new("//- /Reminders.md\n");
    let _ = vault.run(&["memory", "save", "x"]);
    // Rights mean nothing to root, for whom only an immutable file is one that can't be written.
    let is_root = rustix::process::geteuid().is_root();
    for (file, said) in [
        (vault.path("Reminders.md"), "`Reminders.md` can't be written: "),
        (vault.state().join("edits/journal"), "edits/journal`"),
    ] {
        let flag = |flag: &str| {
            Command::new("chattr").arg(flag).arg(&file).status().is_ok_and(|status| status.success())
        };
        if is_root && !flag("+i") {
            eprintln!("skipped: root can't make a file immutable here");
            return;
        }
        if !is_root {
            set_mode(&file, 0o400);
        }
        let run = vault.run(&["doctor"]);
        assert!(!is_root || flag("-i"));
        run.exits(1).says(said);
    }
}

#[test]
fn what_can_not_be_used_in_the_state_directory_is_named() {
    let vault = TestVault::new("");
    for name in ["deliveries.sqlite", "machines.json", "edits/journal"] {
        let file = vault.state().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fifo(&file);
        vault.run(&["status"]).exits(2).warns(format!("{name}` is a pipe, where a file should be"));
        vault.run(&["doctor"]).exits(1).says("is a pipe, where a file should be");
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn settings_that_are_a_pipe_are_an_error_and_nobody_waits() {
    let vault = TestVault::new("");
    fifo(vault.path("vault-agent.toml"));
    vault.run(&["tick"]).exits(2).warns("vault-agent.toml: is no file; move it out of the way");
    // Nor does anybody for a secret.
    let webhook = "[notify]\nkind = \"webhook\"\n[notify.webhook]\nurl_file = \"~/pipe\"\n";
    let vault = TestVault::new(&format!("//- /vault-agent.toml\n{webhook}"));
    fifo(vault.home().join("pipe"));
    vault.run(&["doctor"]).says("pipe` is no file");
}

/// Each row: a note, its text, and the check with its words.
#[test]
fn what_is_wrong_in_a_note_or_in_the_settings_is_named_with_its_place() {
    for (note, text, name, words) in [
        ("Reminders.md", "- [ ] date=2026-02-30 time=08:00 recur=none msg=\"x\"", "notes", "Reminders.md:1:"),
        ("Reminders.sync-conflict-20261201-101500-ABCDEFG.md", "x", "vault", "conflict copy"),
        ("Reminders.md", "x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other", "notes", "Reminders.md:2: a merge"),
        ("vault-agent.toml", "timezone = 5", "settings", "vault-agent.toml:1:12"),
        // The key is taken from the comment, its header isn't: it counts for the table above.
        ("vault-agent.toml", "[history]\n\n# [web]\nenabled = true", "settings", "counts for `[history]`"),
        // The program's own data of time zones differs from the machine's in time.
        ("vault-agent.toml", "timezone = \"America/Vancouver\"", "time zone", "America/Vancouver"),
    ] {
        let vault = TestVault::new("//- /Reminders.md\n");
        vault.write(note, format!("{text}\n"));
        let row = row(&vault, name, words);
        assert!(row["status"] != "ok" && row["fix"].is_string(), "{words}: {row}");
    }
}

/// Each row: the settings, what is a file in the vault, and the check with its words.
#[test]
fn what_would_fail_later_is_named() {
    for (settings, file, name, words) in [
        ("", "daily", "notes", "`daily` is no folder"),
        ("", "routines", "notes", "`routines` is no folder"),
        ("[follow]\ncodex = \"~/none\"\n", "x", "follow", "`[follow] codex`: `[HOME]/none` is no folder"),
        ("[rerank]\nprovider = \"local:/nope\"\n", "x", "rerank", "/nope"),
        #[cfg(feature = "assistant")]
        ("[skill.a]\nkey_files = { KEY = \"~/k\" }\n", "x", "skills", "secret file `[HOME]/k` can be read"),
        #[cfg(target_os = "linux")]
        ("[notify]\nkind = \"desktop\"\n", "x", "notify", "`desktop` can't show anything from here"),
    ] {
        let vault = TestVault::new("");
        vault.write("vault-agent.toml", settings);
        vault.write(file, "x\n");
        fs::write(vault.home().join("k"), "secret\n").unwrap();
        set_mode(vault.home().join("k"), 0o644);
        assert_ne!(row(&vault, name, words)["status"], "ok", "{words}");
    }
    let vault = TestVault::new("");
    std::os::unix::fs::symlink("nowhere", vault.path("MEMORY.md")).unwrap();
    vault.run(&["doctor"]).exits(1).says("`MEMORY.md` is a symbolic link to nothing");
}

#[cfg(feature = "assistant")]
#[test]
fn other_mcp_servers_are_looked_at_and_none_is_started() {
    let mut vault = TestVault::new(
        "//- /vault-agent.toml\n\
        [[mcp]]\nname = \"gone\"\ncommand = [\"/no/such/program\", \"hush\"]\ntools = [\"x\"]\n\
        [[mcp]]\nname = \"poor\"\ncommand = [\"sh\"]\ntools = [\"x\"]\nenv = [\"POOR_KEY\"]\n\
        [[mcp]]\nname = \"well\"\ncommand = [\"sh\", \"hush\"]\ntools = [\"x\", \"y\"]\n\
        [[mcp]]\nname = \"far\"\nurl = \"https://example.org/mcp?key=hush\"\ntools = [\"x\"]\nkey_env = \"FAR_KEY\"\n\
        [[mcp]]\nname = \"open\"\nurl = \"http://example.org/mcp\"\ntools = [\"x\"]\n",
    );
    let shown = |row: &Value| format!("{} {}", row["status"], row["detail"]).replace('"', "");
    let rows = |vault: &TestVault| vault.doctor("mcp").iter().map(shown).collect::<Vec<_>>();
    vault.run(&["doctor"]).exits(1);
    assert_eq!(
        rows(&vault),
        [
            "fail gone: the program `/no/such/program` is not there",
            "fail poor: the environment variable `POOR_KEY` is not set",
            "ok well: `sh`, 2 tools may be used",
            "fail far: `FAR_KEY` is not set",
            "warn open: what is asked goes to example.org in the clear",
        ]
    );
    vault.env("POOR_KEY", "canary");
    vault.env("FAR_KEY", "canary");
    vault.run(&["--json", "doctor"]).lacks("canary").lacks("hush");
    assert_eq!(rows(&vault)[3], "ok far: example.org, 1 tool may be used");
}

#[test]
fn the_box_for_commands_is_described_rule_by_rule() {
    let rows = TestVault::new("").doctor("box");
    let said: String = rows.iter().filter_map(|row| row["detail"].as_str()).collect();
    for rule in ["files", "network", "processes", "calls", "limits", "end"] {
        assert!(said.contains(&format!("{rule} (")), "{rule}: {said}");
    }
    // Each rule that does not hold is a warning with a mend.
    let is_mended = |row: &Value| row["status"] == "warn" && row["fix"].is_string();
    assert!(rows.iter().all(|row| row["status"] == "ok" || is_mended(row)), "{rows:?}");
}

#[test]
fn what_needs_no_decision_is_mended_and_said() {
    let mut vault = TestVault::new("//- now: 2026-07-01T09:28:40Z\n//- /note.md\nhello\n");
    vault.env("TZ", "Asia/Tokyo");
    // A vault of Obsidian's without settings: nothing is mended unless it is asked for.
    let _ = vault.run(&["doctor"]);
    assert!(!vault.has("vault-agent.toml"));
    let run = vault.run(&["doctor", "--fix"]).ok();
    run.says("fixed: wrote vault-agent.toml with the time zone Asia/Tokyo");
    assert!(!vault.run(&["doctor", "--fix"]).ok().stdout.contains("fixed:"), "once");
    let open = |name: &str| {
        fs::write(vault.home().join(name), "secret\n").unwrap();
        set_mode(vault.home().join(name), 0o644);
        vault.home().join(name)
    };
    let (key, plain) = (open("etcd"), vault.read("vault-agent.toml"));
    let etcd =
        "engine = \"etcd\"\nendpoints = [\"https://127.0.0.1:1\"]\nuser = \"me\"\npassword_file = \"~/etcd\"";
    vault.write("vault-agent.toml", format!("{plain}\n[machines]\n{etcd}\n"));
    vault.run(&["doctor"]).exits(1).says("etcd` can be read by other users");
    vault.run(&["doctor", "--fix"]).says("fixed: `~/etcd` is yours alone now");
    assert_eq!(mode(key), 0o600);
    // Every file that the settings name.
    let settings = plain.replace("#[discord]", "[discord]").replace("#[notify.", "[notify.");
    for name in ["discord-token", "ntfy-token", "mail-password", "webhook-url", "webhook-secret"] {
        let file = open(name);
        let mut with = settings.replace(&format!("~/.config/vault-agent/{name}"), &format!("~/{name}"));
        for key in ["token_file", "password_file", "url_file", "secret_file"] {
            with = with.replace(&format!("#{key} = \"~/{name}\""), &format!("{key} = \"~/{name}\""));
        }
        vault.write("vault-agent.toml", with);
        vault.run(&["doctor", "--fix"]).says(format!("fixed: `~/{name}` is yours alone now"));
        assert_eq!(mode(file), 0o600);
    }
}

#[cfg(feature = "assistant")]
#[test]
fn a_routine_that_can_never_run_and_a_broken_skill_are_said() {
    let vault = TestVault::new(
        "//- /routines/a.md\n---\nschedule: sometimes\nenabled: true\n---\nTell me.\n\
         //- /routines/b.md\n---\nschedule: daily 09:00\nenabled: true\n---\n//- /skills/s/SKILL.md\nno head\n",
    );
    for words in ["routines/a.md:2: ", "routines/b.md:1: the note has no text", "skills/s/SKILL.md:1: "] {
        let row = row(&vault, words.split_once('/').unwrap().0, words);
        assert!(row["status"] == "warn" && row["detail"].as_str().unwrap().starts_with(words), "{row}");
    }
}
