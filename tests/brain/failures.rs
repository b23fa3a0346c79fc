//! Everything that a server can do wrong is a classed error, never a panic, never an answer. However a stream's bytes are
//! cut, the same answer and progress come out; a stream that ends early is never an answer.

use crate::brain::rig::*;
use proptest::prelude::*;
use vault_agent::brain::wire::BrainTimeouts;
use vault_agent::brain::{BrainError, CallProgress, FailureClass, Reply as Answer};

use crate::models::{Fault, body};

async fn fails(wire: WireFormat, reply: Reply, timeouts: BrainTimeouts) -> BrainError {
    let server = ModelServer::of(vec![reply]).await;
    let (answer, _) = ask(&brain(wire, &server.url(), timeouts), &question("?")).await;
    let error = answer.expect_err("no answer");
    assert!(!error.message.contains(KEY) && !error.message.contains("127.0.0.1"), "{error}");
    error
}

#[tokio::test]
async fn statuses_are_classed() {
    let quota = r#"{"error":{"code":"insufficient_quota","message":"KEY has no quota"}}"#;
    let table =
        [(401, "", FailureClass::Auth), (302, "", FailureClass::Format), (429, quota, FailureClass::Billing)];
    for wire in WireFormat::ALL {
        for (status, body, class) in table {
            let body = body.replace("KEY", KEY);
            let error = fails(wire, Reply::status(status).body(body), PATIENT).await;
            assert_eq!(error.class, class, "{wire:?}: {error}");
            assert!(error.message.contains(&format!("(status {status}")), "{wire:?}: {error}");
        }
        let error = fails(wire, Reply::status(429).retry_after(17), PATIENT).await;
        assert_eq!(error.retry_after, Some(Duration::from_secs(17)));
        // An error's text that never ends, or never comes.
        let error = fails(wire, Reply::status(500).body("x".repeat(300_000)), PATIENT).await;
        assert_eq!(error.class, FailureClass::Overloaded);
        assert!(error.message.len() < 1000);
        let error =
            fails(wire, Reply::status(400).body("prompt is too long").fault(Fault::Cut(5)), PATIENT).await;
        assert_eq!(error.class, FailureClass::Format);
    }
}

