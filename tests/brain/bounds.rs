//! The bounds of one turn, and what is said and counted where a brain does badly.

use crate::brain::asking::{ask, bounded};
use crate::support::prelude::*;

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
    let replies = vec![saves(1, "Oolong"), saves(1, "Sencha")];
    let (server, vault) = bounded("chat", "max_rounds = 1", replies).await;
    let report = ask(&vault, &["Go on."]).ok().json();
    let answer = report["answer"].as_str().unwrap();
    assert!(answer.starts_with("I stopped here: this turn reached its limit of 1 tool rounds"), "{answer}");
    contains_all(answer, &["Done before that:\n- `memory_save {"]);
    assert_eq!(ran(&report), 1, "{report}");
    assert!(server.requests()[1].results()[0].contains("limit of tool rounds"));
    let notes: String = vault.tree().into_values().collect();
    assert!(notes.contains("Oolong number 0") && !notes.contains("Sencha"), "{notes}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_one_reply_a_bounded_number_of_calls_runs_and_the_model_is_told() {
    let replies = vec![saves(40, "Oolong"), saves(1, "Sencha"), Reply::text("Done.")];
    let (server, vault) = bounded("messages", "", replies).await;
    let report = ask(&vault, &["Save all of it."]).ok().json();
    assert_eq!((&report["answer"], ran(&report)), (&json!("Done."), 17), "{report}");
    let results = server.requests()[1].results();
    assert_eq!(results.iter().filter(|text| text.contains("was not run: at most 16")).count(), 24);
    // The later round has a number of its own, behind those that were not run.
    let notes: String = vault.tree().into_values().collect();
    contains_all(&notes, &["Oolong number 15", "Sencha number 0"]);
    contains_none(&notes, &["Oolong number 16"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_brain_that_says_nothing_is_not_well() {
    let (server, vault) = bounded("chat", "", vec![]).await;
    let mut said = ["", "\u{200b}", " \n"].into_iter().cycle();
    server.respond(move |_| Reply::text(said.next().unwrap()));
    for _ in 0..3 {
        let run = ask(&vault, &["Are you there?"]);
        assert_eq!(run.json()["brain"], Value::Null, "{run:?}");
        run.exits(1).warns("its answer was empty");
    }
    let one = &vault.json(&["brain", "list"])[0];
    assert_eq!(pick(one, "last_ok last_error"), json!([null, "its answer was empty"]), "{one}");
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
        let (server, vault) = bounded(kind, "day_tokens = 50_000", vec![reply]).await;
        let run = ask(&vault, &["Are you there?"]);
        assert_eq!(run.code, 1, "{kind}: {run:?}");
        assert!(run.json()["usage"]["input"].as_u64().unwrap() >= 90_000, "{kind}: {run:?}");
        assert!(used(&vault) >= 90_000, "{kind}");
        assert!(ask(&vault, &["And now?"]).stderr.contains("budget of 50000 tokens is used up"), "{kind}");
        assert_eq!(server.requests().len(), 1, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_tells_nothing_of_tokens_is_counted_by_characters() {
    let long = Reply::text("word ".repeat(800)).bare();
    let (_server, vault) = bounded("chat", "day_tokens = 1_000", vec![long]).await;
    let report = ask(&vault, &["Say a lot."]).ok().json();
    let usage = &report["usage"];
    assert_eq!(usage["output"], 1_000, "4,000 characters: {report}");
    assert!(usage["input"].as_u64().unwrap() > 100, "the rules alone: {report}");
    assert!(used(&vault) > 1_000);
    assert!(ask(&vault, &["And now?"]).stderr.contains("is used up"));
    // Where nothing was heard nothing is counted.
    let (_server, vault) = bounded("chat", "day_tokens = 1_000", vec![Reply::status(500)]).await;
    assert_eq!(ask(&vault, &["Are you there?"]).json()["usage"]["input"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_no_brain_says_so_the_answer_tells_what_was_done() {
    let (server, vault) = bounded("chat", "", vec![saves(1, "Oolong"), Reply::status(500)]).await;
    let report = ask(&vault, &["Save it."]).json();
    let answer = report["answer"].as_str().unwrap();
    contains_all(answer, &["Done before that:\n- `memory_save {", "Oolong number 0"]);
    // What only looked, or failed, changed nothing.
    let look = Reply::tool("reminder_list", json!({})).and_tool("memory_save", json!({ "scope": "no" }));
    server.script(vec![look, Reply::status(500)]);
    let report = ask(&vault, &["What is due?"]).json();
    assert_eq!(ran(&report), 2);
    assert!(!report["answer"].as_str().unwrap().contains("Done before"), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_brain_that_was_not_asked_because_another_used_the_tokens_is_not_the_one_that_answered() {
    let used = json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 300_000}});
    let reply = Reply::raw("text/event-stream", format!("data: {used}\n\n"));
    let (server, vault) = bounded("chat", "", vec![reply]).await;
    let next = vault.read("vault-agent.toml").split_once("[[brain]]").unwrap().1.replace("\"b\"", "\"two\"");
    vault.write("vault-agent.toml", format!("{}[[brain]]{next}", vault.read("vault-agent.toml")));
    let run = ask(&vault, &["Go on."]);
    run.exits(1).warns("I stopped here: this turn used up its 200000 tokens.");
    assert_eq!((&run.json()["brain"], server.requests().len()), (&Value::Null, 1), "{run:?}");
}
