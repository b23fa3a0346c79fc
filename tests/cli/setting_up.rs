//! `setup`: the dialogue in a real terminal, and from a file.

use crate::deliver::setting_up::{in_v, machine, read, start};
use crate::pty::Pty;
use crate::support::prelude::*;

#[test]
fn a_newcomer_presses_enter_and_has_a_vault() {
    let vault = machine();
    let mut at = start(&vault, &["setup"]);
    at.answer("Which folder? [~/MyVault]", "");
    let said = at.answer("Which time zone do its dates and times use? [Asia/Tokyo]", "");
    contains_all(said, &["~/MyVault will be made.", "This machine is in Asia/Tokyo, where it is 18:28 now."]);
    at.answer("How should reminders reach you? [console]", "");
    if cfg!(feature = "assistant") {
        at.answer("Which brain answers? [none]", "");
    }
    at.answer("Install it as a service? [no]", "");
    contains_all(at.see("Write this? [yes]"), &["~/MyVault: a new vault (", "timezone = \"Asia/Tokyo\""]);
    assert!(!vault.home().join("MyVault").exists(), "nothing is written before it is shown");
    at.line("");
    at.see("Start it: vault-agent run --vault ");
    assert_eq!(at.wait().0, Some(0));
    let read = |note: &str| fs::read_to_string(vault.home().join("MyVault").join(note)).unwrap();
    assert!(read("vault-agent.toml").contains("\ntimezone = \"Asia/Tokyo\"\n"));
    assert!(read("Reminders.md").contains("- [ ] date=2026-07-01 time=18:29 recur=none msg="));
    // Again: all is kept, and stands in brackets.
    let before = read("vault-agent.toml");
    let mut at = start(&vault, &["setup", "--vault", vault.home().join("MyVault").to_str().unwrap()]);
    at.answer("Which folder? [~/MyVault]", "");
    assert!(at.answer("Which time zone", "").contains("is a vault with settings and"));
    at.answer("How should reminders", "skip");
    if cfg!(feature = "assistant") {
        at.answer("Which brain answers?", "skip");
    }
    at.answer("Is this vault on another machine, too? [no]", "host:voice.git");
    assert!(at.answer("Is this vault on another machine", "").contains("is no address"));
    at.answer("Install it as a service?", "skip");
    at.answer("Write this?", "y");
    assert_eq!(at.wait().0, Some(0));
    assert_eq!(read("vault-agent.toml"), before);
}

#[test]
fn wrong_answers_are_said_and_asked_again() {
    let vault = machine();
    fs::write(vault.home().join("file"), "").unwrap();
    let mut at = start(&vault, &["setup"]);
    at.answer("Which folder?", "file");
    assert!(at.answer("Which folder?", "~").contains("file` is a file"));
    assert!(at.answer("Which folder?", "skip").contains("is no folder for a vault"));
    assert!(at.answer("Which folder?", "'My Notes'").contains("without a folder there is no vault"));
    at.answer("Which time zone", "Asia/Tokio");
    assert!(at.answer("Which time zone", "europe/berlin").contains("did you mean `Asia/Tokyo`?"));
    at.answer("How should reminders", "pigeon");
    contains_all(at.see("How should reminders"), &["`pigeon` is none of them: type console"]);
    if cfg!(target_os = "linux") {
        at.line("desktop");
        let said = at.see("How should reminders");
        contains_all(said, &["there is no desktop session here", "`anyway` keeps it"]);
    }
    at.line("console");
    if cfg!(feature = "assistant") {
        at.answer("Which brain answers?", "hal9000");
        assert!(at.answer("Which brain answers?", "skip").contains("`hal9000` is none of them: type"));
    }
    at.answer("Install it as a service?", "perhaps");
    assert!(at.answer("Install it as a service?", "no").contains("type `yes` or `no`"));
    contains_all(at.answer("Write this?", "no"), &["~/My Notes: a new vault", "Europe/Berlin"]);
    at.see("nothing was written");
    assert_eq!(at.wait().0, Some(0));
    assert!(!vault.home().join("My Notes").exists());
}