#[tokio::test]
async fn what_breaks_is_a_crash() {
    let odd_calls = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[7,{\"index\":-1}]}}]}\n\n";
    for wire in WireFormat::ALL {
        let replies = [
            Reply::garbage(),
            Reply::raw("text/html", "<html><title>Log in</title></html>"),
            Reply::raw("text/event-stream", ""),
            Reply::raw("text/event-stream", "data: [DONE]\n\n"),
            Reply::raw("text/event-stream", b"\xef\xbb\xbfdata: {}\n\ndata: \xff\xfe\n\n".to_vec()),
            Reply::raw("text/event-stream", "data: null\n\ndata: 7\n\ndata: [1]\n\ndata: \"x\"\n\n"),
            Reply::raw("text/event-stream", odd_calls),
            Reply::raw("application/json", "{\"half\": "),
            Reply::raw("application/json", "[]"),
            Reply::raw("application/json", "{\"error\":\"the runner has stopped\"}"),
            Reply::raw("text/event-stream", "data: ".to_owned() + &"x".repeat(5 << 20)).pieces(vec![1 << 20]),
            Reply::cut_after(0),
            Reply::cut_after(700),
            Reply::text("Half").fault(Fault::EndEarly(300)),
            Reply::reset(),
        ];
        for reply in replies {
            let shown =
                format!("{:?}", reply.verbatim.as_ref().map(|(kind, bytes)| (kind, bytes.len().min(99))));
            let error = fails(wire, reply, PATIENT).await;
            assert_eq!(error.class, FailureClass::Crash, "{wire:?} {shown}: {error}");
        }
    }
    let nobody = brain(WireFormat::Chat, "http://127.0.0.1:1", PATIENT);
    assert_eq!(ask(&nobody, &question("?")).await.0.unwrap_err().class, FailureClass::Crash);
    let nonsense = brain(WireFormat::Chat, "not a url", PATIENT);
    assert_eq!(ask(&nonsense, &question("?")).await.0.unwrap_err().class, FailureClass::Crash);
}

#[tokio::test]
async fn half_of_a_character_costs_no_answer() {
    let events = r#"data: {"choices":[{"delta":{"content":"ok \ud83d"}}]}

data: {"choices":[{"delta":{"content":"\ude00 done \ud83d."},"finish_reason":"stop"}]}

"#;
    let whole = r#"{"choices":[{"message":{"content":"ok \ud83d"},"finish_reason":"stop"}]}"#;
    for (kind, body, text) in
        [("text/event-stream", events, "ok 😀 done \u{fffd}."), ("application/json", whole, "ok \u{fffd}")]
    {
        let server = ModelServer::of(vec![Reply::raw(kind, body)]).await;
        let (answer, _) = ask(&brain(WireFormat::Chat, &server.url(), PATIENT), &question("?")).await;
        assert_eq!(answer.unwrap().text, text);
    }
}

#[tokio::test]
async fn a_chat_that_a_proxy_cut_is_no_answer() {
    let half = |reason: &str| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"The first half\"}}{reason}}}]}}\n\ndata: [DONE]\n\n"
        )
    };
    // One that names no reason at all ends with `[DONE]` alone.
    for (reason, class) in [(",\"finish_reason\":null", Some(FailureClass::Crash)), ("", None)] {
        let server = ModelServer::of(vec![Reply::raw("text/event-stream", half(reason))]).await;
        let (answer, _) = ask(&brain(WireFormat::Chat, &server.url(), PATIENT), &question("?")).await;
        assert_eq!(answer.err().map(|error| error.class), class);
    }
}

#[tokio::test]
async fn an_answer_at_which_this_program_fails_is_a_crash() {
    let here = std::thread::current().id();
    let point = "brain::before-stream";
    fail::cfg_callback(point, move || assert_ne!(std::thread::current().id(), here, "a fault of ours"))
        .unwrap();
    let error = fails(WireFormat::Chat, Reply::text("Well"), PATIENT).await;
    fail::remove(point);
    assert_eq!(error.class, FailureClass::Crash);
}

#[test]
fn a_call_whose_function_is_no_object_is_a_call_of_no_tool() {
    for function in [json!("memory_save"), json!(1), json!(true), json!([])] {
        let mut decoder = WireFormat::Chat.decoder(&with_tool("?"), "http://h", "m");
        let call = json!({"index": 0, "id": "c", "function": function});
        let piece = json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
        decoder.event("", &piece, &mut CallProgress::default()).unwrap();
        assert_eq!(decoder.finish().unwrap().tool_calls[0].name, "");
    }
}

#[tokio::test]
async fn errors_within_a_stream_are_classed() {
    for wire in WireFormat::ALL {
        for (kind, class) in
            [("insufficient_quota", FailureClass::Billing), ("whatever", FailureClass::Crash)]
        {
            let reply = Reply::error_event(kind, &format!("no, {KEY}"));
            assert_eq!(fails(wire, reply, PATIENT).await.class, class, "{wire:?} {kind}");
        }
    }
}

#[tokio::test]
async fn watchdogs_bite_and_the_server_notices() {
    let short = Duration::from_millis(200);
    let silent = BrainTimeouts { silence: short, ..PATIENT };
    let slow = BrainTimeouts { overall: short, ..PATIENT };
    let table = [
        (BrainTimeouts { first_byte: short, ..PATIENT }, Reply::hang()),
        (silent, Reply::text("Half an answer").fault(Fault::HangAfter(400))),
        (silent, Reply::text("Head alone").fault(Fault::HangAfter(0))),
        (slow, Reply::text("Slow ".repeat(500)).slow(40, Duration::from_millis(20))),
    ];
    for wire in WireFormat::ALL {
        for (timeouts, reply) in table.clone() {
            let server = ModelServer::of(vec![reply]).await;
            let (answer, _) = ask(&brain(wire, &server.url(), timeouts), &question("?")).await;
            assert_eq!(answer.unwrap_err().class, FailureClass::Timeout, "{wire:?}");
            server.wait_for_gone(1).await;
        }
    }
}

