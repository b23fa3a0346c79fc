//! However a stream's bytes are cut into pieces, the same answer and the same events come out; and a stream that
//! ends early, anywhere, is never an answer.

use proptest::prelude::*;
use serde_json::{Value, json};
use vault_agent::brain::wire::WireFormat;
use vault_agent::brain::{BrainEvent, FailureClass, Reply as Answer};

use crate::brain::rig::{PATIENT, ask, brain, with_tool};
use crate::models::{Fault, ModelServer, Reply, body};

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

async fn heard(wire: WireFormat, reply: Reply) -> (Answer, Vec<BrainEvent>) {
    let server = ModelServer::of(vec![reply]).await;
    let (answer, events) = ask(&brain(wire, &server.url(), PATIENT), &with_tool("?")).await;
    // Another server has another port.
    let mut answer = answer.unwrap();
    if let Some(raw) = &mut answer.raw {
        raw.endpoint.clear();
    }
    (answer, events)
}

fn run<T>(work: impl std::future::Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_gives_the_same_turn(reply in replies(), pieces in proptest::collection::vec(1_usize..60, 1..20)) {
        for wire in WireFormat::ALL {
            let at_once = run(heard(wire, reply.clone()));
            let in_pieces = run(heard(wire, reply.clone().pieces(pieces.clone())));
            prop_assert_eq!(&at_once, &in_pieces);
            let byte_by_byte = run(heard(wire, reply.clone().pieces(vec![1])));
            prop_assert_eq!(&at_once, &byte_by_byte);
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
    run(async {
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
            let mut out = Vec::new();
            for (kind, value) in &events {
                let mut value = value.clone();
                if let Value::Object(map) = &mut value {
                    map.entry("type").or_insert_with(|| EVENTS[*kind].into());
                }
                let _ = decoder.event(EVENTS[*kind], &value, &mut out);
                let _ = decoder.whole(&value, &mut out);
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
    const KEYS: [&str; 24] = [
        "type",
        "index",
        "delta",
        "content_block",
        "text",
        "partial_json",
        "usage",
        "input_tokens",
        "stop_reason",
        "item",
        "response",
        "output",
        "status",
        "choices",
        "tool_calls",
        "function",
        "arguments",
        "name",
        "id",
        "content",
        "finish_reason",
        "message",
        "error",
        "code",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z{}\"]{0,6}".prop_map(Value::from),
        Just(json!("tool_use")),
        Just(json!("text_delta")),
        Just(json!("function_call")),
        Just(json!("input_json_delta")),
        Just(json!(u64::MAX)),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map(0..KEYS.len(), inner, 0..7).prop_map(|map| Value::Object(
                map.into_iter().map(|(k, v)| (KEYS[k].to_owned(), v)).collect()
            )),
        ]
    })
}