#[test]
fn an_answer_that_is_no_utf_8_is_asked_for_again_and_it_ends_where_the_terminal_does() {
    let vault = machine();
    let mut at = start(&vault, &["setup"]);
    at.see("Which folder?");
    at.press(b"caf\xe9\n");
    assert!(at.answer("Which folder?", "v").contains("that is no UTF-8 text"));
    at.see("Which time zone");
    at.end();
    at.see("nothing was written");
    assert_eq!(at.wait().0, Some(1));
    assert!(!vault.home().join("v").exists() && fs::read_dir(vault.state()).unwrap().next().is_none());
    // Without a terminal and without answers it says what to do.
    vault.run(&["setup"]).exits(2).warns("--answers FILE");
}

#[cfg(feature = "assistant")]
#[test]
fn ctrl_c_while_a_secret_is_typed_leaves_a_terminal_that_shows_what_is_typed() {
    let vault = machine();
    // What started the tests may ignore the signal, and so would all below it.
    let script = "trap : INT; \"$0\" setup; echo \"ended with $?\"; stty -a";
    let mut shell = vault.started_by(&["env", "--default-signal=INT", "sh", "-c", script], &[]);
    let mut at = Pty::start(shell.current_dir(vault.home()));
    at.answer("Which folder?", "v");
    at.answer("Which time zone", "");
    at.answer("How should reminders", "console");
    at.answer("Which brain answers?", "server");
    at.answer("Address of the server?", "http://127.0.0.1:1");
    at.answer("Which model?", "tiny");
    at.see("API key, if the server needs one (hidden while typing)?");
    at.press(b"sk-half\x03");
    at.see("ended with 130");
    // With what the shell itself ends is the shell's affair: it was interrupted, too.
    let (_, screen) = at.wait();
    let modes: Vec<&str> = screen.split("ended with").nth(1).unwrap().split_whitespace().collect();
    assert!(modes.contains(&"echo") && modes.contains(&"isig") && !screen.contains("sk-half"), "{screen}");
    assert!(!vault.home().join("v").exists());
}

#[cfg(feature = "assistant")]
#[test]
fn a_brain_is_asked_before_it_is_kept_and_its_key_is_never_shown() {
    const ANSWER: &str = r#"data: {"choices":[{"delta":{"content":"OK"},"finish_reason":"stop"}]}

data: [DONE]

"#;
    let vault = machine();
    let url = super::brains::server(200, ANSWER);
    let mut at = crate::deliver::setting_up::begin(&vault, "console");
    at.answer("Which brain answers?", "server");
    at.answer("Address of the server? [http://127.0.0.1:8080]", "localhost:1");
    assert!(at.answer("Address of the server?", "http://127.0.0.1:1").contains("is no web address"));
    at.answer("Which model?", "");
    assert!(at.answer("Which model?", "tiny").contains("type the name"));
    at.answer("API key, if the server needs one (hidden while typing)?", "");
    // Nobody is there: the whole question comes again.
    let said = at.answer("Which brain answers? [server]", "");
    contains_all(said, &["asking server (tiny)", "`anyway` keeps it"]);
    at.answer("Address of the server? [http://127.0.0.1:1]", &url);
    at.answer("Which model? [tiny]", "");
    at.answer("API key, if the server needs one (hidden while typing)?", "sk-very-secret");
    at.see("ok it answered in");
    at.answer("Install it as a service?", "no");
    contains_all(at.answer("Write this?", "yes"), &["~/.config/vault-agent/server-key: a secret"]);
    at.see("Start it:");
    let (code, screen) = at.wait();
    assert_eq!(code, Some(0));
    assert!(!screen.contains("very-secret"), "{screen}");
    let file = vault.home().join(".config/vault-agent/server-key");
    assert_eq!(fs::read_to_string(&file).unwrap(), "sk-very-secret\n");
    assert_eq!(mode(file), 0o600);
    contains_all(read(&vault, "vault-agent.toml"), &["key_file = \"~/.config/vault-agent/server-key\""]);
    let tested = in_v(&vault, &["--json", "brain", "test"]).ok().json();
    assert_eq!((&tested[0]["name"], &tested[0]["ok"]), (&"server".into(), &true.into()), "{tested}");
    // The same brain with another key is no second brain.
    let settings = read(&vault, "vault-agent.toml");
    let mut at = crate::deliver::setting_up::begin(&vault, "");
    for (question, answer) in [
        ("Which brain answers?", "server"),
        ("Address of the server?", url.as_str()),
        ("Which model?", "tiny"),
        ("API key", "sk-other-secret"),
        ("Is this vault on another machine", ""),
        ("Install it as a service?", "no"),
        ("Write this?", "yes"),
    ] {
        at.answer(question, answer);
    }
    assert_eq!(at.wait().0, Some(0));
    assert_eq!(read(&vault, "vault-agent.toml"), settings);
    let key = fs::read_to_string(vault.home().join(".config/vault-agent/server-key")).unwrap();
    assert_eq!(key, "sk-other-secret\n");
}

