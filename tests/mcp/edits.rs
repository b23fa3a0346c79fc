//! Changing, forgetting and saving what was read: `memory_edit`, `memory_forget`, `expected`, near memories, snoozing.

use crate::mcp::client::*;

const VAULT: &str = "\
//- now: 2026-12-01T09:30:00Z
//- /MEMORY.md
# Memory

## Ann
- [2026-11-20 14:02] likes green tea [importance:: 0.8] #project/boat ^t1
- moves to Leeds

## Bob
* moves to Leeds
* plays the cello
  on Mondays
//- /daily/2026-11-30.md
- 14:02 Met Anna about the flat
//- /Pinned.md
- Mum's birthday is 3 May [[MEMORY#Ann]]
";

#[test]
fn a_memory_says_something_else_and_keeps_what_was_not_named() {
    let (vault, mut client) = Client::over(VAULT);
    let mut edit = |path: &str, text: &str, new: &str| {
        let answer = client.call("memory_edit", json!({"path": path, "text": text, "new_text": new})).ok();
        let what = answer.structured().clone();
        let line = usize::try_from(what["line"].as_u64().unwrap()).unwrap();
        let note = vault.read(what["path"].as_str().unwrap());
        let first = what["text"].as_str().unwrap().lines().next().unwrap().to_owned();
        assert_eq!(note.lines().nth(line - 1).unwrap(), first, "read back");
        what
    };
    let changed = edit("MEMORY.md", "Likes green  tea.", "likes black tea");
    assert_eq!(changed["text"], "- [2026-11-20 14:02] likes black tea [importance:: 0.8] #project/boat ^t1");
    assert_eq!(changed["was"], "- [2026-11-20 14:02] likes green tea [importance:: 0.8] #project/boat ^t1");
    assert_eq!((&changed["existing"], &changed["memory_scope"]), (&json!(false), &json!("project:boat")));
    // The exact line goes, too, and a field in the new words wins.
    let line = changed["text"].as_str().unwrap();
    let again = edit("MEMORY.md", line, "- [2026-11-20 14:02] likes oolong [importance:: 0.3]");
    assert_eq!(again["text"], "- [2026-11-20 14:02] likes oolong [importance:: 0.3] #project/boat ^t1");
    let played = edit("MEMORY.md", "plays the cello on Mondays", "plays the viola");
    assert_eq!(played["text"], "* plays the viola");
    assert_eq!(edit("daily/2026-11-30", "Met Anna about the flat", "Met Bob")["text"], "- 14:02 Met Bob");
    let task = "[ ] date=2026-12-01 time=09:30 msg=\"x\"";
    let pinned = edit("Pinned.md", "Mum's birthday is 3 May [[MEMORY#Ann]]", task);
    assert_eq!(pinned["text"], format!("- \\{task}"), "no task comes of it");
    // What it says already is not written again.
    let before = vault.tree();
    assert_eq!(edit("MEMORY.md", "plays the viola", "plays the viola")["existing"], true);
    assert_eq!(vault.tree(), before);
    // A task of the person's stays one; another doesn't become one.
    let met = "Met Bob\n- [ ] Call him (@2026-12-03)";
    vault.write("daily/2026-11-30.md", "- 14:02 Met Bob\n  - [ ] Call him (@2026-12-03)\n");
    let told = edit("daily/2026-11-30", met, &format!("{met}\n- [ ] Pay him (@2026-12-03)"));
    let kept = "- 14:02 Met Bob\n  - [ ] Call him (@2026-12-03)\n  - \\[ ] Pay him (@2026-12-03)";
    assert_eq!(told["text"], kept);
    // A tag in the words gives it no other scope.
    let sly = edit("MEMORY.md", "plays the viola", "plays #project/other");
    assert_eq!(sly["text"], "* plays \\#project/other");
    let task = "x\n- [ ] y (@2026-12-03)";
    let saved = client.call("memory_save", json!({"scope": "daily", "content": task})).ok();
    for said in [saved, client.call("memory_pin", json!({"content": task})).ok()] {
        said.says("\n  - \\[ ] y (@2026-12-03)");
    }
}

#[test]
fn what_is_not_clear_is_refused_with_what_is_near() {
    let (vault, mut client) = Client::over(VAULT);
    let (before, near) = (vault.tree(), ["line 4: likes green tea", "Untrusted context"]);
    for tool in ["memory_edit", "memory_forget"] {
        for (path, text, kind, words) in [
            ("MEMORY.md", "likes tea", "no_such_memory", &near[..]),
            ("MEMORY.md", "moves to leeds", "ambiguous", &["line 5:", "line 8:"]),
            ("Reminders.md", "x", "not_a_memory_note", &[]),
            ("vault-agent.toml", "x", "no_such_note", &[]),
            ("../home/x.md", "x", "bad_path", &[]),
            (".obsidian/a.md", "x", "not_a_note", &[]),
        ] {
            let mut arguments = json!({"path": path, "text": text});
            if tool == "memory_edit" {
                arguments["new_text"] = json!("x");
            }
            contains_all(client.refuses(tool, arguments, kind).text(), words);
        }
    }
    assert_eq!(vault.tree(), before);
    let named = json!({"path": "MEMORY.md", "text": "moves to Leeds", "line": 8});
    assert_eq!(client.does("memory_forget", named)["text"], "* moves to Leeds");
}

