//! Our entries in a host's settings file: in, up to date, out; every other byte as it was.

use crate::hooks::host::*;
use proptest::prelude::*;
use vault_agent::hooks::install::{HookCaller, install, installed, uninstall};

fn caller() -> HookCaller {
    HookCaller { program: "/bin/vault-agent".into(), vault: "/home/ann/My \"Vault\"".into(), server: None }
}

/// JSON of any kind, in any layout, with hooks of others in it.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "(\\PC|[\"\\\\\n\t]){0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("(\\PC|\"){0,6}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn group() -> impl Strategy<Value = Value> {
    let hook = "[a-z '\"]{1,12}".prop_map(|command| json!({ "type": "command", "command": command }));
    prop::collection::vec(hook, 1..3).prop_map(|hooks| json!({ "matcher": "*", "hooks": hooks }))
}

fn settings() -> impl Strategy<Value = Value> {
    let events =
        prop::sample::subsequence(vec!["SessionStart", "Stop", "PreToolUse", "SessionEnd", "Other"], 1..5);
    let groups = prop::collection::vec(prop::collection::vec(group(), 1..3), 5);
    let hooks = (events, groups).prop_map(|(events, all)| events.into_iter().zip(all).collect::<Value>());
    let rest = prop::collection::btree_map("[a-z\"é]{1,8}", json_value(), 1..5);
    (rest, prop::option::of(hooks)).prop_map(|(rest, hooks)| {
        let rest = rest.into_iter().filter(|(key, _)| key != "hooks");
        let hooks = hooks.map(|hooks| ("hooks".to_owned(), hooks));
        rest.chain(hooks).chain([("model".to_owned(), "opus".into())]).collect::<Value>()
    })
}

/// A text of a value in one of many layouts.
fn laid_out(value: &Value, layout: u8) -> String {
    let indent: &[u8] = [&b"  "[..], b"\t", b"    ", b" "][usize::from(layout % 4)];
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent);
    let mut writer = serde_json::Serializer::with_formatter(Vec::new(), formatter);
    serde::Serialize::serialize(value, &mut writer).unwrap();
    let pretty = String::from_utf8(writer.into_inner()).unwrap();
    match layout / 4 % 4 {
        0 => value.to_string(),
        1 => format!("{pretty}\n"),
        2 => format!("\u{feff}{}\r\n", pretty.replace('\n', "\r\n")),
        _ => format!("\n\n{pretty}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn in_and_out_again_is_nothing_at_all(value in settings(), layout in any::<u8>()) {
        let before = laid_out(&value, layout);
        let after = install(&before, &caller()).unwrap();
        let events: Vec<HostEvent> = installed(&after).unwrap().into_iter().map(|(event, _)| event).collect();
        prop_assert_eq!(events.len(), HostEvent::ALL.len());
        prop_assert_eq!(&install(&after, &caller()).unwrap(), &after);
        prop_assert_eq!(&uninstall(&after, None).unwrap(), &before);
        prop_assert_eq!(uninstall(&before, None).unwrap(), before);
    }

    #[test]
    fn only_our_entries_are_added(value in settings(), layout in any::<u8>()) {
        let after = install(&laid_out(&value, layout), &caller()).unwrap();
        let mut parsed: Value = serde_json::from_str(after.trim_start_matches('\u{feff}')).unwrap();
        // Taking the last group of each event away gives the value as it was.
        for event in HostEvent::ALL {
            let list = parsed["hooks"][event.host_name()].as_array_mut().unwrap();
            prop_assert_eq!(&list.pop().unwrap()["hooks"][0]["command"], &json!(caller().command(event)));
            if list.is_empty() {
                parsed["hooks"].as_object_mut().unwrap().remove(event.host_name());
            }
        }
        if value.get("hooks").is_none() {
            parsed.as_object_mut().unwrap().remove("hooks");
        }
        prop_assert_eq!(parsed, value);
    }

    #[test]
    fn what_others_wrote_meanwhile_stays(value in settings(), layout in any::<u8>(), new in json_value()) {
        let after = install(&laid_out(&value, layout), &caller()).unwrap();
        let before = laid_out(&value, layout);
        let edited = |text: &str| text.replacen('{', &format!("{{\"zz new\": {new},"), 1);
        prop_assert_eq!(uninstall(&edited(&after), Some(&before)).unwrap(), edited(&before));
    }

    #[test]
    fn any_text_is_edited_or_refused(text in "[{}\\[\\]\",:a-z0-9 \n\\\\]{0,60}") {
        let _ = install(&text, &caller());
        let _ = uninstall(&text, None);
    }
}

fn hook(vault: &TestVault, action: &str, settings: impl AsRef<Path>) -> Run {
    vault.run(&["hook", action, "--settings", settings.as_ref().to_str().unwrap()])
}

