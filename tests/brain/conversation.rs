//! The same conversations over all three wires.

use crate::brain::rig::*;
use vault_agent::brain::{
    Message, MessagePart, Reply as Answer, Request, StopReason, ToolCall, ToolResult, Usage,
};

/// The conversation so far, with an answer and its calls' results.
fn after(request: &Request, answer: &Answer, results: &[&str]) -> Request {
    let mut next = request.clone();
    let (text, tool_calls, raw) = (answer.text.clone(), answer.tool_calls.clone(), answer.raw.clone());
    next.messages.push(Message::Assistant { text, tool_calls, raw });
    if !results.is_empty() {
        let results = answer.tool_calls.iter().zip(results).map(|(call, text)| result(&call.id, text));
        next.messages.push(Message::ToolResults { results: results.collect() });
    }
    next
}

fn result(of: &str, text: &str) -> ToolResult {
    ToolResult { call_id: of.to_owned(), text: text.to_owned(), is_error: false }
}

#[tokio::test]
async fn a_question_and_its_answer() {
    for (wire, way) in ways() {
        let (server, brain) =
            scripted(wire, vec![way(Reply::text("Anna likes oolong tea, 東方美人 🍵."))]).await;
        let (answer, progress) = ask(&brain, &question("What does Anna like?")).await;
        let answer = answer.unwrap();
        assert_eq!(answer.text, "Anna likes oolong tea, 東方美人 🍵.", "{wire:?}");
        assert_eq!((progress.chars, progress.usage), (answer.text.chars().count(), answer.usage));
        assert_eq!(answer.usage, Usage { input: 120, cached: 100, cache_write: 0, output: 7 });
        assert_eq!((answer.stop, answer.model.as_str()), (StopReason::End, "model-1"));
        let asked = &server.requests()[0];
        let (question, system) = (asked.last_user(), asked.system());
        assert_eq!((asked.wire, &*question, &*system), (wire.name(), "What does Anna like?", "Be brief."));
        assert_eq!(asked.body["model"], "model-1");
        let (name, value) = match wire {
            WireFormat::Messages => ("x-api-key", KEY.to_owned()),
            _ => ("authorization", format!("Bearer {KEY}")),
        };
        assert_eq!(asked.headers[name], value);
    }
}

#[tokio::test]
async fn a_round_of_tools_and_what_goes_back() {
    for (wire, way) in ways() {
        let calls = Reply::tool("look", json!({"q": "Anna \"tea\""})).and_tool("look", json!({}));
        let calls = way(calls.reasoning("Let me see."));
        let (server, brain) = scripted(wire, vec![calls, Reply::text("Oolong.")]).await;
        let first = with_tool("What does Anna like?");
        let called = answer(&brain, &first).await;
        assert_eq!(called.stop, StopReason::ToolUse);
        assert_eq!(called.text, "", "reasoning is no answer");
        let arguments = called.tool_calls.iter().map(|call| serde_json::from_str(&call.arguments).unwrap());
        assert_eq!(arguments.collect::<Vec<Value>>(), [json!({"q": "Anna \"tea\""}), json!({})]);
        assert_eq!(answer(&brain, &after(&first, &called, &["oolong", "nothing"])).await.text, "Oolong.");
        let asked = &server.requests()[1];
        assert_eq!(asked.results(), ["oolong", "nothing"]);
        // What we don't know came back as it was.
        let kept: &[&str] = match wire {
            WireFormat::Messages => &["sig-1==", "Let me see.", "toolu_1_0"],
            WireFormat::Responses => &["enc-1==", "rs_1", "fc_1_0"],
            WireFormat::Chat => &["Let me see.", "ts-1", "reasoning_content"],
        };
        contains_all(format!("{wire:?}: {}", asked.body), kept);
    }
}

#[tokio::test]
async fn a_key_that_a_gateway_echoes_in_an_answer_is_hidden() {
    for (wire, way) in ways() {
        let echo = format!("Incorrect API key provided: Bearer {KEY}");
        let reply = Reply::text(&echo).and_tool("look", json!({ "q": echo })).reasoning(&echo);
        let (_server, brain) = scripted(wire, vec![way(reply)]).await;
        let answer = answer(&brain, &with_tool("?")).await;
        assert_eq!(answer.text, "Incorrect API key provided: Bearer [hidden]", "{wire:?}");
        assert!(!format!("{answer:?}").contains(KEY), "{wire:?}: {answer:?}");
        assert_eq!(answer.tool_calls[0].name, "look");
    }
}

