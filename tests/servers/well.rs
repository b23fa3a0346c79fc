//! Servers that behave: our own, over pipes and over HTTP; and whole turns that use one, by the program itself.

use crate::servers::rig::*;
use vault_agent::agent::tools::Precondition;
use vault_agent::brain::ToolSpec;

fn ours(more: &str) -> String {
    format!(
        "[[mcp]]\nname = \"notes\"\ncommand = [\"{PROGRAM}\", \"--vault\", \"VAULT\", \"mcp\"]\n\
         tools = [\"memory_get\", \"memory_list\", \"nothing_such\"]\n{more}"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_started_at_its_first_use_and_gone_with_its_turn() {
    let rig = Rig::new(&ours(""));
    assert_eq!(living(&rig), 0);
    let shown = rig.tools("notes").await;
    assert!(!shown.is_error, "{}", shown.text);
    contains_all(&shown.text, &["memory_get: Reads a note", "It doesn't offer: nothing_such"]);
    contains_none(&shown.text, &["memory_save"]);
    assert!(living(&rig) >= 2, "a supervisor and the server");
    let got = rig.tool("notes", "memory_get", json!({"path": "MEMORY.md"})).await;
    assert!(got.text.contains("likes green tea") && got.text.starts_with("[Untrusted"), "{}", got.text);
    assert!(rig.tool("notes", "memory_get", json!({"path": "none.md"})).await.is_error);
    rig.ended().await;
    rig.all_are_gone();
    assert_eq!(std::fs::read_dir(rig.state().join("mcp")).unwrap().count(), 0, "nor its folder");
    // A turn of the same name may come again.
    assert!(!rig.tool("notes", "memory_list", json!({"scope": "long"})).await.is_error);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_brain_is_told_comes_from_the_settings_alone() {
    let rig = Rig::new(&ours(""));
    let specs = rig.servers.specs();
    assert_eq!(specs.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["mcp_tools", "mcp_call"]);
    contains_all(&specs[1].description, &["notes (memory_get, memory_list, nothing_such)"]);
    let _ = rig.tools("notes").await;
    let said = |specs: &[ToolSpec]| -> Vec<String> {
        specs.iter().map(|one| format!("{}{}{}", one.name, one.description, one.schema)).collect()
    };
    assert_eq!(said(&specs), said(&rig.servers.specs()));
    assert!(said(&specs).concat().len() < 1_200, "{specs:?}");
    rig.ended().await;
}

#[test]
fn who_may_call_what_is_decided_before() {
    let rig = Rig::new(&format!(
        "[assistant]\nallow = [\"mcp:web.walk\"]\n\
         [[mcp]]\nname = \"web\"\ncommand = [\"x\"]\ntools = [\"look\", \"walk\", \"run\"]\nask = [\"look\", \"walk\"]\n\
         [[mcp]]\nname = \"home\"\ncommand = [\"x\"]\ntools = [\"look\"]\nask_after_reading = false\n\
         [[mcp]]\nname = \"other\"\ncommand = [\"x\"]\ntools = [\"look\"]\nfor = [\"routine:morning\"]\n{}",
        ours("ask = [\"*\"]\n")
    ));
    let call = |server: &str, tool: &str| json!({"server": server, "tool": tool, "arguments": {"q": "a\nb"}});
    let leave = |server: &str, tool: &str, tainted| rig.precondition("mcp_call", call(server, tool), tainted);
    assert_eq!(leave("web", "run", false), Precondition::Free);
    assert_eq!(leave("web", "walk", false), Precondition::Free, "the settings allow it");
    let Precondition::Ask(wanted) = leave("web", "look", false) else { panic!("it is asked about") };
    assert_eq!(wanted.run, "mcp web.look {\"q\":\"a\\nb\"}");
    assert_eq!(wanted.always.as_deref(), Some("mcp:web.look"));
    assert_eq!(wanted.why, "the tool look of the MCP server web");
    assert!(matches!(leave("notes", "memory_get", false), Precondition::Ask(_)), "`*` is all");
    // After untrusted text whatever leaves is asked about, and each time.
    for tool in ["run", "walk"] {
        let Precondition::Ask(wanted) = leave("web", tool, true) else { panic!("{tool}") };
        assert_eq!(wanted.always, None);
    }
    assert_eq!(leave("home", "look", true), Precondition::Free, "the settings say so");
    for (server, tool) in [("web", "fly"), ("nowhere", "look"), ("other", "look")] {
        assert!(matches!(leave(server, tool, false), Precondition::Refused(_)), "{server}.{tool}");
    }
    assert!(matches!(rig.precondition("mcp_call", json!({"tool": 3}), false), Precondition::Refused(_)));
    assert_eq!(rig.precondition("mcp_tools", json!({"server": "web"}), true), Precondition::Free);
    assert!(rig.servers.untrusted("mcp_tools") && rig.servers.untrusted("mcp_call"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_is_not_allowed_is_never_called() {
    let Some(rig) = Rig::scripted("good", "") else { return };
    let refused = rig.tool("web", "other_1", Value::Null).await;
    assert!(refused.is_error);
    contains_all(&refused.text, &["may not be used; these may: look, walk"]);
    assert!(rig.pids().is_empty(), "nothing is started for that");
    let fine = rig.look().await;
    assert!(fine.text.contains("look {\"q\": \"tea\"}"), "{}", fine.text);
    rig.ended().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_over_http_is_called_with_its_key() {
    let mut notes = TestVault::new("//- /MEMORY.md\n## Ann\n- likes green tea\n");
    notes.env("VAULT_AGENT_MCP_TOKEN", "tok-1234567890abcdef1234567890abcdef");
    let mut server = Killed(notes.command(&["mcp", "--http", "0"]).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map_while(Result::ok);
    let url = lines.find_map(|line| line.strip_prefix("listening on ").map(str::to_owned)).unwrap();
    let far = |url: &str, key: &str| {
        let of = format!("url = \"{url}\"\ntools = [\"memory_get\"]\nkey_file = \"../key\"");
        let rig = Rig::new(&format!("[[mcp]]\nname = \"far\"\n{of}\n"));
        write_private(rig.dir().join("key"), key);
        rig
    };
    let get = async |rig: &Rig| rig.tool("far", "memory_get", json!({"path": "MEMORY.md"})).await;
    let (good, bad) = ("tok-1234567890abcdef1234567890abcdef\n", "wrong-key-0123456789\n");
    let rig = far(&url, good);
    let got = get(&rig).await;
    assert!(got.text.contains("likes green tea"), "{}", got.text);
    let shown = rig.tools("far").await;
    assert!(shown.text.contains("memory_get: ") && !shown.text.contains("memory_save"), "{}", shown.text);
    rig.ended().await;
    // A key that is refused is not shown.
    let refused = get(&far(&url, bad)).await;
    assert!(refused.is_error && refused.text.contains("401"), "{}", refused.text);
    assert!(!refused.text.contains("wrong-key"), "{}", refused.text);
    // Nor a part of one that an answer repeats.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let liar = far(&format!("http://{}/", listener.local_addr().unwrap()), bad);
    std::thread::spawn(move || {
        let body = format!("{}wrong-key-0123456789", "no entry for you, ".repeat(16));
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = write!(stream, "HTTP/1.1 403 No\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let refused = get(&liar).await;
    assert!(refused.text.contains("no entry") && !refused.text.contains("wrong-key"), "{}", refused.text);
    drop(server);
    let down = far(&url, good);
    let gone = get(&down).await;
    assert!(gone.is_error && gone.text.contains("can't be used in this turn"), "{}", gone.text);
    let seen = vault_agent::agent::servers::ServerHealth::new(&down.workspace.dirs.state).load();
    assert_eq!(seen["far"].is_well(), Some(false));
}

/// A vault with a brain and a server that behaves in this way; none where there is no Python for it.
fn vault(server: &ModelServer, mode: &str) -> Option<TestVault> {
    let vault = python().then(|| TestVault::new(""))?;
    let (brain, pids) = (server.brain("a", "chat", ""), vault.home().join("pids"));
    vault.write("vault-agent.toml", format!("{brain}{}", scripted(mode, &pids, "")));
    Some(vault)
}

#[test]
fn a_brain_looks_and_calls_and_a_server_that_is_down_changes_no_byte() {
    let mut tools = Vec::new();
    for mode in ["good", "exit"] {
        let (_runtime, server) = ModelServer::alone();
        server.script(vec![Reply::tool("mcp_tools", json!({"server": "web"})), Reply::text("Done.")]);
        let Some(vault) = vault(&server, mode) else { return };
        let asked = vault.json(&["ask", "look!"]);
        let status = vault.run(&["status"]).stdout;
        let json = vault.run(&["--json", "status"]).json();
        assert_eq!(pick(&asked, "answer tools/0/ok"), json!(["Done.", mode == "good"]));
        assert!(!pids_in(&vault.home()).iter().any(|pid| lives(*pid)));
        let result = &server.requests()[1].results()[0];
        if mode == "good" {
            assert!(result.contains("look: Does look."), "{result}");
            assert!(status.contains("mcp       web: answered"), "{status}");
            assert!(json["mcp"][0]["last_ok"].is_string());
        } else {
            assert!(result.contains("can't be used in this turn") && result.contains("status 3"), "{result}");
            assert!(status.contains("mcp       web: failed") && status.contains("status 3"), "{status}");
        }
        tools.push(server.requests()[0].body["tools"].to_string().replace(&server.url(), ""));
    }
    assert_eq!(tools[0], tools[1]);
    assert!(tools[0].contains("web (look, walk)"), "{}", tools[0]);
}

/// `ask` at a terminal, with this answer to its question about a call; `exit` and its code at the end.
fn at_terminal(vault: &TestVault, answer: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/terminal.py");
    Run::of(&mut vault.started_by(&[python3(), script, answer], &["ask", "look!"])).ok().stdout
}

#[test]
fn at_a_terminal_a_question_can_be_left_and_an_always_that_can_not_be_kept_is_once() {
    for (answer, said, calls) in [
        ("SIGINT", &["asks whether this may run", "exit 1"][..], 1),
        ("a\n", &["it runs once: `vault-agent.toml` is written in a way", "Done.\nexit 0"], 2),
    ] {
        let (_runtime, server) = ModelServer::alone();
        let call = json!({"server": "web", "tool": "look", "arguments": {"q": "tea"}});
        server.script(vec![Reply::tool("mcp_call", call), Reply::text("Done.")]);
        let Some(vault) = vault(&server, "good") else { return };
        let settings = vault.read("vault-agent.toml");
        let settings = format!("assistant = {{ max_rounds = 9 }}\n{settings}ask = [\"look\"]\n");
        vault.write("vault-agent.toml", settings);
        let shown = at_terminal(&vault, answer);
        contains_all(&shown, said);
        assert_eq!(server.requests().len(), calls, "{shown}");
        if let Some(asked) = server.requests().get(1) {
            assert!(asked.results()[0].contains("look {\"q\": \"tea\"}"), "{:?}", asked.results());
        }
    }
}

#[test]
fn at_a_terminal_a_failed_brain_s_half_answer_is_not_shown() {
    if !python() {
        return;
    }
    let (_runtime, server) = ModelServer::alone();
    server.script(vec![Reply::text("Half of an answer that is cut.").cut(400), Reply::text("The whole.")]);
    let vault = TestVault::new("");
    vault.write("vault-agent.toml", server.brain("a", "chat", "") + &server.brain("b", "chat", ""));
    let shown = at_terminal(&vault, "");
    contains_all(&shown, &["asking a\n", "asking b\nThe whole.\nexit 0"]);
    contains_none(&shown, &["Half"]);
}

#[test]
fn nothing_outlives_a_program_that_is_killed() {
    let (_runtime, server) = ModelServer::alone();
    server.respond(|_| Reply::tool("mcp_call", json!({"server": "web", "tool": "look"})));
    let Some(vault) = vault(&server, "stuck") else { return };
    let program = vault.spawn(&["ask", "look!"]);
    until("the call reaches the server", || pids_in(&vault.home()).len() == 2);
    let server = pids_in(&vault.home())[0];
    assert!(lives(server));
    drop(program);
    until("the server is gone", || !lives(server));
    until("all are gone", || living(&vault) == 0);
}