/// A server or a proxy that hangs says that it is there, and nothing else.
#[tokio::test]
async fn signs_of_life_alone_are_silence() {
    let signs = [
        (WireFormat::Chat, json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})),
        (WireFormat::Chat, json!({"id": "x", "choices": []})),
        (WireFormat::Messages, json!({"type": "ping"})),
        (WireFormat::Responses, json!({"type": "response.in_progress", "response": {}})),
    ];
    let timeouts = BrainTimeouts { silence: Duration::from_millis(300), ..PATIENT };
    for (wire, sign) in signs {
        let event = format!("data: {sign}\n\n");
        let reply = Reply::raw("text/event-stream", event.repeat(2000));
        let error = fails(wire, reply.slow(event.len(), Duration::from_millis(20)), timeouts).await;
        assert_eq!(error.class, FailureClass::Timeout, "{sign}: {error}");
    }
}

#[tokio::test]
async fn a_whole_answer_does_not_wait_for_its_usage() {
    // A chat server that neither says `[DONE]` nor closes.
    let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let server = ModelServer::start().await;
    let timeouts = BrainTimeouts { silence: Duration::from_millis(100), ..PATIENT };
    server.script(vec![Reply::raw("text/event-stream", stream).fault(Fault::HangAfter(usize::MAX))]);
    let answer = ask(&brain(WireFormat::Chat, &server.url(), timeouts), &question("?")).await.0.unwrap();
    assert_eq!(answer.text, "Yes.");
}

#[tokio::test]
async fn a_stopped_call_ends_at_once() {
    for wire in WireFormat::ALL {
        let server = ModelServer::of(vec![Reply::hang()]).await;
        let (cancel, brain) = (CancellationToken::new(), brain(wire, &server.url(), PATIENT));
        let stop = cancel.clone();
        let (question, mut progress) = (question("?"), CallProgress::default());
        let (answer, ()) = tokio::join!(brain.call(&question, &mut progress, cancel), async {
            server.wait_for(1).await;
            stop.cancel();
        });
        let error = answer.unwrap_err();
        assert!(error.cancelled, "{error}");
        server.wait_for_gone(1).await;
    }
}

fn replies() -> impl Strategy<Value = Reply> {
    let word = "[a-z äß東🍵\"\\\\\n\r\u{feff}]{0,30}";
    let call = (word, any::<bool>()).prop_map(|(text, nested)| {
        if nested { json!({"q": {"deep": [text, null, 1.5]}}) } else { json!({"q": text}) }
    });
    (word, word, proptest::collection::vec(call, 0..3), any::<bool>()).prop_map(
        |(text, reasoning, calls, bare)| {
            let reply = Reply::text(text).reasoning(reasoning);
            let reply = calls.into_iter().fold(reply, |reply, call| reply.and_tool("look", call));
            if bare { reply.bare() } else { reply }
        },
    )
}

