//! Whose a memory is: a tag in the note, named by folder or environment, and kept through everything.

use crate::memory::rig::*;
use vault_agent::memory::accessible;

fn scope(text: &str) -> Scope {
    text.parse().unwrap()
}

/// A command in a repository beside the vault.
fn beside(vault: &TestVault, folder: &str, args: &[&str]) -> Run {
    let folder = vault.home().join(folder);
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    let mut command = vault.command(args);
    Run::of(command.env("VAULT_AGENT_VAULT", vault.root()).current_dir(folder)).ok()
}

#[test]
fn each_scope_is_a_tag_and_reads_back() {
    let rig = Rig::new(&[]);
    for (text, tag) in [
        ("global", ""),
        ("project:vault-agent", " #project/vault-agent"),
        ("agent:pai", " #agent/pai"),
        ("user:anna", " #user/anna"),
        ("custom:Grüne Gruppe", " #custom/Grüne-Gruppe"),
    ] {
        let scope = scope(text);
        let saved = rig.save_long("keeps bees", Some("Facts"), &scope).unwrap();
        let line = format!("- [2026-12-01 09:30] keeps bees{tag}");
        assert_eq!((&saved.scope, saved.existing, &saved.text), (&scope, false, &line));
        assert_eq!(rig.save_daily("fed the bees", &scope).unwrap().scope, scope);
    }
    let listed = |scopes: &[Scope]| rig.memory().list_long(Some(scopes)).unwrap()[0].memories.len();
    assert_eq!(listed(&[Scope::Global]), 1);
    assert_eq!(listed(&accessible(&scope("project:vault-agent"), Some("pai"))), 3);
    assert!(rig.memory().list_long(Some(&[scope("project:other")])).unwrap().is_empty());
}

#[test]
fn tags_of_a_person_stay_as_they_are() {
    let (rig, project) = (Rig::new(&[]), scope("project:a"));
    let save = |text: &str, scope: &Scope| rig.save_long(text, None, scope).unwrap().text;
    assert_eq!(save("likes #tea", &project), "- [2026-12-01 09:30] likes #tea #project/a");
    let tagged = "built with #Project/A tools";
    assert_eq!(save(tagged, &project), format!("- [2026-12-01 09:30] {tagged}"));
    // A tag in the text is no scope that was asked for.
    assert_eq!(save("of #project/b", &Scope::Global), r"- [2026-12-01 09:30] of \#project/b");
    assert_eq!(save("of #project/b", &project), r"- [2026-12-01 09:30] of \#project/b #project/a");
    assert!(rig.memory().list_long(Some(&[scope("project:b")])).unwrap().is_empty());
    // What a person tagged by hand is as it was.
    rig.write("MEMORY.md", "- by hand #project/b\n");
    assert_eq!(rig.memory().list_long(Some(&[scope("project:b")])).unwrap()[0].memories.len(), 1);
}

#[test]
fn projects_of_one_name_are_two() {
    let vault = TestVault::new("//- /MEMORY.md\n- an old one #project/website\n");
    let run = |folder: &str, args: &[&str]| beside(&vault, folder, &[args, &["--scope", "here"]].concat());
    let (a, b) = ("clientA/website", "clientB/website");
    let saved = run(a, &["--json", "memory", "save", "the key is in the shed"]).json();
    let id = saved["scope"].as_str().unwrap();
    assert!(id.starts_with("project:website-"), "{id}");
    let seen = |folder| run(folder, &["memory", "list"]).stdout;
    assert!(seen(a).contains("the shed") && !seen(b).contains("the shed"));
    // What was saved by the folder's name alone is still found.
    assert!(seen(a).contains("an old one") && seen(b).contains("an old one"));
    run(a, &["search", "shed"]).says("in the shed");
    run(b, &["search", "shed"]).lacks("in the shed");
}

#[test]
fn the_command_line_takes_the_scope_from_folder_and_environment() {
    let mut vault = TestVault::new("");
    let in_repository = |vault: &TestVault, args: &[&str]| {
        beside(vault, "My App", &[&["--json", "memory"], args].concat()).json()
    };
    let here = in_repository(&vault, &["save", "a", "--scope", "here"])["scope"].clone();
    assert!(here.as_str().unwrap().starts_with("project:My-App-"), "{here}");
    assert_eq!(in_repository(&vault, &["save", "typed #project/x"])["scope"], "project:x");
    assert_eq!(in_repository(&vault, &["save", "b"])["scope"], "global");
    assert_eq!(in_repository(&vault, &["list", "--scope", "here"])[0]["memories"][0]["line"], 2);
    vault.env("VAULT_AGENT_SCOPE", "agent:pai");
    assert_eq!(in_repository(&vault, &["save", "c"])["scope"], "agent:pai");
    let wrong = vault.run(&["memory", "save", "x", "--scope", "team:a"]);
    wrong.exits(2).warns("`team:a` is no scope: write `global`, `project:ID`");
}

#[test]
fn search_and_recall_keep_to_the_scopes() {
    let vault = TestVault::new("");
    let facts = [("code is 7421", "project:a"), ("code is 9999", "project:b"), ("is red", "global")];
    for (what, scope) in facts {
        let text = format!("the kettle {what}");
        drop(vault.run(&["memory", "save", &text, "--section", "Kitchen", "--scope", scope]).ok());
    }
    let found = |scope: &str| -> Vec<bool> {
        let answer = vault.json(&["search", "kettle", "--scope", scope]).to_string();
        ["7421", "9999", "red"].iter().map(|word| answer.contains(word)).collect()
    };
    assert_eq!(found("project:A"), [true, false, false]);
    assert_eq!(found("global"), [false, false, true]);
    assert_eq!(found("project:b,global,memory"), [false, true, true]);
    assert_eq!(found("project:c"), [false, false, false]);
    assert_eq!(found("memory"), [true, true, true]);
    let given = |scope| vault.run(&["recall", "What is the kettle code?", "--scope", scope]).ok();
    given("project:a,global").says("7421").lacks("9999");
    given("global").lacks("7421");
}
