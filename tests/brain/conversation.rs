//! The same conversations over all three wires.

use crate::brain::rig::*;
use vault_agent::brain::{
    Message, MessagePart, Reply as Answer, Request, StopReason, ToolCall, ToolResult, Usage,
};

/// The conversation so far, with an answer and its calls' results.
fn after(request: &Request, answer: &Answer, results: &[&str]) -> Request {
    let mut next = request.clone();
    next.messages.push(Message::Assistant {
        text: answer.text.clone(),
        tool_calls: answer.tool_calls.clone(),
        raw: answer.raw.clone(),
    });
    if !results.is_empty() {
        let result = |(call, text): (&ToolCall, &&str)| ToolResult {
            call_id: call.id.clone(),
            text: (*text).to_owned(),
            is_error: false,
        };
        next.messages.push(Message::ToolResults {
            results: answer.tool_calls.iter().zip(results).map(result).collect(),
        });
    }
    next
}

#[tokio::test]
async fn a_question_and_its_answer() {
    for wire in WireFormat::ALL {
        for whole in [false, true] {
            let server = ModelServer::start().await;
            let reply = Reply::text("Anna likes oolong tea, 東方美人 🍵.");
            server.script(vec![if whole { reply.whole() } else { reply }]);
            let (answer, progress) =
                ask(&brain(wire, &server.url(), PATIENT), &question("What does Anna like?")).await;
            let answer = answer.unwrap();
            assert_eq!(answer.text, "Anna likes oolong tea, 東方美人 🍵.", "{wire:?}");
            assert_eq!((progress.chars, progress.usage), (answer.text.chars().count(), answer.usage));
            assert_eq!(answer.usage, Usage { input: 120, cached: 100, cache_write: 0, output: 7 });
            assert_eq!((answer.stop, answer.model.as_str()), (StopReason::End, "model-1"));
            let asked = &server.requests()[0];
            assert_eq!(asked.wire, wire.name());
            assert_eq!(asked.last_user(), "What does Anna like?");
            assert_eq!(asked.system(), "Be brief.");
            assert_eq!(asked.body["model"], "model-1");
            let (name, value) = match wire {
                WireFormat::Messages => ("x-api-key", KEY.to_owned()),
                _ => ("authorization", format!("Bearer {KEY}")),
            };
            assert_eq!(asked.headers[name], value);
        }
    }
}

#[tokio::test]
async fn a_round_of_tools_and_what_goes_back() {
    for wire in WireFormat::ALL {
        for whole in [false, true] {
            let server = ModelServer::start().await;
            let calls = Reply::tool("look", json!({"q": "Anna \"tea\""}))
                .and_tool("look", json!({}))
                .reasoning("Let me see.");
            server.script(vec![if whole { calls.whole() } else { calls }, Reply::text("Oolong.")]);
            let brain = brain(wire, &server.url(), PATIENT);
            let first = with_tool("What does Anna like?");
            let answer = ask(&brain, &first).await.0.unwrap();
            assert_eq!(answer.stop, StopReason::ToolUse);
            assert_eq!(answer.text, "", "reasoning is no answer");
            let arguments: Vec<Value> =
                answer.tool_calls.iter().map(|call| serde_json::from_str(&call.arguments).unwrap()).collect();
            assert_eq!(arguments, [json!({"q": "Anna \"tea\""}), json!({})]);
            let (answer, _) = ask(&brain, &after(&first, &answer, &["oolong", "nothing"])).await;
            assert_eq!(answer.unwrap().text, "Oolong.");
            let asked = &server.requests()[1];
            assert_eq!(asked.results(), ["oolong", "nothing"]);
            // What we don't know came back as it was.
            let sent = asked.body.to_string();
            let kept: &[&str] = match wire {
                WireFormat::Messages => &["sig-1==", "Let me see.", "toolu_1_0"],
                WireFormat::Responses => &["enc-1==", "rs_1", "fc_1_0"],
                WireFormat::Chat => &["Let me see.", "ts-1", "reasoning_content"],
            };
            for kept in kept {
                assert!(sent.contains(kept), "{wire:?} lost {kept}: {sent}");
            }
        }
    }
}

#[tokio::test]
async fn a_key_that_a_gateway_echoes_in_an_answer_is_hidden() {
    for wire in WireFormat::ALL {
        for whole in [false, true] {
            let server = ModelServer::start().await;
            let echo = format!("Incorrect API key provided: Bearer {KEY}");
            let reply = Reply::text(&echo).and_tool("look", json!({ "q": echo })).reasoning(&echo);
            server.script(vec![if whole { reply.whole() } else { reply }]);
            let answer = ask(&brain(wire, &server.url(), PATIENT), &with_tool("?")).await.0.unwrap();
            assert_eq!(answer.text, "Incorrect API key provided: Bearer [hidden]", "{wire:?}");
            assert!(!format!("{answer:?}").contains(KEY), "{wire:?}: {answer:?}");
            assert_eq!(answer.tool_calls[0].name, "look");
        }
    }
}

