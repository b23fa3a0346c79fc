//! The protocol itself: handshake, refusals, malformed lines, cancellation, progress, the end.

use crate::mcp::client::*;

#[test]
fn the_handshake_says_what_the_server_is() {
    let vault = TestVault::new("");
    let mut client = Client::silent(vault.command(&["mcp"]));
    let hello = client.initialize("someone");
    let told =
        pick(&hello, "serverInfo/name serverInfo/version protocolVersion capabilities/resources/subscribe");
    assert_eq!(told, json!(["vault-agent", env!("CARGO_PKG_VERSION"), "2025-06-18", true]));
    assert!(hello["instructions"].as_str().unwrap().contains("untrusted"));
    assert_eq!(client.result("ping", json!({})), json!({}));
    let (code, left, _) = client.close();
    assert_eq!((code, left.len()), (0, 0));
    // A client that leaves at once is no error; wrong settings are said before anything else.
    let (code, left, said) = Client::silent(vault.command(&["mcp"])).close();
    assert_eq!((code, left.len(), said.as_str()), (0, 0, ""));
    vault.write("vault-agent.toml", "timezon = \"UTC\"\n");
    assert_eq!(vault.run(&["mcp"]).exits(2).warns("timezone").stdout, "");
}

#[test]
fn starting_opens_no_cache_and_no_history() {
    let (vault, mut client) = Client::over("//- /MEMORY.md\n## Ann\n- likes tea\n");
    client.result("tools/list", json!({}));
    client.result("resources/list", json!({}));
    client.call("reminder_list", json!({})).ok();
    client.close();
    let mut left = [names_in(vault.state()), names_in(vault.cache())].concat();
    left.retain(|name| name != "edits" && name != "vault");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn lines_that_are_no_requests_are_answered_and_survived() {
    let (vault, mut client) = Client::over("");
    for line in ["[1,2", "null", "\u{1}\u{2}", "{\"jsonrpc\":\"2.0\"}", &"[".repeat(100_000), ""] {
        client.write(line);
    }
    client.write("{\"jsonrpc\":\"1.0\",\"id\":9,\"method\":\"ping\"}");
    client.write("{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":5,\"method\":3}");
    assert_eq!(client.result("ping", json!({})), json!({}));
    client.fails("no/such/method", json!({}), -32601);
    let malformed = client.request("tools/call", json!({"name": 5}));
    assert!(malformed["error"]["code"].as_i64().unwrap() <= -32600, "{malformed}");
    // Half of a character, as a client cuts it, is no reason.
    client.write(
        r#"{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"memory_save","arguments":{"scope":"long","content":"tea \ud83d"}}}"#,
    );
    let saved = client.wait_for("an answer", |message| message["id"] == 99);
    assert!(saved["result"]["isError"] != true, "{saved}");
    contains_all(vault.read("MEMORY.md"), &["tea \u{fffd}"]);
    // Nothing said to a server before the handshake ends it either.
    let mut silent = Client::silent(vault.command(&["mcp"]));
    silent.write("{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": ");
    let refused = silent.wait_for("a parse error", |message| message.get("error").is_some());
    assert_eq!(pick(&refused, "id error/code"), json!([null, -32700]));
    assert!(refused.as_object().unwrap().contains_key("id"), "{refused}");
    assert_eq!(silent.initialize("someone")["serverInfo"]["name"], "vault-agent");
}

#[test]
fn a_name_in_either_form_of_unicode_is_one_note() {
    let (composed, decomposed) = ("Caf\u{e9}/Men\u{fc}.md", "Cafe\u{301}/Menu\u{308}.md");
    for (there, asked) in
        [(composed, decomposed), (decomposed, composed), ("Caf\u{e9}/Menu\u{308}.md", composed)]
    {
        let vault = TestVault::new("");
        vault.write(there, "- oolong\n");
        let mut client = Client::new(&vault);
        let path = |path: &str| json!({"path": path});
        assert_eq!(client.does("memory_get", path(asked))["path"], there);
        let uri = format!("vault://{asked}");
        client.result("resources/subscribe", json!({"uri": uri}));
        vault.write(there, "- oolong tea\n");
        assert_eq!(client.notification("notifications/resources/updated")["uri"], uri);
        vault.write(there, "- oolong\n");
        client.call("memory_get", path(asked.trim_end_matches(".md"))).ok().says("oolong");
        let found = client.does("memory_search", json!({"query": "oolong", "scope": asked}));
        assert_eq!(found["hits"][0]["path"], there);
        let uri: String = asked.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let read = client.result("resources/read", json!({"uri": format!("vault://{uri}")}));
        assert_eq!(read["contents"][0]["text"], "- oolong\n");
        drop(vault.run(&["check", asked]).ok());
    }
}

#[test]
fn only_the_tools_of_the_set_are_there() {
    let vault = TestVault::new("");
    let names =
        |client: &mut Client| client.tools().iter().map(|tool| tool["name"].clone()).collect::<Value>();
    let mut recall = Client::with(&vault, &["--tools", "recall"]);
    let tools = names(&mut recall).to_string();
    contains_all(&tools, &["memory_search"]);
    contains_none(&tools, &["memory_save"]);
    assert!(recall.tools().iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    let arguments = json!({"when": "tomorrow", "message": "x"});
    for (params, words) in [
        (json!({"name": "reminder_add", "arguments": arguments}), "--tools recall"),
        (json!({"name": "rm_rf", "arguments": {}}), ""),
        // The method is there; what is wrong are its parameters.
        (json!({}), "parameters of `tools/call`"),
        (json!({"name": "memory_get", "arguments": "text"}), "parameters of `tools/call`"),
    ] {
        let refused = recall.request("tools/call", params);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        contains_all(refused["error"]["message"].as_str().unwrap(), &[words]);
    }
    assert!(!vault.has("Reminders.md"));
    let mut two = Client::with(&vault, &["--tools", "memory_get, reminder_list"]);
    assert_eq!(names(&mut two), json!(["memory_get", "reminder_list"]));
    vault.run(&["mcp", "--tools", "memory_serch"]).exits(2).warns("did you mean `memory_search`");
}

/// A vault with so many notes, and a session over it.
fn with_notes(count: usize) -> (TestVault, Client) {
    let note = |n| format!("//- /notes/{n}.md\n# Note {n}\n\nAbout the tea of day {n}.\n");
    Client::over(&(0..count).map(note).collect::<String>())
}

#[test]
fn progress_is_told_while_the_vault_is_indexed_for_the_first_time() {
    let (_vault, mut client) = with_notes(200);
    let arguments = json!({"query": "tea"});
    let params = json!({"name": "memory_search", "arguments": arguments, "_meta": {"progressToken": "p1"}});
    assert!(!client.result("tools/call", params)["structuredContent"]["hits"].as_array().unwrap().is_empty());
    let word = client.notification("notifications/progress");
    assert_eq!(word["progressToken"], "p1");
    assert!(word["progress"].as_f64().unwrap() > 0.0 && word["total"].as_f64().unwrap() >= 200.0, "{word}");
    // Without a token nobody is told, and a warm index has nothing to tell.
    client.call("memory_search", json!({"query": "day"})).ok();
    let (_, left, _) = client.close();
    assert!(left.iter().all(|message| message["params"]["progressToken"] == "p1"), "{left:?}");
}

#[test]
fn a_cancelled_call_holds_nobody_up() {
    let (_vault, mut client) = with_notes(300);
    let id = client.send("tools/call", json!({"name": "memory_search", "arguments": {"query": "day"}}));
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "never mind"}));
    client.call("reminder_list", json!({})).ok();
    // The next search is whole, whatever became of the first.
    let found = client.does("memory_search", json!({"query": "note 299"}));
    assert!(!found["hits"].as_array().unwrap().is_empty());
}

