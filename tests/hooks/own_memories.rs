//! Claude Code's own memories as notes of the vault: put there, found, in history, brought back after `rm -r`.
//!
//! The host is played by writes to the folder that its settings name, as it writes them; `VAULT_AGENT_CLAUDE` names a
//! real one, which then writes a memory itself, without an account, against a model server of ours.

use crate::support::prelude::*;

/// A vault, a project beside it, and what the host remembers of it already.
fn stage() -> (TestVault, PathBuf) {
    let vault = TestVault::new("//- /note.md\nMine.\n//- /other.md\nMine too.\n");
    let vault = vault.with_env("VAULT_AGENT_NOW", "2026-12-01T09:30:00Z@20");
    let project = vault.home().join("work/my app");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let own = usual(&vault, &project);
    vault.write(own.join("MEMORY.md"), "- [Builds](builds.md) how to build\n");
    vault.write(own.join("builds.md"), "Builds need the walrus flag.\n");
    (vault, project)
}

/// Where the host keeps a project's memories by itself.
fn usual(vault: &TestVault, project: &Path) -> PathBuf {
    let name = project.to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    vault.home().join(".claude/projects").join(name).join("memory")
}

fn run(vault: &TestVault, project: &Path, args: &[&str]) -> Run {
    let mut command = vault.command(args);
    Run::of(command.env("VAULT_AGENT_VAULT", vault.root()).current_dir(project))
}

fn settings(project: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(project.join(".claude/settings.local.json")).unwrap()).unwrap()
}

/// The project's folder in the vault, by its path there.
fn inside(vault: &TestVault, project: &Path) -> String {
    let folder = PathBuf::from(settings(project)["autoMemoryDirectory"].as_str().unwrap());
    let inside = folder.strip_prefix(vault.root().canonicalize().unwrap()).unwrap();
    let inside = inside.to_str().unwrap().to_owned();
    assert!(inside.starts_with("memory/claude/my-app"), "{inside}");
    inside
}

#[test]
fn what_the_host_remembers_moves_into_the_vault_and_out_again() {
    let (vault, project) = stage();
    // Nobody is there to be asked: nothing happens.
    let _ = run(&vault, &project, &["hook", "install"]).ok();
    assert!(!project.join(".claude").exists());
    let dry = run(&vault, &project, &["hook", "install", "--memories", "--dry-run"]);
    dry.exits(0).says("+  \"autoMemoryDirectory\": ");
    assert!(!project.join(".claude").exists() && !vault.has("memory"));
    let said = run(&vault, &project, &["--json", "hook", "install", "--memories"]).ok().json();
    assert_eq!(said["memories"]["copied"], 2, "{said}");
    let inside = inside(&vault, &project);
    let builds = format!("{inside}/builds.md");
    assert_eq!(vault.read(&builds), "Builds need the walrus flag.\n");
    assert!(usual(&vault, &project).join("builds.md").is_file(), "what it had stays");
    // Again nothing changes, and nothing of the vault is overwritten.
    vault.write(&builds, "Changed.\n");
    let again = run(&vault, &project, &["--json", "hook", "install", "--memories"]).ok().json();
    assert_eq!((&again["memories"]["copied"], &again["memories"]["written"]), (&0.into(), &false.into()));
    assert_eq!(vault.read(&builds), "Changed.\n");
    let _ = run(&vault, &project, &["hook", "uninstall"]).ok();
    assert!(!project.join(".claude/settings.local.json").exists());
    assert!(vault.has(&builds), "the notes stay");
}

#[test]
fn a_folder_of_the_person_s_own_choice_stays_unless_it_is_asked_for() {
    let (vault, project) = stage();
    let own = "{\n\t\"autoMemoryDirectory\": \"/elsewhere\",\n\t\"a\": 1\n}\n";
    vault.write(project.join(".claude/settings.local.json"), own);
    let _ = run(&vault, &project, &["hook", "install", "--no-memories"]).ok();
    let _ = run(&vault, &project, &["hook", "uninstall"]).ok();
    assert_eq!(std::fs::read_to_string(project.join(".claude/settings.local.json")).unwrap(), own);
    let _ = run(&vault, &project, &["hook", "install", "--memories"]).ok();
    assert!(inside(&vault, &project).starts_with("memory/"));
    assert_eq!(settings(&project)["a"], 1);
    let file = project.join(".claude/settings.local.json");
    let _ = run(&vault, &project, &["hook", "uninstall"]).ok();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), own);
    // A setting that came meanwhile stays, and the folder is the person's again.
    let _ = run(&vault, &project, &["hook", "install", "--memories"]).ok();
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap().replace("\"a\": 1", "\"a\": 2")).unwrap();
    let _ = run(&vault, &project, &["hook", "uninstall"]).ok();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), own.replace("\"a\": 1", "\"a\": 2"));
}