#[tokio::test]
async fn what_one_wire_said_another_takes_up() {
    for from in WireFormat::ALL {
        for to in WireFormat::ALL {
            let call = Reply::tool("look", json!({"q": "tea"})).reasoning("secret thought");
            let (_server, one) = scripted(from, vec![call]).await;
            let (server, other) = scripted(to, vec![Reply::text("Oolong.")]).await;
            let first = with_tool("What?");
            let next = after(&first, &answer(&one, &first).await, &["oolong"]);
            assert_eq!(answer(&other, &next).await.text, "Oolong.", "{from:?} to {to:?}");
            let asked = &server.requests()[0];
            assert_eq!(asked.results(), ["oolong"]);
            // Signatures and encrypted reasoning are for the address that made them.
            contains_none(asked.body.to_string(), &["sig-1", "enc-1", "ts-1", "secret thought"]);
        }
    }
}

#[tokio::test]
async fn plain_servers_work() {
    let call = Reply::tool("look", json!({"q": "tea"})).and_tool("look", json!({"q": "cake"}));
    let replies = vec![call.clone().bare(), call.bare().whole(), Reply::text("Yes.").bare()];
    let ((_server, brain), first) = (scripted(WireFormat::Chat, replies).await, with_tool("What?"));
    for round in 0..2 {
        let answer = answer(&brain, &first).await;
        assert_eq!((answer.stop, answer.tool_calls.len()), (StopReason::ToolUse, 2), "{round}");
        assert_ne!(answer.tool_calls[0].id, answer.tool_calls[1].id);
        assert_eq!(answer.tool_calls[1].arguments, r#"{"q":"cake"}"#);
        assert_eq!(answer.usage, Usage::default());
    }
    assert_eq!(answer(&brain, &first).await.text, "Yes.");
}

#[tokio::test]
async fn answers_end_for_different_reasons_and_a_call_has_what_every_provider_takes() {
    let table =
        [("stop", StopReason::End), ("length", StopReason::Length), ("content_filter", StopReason::Refusal)];
    for wire in WireFormat::ALL {
        let (server, mut brain) = scripted(wire, vec![]).await;
        for (said, stop) in table {
            server.script(vec![Reply::text("Well").stop(said)]);
            let answer = answer(&brain, &question("?")).await;
            assert_eq!((answer.stop, answer.text.as_str()), (stop, "Well"), "{wire:?}");
        }
        // A refusal has no calls.
        server.script(vec![Reply::tool("look", json!({})).stop("content_filter")]);
        let refusal = answer(&brain, &with_tool("?")).await;
        assert_eq!((refusal.stop, refusal.tool_calls), (StopReason::Refusal, vec![]), "{wire:?}");
        let (long, plain) = ("é".repeat(100_000), "_".repeat(64));
        for (said, name) in [(&*long, &*plain), ("functions.look", "functions_look"), ("", "unknown")] {
            server.script(vec![Reply::tool(said, json!({}))]);
            let answer = answer(&brain, &with_tool("?")).await;
            assert_eq!((&*answer.tool_calls[0].name, answer.raw.unwrap().items.len()), (name, 0), "{wire:?}");
        }
        server.script(vec![Reply::tool("look", json!({"q": "x".repeat(100_000)})), Reply::text("Well")]);
        let call = answer(&brain, &with_tool("?")).await.tool_calls.remove(0);
        assert!(call.arguments.len() < 100, "{wire:?}: {} bytes", call.arguments.len());
        brain.model = "m".repeat(3_000);
        assert_eq!(answer(&brain, &question("?")).await.model, brain.model[..128], "{wire:?}");
    }
}

#[tokio::test]
async fn thoughts_in_the_content_are_no_part_of_the_answer() {
    for wire in WireFormat::ALL {
        let (server, brain) = scripted(wire, vec![]).await;
        for (content, text) in [
            ("<think>\nNothing is due.\n</think>\n\nNONE", "NONE"),
            ("Nothing is due.\n</think>\n\nNONE", "NONE"),
            ("Its thoughts end with `</think>`; cut there.", "Its thoughts end with `</think>`; cut there."),
            ("Close it: `<think>` ends with `</think>`.", "Close it: `<think>` ends with `</think>`."),
            ("<think>cut", "<think>cut"),
        ] {
            server.script(vec![Reply::text(content)]);
            assert_eq!(answer(&brain, &with_tool("?")).await.text, text, "{wire:?}");
        }
        server.script(vec![Reply::text("<think>It is lo").stop("length")]);
        let cut = answer(&brain, &with_tool("?")).await;
        assert_eq!((cut.text.as_str(), cut.stop), ("", StopReason::Length));
    }
}

#[tokio::test]
async fn a_model_may_say_nothing_or_only_think_or_write_bad_arguments() {
    for wire in WireFormat::ALL {
        let bad = Reply::tool("look", json!("{\"q\": not JSON"));
        let replies = vec![Reply::text(""), Reply::text("").reasoning("Hm."), bad, Reply::text("Sorry.")];
        let ((server, brain), first) = (scripted(wire, replies).await, with_tool("?"));
        for _ in 0..2 {
            let (answer, progress) = ask(&brain, &first).await;
            let answer = answer.unwrap();
            assert_eq!((answer.text.as_str(), answer.stop), ("", StopReason::End), "{wire:?}");
            assert_eq!(progress.chars, 0);
            // What was only thought can stand in a conversation.
            wire.encode(&after(&first, &answer, &[]), &server.url(), "model-1");
        }
        let called = answer(&brain, &first).await;
        assert_eq!(called.tool_calls[0].arguments, "{\"q\": not JSON");
        let next = after(&first, &called, &["the arguments are no JSON"]);
        assert_eq!(answer(&brain, &next).await.text, "Sorry.");
        if wire == WireFormat::Chat {
            // llama.cpp, Ollama and vLLM refuse a request with arguments that are no object.
            let echoed = &server.requests()[3].body["messages"][2]["tool_calls"][0]["function"]["arguments"];
            let echoed: Value = serde_json::from_str(echoed.as_str().unwrap()).unwrap();
            assert_eq!(echoed, json!({"arguments": "{\"q\": not JSON"}));
        }
    }
}

#[tokio::test]
async fn pictures_schemas_and_cache_points() {
    let mut request = question("What is this?");
    request.messages.insert(0, Message::user("Hello"));
    request.messages.insert(1, Message::assistant("Hello."));
    if let Message::User { parts } = &mut request.messages[2] {
        parts.push(MessagePart::Image { media_type: "image/png".into(), base64: "aGk=".into() });
    }
    request.cache_after = Some(1);
    request.max_output_tokens = Some(99);
    request.schema = Some(json!({"type": "object"}));
    for wire in WireFormat::ALL {
        let body = wire.encode(&request, "http://h", "m");
        let text = body.to_string();
        contains_all(&text, &["aGk=", "image/png", "JSON schema"]);
        match wire {
            WireFormat::Messages => {
                assert_eq!(body["messages"][1]["content"][0]["cache_control"]["type"], "ephemeral");
                assert_eq!(text.matches("cache_control").count(), 2);
                assert_eq!(body["max_tokens"], 99);
            }
            WireFormat::Responses => {
                let picked = pick(&body, "text/format/schema store include/0 max_output_tokens");
                assert_eq!(picked, json!([request.schema, false, "reasoning.encrypted_content", 99]));
            }
            WireFormat::Chat => {
                let fields = "response_format/json_schema/schema stream_options/include_usage max_tokens";
                assert_eq!(pick(&body, fields), json!([request.schema, true, 99]));
            }
        }
    }
    // However many rounds of tools: never more points than are allowed.
    let mut long = with_tool("?");
    long.cache_after = Some(0);
    for n in 0..6 {
        let call = ToolCall { id: format!("c:{n}"), name: "look".into(), arguments: "{}".into() };
        long.messages.push(Message::Assistant { text: String::new(), tool_calls: vec![call], raw: None });
        let results = vec![ToolResult { is_error: true, ..result(&format!("c:{n}"), "x") }];
        long.messages.push(Message::ToolResults { results });
    }
    let text = WireFormat::Messages.encode(&long, "http://h", "m").to_string();
    assert_eq!(text.matches("cache_control").count(), 3);
    assert!(text.contains("c_5") && !text.contains("c:5") && text.contains("\"is_error\":true"));
}

#[test]
fn repeated_ids_of_calls_are_told_apart() {
    let mut request = with_tool("?");
    for _ in 0..3 {
        let call = ToolCall { id: "call:0".into(), name: "look".into(), arguments: "{}".into() };
        let results = vec![result(&call.id, "x"), result(&call.id, "x")];
        let tool_calls = vec![call.clone(), call];
        request.messages.push(Message::Assistant { text: String::new(), tool_calls, raw: None });
        request.messages.push(Message::ToolResults { results });
    }
    let body = WireFormat::Messages.encode(&request, "http://h", "m");
    let messages = body["messages"].as_array().unwrap();
    let blocks: Vec<&Value> = messages.iter().flat_map(|one| one["content"].as_array().unwrap()).collect();
    let ids = |key: &str| blocks.iter().filter_map(|block| block[key].as_str()).collect::<Vec<_>>();
    assert_eq!(ids("id"), ids("tool_use_id"));
    assert_eq!(BTreeSet::from_iter(ids("id")).len(), 6, "{:?}", ids("id"));
}
