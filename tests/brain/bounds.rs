//! The bounds of one turn, and what is said and counted where a brain does badly.

use crate::support::prelude::*;

fn vault(server: &ModelServer, kind: &str, assistant: &str) -> TestVault {
    let vault = TestVault::new("//- now: 2026-12-01T09:00:00Z\n");
    let brain = server.brain("one", kind, "");
    vault.write("vault-agent.toml", format!("[assistant]\n{assistant}\n{brain}"));
    vault
}

fn ask(vault: &TestVault, question: &str) -> Run {
    vault.run(&["--json", "ask", question])
}

/// A reply that asks for so many saves, each of another line.
fn saves(count: usize, word: &str) -> Reply {
    let save = |n: usize| json!({ "scope": "long", "content": format!("{word} number {n} is kept.") });
    (0..count).fold(Reply::text(""), |reply, n| reply.and_tool("memory_save", save(n)))
}

fn ran(report: &Value) -> usize {
    report["tools"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_runs_no_more_rounds_than_it_may() {
    let server = ModelServer::of(vec![saves(1, "Oolong"), saves(1, "Sencha")]).await;
    let vault = vault(&server, "chat", "max_rounds = 1");
    let report = ask(&vault, "Go on.").ok().json();
    let answer = report["answer"].as_str().unwrap();
    assert!(answer.starts_with("I stopped here: this turn reached its limit of 1 tool rounds"), "{answer}");
    assert!(answer.contains("Done before that:\n- `memory_save {"), "{answer}");
    assert_eq!(ran(&report), 1, "{report}");
    assert!(server.requests()[1].results()[0].contains("limit of tool rounds"));
    let notes: String = vault.tree().into_values().collect();
    assert!(notes.contains("Oolong number 0") && !notes.contains("Sencha"), "{notes}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_one_reply_a_bounded_number_of_calls_runs_and_the_model_is_told() {
    let server = ModelServer::of(vec![saves(40, "Oolong"), saves(1, "Sencha"), Reply::text("Done.")]).await;
    let vault = vault(&server, "messages", "");
    let report = ask(&vault, "Save all of it.").ok().json();
    assert_eq!((&report["answer"], ran(&report)), (&json!("Done."), 17), "{report}");
    let results = server.requests()[1].results();
    assert_eq!(results.iter().filter(|text| text.contains("was not run: at most 16")).count(), 24);
    // The later round has a number of its own, behind those that were not run.
    let notes: String = vault.tree().into_values().collect();
    assert!(notes.contains("Oolong number 15") && notes.contains("Sencha number 0"), "{notes}");
    assert!(!notes.contains("Oolong number 16"), "{notes}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_brain_that_says_nothing_is_not_well() {
    let server = ModelServer::start().await;
    let mut said = ["", "\u{200b}", " \n"].into_iter().cycle();
    server.respond(move |_| Reply::text(said.next().unwrap()));
    let vault = vault(&server, "chat", "");
    for _ in 0..3 {
        let run = ask(&vault, "Are you there?");
        assert_eq!((run.code, &run.json()["brain"]), (1, &Value::Null), "{run:?}");
        run.warns("its answer was empty");
    }
    let one = &vault.json(&["brain", "list"])[0];
    let empty = json!("its answer was empty");
    assert_eq!((&one["last_ok"], &one["last_error"]), (&Value::Null, &empty), "{one}");
    vault.run(&["brain", "list"]).ok().says("fails: no answer yet").lacks("well");
}

/// What today's budget says is used.
fn used(vault: &TestVault) -> u64 {
    let usage = vault.json(&["usage"]);
    usage["budgets"][0]["tokens"].as_u64().unwrap_or_else(|| panic!("{usage}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_brought_no_answer_counts_too() {
    let cut = Reply::text("Half an answer. ".repeat(40)).usage(90_000, 0, 800).cut(1500);
    for (kind, reply) in [("chat", Reply::text("").usage(90_000, 0, 8_000)), ("messages", cut)] {
        let server = ModelServer::of(vec![reply]).await;
        let vault = vault(&server, kind, "day_tokens = 50_000");
        let run = ask(&vault, "Are you there?");
        assert_eq!(run.code, 1, "{kind}: {run:?}");
        assert!(run.json()["usage"]["input"].as_u64().unwrap() >= 90_000, "{kind}: {run:?}");
        assert!(used(&vault) >= 90_000, "{kind}");
        assert!(ask(&vault, "And now?").stderr.contains("budget of 50000 tokens is used up"), "{kind}");
        assert_eq!(server.requests().len(), 1, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_tells_nothing_of_tokens_is_counted_by_characters() {
    let server = ModelServer::of(vec![Reply::text("word ".repeat(800)).bare()]).await;
    let vault = vault(&server, "chat", "day_tokens = 1_000");
    let report = ask(&vault, "Say a lot.").ok().json();
    let usage = &report["usage"];
    assert_eq!(usage["output"], 1_000, "4,000 characters: {report}");
    assert!(usage["input"].as_u64().unwrap() > 100, "the rules alone: {report}");
    assert!(used(&vault) > 1_000);
    assert!(ask(&vault, "And now?").stderr.contains("is used up"));
    // Where nothing was heard nothing is counted.
    let server = ModelServer::of(vec![Reply::status(500)]).await;
    let vault = self::vault(&server, "chat", "day_tokens = 1_000");
    assert_eq!(ask(&vault, "Are you there?").json()["usage"]["input"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_no_brain_says_so_the_answer_tells_what_was_done() {
    let server = ModelServer::of(vec![saves(1, "Oolong"), Reply::status(500)]).await;
    let report = ask(&vault(&server, "chat", ""), "Save it.").json();
    let answer = report["answer"].as_str().unwrap();
    contains_all(answer, &["Done before that:\n- `memory_save {", "Oolong number 0"]);
    // What only looked, or failed, changed nothing.
    let server = ModelServer::start().await;
    let look = Reply::tool("reminder_list", json!({})).and_tool("memory_save", json!({ "scope": "no" }));
    server.script(vec![look, Reply::status(500)]);
    let report = ask(&vault(&server, "chat", ""), "What is due?").json();
    assert_eq!(ran(&report), 2);
    assert!(!report["answer"].as_str().unwrap().contains("Done before"), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_brain_that_was_not_asked_because_another_used_the_tokens_is_not_the_one_that_answered() {
    let used = json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 300_000}});
    let server = ModelServer::of(vec![Reply::raw("text/event-stream", format!("data: {used}\n\n"))]).await;
    let vault = vault(&server, "chat", "");
    let next = vault.read("vault-agent.toml").split_once("[[brain]]").unwrap().1.replace("one", "two");
    vault.write("vault-agent.toml", format!("{}[[brain]]{next}", vault.read("vault-agent.toml")));
    let run = ask(&vault, "Go on.");
    run.exits(1);
    let report = run.json();
    assert_eq!((&report["brain"], server.requests().len()), (&Value::Null, 1), "{report}");
    run.warns("I stopped here: this turn used up its 200000 tokens.");
}
