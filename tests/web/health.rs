//! `/health`, and the request of a turn: what the commands say, on the page.

use crate::sample::Sample;
use crate::served::{LISTEN, Served, listening};
use crate::support::{TestVault, contains_all, until};

#[test]
fn health_says_what_doctor_says_and_ends_a_session() {
    let (vault, _served, visitor) = Served::over(listening(
        "//- /Reminders.md\n- [ ] date=2026-12-02 time=09:30 recur=none msg=\"Call\"\n- [ ] date=someday time=09:30 recur=none msg=\"Odd\"\n",
    ));
    let health = visitor.json("/health?look=all");
    let doctor = vault.run(&["--json", "doctor"]).json();
    // The paths of the vault are masked in what a command prints here.
    let seen = |all: &serde_json::Value| -> Vec<String> {
        all.as_array().unwrap().iter().map(|one| format!("{} {}", one["check"], one["status"])).collect()
    };
    assert_eq!(seen(&health["checks"]), seen(&doctor));
    assert_eq!(health["status"]["running"], false);
    contains_all(visitor.get("/health").is(200).text(), &["someday", "No daemon runs"]);
    // The index is made anew beside the answer.
    let form = visitor.form("/health", "reindex", "");
    assert!(visitor.submit(&form).is(303).header("location").starts_with("/health"));
    // The session that is ended is let in no more.
    let id = health["sessions"][0]["id"].as_str().unwrap();
    visitor.submit(&visitor.form("/health", "end", id)).is(303);
    visitor.get("/health").is(401);
}

/// The store may be anybody's who stole it: its words are plain text.
#[test]
fn other_machines_are_listed_and_their_words_are_plain_text() {
    use std::process::Command;
    use vault_agent::machines::engine::git::{GitEngine, GitPlace};
    use vault_agent::machines::engine::{EntryChange, StoreEngine};

    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("voice.git");
    let Ok(made) = Command::new("git").args(["init", "--bare", "-q"]).arg(&store).status() else { return };
    assert!(made.success());
    let remote = format!("file://{}", store.display());
    let mut vault = TestVault::new("");
    vault.write("vault-agent.toml", format!("{LISTEN}[machines]\nengine = \"git\"\nremote = \"{remote}\"\n"));
    vault.env("VAULT_AGENT_MACHINE", "server");
    vault.env("VAULT_AGENT_NOW", "2026-12-01T09:00:00Z@60");
    let (out, err) = (std::process::Stdio::null(), std::process::Stdio::null());
    let mut daemon = vault.command(&["run"]).stdout(out).stderr(err).spawn().unwrap();
    let machines = || vault.run(&["--json", "status"]).json()["daemon"]["machines"].clone();
    until("the server is the voice", || machines()["voice"] == "server");
    let place = GitPlace::new(&remote, folder.path().to_owned()).unwrap();
    let engine = GitEngine::new(place, std::sync::Arc::new(vault_agent::clock::SystemClock));
    let value = r#"{"machine":"X","nonce":"n","version":"<b>1</b> **2**","clock_ms":0}"#.to_owned();
    let key = "machine/laptop".to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(engine.swap(&[EntryChange { key, expected: None, value: Some(value) }])).unwrap();
    until("the daemon saw it", || machines()["machines"].as_array().is_some_and(|all| all.len() == 2));
    let served = Served::start(&vault);
    let page = served.visitor().get("/health").is(200).text();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert!(page.contains("the voice") && page.contains("laptop"), "{page}");
    assert!(page.contains("&lt;b&gt;1&lt;/b&gt; **2**") && !page.contains("<b>1</b>"), "{page}");
}

#[test]
fn a_turn_shows_what_the_model_was_given() {
    let (sample, _served, visitor) = Sample::new().visited();
    let turns = visitor.json("/turns");
    let id = turns[0]["id"].as_str().unwrap().to_owned();
    let command = sample.vault.json(&["turns", &id, "--request"]);
    let path = format!("/turns/{id}?request=yes");
    assert_eq!(visitor.json(&path), command);
    let page = visitor.get(&path).is(200).text();
    assert!(page.contains("What is due today? Answer in five lines.") && page.contains("the same"), "{page}");
    visitor.get("/turns/none?request=yes").is(404);
    // The run of the routine leads to it.
    let run = &visitor.json("/routines/morning")["runs"][0];
    let link = format!("/turns/{}", run["turn"].as_str().unwrap_or_else(|| panic!("{run}")));
    assert!(visitor.get("/routines/morning").is(200).text().contains(&link));
    assert_eq!(visitor.json(&link)["id"], serde_json::json!(id));
}

#[test]
fn a_finding_is_mended_by_its_button() {
    let vault = listening("");
    for number in 0..50 {
        vault.write(&format!("{number}.md"), number.to_string());
    }
    drop(vault.run(&["history"]).ok());
    let remove =
        || (0..40).for_each(|number| std::fs::remove_file(vault.path(&format!("{number}.md"))).unwrap());
    remove();
    drop(vault.run(&["history"]).ok());
    let (_served, visitor) = Served::visited(&vault);
    contains_all(visitor.get("/health").is(200).text(), &["files are gone since"]);
    visitor.submit(&visitor.form("/health", "bring-back", "")).is(303);
    assert_eq!(vault.read("7.md"), "7");
    assert!(!visitor.get("/health").is(200).text().contains("files are gone since"));
    remove();
    drop(vault.run(&["history"]).ok());
    visitor.submit(&visitor.form("/health", "accept", "")).is(303);
    assert!(!vault.has("7.md"));
    assert!(!visitor.get("/health").is(200).text().contains("files are gone since"));
    // A restore that was killed is finished, or taken back.
    let commit = visitor.json("/history")[0]["id"].as_str().unwrap().to_owned();
    let stored = |text: &str| {
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, text.as_bytes()).unwrap().to_string();
        serde_json::json!(["100644", id])
    };
    let note = vault.state().join("history.git/restore.json");
    let interrupt = || {
        let pending = serde_json::json!({
            "from": commit, "subject": "restored: 1 file", "began": vault.now(),
            "steps": [{ "path": "45.md", "before": stored("45"), "after": stored("7") }],
        });
        std::fs::write(&note, pending.to_string()).unwrap();
    };
    interrupt();
    visitor.submit(&visitor.form("/health", "finish", "")).is(303);
    assert_eq!((vault.read("45.md").as_str(), note.exists()), ("7", false));
    interrupt();
    visitor.submit(&visitor.form("/health", "roll-back", "")).is(303);
    assert_eq!((vault.read("45.md").as_str(), note.exists()), ("45", false));
}