#[test]
fn a_machine_answers_from_a_file() {
    let vault = machine();
    let answers = vault.home().join("answers.toml");
    let run = |text: &str, more: &[&str]| {
        fs::write(&answers, text).unwrap();
        let args = [&["--json", "setup", "--answers", answers.to_str().unwrap()][..], more].concat();
        let run = Run::of(vault.command(&args).current_dir(vault.home()));
        (run.code, run.json(), run.stderr)
    };
    for (text, why) in [
        ("timezone = \"Mars\"", "`timezone`: unknown time zone `Mars`"),
        ("notify = \"pigeon\"", "`notify`: `pigeon` is none of them"),
        ("service = 3", "`service`: type `yes` or `no`"),
        #[cfg(feature = "assistant")]
        ("notify = \"discord\"", "`discord.token_file`: no secret is set"),
        #[cfg(feature = "assistant")]
        ("notify = \"discord\"\ndiscord.token_file = \"abc\"", "an answers file never contains a secret"),
        #[cfg(feature = "assistant")]
        ("brain = { kind = \"server\", url = \"http://me:pw@h:1\", model = \"m\" }", "holds a password"),
        #[cfg(feature = "assistant")]
        ("brain = { kind = \"server\", url = \"http://h:1/?key=sk-0\", model = \"m\" }", "holds a key"),
        #[cfg(feature = "assistant")]
        ("brain = {kind=\"claude\", model=\"sk-ant-api03-dGhpcyBpcyBubyBrZXk0NTY3ODkwMTIz\"}", "a secret"),
    ] {
        let text = &format!("vault = \"v\"\n{text}");
        let (code, json, said) = run(text, &[]);
        assert_eq!(code, 2, "{text}: {said}");
        assert!(said.contains(why) && json["error"].as_str().unwrap().contains(why), "{text}: {said}");
        assert!(!vault.home().join("v").exists(), "{text}");
    }
    let text = "vault = \"~/v\"\ntimezone = \"Europe/Paris\"\nservice = false\n";
    let (code, json, _) = run(text, &["--dry-run"]);
    assert_eq!((code, &json["written"]), (0, &false.into()));
    assert!(!vault.home().join("v").exists());
    let (code, json, said) = run(text, &[]);
    assert_eq!((code, &json["written"]), (0, &true.into()), "{said}");
    assert!(read(&vault, "vault-agent.toml").contains("timezone = \"Europe/Paris\""));
    // One that is there may be on other machines, too.
    let (code, _, said) = run(&format!("{text}[machines]\nremote = \"ssh://me@host/~/voice.git\"\n"), &[]);
    assert_eq!(code, 0, "{said}");
    let lines = ["\n[machines]\n", "\nremote = \"ssh://me@host/~/voice.git\"\n"];
    contains_all(read(&vault, "vault-agent.toml"), &lines);
    #[cfg(feature = "assistant")]
    for _ in 0..2 {
        // The Ollama that the environment names; and once.
        let (code, _, said) = run("vault = \"~/v\"\n[brain]\nkind = \"ollama\"\n", &["--no-tests"]);
        let settings = read(&vault, "vault-agent.toml");
        assert_eq!((code, settings.matches("\n[[brain]]\n").count()), (0, 1), "{said}");
        assert!(settings.contains("\nurl = \"http://127.0.0.1:1\"\n"), "{settings}");
    }
    fs::write(vault.home().join("v/vault-agent.toml"), "timezone = \"Europe/Paris\"\n").unwrap();
    // The first reminder is due within a minute.
    in_v(&vault, &["tick", "--now", "2026-07-01T09:29:00Z"]).ok().says("Your vault is alive");
}

