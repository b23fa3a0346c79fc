//! What the assistant says it saved, against what is in the vault.

use crate::hooks::host::*;

const NOTES: &str = "//- MEMORY.md\n# Memory\n\n## Preferences\n\n- Likes short answers\n";

fn stop(vault: &TestVault, lines: &[Value], more: Value) -> Value {
    record(vault, lines);
    let run = tell(vault, "stop", more);
    if run.stdout.is_empty() { Value::Null } else { run.json() }
}

/// A prompt of a few seconds ago.
fn prompt(text: &str) -> Value {
    user("2026-12-01T09:29:50.000Z", text)
}

fn asked(answer: &str) -> Vec<Value> {
    vec![prompt("Remember that I take oat milk in my coffee."), said(answer)]
}

/// The same in a vault that knows nothing of it.
fn decision(lines: &[Value]) -> Value {
    stop(&TestVault::new(NOTES), lines, json!({}))["decision"].clone()
}

#[test]
fn saved_it_with_nothing_saved_is_sent_back_once() {
    let vault = TestVault::new(NOTES);
    let lines = asked("Got it! I've saved that to your memory.");
    let answer = stop(&vault, &lines, json!({ "stop_hook_active": false }));
    assert_eq!(answer["decision"], "block", "{answer}");
    let told = ["“I've saved that to your memory.”", "`memory_save`", "MEMORY.md"];
    contains_all(answer["reason"].as_str().unwrap(), &told);
    // The host goes on because of us: it may stop now.
    assert_eq!(stop(&vault, &lines, json!({ "stop_hook_active": true })), Value::Null);
    // And the same claim is not asked about again.
    assert_ne!(stop(&vault, &lines, json!({ "stop_hook_active": false }))["decision"], "block");
    assert_eq!(log(&vault), "");
    // The host's own last message counts where the transcript is behind.
    let more = json!({ "stop_hook_active": false, "last_assistant_message": "I'll remember that." });
    assert_eq!(stop(&TestVault::new(NOTES), &lines[..1], more)["decision"], "block");
}

#[test]
fn what_is_in_the_vault_is_believed() {
    for (note, text) in [
        ("MEMORY.md", "## Preferences\n\n- Takes oat milk in coffee\n"),
        ("daily/2026-12-01.md", "- 09:29 Ann takes oat milk in her coffee\n"),
        ("Pinned.md", "- oat milk in coffee\n"),
        ("Reminders.md", "- [ ] date=2026-12-02 time=09:00 recur=none msg=\"Buy oat milk for the coffee\"\n"),
        ("COMMITMENTS.md", "---\nid: c-2026-12-01-001\nstatus: pending\n---\nAsk about oat milk in coffee\n"),
    ] {
        let vault = TestVault::new(NOTES);
        vault.write(note, text);
        let answer = stop(&vault, &asked("I've saved that to your memory."), json!({}));
        assert_ne!(answer["decision"], "block", "{note}");
    }
}

#[test]
fn claims_in_other_languages_are_checked_too() {
    for (prompt, answer) in [
        ("Merk dir, dass ich Hafermilch trinke.", "Alles klar, das habe ich mir gemerkt."),
        ("Retiens que je prends du lait d'avoine.", "D'accord, j'ai noté que vous prenez du lait d'avoine."),
        ("Recuerda que tomo leche de avena.", "Perfecto, lo recordaré."),
        ("Запомни, что я пью овсяное молоко.", "Хорошо, я запомнил."),
        ("记住我喝燕麦奶。", "好的，我记住了。"),
        ("オーツミルクが好きと覚えておいて。", "はい、覚えておきます。"),
    ] {
        assert_eq!(decision(&[self::prompt(prompt), said(answer)]), "block", "{answer}");
    }
}

#[test]
fn a_tool_that_failed_saved_nothing() {
    let save = json!({ "scope": "long", "text": "Takes oat milk" });
    let mut lines = asked("I've saved that to your memory.");
    lines.insert(1, used("t1", "mcp__vault-agent__memory_save", save));
    // It says that it went well, and the vault doesn't have it.
    assert_eq!(decision(&lines), "block");
    lines.insert(2, failed("t1"));
    assert_eq!(decision(&lines), "block");
}