#[test]
fn a_note_that_is_another_by_now_is_not_written() {
    let (vault, mut client) = Client::over(VAULT);
    let got = client.call("memory_get", json!({"path": "MEMORY.md"})).ok();
    let read = got.field("hash").to_owned();
    got.says(&read);
    let with_hash = |mut arguments: Value| {
        arguments["expected"] = json!(read);
        arguments
    };
    let fresh = json!({"path": "MEMORY.md", "text": "likes green tea", "new_text": "likes rum"});
    client.call("memory_edit", with_hash(fresh.clone())).ok();
    let before = vault.tree();
    for (tool, arguments, words) in [
        ("memory_edit", fresh, ""),
        ("memory_forget", json!({"path": "MEMORY.md", "text": "likes rum"}), ""),
        // The newer text.
        ("memory_save", json!({"scope": "long", "content": "x"}), "likes rum"),
        ("memory_save", json!({"scope": "daily", "content": "x"}), ""),
        ("memory_save", json!({"scope": "commitment", "content": "x", "due": "tomorrow 9am"}), ""),
    ] {
        let refused = client.refuses(tool, with_hash(arguments), "changed_since_read");
        assert_eq!(refused.0["_meta"]["vault-agent/error"]["argument"], "expected");
        contains_all(refused.text(), &["Untrusted context", words]);
    }
    assert_eq!(vault.tree(), before);
    // A note that isn't there has the hash of nothing.
    let empty = vault_agent::memory::hash_of(b"");
    client.call("memory_save", json!({"scope": "daily", "content": "x", "expected": empty})).ok();
}

#[test]
fn a_save_answers_with_what_is_near_to_it() {
    let (_vault, mut client) = Client::over(
        "//- /MEMORY.md\n## Food\n- Anna likes green tea in the morning\n- Anna is allergic to peanuts\n\
         - the printer is on the second floor\n- Anna hates green tea #project/secret\n",
    );
    let fact = json!({"scope": "long", "content": "Anna drinks black tea in the morning"});
    let saved = client.call("memory_save", fact).ok().says("Untrusted context");
    let near = &saved.structured()["near"];
    let nearest = json!(["Anna likes green tea in the morning", "MEMORY.md", 2, null]);
    assert_eq!(pick(near, "0/text 0/path 0/line 3"), nearest);
    // The last one is another project's.
    contains_none(near.to_string(), &["printer", "black", "hates"]);
    let far = client.call("memory_save", json!({"scope": "daily", "content": "bought a hammer"})).ok();
    assert_eq!(far.structured().get("near"), None::<&Value>, "{}", far.text());
}

#[test]
fn a_reminder_is_snoozed_as_on_discord() {
    let (vault, mut client) = Client::over(
        "//- now: 2026-12-01T09:30:00Z\n//- /Reminders.md\n\
         - [ ] date=2026-11-24 time=09:30 recur=weekly msg=\"Water plants\" id=rid_BBBBCCCCDDDD\n\
         - [ ] date=2026-12-09 time=11:00 recur=none msg=\"Dentist\" id=rid_CCCCDDDDEEEE\n\
         //- /COMMITMENTS.md\n---\nid: c-2026-11-30-001\nstatus: delivered\ndue: 2026-11-30T19:00:00Z\n---\nAsk Bo.\n",
    );
    let _ = vault.run(&["tick"]).ok();
    let mut snooze = |arguments: Value| client.call("reminder_snooze", arguments);
    // What comes again anyway stays as it is, and comes once more.
    let again = snooze(json!({"id": "rid_BBBBCCCCDDDD", "until": "tomorrow 9am"})).ok();
    let line = again.field("line_text");
    contains_all(line, &["date=2026-12-02 time=09:00 recur=none msg=\"Water plants\" id=rid_"]);
    let weekly = "recur=weekly msg=\"Water plants\" id=rid_BBBBCCCCDDDD";
    contains_all(vault.read("Reminders.md"), &[line, weekly]);
    let twice = snooze(json!({"id": "rid_BBBBCCCCDDDD", "until": "tomorrow 9am"})).ok();
    assert_eq!(twice.structured(), again.structured(), "once");
    // What is still to come is moved.
    let moved = snooze(json!({"id": "rid_CCCCDDDDEEEE", "until": "2026-12-10 11:00"})).ok();
    assert_eq!(moved.structured()["id"], "rid_CCCCDDDDEEEE");
    assert_eq!(vault.read("Reminders.md").matches("Dentist").count(), 1);
    assert_eq!(snooze(json!({"id": "rid_ZZZZZZZZZZZZ", "minutes": 5})).error(), "no_such_id");
    assert_eq!(snooze(json!({"id": "rid_BBBBCCCCDDDD"})).error(), "missing_argument");
    let both = json!({"id": "rid_BBBBCCCCDDDD", "minutes": 5, "until": "17:00"});
    assert_eq!(snooze(both).error(), "unexpected_argument");
    let follow_up = snooze(json!({"id": "c-2026-11-30-001", "minutes": 60})).ok();
    contains_all(follow_up.field("line_text"), &["Ask Bo."]);
}