#[test]
fn the_command_shows_the_change_and_keeps_the_old_file_beside_it() {
    let vault = TestVault::new("");
    let dir = vault.home().join(".claude");
    let file = dir.join("settings.json");
    let before = "{\n    \"model\": \"opus\",\n    \"hooks\": {}\n}";
    vault.write(&file, before);
    set_mode(&file, 0o600);
    vault.run(&["hook", "install", "--dry-run"]).ok().says("+        \"SessionStart\": [");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let run = vault.run(&["--json", "hook", "install"]).ok();
    assert_eq!(run.json()["hooks"].as_array().unwrap().len(), 5);
    let json: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let command = json["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"].as_str().unwrap();
    let program = env!("CARGO_BIN_EXE_vault-agent");
    let root = vault.root().canonicalize().unwrap();
    assert_eq!(command, format!("'{program}' --vault '{}' hook user-prompt-submit", root.display()));
    let backup = dir.join("settings.json.before-vault-agent");
    assert_eq!(std::fs::read_to_string(&backup).unwrap(), before);
    assert_eq!((mode(&file), mode(backup)), (0o600, 0o600));
    vault.run(&["hook", "install"]).ok().says("needs no change");
    vault.run(&["hook", "uninstall", "--dry-run"]).ok().says("-        \"SessionStart\": [");
    vault.run(&["hook", "install"]).ok().says("needs no change");
    vault.run(&["hook", "uninstall"]).ok().says("-        \"SessionStart\": [");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    assert_eq!(names_in(dir), ["settings.json", "settings.json.before-vault-agent"]);
}

#[test]
fn the_installed_command_answers_through_a_shell() {
    let vault = TestVault::new("");
    let _ = vault.run(&["hook", "install", "--project"]).ok();
    let json: Value = serde_json::from_str(&vault.read(".claude/settings.json")).unwrap();
    let command = json["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"].as_str().unwrap();
    let run = Run::of(vault.started_by(&["sh", "-c", command], &[]).current_dir("/"));
    assert_eq!(run.exits(0).stdout, "");
    assert!(crate::hooks::host::log(&vault).contains("user-prompt-submit: standard input is no message"));
}

#[test]
fn a_file_that_can_not_be_changed_is_refused_in_words_and_stays() {
    let vault = TestVault::new("");
    let [file, pipe, link] = ["s.json", "pipe.json", "link.json"].map(|name| vault.home().join(name));
    for (text, words) in [
        (&b"{\n  \"a\": 1,\n}"[..], "line 3, column 1"),
        (b"{\"hooks\": []}", "`hooks`"),
        (b"{\"a\": \"\xff\"}", "UTF-8"),
    ] {
        std::fs::write(&file, text).unwrap();
        for action in ["install", "uninstall"] {
            hook(&vault, action, &file).exits(1).warns(words).warns("[HOME]/s.json");
            assert_eq!(std::fs::read(&file).unwrap(), text);
        }
    }
    std::fs::write(&file, "{}").unwrap();
    set_mode(&file, 0o444);
    let run = hook(&vault, "install", &file);
    run.exits(1).warns("is read-only; make it writable").warns("nothing was written");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}");
    assert!(!vault.home().join("s.json.before-vault-agent").exists());
    // A pipe that nobody writes to isn't waited for.
    fifo(&pipe);
    hook(&vault, "install", pipe).exits(1).warns("it is no file");
    std::os::unix::fs::symlink("none.json", &link).unwrap();
    hook(&vault, "install", &link).exits(1).warns("is a link to `none.json`, which isn't there");
    assert!(link.symlink_metadata().unwrap().is_symlink() && !vault.home().join("none.json").exists());
}

#[test]
fn entries_of_a_program_with_another_name_are_found_again() {
    let before = "{\n  \"model\": \"opus\"\n}\n";
    for program in ["/opt/bin/va", "/nix/store/x/.vault-agent-wrapped", "C:\\bin\\va.exe"] {
        let caller = HookCaller { program: program.into(), ..caller() };
        let with = install(before, &caller).unwrap();
        assert_eq!(installed(&with).unwrap().len(), 5, "{program}");
        assert_eq!(install(&with, &caller).unwrap(), with, "{program}");
        assert_eq!(uninstall(&with, Some(before)).unwrap(), before, "{program}");
    }
}

#[test]
fn a_link_stays_a_link_and_rights_stay() {
    let vault = TestVault::new("");
    let real = vault.home().join("dotfiles.json");
    std::fs::write(&real, "{}").unwrap();
    set_mode(&real, 0o640);
    let link = vault.home().join("settings.json");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let _ = hook(&vault, "install", &link).ok();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().contains("SessionEnd"));
    assert_eq!(mode(&real), 0o640);
    let _ = hook(&vault, "uninstall", &link).ok();
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "{}");
}