#[test]
fn only_the_history_and_the_vaults_notes_are_evidence() {
    let answer = |vault: &TestVault, name: &str, arguments: Value| {
        let mut lines = asked("I've saved that to your memory.");
        lines.insert(1, used("t1", name, arguments));
        stop(vault, &lines, json!({}))["decision"].clone()
    };
    // A Markdown file elsewhere, and a call that changed nothing.
    for path in ["work/garden/CLAUDE.md", "work/garden/README.md"] {
        let vault = TestVault::new(NOTES);
        let path = vault.home().join(path);
        vault.write(&path, "oat milk");
        assert_eq!(answer(&vault, "Edit", json!({ "file_path": path, "new_string": "oat milk" })), "block");
    }
    for (name, arguments) in [
        // Says that it saves, and the history has no write.
        ("Bash", json!({ "command": "vault-agent memory save 'Hafermilch'" })),
        ("mcp__memory__create_entities", json!({ "entities": [{ "name": "oat milk" }] })),
    ] {
        assert_eq!(answer(&TestVault::new(NOTES), name, arguments), "block", "{name}");
    }
    // In other words than the prompt's, in another note than the agent's.
    let vault = TestVault::new(NOTES);
    vault.write("People/Ann.md", "Hafermilch\n");
    let note = vault.root().join("People/Ann.md");
    assert_ne!(answer(&vault, "Write", json!({ "file_path": note, "content": "Hafermilch" })), "block");
}

#[test]
fn after_an_edit_it_is_the_file_that_was_saved() {
    let edit = used("t1", "Edit", json!({ "file_path": "/work/garden/x.rs" }));
    let lines = [prompt("Rename the function."), edit, said("Saved!")];
    assert_eq!(stop(&TestVault::new(NOTES), &lines, json!({})), Value::Null);
}

#[test]
fn what_was_written_since_the_prompt_counts_in_any_words() {
    let vault = TestVault::new(NOTES);
    let _ = vault.run(&["remind", "add", "2026-12-02 09:00", "Hafermilch kaufen"]).ok();
    let lines = asked("I've added that to your reminders.");
    assert_ne!(stop(&vault, &lines, json!({}))["decision"], "block");
    // However much others wrote after it.
    for number in 0..51 {
        vault.write("Notes.md", format!("{number}\n"));
        let _ = vault.run(&["tick"]).ok();
    }
    assert!(vault.json(&["history"]).as_array().unwrap().len() > 51);
    vault.set_now("2026-12-01T09:50:00Z");
    assert_ne!(stop(&vault, &lines, json!({ "session_id": "later" }))["decision"], "block");
    // An hour later, the same words about something new are not backed by it.
    vault.set_now("2026-12-01T10:30:00Z");
    let later = user("2026-12-01T10:29:00.000Z", "Remember that the well is behind the oak.");
    assert_eq!(stop(&vault, &[later, said("I'll remember that.")], json!({}))["decision"], "block");
}

#[test]
fn without_a_history_a_call_of_our_tools_is_believed() {
    let vault = TestVault::new(&format!("{NOTES}//- vault-agent.toml\n[history]\nenabled = false\n"));
    let _ = vault.run(&["memory", "save", "Hafermilch"]).ok();
    let mut lines = asked("I've saved that to your memory.");
    assert_eq!(stop(&vault, &lines, json!({}))["decision"], "block");
    lines.insert(1, used("t1", "mcp__vault-agent__memory_save", json!({ "text": "Hafermilch" })));
    assert_ne!(stop(&vault, &lines, json!({ "session_id": "other" }))["decision"], "block");
}

#[test]
fn what_looks_worth_saving_is_offered_once() {
    let vault = TestVault::new(NOTES);
    let lines = [prompt("Fix the fence. My sister's birthday is 3 May."), said("Done.")];
    let first = stop(&vault, &lines, json!({}));
    contains_all(first["systemMessage"].as_str().unwrap(), &["“My sister's birthday is 3 May.”"]);
    assert!(first.get("decision").is_none(), "{first}");
    assert_eq!(stop(&vault, &lines, json!({})), Value::Null);
    // Neither what is kept already nor noise is.
    let others = "I like short answers, I prefer short answers.|My build is failing.|My password is hunter2.|\
                  Do you know that I prefer oaks?";
    for text in others.split('|') {
        let lines = [prompt(text), said("Done.")];
        assert_eq!(stop(&TestVault::new(NOTES), &lines, json!({})), Value::Null, "{text}");
    }
}
