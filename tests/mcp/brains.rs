//! One brain asks another, over the protocol and within a turn; who would be asked.
#![cfg(feature = "assistant")]

use crate::mcp::client::*;

fn vault(server: &ModelServer, head: &str) -> TestVault {
    let brain = |name| server.brain(name, "chat", "").replace("\"m\"", &format!("\"m-{name}\""));
    let vault = TestVault::new("//- /MEMORY.md\n## Ann\n- likes green tea\n");
    let routes = "[[route]]\ncategory = \"code\"\nbrain = \"b\"\n";
    vault.write("vault-agent.toml", format!("{head}{}{}{routes}", brain("a"), brain("b")));
    vault
}

fn to(name: &str, question: &str) -> Value {
    json!({"name": name, "question": question})
}

fn tools(asked: &crate::models::Asked) -> Vec<String> {
    let tools = asked.body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_asks_a_brain() {
    let server = ModelServer::of(vec![
        Reply::tool("memory_save", json!({"scope": "long", "content": "asked about tea", "key": "Ann"})),
        Reply::text("Green tea."),
        Reply::status(400).body("{\"error\":{\"message\":\"no\"}}"),
    ])
    .await;
    let vault = vault(&server, "");
    let mut client = Client::new(&vault);
    let answer = client.call("ask_brain", to("b", "What does Ann drink?")).ok();
    assert_eq!(answer.structured()["answer"], "Green tea.");
    assert_eq!(answer.0["_meta"]["vault-agent/trust"], "untrusted");
    assert!(vault.read("MEMORY.md").contains("asked about tea"));
    client.refuses("ask_brain", to("b", "And Bob?"), "no_answer").says("b did not answer");
    client.refuses("ask_brain", to("c", "hi"), "no_such_brain").says("`a`, `b`");
    client.refuses("ask_brain", to("memory", "hi"), "no_such_brain");
    let kind = client.call("classify_task", json!({"text": "fix this function"})).ok();
    assert_eq!((kind.text(), &kind.structured()["category"]), ("code", &json!("code")));
    assert_eq!(client.call("classify_task", json!({"text": "hm"})).ok().text(), "none");
    let routed = client.does("route_task", json!({"text": "fix this function"}));
    let shown = vault.json(&["brain", "route", "fix this function"]);
    assert_eq!(routed["chain"], json!(["b", "a"]));
    for key in ["brain", "chain", "rule", "why", "category"] {
        assert_eq!(routed[key], shown[key], "{key}");
    }
    let asked = &server.requests()[0];
    assert!(asked.last_user().contains("What does Ann drink?") && asked.body["model"] == "m-b");
    assert!(tools(asked).contains(&"memory_search".to_owned()));
    assert!(!tools(asked).contains(&"ask_brain".to_owned()), "depth 1: {:?}", tools(asked));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_brain_asks_another_within_its_turn_and_budget() {
    let server = ModelServer::of(vec![
        Reply::tool("ask_brain", to("b", "Is 91 prime?")).usage(100, 0, 10),
        Reply::tool("ask_brain", to("a", "and 97?")).usage(40, 0, 2),
        Reply::text("No: 7 times 13.").usage(50, 0, 5),
        Reply::tool("ask_brain", to("a", "are you there?")).usage(200, 0, 5),
        Reply::text("It isn't.").usage(300, 0, 5),
    ])
    .await;
    let vault = vault(&server, "");
    let json = vault.json(&["ask", "--brain", "a", "is 91 prime?"]);
    assert_eq!((&json["answer"], &json["brain"]), (&json!("It isn't."), &json!("a")));
    // What the other brain used counts, and is no attempt at the answer.
    assert_eq!((&json["usage"]["input"], &json["usage"]["output"]), (&json!(690), &json!(27)));
    assert_eq!(json["attempts"].as_array().unwrap().len(), 1, "{json}");
    let requests = server.requests();
    assert!(tools(&requests[0]).contains(&"ask_brain".to_owned()));
    assert_eq!(requests[1].body["model"], "m-b");
    assert!(!tools(&requests[1]).contains(&"ask_brain".to_owned()));
    // It had no such tool, and was told so.
    assert!(requests[2].results()[0].contains("there is no tool"), "{:?}", requests[2].results());
    assert!(requests[3].results()[0].contains("No: 7 times 13."), "{:?}", requests[3].results());
    let marks = requests[3].results()[0].matches("Untrusted context").count();
    assert_eq!(marks, 1, "{:?}", requests[3].results());
    assert!(requests[4].results()[1].contains("yourself"), "{:?}", requests[4].results());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_to_another_brain_is_within_the_turns_tokens() {
    let server = ModelServer::of(vec![
        Reply::tool("ask_brain", to("b", "Is 91 prime?")).usage(4_500, 0, 10),
        Reply::text("I don't know.").usage(100, 0, 5),
    ])
    .await;
    let vault = vault(&server, "[assistant]\nturn_tokens = 5000\n");
    assert_eq!(vault.json(&["ask", "--brain", "a", "is 91 prime?"])["answer"], "I don't know.");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[1].results()[0].contains("tokens are used up"), "{:?}", requests[1].results());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_asks_counts_towards_the_day() {
    let server = ModelServer::by(|_| Reply::text("Yes.").usage(900, 0, 200)).await;
    let vault = vault(&server, "[assistant]\nday_tokens = 1000\n");
    let mut client = Client::new(&vault);
    client.call("ask_brain", to("b", "first?")).ok();
    client.call("ask_brain", to("b", "second?")).says("Today's budget of 1000 tokens is used up");
    // In another process as well.
    Client::new(&vault).refuses("ask_brain", to("a", "third?"), "no_answer");
    assert_eq!(server.requests().len(), 1);
}