#[cfg(target_os = "linux")]
#[test]
fn a_service_that_can_not_be_started_is_not_said_to_run() {
    let vault = machine().with_env("PATH", "/no/such/folder");
    let answers = vault.home().join("answers.toml");
    fs::write(&answers, "vault = \"~/v\"\nservice = true\n").unwrap();
    let run = vault.run(&["setup", "--answers", answers.to_str().unwrap()]);
    run.exits(1).warns("could not run `systemctl --user restart");
    run.lacks("It runs").says("Start it: vault-agent run");
    in_v(&vault, &["service", "install"]).exits(1);
}

#[test]
fn settings_that_are_there_are_added_to_and_nothing_else_changes() {
    let (vault, own) = (machine(), "# mine\n[notify] # who\nkind = \"desktop\"\n");
    vault.write("vault-agent.toml", own);
    vault.write("Reminders.md", "my own\n");
    let answers = vault.home().join("a.toml");
    fs::write(&answers, format!("vault = \"{}\"\nnotify = \"console\"\n", vault.root().display())).unwrap();
    let run = vault.run(&["setup", "--answers", answers.to_str().unwrap()]).ok();
    // Times that are there keep their meaning.
    run.warns("are meant in Europe/London");
    assert_eq!(vault.read("vault-agent.toml"), "# mine\n[notify] # who\nkind = \"console\"\n");
    assert_eq!(vault.read("Reminders.md"), "my own\n");
    assert!(vault.has("MEMORY.md"));
}

#[test]
fn hits_on_a_terminal_open_their_notes() {
    let vault = TestVault::new("");
    let plants = "# Plants\n\nWater the ferns on Sunday ^water\n\n## Cacti\n\nferns like no cacti\n";
    vault.write("Zeit & Ort/ü.md", plants);
    let dir = vault.root();
    let name = dir.file_name().unwrap().to_str().unwrap();
    let (raw, text) = Pty::raw(&vault.command(&["search", "ferns"]));
    let block =
        format!("\u{1b}]8;;obsidian://open?vault={name}&file=Zeit%20%26%20Ort%2F%C3%BC%23%5Ewater\u{1b}\\");
    contains_all(raw, &[&block, "%23Plants%23Cacti\u{1b}\\"]);
    // The words are those that a program reads, where there is no terminal: without links.
    let piped = vault.run(&["search", "ferns"]).ok().stdout;
    assert!(!piped.contains('\u{1b}') && piped.contains("Zeit & Ort/ü.md:3"), "{piped:?}");
    assert_eq!(text.trim(), piped.trim());
    let mut dumb = vault.command(&["search", "ferns"]);
    assert!(!Pty::raw(dumb.env("FORCE_HYPERLINK", "0")).0.contains("obsidian://"));
}

#[test]
fn an_export_does_nothing_to_a_terminal_and_gives_a_file_every_byte() {
    let vault = TestVault::new("//- /MEMORY.md\n- word \u{1b}]0;title\u{7} \u{9b}31m\n");
    for format in ["markdown", "jsonl", "ics"] {
        let (raw, _) = Pty::raw(&vault.command(&["export", "--format", format]));
        assert!(format == "ics" || raw.contains("word"), "{format}: {raw:?}");
        assert!(!raw.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{format}: {raw:?}");
    }
    assert!(vault.run(&["export"]).ok().stdout.contains("\u{1b}]0;title\u{7} \u{9b}31m"));
}

#[test]
fn a_notification_on_a_terminal_opens_its_note() {
    let due = "- [ ] date=2026-12-01 time=09:30 recur=none msg=\"Pay the rent\" id=rid_AAAAAAAAAAAA\n";
    let stage = || TestVault::new(&format!("//- /Reminders.md\n{due}"));
    let vault = stage();
    let (raw, text) = Pty::raw(&vault.command(&["tick"]));
    let name = vault.root().file_name().unwrap().to_str().unwrap().to_owned();
    let link = format!("\u{1b}]8;;obsidian://open?vault={name}&file=Reminders\u{1b}\\");
    assert!(raw.contains(&link), "{raw:?}");
    assert_eq!(text.trim(), stage().run(&["tick"]).ok().stdout.trim());
}
