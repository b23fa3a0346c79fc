//! `search` and `recall` beside a daemon: it is asked over its socket, and who gives the answer changes nothing.
#![cfg(unix)]

use std::os::unix::net::UnixListener;

use crate::cli::daemon::Daemon;
use crate::mcp::client::Client;
use crate::support::prelude::*;

const MEMORY: &str = "//- /MEMORY.md\n## Kyle\n- prefers TypeScript over JavaScript\n\
                      - is allergic to peanuts\n//- /garden.md\nThe peanuts in the garden want water.\n";
/// What is said where this process answers itself.
const NO_DAEMON: &str = "no answer from a daemon";
const OTHERS: &str = "the daemon leaves the answer to this process";

/// The same moment again: a command moves the fixture's clock on.
fn at_once(vault: &TestVault, args: &[&str]) -> Run {
    let now = vault.now().to_string();
    let run = vault.run(&[&["-vv", "--json"], args].concat()).ok();
    vault.set_now(&now);
    run
}

fn without_freshness(run: &Run) -> Value {
    let mut json = run.json();
    json.as_object_mut().unwrap().remove("freshness");
    json
}

#[test]
fn the_daemon_answers_as_the_process_itself_does() {
    let vault = TestVault::new(MEMORY);
    let (url, server) = crate::reranker::endpoint(&["good"]);
    vault.write("vault-agent.toml", format!("[rerank]\nprovider = \"endpoint\"\nurl = \"{url}\"\n"));
    let questions: [&[&str]; 5] = [
        &["search", "peanuts"],
        &["search", "kind:memory peanuts -garden"],
        &["recall", "What is Kyle allergic to?"],
        &["recall", "--inject", "--expand", "--scope", "memory", "Which language does Kyle prefer?"],
        &["search", "--deep", "peanuts"],
    ];
    let alone: Vec<Run> = questions.iter().map(|question| at_once(&vault, question)).collect();
    assert!(alone.iter().all(|run| run.stderr.contains(NO_DAEMON)), "{}", alone[0].stderr);
    assert!(alone[2].stdout.contains("allergic to peanuts"), "{}", alone[2].stdout);
    assert_eq!(alone[4].json()["reranked"]["by"], "endpoint:127.0.0.1", "{}", alone[4].stdout);

    let daemon = Daemon::start(&vault, &["run"]);
    until("the daemon's socket", || vault.state().join("ask.sock").exists());
    for (question, alone) in questions.iter().zip(&alone) {
        let asked = at_once(&vault, question);
        asked.warns_not(NO_DAEMON).warns_not(OTHERS);
        assert_eq!(without_freshness(&asked), without_freshness(alone), "{question:?}");
    }
    assert_eq!(server.requests().len(), 2);
    // What was written a moment ago is in the answer.
    vault.write("new.md", "A zeppelin over the garden.\n");
    let found = at_once(&vault, &["search", "zeppelin"]).json();
    assert_eq!(found["hits"][0]["path"], "new.md", "{found}");
    // Another time or other settings: the daemon can't know what this process would say.
    vault.set_now("2026-12-01T11:30:00Z");
    assert!(at_once(&vault, questions[0]).stderr.contains(OTHERS));
    drop(daemon.terminate());
    assert!(!vault.state().join("ask.sock").exists(), "the socket goes with the daemon");
}

#[test]
fn a_socket_that_talks_nonsense_costs_nothing() {
    let (vault, no_answer) = (TestVault::new(MEMORY), "{\"search\":{\"answer\":{},\"rest\":[]}}\n");
    for nonsense in ["", "{}\n", "<html>\n", "{\"refused\":\"no\"}\n", no_answer] {
        let socket = vault.state().join("ask.sock");
        let _ = fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let talker = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            (&stream).write_all(nonsense.as_bytes()).unwrap();
            line
        });
        let found = vault.json(&["search", "peanuts"]);
        let paths: BTreeSet<_> = (0..2).filter_map(|at| found["hits"][at]["path"].as_str()).collect();
        assert_eq!(paths, BTreeSet::from(["MEMORY.md", "garden.md"]), "{nonsense:?}: {found}");
        assert!(talker.join().unwrap().contains("peanuts"));
    }
}

/// An MCP server's answers to these calls, and what it said beside them.
fn mcp(vault: &TestVault, calls: &[Value]) -> (Vec<Value>, String) {
    let mut client = Client::silent(vault.command(&["-vv", "mcp"]));
    client.initialize("t");
    let answers = calls.iter().map(|it| client.result("tools/call", it.clone())["structuredContent"].clone());
    (answers.collect(), client.close().2)
}

#[test]
fn mcp_and_the_prompts_hook_are_answered_by_the_daemon_as_without_one() {
    let vault = TestVault::new(MEMORY);
    let calls = [
        json!({"name": "memory_search", "arguments": {"query": "peanuts"}}),
        json!({"name": "memory_recall", "arguments": {"query": "What is Kyle allergic to?"}}),
    ];
    let prompt = |session: &str| {
        let input = json!({
            "session_id": session, "cwd": vault.home(), "hook_event_name": "UserPromptSubmit",
            "transcript_path": vault.home().join("none.jsonl"), "prompt": "What is Kyle allergic to?",
        });
        let now = vault.now().to_string();
        let run = vault.run_with(&["-vv", "hook", "user-prompt-submit"], &input.to_string()).ok();
        vault.set_now(&now);
        run
    };
    let (mut alone, said) = mcp(&vault, &calls);
    assert!(said.contains(NO_DAEMON), "{said}");
    let given = prompt("alone");
    given.says("allergic to peanuts");

    let _daemon = vault.listening_daemon();
    let (mut asked, said) = mcp(&vault, &calls);
    assert!(!said.contains(NO_DAEMON) && !said.contains(OTHERS), "{said}");
    for answer in alone.iter_mut().chain(&mut asked) {
        answer.as_object_mut().unwrap().remove("freshness");
    }
    assert_eq!(asked, alone);
    assert_eq!(prompt("beside").stdout, given.stdout);
    // Saved by one process a moment ago, known to the next at once.
    let save = json!({"name": "memory_save", "arguments": {"scope": "long", "content": "rides a tandem", "key": "Kyle"}});
    mcp(&vault, &[save]);
    let (found, _) = mcp(&vault, &[json!({"name": "memory_search", "arguments": {"query": "tandem"}})]);
    assert!(found[0].to_string().contains("rides a tandem"), "{found:?}");
}