#[test]
fn a_memory_is_found_at_once_kept_and_comes_back_after_rm() {
    let (vault, project) = stage();
    let _ = run(&vault, &project, &["hook", "install", "--memories"]).ok();
    let inside = inside(&vault, &project);
    let folder = vault.path(&inside);
    let _daemon = vault.daemon();
    until("the daemon", || vault.run(&["--json", "status"]).json()["daemon"]["last_pass"].is_string());
    match std::env::var_os("VAULT_AGENT_CLAUDE") {
        #[cfg(feature = "assistant")]
        Some(claude) => real(&claude, &vault, &project, &folder),
        _ => {
            std::fs::write(folder.join("deploys.md"), "Deploys of the aardvark are on Thursdays.\n").unwrap();
        }
    }
    let found = || vault.run(&["--json", "search", "aardvark"]).json()["hits"][0]["path"].clone();
    until("a hit", || found() == format!("{inside}/deploys.md"));
    let kept = || vault.run(&["--json", "history", &inside]).json().to_string();
    until("a snapshot", || kept().contains("deploys.md"));
    let before = notes(&folder);
    assert_eq!(before.len(), 3);
    // A model tidies up.
    std::fs::remove_dir_all(&folder).unwrap();
    let lost = || vault.run(&["status"]).stdout;
    let loss = format!("lost      3 notes of {inside} went missing at ");
    until("the loss is shown", || lost().contains(&loss));
    assert!(lost().contains(&format!("`vault-agent restore {inside}` restores them")));
    let _ = vault.run(&["restore", &inside]).ok();
    assert_eq!(notes(&folder), before);
    assert!(!lost().contains("lost "), "{}", lost());
}

#[test]
fn what_went_bit_by_bit_comes_back_with_one_command() {
    let mut vault = TestVault::new("//- now: 2026-12-01T09:30:00Z\n");
    let note = |n: usize| format!("memory/claude/app/{n}.md");
    (1..=6).for_each(|n| vault.write(note(n), format!("note {n}\n")));
    let _ = vault.run(&["history"]).ok();
    // A model deletes one after the other, and each is a snapshot of its own; one it changes; two went a moment ago.
    for n in 1..=3 {
        vault.env("VAULT_AGENT_NOW", &format!("2026-12-01T09:3{n}:00Z"));
        std::fs::remove_file(vault.path(note(n))).unwrap();
        let _ = vault.run(&["history"]).ok();
    }
    vault.write(note(4), "changed\n");
    std::fs::remove_file(vault.path(note(5))).unwrap();
    contains_all(vault.run(&["status"]).stdout, &["3 notes of memory/claude/app went missing at "]);
    let _ = vault.run(&["restore", "memory/claude/app"]).ok();
    for n in [1, 2, 3, 5, 6] {
        assert_eq!(vault.read(&note(n)), format!("note {n}\n"), "{n}");
    }
    assert_eq!(vault.read(&note(4)), "changed\n");
    vault.run(&["status"]).lacks(" went missing at ");
    // All of that is one step back.
    let _ = vault.run(&["undo"]).ok();
    assert!((1..=3).all(|n| !vault.has(&note(n))));
}

#[test]
fn a_folder_with_another_name_is_no_loss() {
    let vault = TestVault::new("//- now: 2026-12-01T09:30:00Z\n");
    (1..=3).for_each(|n| vault.write(format!("memory/claude/app/{n}.md"), format!("note {n}\n")));
    let _ = vault.run(&["history"]).ok();
    std::fs::rename(vault.path("memory/claude/app"), vault.path("memory/claude/web")).unwrap();
    let _ = vault.run(&["history"]).ok();
    assert!(!vault.run(&["status"]).stdout.contains(" went missing at "));
    std::fs::remove_dir_all(vault.path("memory/claude/web")).unwrap();
    let _ = vault.run(&["history"]).ok();
    vault.run(&["status"]).says("3 notes of memory/claude/web went missing at ").lacks("claude/app");
}

fn notes(folder: &Path) -> Vec<(String, String)> {
    let read = |path: PathBuf| (path.display().to_string(), std::fs::read_to_string(&path).unwrap());
    files_below(folder).into_iter().map(read).collect()
}