async fn heard(wire: WireFormat, reply: Reply) -> (Answer, CallProgress) {
    let server = ModelServer::of(vec![reply]).await;
    let (answer, progress) = ask(&brain(wire, &server.url(), PATIENT), &with_tool("?")).await;
    // Another server has another port.
    let mut answer = answer.unwrap();
    if let Some(raw) = &mut answer.raw {
        raw.endpoint.clear();
    }
    (answer, progress)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_gives_the_same_turn(reply in replies(), pieces in proptest::collection::vec(1_usize..60, 1..20)) {
        for wire in WireFormat::ALL {
            let at_once = block_on(heard(wire, reply.clone()));
            prop_assert_eq!(&at_once, &block_on(heard(wire, reply.clone().pieces(pieces.clone()))));
            prop_assert_eq!(&at_once, &block_on(heard(wire, reply.clone().pieces(vec![1]))));
            prop_assert_eq!(&at_once.0.text, &reply.text);
            let calls: Vec<Value> = at_once.0.tool_calls.iter().map(|call| serde_json::from_str(&call.arguments).unwrap()).collect();
            let meant: Vec<Value> = reply.calls.iter().map(|(_, arguments)| arguments.clone()).collect();
            prop_assert_eq!(calls, meant);
        }
    }
}

/// The pure machines over every prefix of a recorded stream: before the terminal event there is no answer.
#[test]
fn no_beginning_of_a_stream_is_an_answer() {
    block_on(async {
        let reply = Reply::text("An answer.").reasoning("Hm.").and_tool("look", json!({"q": "x"}));
        for wire in WireFormat::ALL {
            let bytes = body(wire.name(), &reply, "model-1", 1, true);
            let text = String::from_utf8(bytes.clone()).unwrap();
            // From here on the answer is whole: what may follow is the usage.
            let terminal = match wire {
                WireFormat::Messages => text.find("event: message_stop").unwrap(),
                WireFormat::Responses => text.find("event: response.completed").unwrap(),
                WireFormat::Chat => text.find("\"finish_reason\":\"tool_calls\"").unwrap(),
            };
            let server = ModelServer::start().await;
            let brain = brain(wire, &server.url(), PATIENT);
            for end in (0..bytes.len()).step_by(13) {
                for fault in [Fault::Cut(end), Fault::EndEarly(end)] {
                    server.script(vec![reply.clone().fault(fault)]);
                    match ask(&brain, &with_tool("?")).await.0 {
                        Err(error) => assert_eq!(error.class, FailureClass::Crash, "{wire:?} {end}"),
                        Ok(answer) => {
                            assert!(
                                end > terminal,
                                "{wire:?} was whole after {end} of {} bytes",
                                bytes.len()
                            );
                            assert_eq!(answer.text, "An answer.");
                            assert_eq!(answer.tool_calls.len(), 1);
                        }
                    }
                }
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Any JSON in any order: errors and odd answers, but no panic.
    #[test]
    fn machines_never_panic(events in proptest::collection::vec((0..EVENTS.len(), any_json()), 0..12)) {
        for wire in WireFormat::ALL {
            let mut decoder = wire.decoder(&with_tool("?"), "http://h", "m");
            let mut progress = CallProgress::default();
            for (kind, value) in &events {
                let mut value = value.clone();
                if let Value::Object(map) = &mut value {
                    map.entry("type").or_insert_with(|| EVENTS[*kind].into());
                }
                let _ = decoder.event(EVENTS[*kind], &value, &mut progress);
                let _ = decoder.whole(&value, &mut progress);
            }
            let _ = decoder.finish();
        }
    }
}

const EVENTS: [&str; 10] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "message_stop",
    "error",
    "response.output_item.done",
    "response.completed",
    "response.failed",
    "message",
];

fn any_json() -> impl Strategy<Value = Value> {
    const KEYS: &str = "type index delta content_block text partial_json usage input_tokens stop_reason item response output \
        status choices tool_calls function arguments name id content finish_reason message error code";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z{}\"]{0,6}".prop_map(Value::from),
        proptest::sample::select(vec!["tool_use", "text_delta", "function_call", "input_json_delta"])
            .prop_map(Value::from),
        Just(json!(u64::MAX)),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map(0..KEYS.split(' ').count(), inner, 0..7).prop_map(|map| {
                Value::Object(
                    map.into_iter().map(|(k, v)| (KEYS.split(' ').nth(k).unwrap().to_owned(), v)).collect(),
                )
            }),
        ]
    })
}
