//! One brain asks another, over the protocol and within a turn; who would be asked.
#![cfg(feature = "assistant")]

use crate::mcp::client::*;

/// A server that says these, and a vault with two brains that are it.
async fn over(head: &str, replies: Vec<Reply>) -> (ModelServer, TestVault) {
    let server = ModelServer::of(replies).await;
    let brain = |name| server.brain(name, "chat", "").replace("\"m\"", &format!("\"m-{name}\""));
    let vault = TestVault::new("//- /MEMORY.md\n## Ann\n- likes green tea\n");
    let routes = "[[route]]\ncategory = \"code\"\nbrain = \"b\"\n";
    vault.write("vault-agent.toml", format!("{head}{}{}{routes}", brain("a"), brain("b")));
    (server, vault)
}

fn to(name: &str, question: &str) -> Value {
    json!({"name": name, "question": question})
}

fn has_tool(asked: &Asked, name: &str) -> bool {
    let tools = asked.body["tools"].as_array();
    tools.is_some_and(|tools| tools.iter().any(|tool| tool["function"]["name"] == name))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_asks_a_brain() {
    let save = json!({"scope": "long", "content": "asked about tea", "key": "Ann"});
    let refusal = Reply::status(400).body("{\"error\":{\"message\":\"no\"}}");
    let replies = vec![Reply::tool("memory_save", save), Reply::text("Green tea."), refusal];
    let (server, vault) = over("", replies).await;
    let mut client = Client::new(&vault);
    let answer = client.call("ask_brain", to("b", "What does Ann drink?")).ok();
    assert_eq!(answer.field("answer"), "Green tea.");
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
    let fields = "brain chain rule why category";
    assert_eq!(pick(&routed, fields), pick(&shown, fields));
    let asked = &server.requests()[0];
    assert!(asked.last_user().contains("What does Ann drink?") && asked.body["model"] == "m-b");
    assert!(has_tool(asked, "memory_search") && !has_tool(asked, "ask_brain"), "depth 1: {}", asked.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_brain_asks_another_within_its_turn_and_budget() {
    let ask = |name: &str, question: &str| Reply::tool("ask_brain", to(name, question));
    let other = [ask("a", "and 97?").usage(40, 0, 2), Reply::text("No: 7 times 13.").usage(50, 0, 5)];
    let (server, vault) = over("", vec![ask("b", "Is 91 prime?").usage(100, 0, 10)]).await;
    server.script(other.to_vec());
    server
        .script(vec![ask("a", "are you there?").usage(200, 0, 5), Reply::text("It isn't.").usage(300, 0, 5)]);
    let json = vault.json(&["ask", "--brain", "a", "is 91 prime?"]);
    // What the other brain used counts, and is no attempt at the answer.
    let told = pick(&json, "answer brain usage/input usage/output attempts/0/brain attempts/1");
    assert_eq!(told, json!(["It isn't.", "a", 690, 27, "a", null]), "{json}");
    let requests = server.requests();
    assert_eq!(requests[1].body["model"], "m-b");
    assert!(has_tool(&requests[0], "ask_brain") && !has_tool(&requests[1], "ask_brain"));
    // It had no such tool, and was told so.
    contains_all(&requests[2].results()[0], &["there is no tool"]);
    let told = &requests[3].results()[0];
    contains_all(told, &["No: 7 times 13."]);
    assert_eq!(told.matches("Untrusted context").count(), 1, "{told}");
    contains_all(&requests[4].results()[1], &["yourself"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_to_another_brain_is_within_the_turns_tokens() {
    let call = Reply::tool("ask_brain", to("b", "Is 91 prime?")).usage(4_500, 0, 10);
    let replies = vec![call, Reply::text("I don't know.").usage(100, 0, 5)];
    let (server, vault) = over("[assistant]\nturn_tokens = 5000\n", replies).await;
    assert_eq!(vault.json(&["ask", "--brain", "a", "is 91 prime?"])["answer"], "I don't know.");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    contains_all(&requests[1].results()[0], &["tokens are used up"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_asks_counts_towards_the_day() {
    let replies = vec![Reply::text("Yes.").usage(900, 0, 200)];
    let (server, vault) = over("[assistant]\nday_tokens = 1000\n", replies).await;
    let mut client = Client::new(&vault);
    client.call("ask_brain", to("b", "first?")).ok();
    client.call("ask_brain", to("b", "second?")).says("Today's budget of 1000 tokens is used up");
    // In another process as well.
    Client::new(&vault).refuses("ask_brain", to("a", "third?"), "no_answer");
    assert_eq!(server.requests().len(), 1);
}
