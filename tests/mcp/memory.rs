//! The memory tools: what is saved, whose it is, and what can't be made of it.

use crate::mcp::client::*;

fn fact(content: &str, key: &str) -> Value {
    json!({"scope": "long", "content": content, "key": key})
}

#[test]
fn what_is_saved_is_what_stands_in_the_note() {
    let (vault, mut client) = Client::over("//- /MEMORY.md\n# Memory\n\n## Ann\n- likes tea\n");
    let what = client.does("memory_save", fact("prefers TypeScript", "Kyle"));
    assert_eq!(pick(&what, "path section existing"), json!(["MEMORY.md", "Kyle", false]));
    let text = vault.read("MEMORY.md");
    assert!(text.ends_with(&format!("## Ann\n- likes tea\n\n## Kyle\n{}\n", what["text"].as_str().unwrap())));
    let again = client.does("memory_save", fact("Prefers  TypeScript.", "kyle"));
    assert_eq!(pick(&again, "existing line"), json!([true, what["line"]]));
    assert_eq!(vault.read("MEMORY.md"), text, "what is there already is not written again");

    let noted = client.does("memory_save", json!({"scope": "daily", "content": "Ann moves to Leeds"}));
    assert_eq!(noted["path"], "daily/2026-12-01.md");
    assert_eq!(client.does("memory_list", json!({"scope": "daily"}))["days"][0]["date"], "2026-12-01");

    let promise = json!({
        "scope": "commitment", "content": "Remind Kyle about the dentist at 3 PM.", "due": "2026-12-08T19:00:00Z",
        "precision": "precise", "commitment_scope": "channel:1482815120000000000",
    });
    assert_eq!(client.does("memory_save", promise)["id"], "c-2026-12-01-001");
    contains_all(vault.read("COMMITMENTS.md"), &["due: 2026-12-08T19:00:00Z", "precision: precise"]);
    client.call("memory_commitment_due", json!({})).ok().says("Nothing is due");
    let due = client.does("memory_commitment_due", json!({"now": "2026-12-09 09:00"}));
    assert_eq!(due["commitments"][0]["id"], "c-2026-12-01-001");
    let done = client.does("memory_commitment_done", json!({"id": "c-2026-12-01-001"}));
    assert_eq!(done["commitments"][0]["status"], "delivered");
    client.refuses("memory_commitment_done", json!({"id": "c-2026-12-01-001"}), "not_pending");
    client.refuses("memory_commitment_done", json!({"id": "c-1999-01-01-001"}), "no_such_id");

    // And it is found at once, daemon or not.
    let question = json!({"query": "which language does Kyle prefer?"});
    client.call("memory_search", question).ok().says("TypeScript");
    assert_eq!(client.does("memory_list", json!({"scope": "long"}))["sections"][1]["name"], "Kyle");
    // Days are those of the vault.
    vault.write("vault-agent.toml", "timezone = \"Europe/London\"\n");
    vault.write("daily/2026-07-01.md", "# Gnus\n\nthe gnu walks\n");
    let found = client.call("memory_search", json!({"query": "gnu"})).ok();
    found.says("daily/2026-07-01.md:3 (Gnus, 2026-07-01): the gnu walks");
}

#[test]
fn what_can_not_be_saved_says_why_and_writes_nothing() {
    let (vault, mut client) = Client::over("//- /MEMORY.md\n## Ann\n- likes tea\n");
    let before = vault.tree();
    for (scope, argument, value, kind) in [
        ("forever", "key", "Ann", "unknown_scope"),
        ("long", "content", " \n\t ", "empty_argument"),
        ("daily", "content", "nul \u{0}", "control_character"),
        ("long", "key", "x".repeat(400).as_str(), "bad_section"),
        ("long", "due", "tomorrow", "unexpected_argument"),
        ("daily", "key", "Ann", "unexpected_argument"),
        ("commitment", "memory_scope", "global", "unexpected_argument"),
        ("commitment", "due", "whenever", "bad_date"),
        ("commitment", "content", "x", "missing_argument"),
        ("commitment", "precision", "vague", "unknown_choice"),
        ("long", "memory_scope", "planet:earth", "unknown_scope"),
        ("long", "memory_scope", "project:", "unknown_scope"),
    ] {
        let mut arguments = json!({"scope": scope, "content": "x"});
        arguments[argument] = json!(value);
        client.refuses("memory_save", arguments, kind);
    }
    let place = json!({"scope": "commitment", "content": "x", "due": "tomorrow", "commitment_scope": "all"});
    client.refuses("memory_save", place, "bad_commitment_scope");
    for link in ["a\u{200b}b", "a\u{202e}b", "`=1`"] {
        client.refuses("memory_pin", json!({"content": "x", "link": link}), "bad_link");
    }
    client.refuses("memory_unpin", json!({"content": "Dad"}), "no_such_pin");
    assert_eq!(vault.tree(), before);
}

#[test]
fn a_note_that_was_just_emptied_or_cut_is_left_alone_but_by_a_person() {
    let (vault, mut client) = Client::over("");
    client.does("memory_save", fact(&"likes green tea, and much of it, ".repeat(20), "Ann"));
    for cut in ["", "## Ann\n"] {
        vault.write("MEMORY.md", cut);
        client.call("memory_save", fact("plays the cello", "Ann")).says("until it has stood so for a minute");
        assert_eq!(vault.read("MEMORY.md"), cut);
    }
    let _ = vault.run(&["memory", "save", "plays the cello"]).ok();
    client.does("memory_save", fact("moves to Leeds", "Ann"));
}