/// The real host writes the memory with its own tool, asking a model server that tells it to.
#[cfg(feature = "assistant")]
fn real(claude: &std::ffi::OsStr, vault: &TestVault, project: &Path, folder: &Path) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(ModelServer::start());
    let write = serde_json::json!({
        "file_path": folder.join("deploys.md"), "content": "Deploys of the aardvark are on Thursdays.\n",
    });
    server.script(vec![Reply::tool("Write", write), Reply::text("I will remember that.")]);
    let mut command = Command::new(claude);
    command.args(["-p", "Remember: deploys are on Thursdays", "--model", "claude-sonnet-4-6"]);
    command.env_clear().env("HOME", vault.home()).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "sk-none");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").current_dir(project).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(folder.join("deploys.md").is_file(), "{output:?}");
}

#[test]
fn codex_s_folder_is_followed_one_way_and_what_went_comes_back() {
    let (vault, project) = stage();
    let own = vault.home().join(".codex/memories");
    vault.write(own.join("MEMORY.md"), "# Handbook\n");
    vault.write(own.join("raw_memories.md"), "raw\n");
    let said = run(&vault, &project, &["hook", "install", "--codex-memories"]).ok();
    said.says("+codex = \"~/.codex/memories\"");
    let _daemon = vault.daemon();
    let first = ["memory/codex/MEMORY.md", "memory/codex/raw_memories.md"];
    until("the first notes", || first.iter().all(|note| vault.has(note)));
    vault.write(own.join("rollout_summaries/one.md"), "The narwhal build takes long.\n");
    let found = || vault.run(&["--json", "search", "narwhal"]).json()["hits"][0]["path"].clone();
    until("a hit", || found() == "memory/codex/rollout_summaries/one.md");
    // A person's change stays, whatever happens there.
    vault.write("memory/codex/raw_memories.md", "mine\n");
    vault.write(own.join("raw_memories.md"), "raw again\n");
    vault.write(own.join("MEMORY.md"), "# Handbook 2\n");
    until("a change there", || vault.read("memory/codex/MEMORY.md") == "# Handbook 2\n");
    assert_eq!(vault.read("memory/codex/raw_memories.md"), "mine\n");
    // What can't be read is no deletion, and a note that can't be written is no reason to stop.
    vault.write("memory/codex/MEMORY.sync-conflict-20261201-093000-ABCDEFG.md", "# Handbook 1\n");
    vault.write(own.join("MEMORY.md"), "# Handbook 3\n");
    vault.write(own.join("rollout_summaries/one.md"), b"half \xff");
    vault.write(own.join("zebra.md"), "last\n");
    until("the notes behind it", || vault.has("memory/codex/zebra.md"));
    assert!(vault.has("memory/codex/rollout_summaries/one.md"));
    assert_eq!(vault.read("memory/codex/MEMORY.md"), "# Handbook 2\n");
    (0..3).for_each(|n| vault.write(own.join(format!("{n}.md")), format!("note {n}\n")));
    until("three more", || (0..3).all(|n| vault.has(&format!("memory/codex/{n}.md"))));
    (0..3).for_each(|n| std::fs::remove_file(own.join(format!("{n}.md"))).unwrap());
    until("they go", || (0..3).all(|n| !vault.has(&format!("memory/codex/{n}.md"))));
    let loss = "3 notes of memory/codex went missing at ";
    until("the loss is shown", || vault.run(&["status"]).stdout.contains(loss));
    let _ = vault.run(&["restore", "memory/codex"]).ok();
    assert_eq!(vault.read("memory/codex/1.md"), "note 1\n");
    assert_eq!(vault.read("memory/codex/raw_memories.md"), "mine\n");
}

#[test]
fn settings_come_back_byte_for_byte_and_the_backup_is_the_file_as_it_was() {
    let empty = ["{\"model\": \"x\", \"hooks\": {}}\n", "{\"hooks\": {\"Stop\": []}}", "{ }\n", "{\n}\n", ""];
    for own in [None, Some("{\n  \"model\": \"x\"\n}\n")].into_iter().chain(empty.map(Some)) {
        // The memories with the hooks, or later.
        for first in ["--memories", "--no-memories"] {
            let (vault, project) = stage();
            let file = project.join(".claude/settings.local.json");
            let backup = project.join(".claude/settings.local.json.before-vault-agent");
            own.iter().for_each(|own| vault.write(&file, own));
            let read = |path: &Path| std::fs::read_to_string(path).ok();
            for memories in [first, "--memories"] {
                let _ = run(&vault, &project, &["hook", "install", "--local", memories]).ok();
                assert_eq!(read(&backup).as_deref(), own, "{first} {memories}");
            }
            let _ = run(&vault, &project, &["hook", "uninstall", "--local"]).ok();
            assert_eq!((read(&file).as_deref(), read(&backup).as_deref()), (own, own), "{first}");
        }
    }
}
