//! Everything that a server can do wrong is a classed error, never a panic, never an answer. However a stream's bytes are
//! cut, the same answer and progress come out; a stream that ends early is never an answer.

use crate::brain::rig::*;
use proptest::prelude::*;
use vault_agent::brain::{BrainError, CallProgress, FailureClass, Reply as Answer, wire::BrainTimeouts};

use crate::models::{Fault, body};

async fn fails(wire: WireFormat, reply: Reply, timeouts: BrainTimeouts) -> BrainError {
    let server = ModelServer::of(vec![reply]).await;
    let error = ask(&brain(wire, &server.url(), timeouts), &question("?")).await.0.expect_err("no answer");
    assert!(!error.message.contains(KEY) && !error.message.contains("127.0.0.1"), "{error}");
    error
}

#[tokio::test]
async fn statuses_and_errors_within_a_stream_are_classed() {
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
        let cut = Reply::status(400).body("prompt is too long").fault(Fault::Cut(5));
        assert_eq!(fails(wire, cut, PATIENT).await.class, FailureClass::Format);
        for (kind, class) in [("insufficient_quota", FailureClass::Billing), ("else", FailureClass::Crash)] {
            let reply = Reply::error_event(kind, &format!("no, {KEY}"));
            assert_eq!(fails(wire, reply, PATIENT).await.class, class, "{wire:?} {kind}");
        }
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
        for (at, reply) in replies.into_iter().enumerate() {
            let error = fails(wire, reply, PATIENT).await;
            assert_eq!(error.class, FailureClass::Crash, "{wire:?} {at}: {error}");
        }
    }
    // Nobody is there, and no address.
    for url in ["http://127.0.0.1:1", "not a url"] {
        let brain = brain(WireFormat::Chat, url, PATIENT);
        assert_eq!(ask(&brain, &question("?")).await.0.unwrap_err().class, FailureClass::Crash, "{url}");
    }
}

/// Half of a character costs no answer, one that a proxy cut is none, and a whole one doesn't wait for its usage.
#[tokio::test]
async fn what_chat_servers_and_proxies_write_is_a_whole_answer_or_none() {
    let events = |events: &[&str]| {
        let events: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        Reply::raw("text/event-stream", events)
    };
    let half = [
        r#"{"choices":[{"delta":{"content":"ok \ud83d"}}]}"#,
        r#"{"choices":[{"delta":{"content":"\ude00 done \ud83d."},"finish_reason":"stop"}]}"#,
    ];
    let half_at_once = r#"{"choices":[{"message":{"content":"ok \ud83d"},"finish_reason":"stop"}]}"#;
    let no_reason = r#"{"choices":[{"delta":{"content":"The first half"}}]}"#;
    let null_reason = r#"{"choices":[{"delta":{"content":"The first half"},"finish_reason":null}]}"#;
    let yes = [
        r#"{"choices":[{"delta":{"content":"Yes."}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
    ];
    for (what, reply, outcome) in [
        ("half of a character", events(&half), Ok("ok 😀 done \u{fffd}.")),
        ("in one piece", Reply::raw("application/json", half_at_once), Ok("ok \u{fffd}")),
        ("cut by a proxy", events(&[null_reason, "[DONE]"]), Err(FailureClass::Crash)),
        ("no reason at all, so `[DONE]` is the end", events(&[no_reason, "[DONE]"]), Ok("The first half")),
        ("neither `[DONE]` nor closed", events(&yes).fault(Fault::HangAfter(usize::MAX)), Ok("Yes.")),
    ] {
        let silence = if reply.fault == Fault::None { PATIENT.silence } else { Duration::from_millis(100) };
        let (_server, mut brain) = scripted(WireFormat::Chat, vec![reply]).await;
        brain.timeouts.silence = silence;
        let answer = ask(&brain, &question("?")).await.0;
        let answer = answer.as_ref().map(|answer| answer.text.as_str()).map_err(|error| error.class);
        assert_eq!(answer, outcome, "{what}");
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
            let error = ask(&brain(wire, &server.url(), timeouts), &question("?")).await.0.unwrap_err();
            assert_eq!(error.class, FailureClass::Timeout, "{wire:?}");
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
async fn a_stopped_call_ends_at_once() {
    for wire in WireFormat::ALL {
        let (server, brain) = scripted(wire, vec![Reply::hang()]).await;
        let (cancel, question, mut progress) =
            (CancellationToken::new(), question("?"), CallProgress::default());
        let (answer, ()) = tokio::join!(brain.call(&question, &mut progress, cancel.clone()), async {
            server.wait_for(1).await;
            cancel.cancel();
        });
        assert!(answer.unwrap_err().cancelled, "{wire:?}");
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
    let (_server, brain) = scripted(wire, vec![reply]).await;
    let (answer, progress) = ask(&brain, &with_tool("?")).await;
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
#[tokio::test]
async fn no_beginning_of_a_stream_is_an_answer() {
    let reply = Reply::text("An answer.").reasoning("Hm.").and_tool("look", json!({"q": "x"}));
    for wire in WireFormat::ALL {
        let text = String::from_utf8(body(wire.name(), &reply, "model-1", 1, true)).unwrap();
        // From here on the answer is whole: what may follow is the usage.
        let mark = match wire {
            WireFormat::Messages => "event: message_stop",
            WireFormat::Responses => "event: response.completed",
            WireFormat::Chat => "\"finish_reason\":\"tool_calls\"",
        };
        let terminal = text.find(mark).unwrap();
        let (server, brain) = scripted(wire, vec![]).await;
        for end in (0..text.len()).step_by(13) {
            for fault in [Fault::Cut(end), Fault::EndEarly(end)] {
                server.script(vec![reply.clone().fault(fault)]);
                match ask(&brain, &with_tool("?")).await.0 {
                    Err(error) => assert_eq!(error.class, FailureClass::Crash, "{wire:?} {end}"),
                    Ok(answer) => {
                        assert!(end > terminal, "{wire:?}: whole after {end} of {}", text.len());
                        assert_eq!((answer.text.as_str(), answer.tool_calls.len()), ("An answer.", 1));
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Any JSON in any order: errors and odd answers, but no panic.
    #[test]
    fn machines_never_panic(events in proptest::collection::vec((word_of(EVENTS), any_json()), 0..12)) {
        for wire in WireFormat::ALL {
            let mut decoder = wire.decoder(&with_tool("?"), "http://h", "m");
            let mut progress = CallProgress::default();
            for (kind, value) in &events {
                let mut value = value.clone();
                if let Value::Object(map) = &mut value {
                    map.entry("type").or_insert_with(|| (*kind).into());
                }
                let _ = decoder.event(kind, &value, &mut progress);
                let _ = decoder.whole(&value, &mut progress);
            }
            let _ = decoder.finish();
        }
    }
}

const EVENTS: &str = "message_start content_block_start content_block_delta message_delta message_stop error \
    response.output_item.done response.completed response.failed message";

/// One of these words.
fn word_of(words: &'static str) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(words.split_whitespace().collect::<Vec<_>>())
}

fn any_json() -> impl Strategy<Value = Value> {
    const KEYS: &str = "type index delta content_block text partial_json usage input_tokens stop_reason item response output \
        status choices tool_calls function arguments name id content finish_reason message error code";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z{}\"]{0,6}".prop_map(Value::from),
        word_of("tool_use text_delta function_call input_json_delta").prop_map(Value::from),
        Just(json!(u64::MAX)),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map(word_of(KEYS), inner, 0..7).prop_map(|map| Value::from_iter(
                map.into_iter().map(|(key, value)| (key.to_owned(), value))
            )),
        ]
    })
}