#[test]
fn without_a_scope_a_fact_is_everybodys_and_here_is_the_project() {
    let (vault, mut client) = Client::over("");
    let mut saved = |arguments: Value| client.does("memory_save", arguments)["memory_scope"].clone();
    assert_eq!(saved(json!({"scope": "long", "content": "likes oolong #project/boat"})), "global");
    contains_all(vault.read("MEMORY.md"), &[r"likes oolong \#project/boat"]);
    assert_eq!(saved(json!({"scope": "daily", "content": "slept badly"})), "global");
    let here = saved(json!({"scope": "long", "content": "built with make", "memory_scope": "here"}));
    assert_eq!(saved(json!({"scope": "long", "content": "tested with make", "memory_scope": here})), here);
}

#[test]
fn what_nobody_sees_reaches_no_model() {
    let note =
        "//- /MEMORY.md\n## Ann\n- Ann likes oolong tea\u{e0049}\u{e0067}\u{e006e} in the \u{202e}morning\n";
    let (_vault, mut client) = Client::over(note);
    for tool in ["memory_search", "memory_recall"] {
        let answer = client.call(tool, json!({"query": "Which tea does Ann like in the morning?"})).ok();
        let all = format!("{} {}", answer.text(), answer.structured());
        assert!(all.contains("oolong"), "{tool}: {all}");
        assert!(!all.contains(['\u{202e}', '\u{e0049}', '\u{e0067}', '\u{e006e}']), "{tool}: {all:?}");
    }
}

#[test]
fn a_memory_is_its_scopes_own() {
    let mut vault = TestVault::new("//- /MEMORY.md\n## Kitchen\n- the kettle is red\n");
    vault.env("VAULT_AGENT_PROJECT", "garden");
    let mut garden = Client::new(&vault);
    let saved = garden.does("memory_save", fact("the shed is green", "Colours"));
    assert_eq!(saved["memory_scope"], "project:garden");
    vault.env("VAULT_AGENT_PROJECT", "boat");
    let (mut boat, shed) = (Client::new(&vault), json!({"query": "what colour is the shed?"}));
    for (tool, arguments) in
        [("memory_search", &shed), ("memory_recall", &shed), ("memory_list", &json!({"scope": "long"}))]
    {
        assert!(!boat.call(tool, arguments.clone()).ok().text().contains("shed"), "{tool}");
        garden.call(tool, arguments.clone()).ok().says("shed");
    }
    // Who asks for more gets more; what is global is everybody's.
    let wide = json!({"query": "what colour is the shed?", "memory_scope": "global, project:garden"});
    boat.call("memory_search", wide).ok().says("shed");
    boat.call("memory_search", json!({"query": "red kettle"})).ok().says("kettle");
    let only = json!({"query": "red kettle", "memory_scope": "project:garden"});
    assert!(!garden.call("memory_search", only).ok().text().contains("kettle is"));
    // The client's own.
    let own = json!({"scope": "long", "content": "call me Bot", "memory_scope": "agent:test-client"});
    assert_eq!(boat.does("memory_save", own)["memory_scope"], "agent:test-client");
    garden.call("memory_list", json!({"scope": "long"})).ok().says("call me Bot");
}

#[test]
fn a_second_promotion_of_a_line_says_what_stands_there_now() {
    let (_vault, mut client) = Client::over("//- /daily/2026-11-30.md\n- 14:02 Ann moves\n- 15:00 tea\n");
    let promote = |date: &str, line: u32| json!({"date": date, "line": line});
    client.does("memory_promote", promote("2026-11-30", 1));
    let again = client.call("memory_promote", promote("2026-11-30", 1)).ok();
    again.says("It was promoted already").says("Line 1 is another now").says("- 15:00 tea");
    client.refuses("memory_promote", promote("2026-11-30", 9), "no_such_line");
    client.refuses("memory_promote", promote("2026-02-30", 1), "bad_date");
    client.refuses("memory_promote", promote("2020-01-01", 1), "no_such_day");
    let section = json!({"date": "2026-11-30", "line": 1, "section": "two\nlines"});
    client.refuses("memory_promote", section, "control_character");
    let (_vault, mut client) = Client::over("//- /daily/2026-11-30.md\n- 14:02 Ann moves\n");
    client.does("memory_promote", promote("2026-11-30", 1));
    client.call("memory_promote", promote("2026-11-30", 1)).ok().says("It was promoted already");
}

#[test]
fn a_reranker_is_asked_for_a_deep_search_alone() {
    let vault = TestVault::new("//- /MEMORY.md\n- prefers TypeScript\n- prefers tea, says Kyle\n");
    let (url, server) = crate::reranker::endpoint(&["good"]);
    vault.write("vault-agent.toml", format!("[rerank]\nprovider = \"endpoint\"\nurl = \"{url}\"\n"));
    let (mut client, query) = (Client::new(&vault), "what does Kyle prefer?");
    let plain = client.does("memory_search", json!({"query": query}));
    client.does("memory_recall", json!({"query": query}));
    assert!(server.requests().is_empty() && plain.get("reranked_by").is_none());
    let deep = client.does("memory_search", json!({"query": query, "deep": true}));
    assert_eq!(deep["reranked_by"], "endpoint:127.0.0.1");
    assert_eq!(server.requests().len(), 1);
}