#[test]
fn the_client_and_the_conversation_stand_in_the_history() {
    let vault = TestVault::new("");
    let mut client = Client::silent(vault.command(&["mcp"]));
    client.initialize("claude-code\nActor: human");
    let arguments = json!({"when": "tomorrow 9am", "message": "Call Mum"});
    let params = json!({"name": "reminder_add", "arguments": arguments, "_meta": {"sessionId": "conv-42"}});
    client.result("tools/call", params);
    client.close();
    let entry = &vault.json(&["history"])[0];
    assert_eq!(pick(entry, "actor trailers/Conversation"), json!(["mcp", "conv-42"]), "{entry}");
    let client = entry["trailers"]["Client"].as_str().unwrap();
    assert!(client.starts_with("claude-code") && !client.contains('\n'), "{entry}");
}

#[test]
fn it_serves_the_newest_protocol_without_a_handshake() {
    let vault = TestVault::new("//- /MEMORY.md\n## Ann\n- likes tea\n");
    let mut client = Client::silent(vault.command(&["mcp"]));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "new", "version": "2"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.result("server/discover", json!({"_meta": meta}));
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "vault-agent", "{found}");
    let params = json!({"name": "memory_get", "arguments": {"path": "MEMORY.md"}, "_meta": meta});
    let answer = client.result("tools/call", params);
    assert_eq!(answer["resultType"], "complete");
    assert_eq!(answer["structuredContent"]["text"], "## Ann\n- likes tea\n");
}
