//! Other people's MCP servers, started by a program that is a brain.

use crate::harness::rig::*;
use crate::harness::stand::*;
use vault_agent::brain::{HarnessTask, harness::FOREIGN};

/// A server that does what its mode says, with the tools `look` and `walk`; a variable that every test run has is
/// named.
fn server(mode: &str, folder: &std::path::Path, more: &str) -> String {
    let more = format!("tools = [\"look\", \"walk\"]\nenv = [\"CARGO_MANIFEST_DIR\"]\n{more}");
    scripted_server("web", mode, &folder.join("pids"), &more)
}

fn call(tool: &str) -> Reply {
    Reply::tool(format!("mcp__web__{tool}"), json!({"q": "tea"}))
}

/// None where there is no Python.
async fn claude(more: &str, verdict: ApprovalVerdict) -> Option<Rig> {
    let mut rig = Rig::new(|rig| rig.brain("claude-code", "cc") + &server("children", rig.dir(), more)).await;
    rig.person = Person::who_says(verdict);
    python().then_some(rig)
}

/// The server ran, and it is gone with what it started.
fn is_gone(rig: &Rig) {
    let pids = std::fs::read_to_string(rig.dir().join("pids")).unwrap();
    // Beside the processes' numbers it says when it was called.
    assert_eq!(pids.lines().filter(|line| line.parse::<u32>().is_ok()).count(), 3, "{pids}");
    assert_eq!(rig.left(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_free_tool_is_called_one_is_asked_about_and_no_other_is_there() {
    for (verdict, ran) in [(ApprovalVerdict::Yes, true), (ApprovalVerdict::No, false)] {
        let Some(rig) = claude("ask = [\"walk\"]\nask_after_reading = false", verdict).await else { return };
        rig.server.script(vec![call("look"), call("walk"), call("other_0"), Reply::text("Done.")]);
        assert_eq!(rig.ask(1, "go").await.unwrap().text, "Done.");
        let rows = rig.tools(1);
        let ends: Vec<_> = rows.iter().map(|row| row.result.clone().unwrap()).collect();
        assert!(rows.iter().all(|row| row.call.name == FOREIGN), "{rows:?}");
        assert_eq!(ends[0].text, "look {\"q\": \"tea\"}");
        assert_eq!((ends[1].text.contains("walk {"), ends[1].is_error), (ran, !ran), "{ends:?}");
        assert!(ends[2].is_error && ends[2].text.contains("not approved"), "{ends:?}");
        let asked = rig.person.asked.lock().unwrap();
        let runs: Vec<&str> = asked.iter().map(|(wanted, _)| wanted.run.as_str()).collect();
        assert_eq!(runs, ["mcp web.walk {\"q\":\"tea\"}"]);
        assert_eq!(asked[0].0.always.as_deref(), Some("mcp:web.walk"));
        is_gone(&rig);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_it_says_taints_the_turn() {
    let Some(rig) = claude("", ApprovalVerdict::No).await else { return };
    rig.server.script(vec![call("look"), call("look"), Reply::text("Done.")]);
    assert_eq!(rig.ask(1, "go").await.unwrap().text, "Done.");
    let ends: Vec<bool> = rig.tools(1).into_iter().map(|row| row.result.unwrap().is_error).collect();
    assert_eq!(ends, [false, true]);
    let asked = rig.person.asked.lock().unwrap();
    let [(wanted, caller)] = &asked[..] else { panic!("{asked:?}") };
    assert!(caller.tainted && wanted.why.contains("untrusted text"), "{}", wanted.why);
    assert_eq!(wanted.always, None);
    is_gone(&rig);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_cannot_be_given_is_left_out() {
    let of = |rig: &Rig| server("good", rig.dir(), "").replace("CARGO_MANIFEST_DIR", "VAULT_AGENT_NO_SUCH");
    let rig = Rig::new(|rig| rig.brain("claude-code", "cc") + &of(rig)).await;
    rig.server.script(vec![Reply::text("Done.")]);
    assert_eq!(rig.ask(1, "go").await.unwrap().text, "Done.");
    assert!(!rig.dir().join("pids").exists());
}

/// What a program does with a server: the call is known, asked about and done by what it was given.
async fn is_used(stand: &Stand, harness: &dyn Harness) {
    for allows in [true, false] {
        let call = json!({"server": "web", "tool": "look", "arguments": {"q": "tea"}});
        stand.script(&json!([[call, {"say": "Done."}]]));
        let servers = Settings::parse(&server("env", stand.temp.path(), "")).unwrap().mcp;
        let request = question("go");
        let task = HarnessTask { servers: &servers, ..task(&request) };
        let host = Record { allows, ..Record::default() };
        assert_eq!(harness.run(&task, &host, CancellationToken::new()).await.unwrap().text, "Done.");
        let told = host.told();
        let calls = |told: &Told| match told {
            Told::Started(call) | Told::May(call) => Some((call.name.clone(), call.arguments.clone())),
            _ => None,
        };
        let calls: Vec<_> = told.iter().filter_map(calls).collect();
        let expected =
            (FOREIGN.to_owned(), r#"{"arguments":{"q":"tea"},"server":"web","tool":"look"}"#.to_owned());
        assert_eq!(calls, [expected.clone(), expected], "started, then asked about");
        let result = &host.finished()[0];
        let is_done = result.text.contains("CARGO_MANIFEST_DIR");
        assert_eq!((result.is_error, is_done), (!allows, allows), "{result:?}");
        stand.nothing_is_left().await;
    }
}

#[tokio::test]
async fn codex_is_given_it_by_its_settings() {
    let Some(stand) = stand("codex.py") else { return };
    is_used(&stand, &Codex { setup: stand.setup.clone() }).await;
    let argv = stand.heard()[0]["argv"].to_string();
    assert!(argv.contains("mcp_servers.web=") && argv.contains("enabled_tools"), "{argv}");
    let value = env!("CARGO_MANIFEST_DIR");
    assert!(!argv.contains(&format!("CARGO_MANIFEST_DIR={value}")), "{argv}");
}

#[tokio::test]
async fn an_agent_is_given_it_with_its_session() {
    let Some(stand) = stand("acp.py") else { return };
    is_used(&stand, &stand.acp(None)).await;
    assert_eq!(stand.heard_of("session/new")[0]["mcpServers"][1]["name"], "web");
}