#[tokio::test]
async fn what_one_wire_said_another_takes_up() {
    for from in WireFormat::ALL {
        for to in WireFormat::ALL {
            let (one, other) = (ModelServer::start().await, ModelServer::start().await);
            one.script(vec![Reply::tool("look", json!({"q": "tea"})).reasoning("secret thought")]);
            other.script(vec![Reply::text("Oolong.")]);
            let first = with_tool("What?");
            let answer = ask(&brain(from, &one.url(), PATIENT), &first).await.0.unwrap();
            let next = after(&first, &answer, &["oolong"]);
            assert_eq!(ask(&brain(to, &other.url(), PATIENT), &next).await.0.unwrap().text, "Oolong.");
            let asked = &other.requests()[0];
            assert_eq!(asked.results(), ["oolong"]);
            let sent = asked.body.to_string();
            // Signatures and encrypted reasoning are for the address that made them.
            for foreign in ["sig-1", "enc-1", "ts-1", "secret thought"] {
                assert!(!sent.contains(foreign), "{from:?} to {to:?}: {sent}");
            }
        }
    }
}

#[tokio::test]
async fn plain_servers_work() {
    let server = ModelServer::start().await;
    let call = Reply::tool("look", json!({"q": "tea"})).and_tool("look", json!({"q": "cake"}));
    server.script(vec![call.clone().bare(), call.bare().whole(), Reply::text("Yes.").bare()]);
    let brain = brain(WireFormat::Chat, &server.url(), PATIENT);
    let first = with_tool("What?");
    for round in 0..2 {
        let answer = ask(&brain, &first).await.0.unwrap();
        assert_eq!((answer.stop, answer.tool_calls.len()), (StopReason::ToolUse, 2), "{round}");
        assert_ne!(answer.tool_calls[0].id, answer.tool_calls[1].id);
        assert_eq!(answer.tool_calls[1].arguments, r#"{"q":"cake"}"#);
        assert_eq!(answer.usage, Usage::default());
    }
    assert_eq!(ask(&brain, &first).await.0.unwrap().text, "Yes.");
}

#[tokio::test]
async fn answers_end_for_different_reasons() {
    let table =
        [("stop", StopReason::End), ("length", StopReason::Length), ("content_filter", StopReason::Refusal)];
    for wire in WireFormat::ALL {
        for (said, stop) in table {
            let server = ModelServer::of(vec![Reply::text("Well").stop(said)]).await;
            let answer = ask(&brain(wire, &server.url(), PATIENT), &question("?")).await.0.unwrap();
            assert_eq!((answer.stop, answer.text.as_str()), (stop, "Well"), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn a_refusal_has_no_calls_and_a_call_what_every_provider_takes() {
    for wire in WireFormat::ALL {
        let refused = Reply::tool("look", json!({})).stop("content_filter");
        let server = ModelServer::of(vec![refused]).await;
        let mut brain = brain(wire, &server.url(), PATIENT);
        let answer = ask(&brain, &with_tool("?")).await.0.unwrap();
        assert_eq!((answer.stop, answer.tool_calls), (StopReason::Refusal, vec![]), "{wire:?}");
        let (long, plain) = ("é".repeat(100_000), "_".repeat(64));
        for (said, name) in [(&*long, &*plain), ("functions.look", "functions_look"), ("", "unknown")] {
            server.script(vec![Reply::tool(said, json!({}))]);
            let answer = ask(&brain, &with_tool("?")).await.0.unwrap();
            let echoed = answer.raw.unwrap().items.len();
            assert_eq!((&*answer.tool_calls[0].name, echoed), (name, 0), "{wire:?}");
        }
        server.script(vec![Reply::tool("look", json!({"q": "x".repeat(100_000)}))]);
        let call = ask(&brain, &with_tool("?")).await.0.unwrap().tool_calls.remove(0);
        assert!(call.arguments.len() < 100, "{wire:?}: {} bytes", call.arguments.len());
        brain.model = "m".repeat(3_000);
        server.script(vec![Reply::text("Well")]);
        assert_eq!(ask(&brain, &question("?")).await.0.unwrap().model, brain.model[..128], "{wire:?}");
    }
}

#[tokio::test]
async fn thoughts_in_the_content_are_no_part_of_the_answer() {
    for wire in WireFormat::ALL {
        let server = ModelServer::start().await;
        let brain = brain(wire, &server.url(), PATIENT);
        for (content, answer) in [
            ("<think>\nNothing is due.\n</think>\n\nNONE", "NONE"),
            ("Nothing is due.\n</think>\n\nNONE", "NONE"),
            ("Its thoughts end with `</think>`; cut there.", "Its thoughts end with `</think>`; cut there."),
            ("Close it: `<think>` ends with `</think>`.", "Close it: `<think>` ends with `</think>`."),
            ("<think>cut", "<think>cut"),
        ] {
            server.script(vec![Reply::text(content)]);
            assert_eq!(ask(&brain, &with_tool("?")).await.0.unwrap().text, answer, "{wire:?}");
        }
        server.script(vec![Reply::text("<think>It is lo").stop("length")]);
        let cut = ask(&brain, &with_tool("?")).await.0;
        assert!(cut.is_ok_and(|reply| reply.text.is_empty() && reply.stop == StopReason::Length));
    }
}

#[tokio::test]
async fn a_model_may_say_nothing_or_only_think_or_write_bad_arguments() {
    for wire in WireFormat::ALL {
        let server = ModelServer::start().await;
        let bad = Reply::tool("look", json!("{\"q\": not JSON"));
        server.script(vec![Reply::text(""), Reply::text("").reasoning("Hm."), bad, Reply::text("Sorry.")]);
        let brain = brain(wire, &server.url(), PATIENT);
        let first = with_tool("?");
        for _ in 0..2 {
            let (answer, progress) = ask(&brain, &first).await;
            let answer = answer.unwrap();
            assert_eq!((answer.text.as_str(), answer.stop), ("", StopReason::End), "{wire:?}");
            assert_eq!(progress.chars, 0);
            // What was only thought can stand in a conversation.
            wire.encode(&after(&first, &answer, &[]), &server.url(), "model-1");
        }
        let answer = ask(&brain, &first).await.0.unwrap();
        assert_eq!(answer.tool_calls[0].arguments, "{\"q\": not JSON");
        let answer = ask(&brain, &after(&first, &answer, &["the arguments are no JSON"])).await.0.unwrap();
        assert_eq!(answer.text, "Sorry.");
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
    let picture = MessagePart::Image { media_type: "image/png".into(), base64: "aGk=".into() };
    if let Message::User { parts } = &mut request.messages[2] {
        parts.push(picture);
    }
    request.cache_after = Some(1);
    request.max_output_tokens = Some(99);
    request.schema = Some(json!({"type": "object"}));
    for wire in WireFormat::ALL {
        let body = wire.encode(&request, "http://h", "m");
        let text = body.to_string();
        assert!(text.contains("aGk=") && text.contains("image/png"), "{text}");
        assert!(text.contains("JSON schema"), "{text}");
        match wire {
            WireFormat::Messages => {
                assert_eq!(body["messages"][1]["content"][0]["cache_control"]["type"], "ephemeral");
                assert_eq!(text.matches("cache_control").count(), 2);
                assert_eq!(body["max_tokens"], 99);
            }
            WireFormat::Responses => {
                assert_eq!(
                    pick(&body, "text/format/schema store include/0 max_output_tokens"),
                    json!([{"type": "object"}, false, "reasoning.encrypted_content", 99])
                );
            }
            WireFormat::Chat => {
                assert_eq!(body["response_format"]["json_schema"]["schema"], json!({"type": "object"}));
                assert_eq!(pick(&body, "stream_options/include_usage max_tokens"), json!([true, 99]));
            }
        }
    }
    // However many rounds of tools: never more points than are allowed.
    let mut long = with_tool("?");
    long.cache_after = Some(0);
    for n in 0..6 {
        let call = ToolCall { id: format!("c:{n}"), name: "look".into(), arguments: "{}".into() };
        long.messages.push(Message::Assistant { text: String::new(), tool_calls: vec![call], raw: None });
        let result = ToolResult { call_id: format!("c:{n}"), text: "x".into(), is_error: true };
        long.messages.push(Message::ToolResults { results: vec![result] });
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
        let result = ToolResult { call_id: call.id.clone(), text: "x".into(), is_error: false };
        let tool_calls = vec![call.clone(), call];
        request.messages.push(Message::Assistant { text: String::new(), tool_calls, raw: None });
        request.messages.push(Message::ToolResults { results: vec![result.clone(), result] });
    }
    let body = WireFormat::Messages.encode(&request, "http://h", "m");
    let messages = body["messages"].as_array().unwrap();
    let blocks: Vec<&Value> = messages.iter().flat_map(|one| one["content"].as_array().unwrap()).collect();
    let ids = |key: &str| blocks.iter().filter_map(|block| block[key].as_str()).collect::<Vec<_>>();
    let (called, answered) = (ids("id"), ids("tool_use_id"));
    assert_eq!(called, answered);
    let apart: std::collections::HashSet<_> = called.into_iter().collect();
    assert_eq!(apart.len(), 6, "{apart:?}");
}
