//! A reply in each of the three wires, streamed and whole.

use crate::support::prelude::*;

/// The bytes of a reply's body. `number` makes its ids its own.
pub fn body(wire: &str, reply: &Reply, model: &str, number: usize, streamed: bool) -> Vec<u8> {
    let text = match (wire, streamed) {
        ("messages", true) => messages(reply, model, number),
        ("messages", false) => messages_whole(reply, model, number).to_string(),
        ("responses", true) => responses(reply, model, number),
        ("responses", false) => response(reply, model, number, "completed").to_string(),
        ("chat", true) => chat(reply, model, number),
        ("chat", false) => chat_whole(reply, model, number).to_string(),
        _ => json!({"error": {"message": "no such path"}}).to_string(),
    };
    text.into_bytes()
}

/// Words as models send them: a few signs at a time.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(7).map(|piece| piece.iter().collect()).collect()
}

fn named(out: &mut String, event: &Value) {
    let name = event["type"].as_str().unwrap();
    out.push_str(&format!("event: {name}\ndata: {event}\n\n"));
}

fn anthropic_stop(reply: &Reply) -> &str {
    match reply.stop.as_deref() {
        Some("length") => "max_tokens",
        Some("content_filter") => "refusal",
        Some("stop") | None if reply.calls.is_empty() => "end_turn",
        Some("stop") | None => "tool_use",
        Some(other) => other,
    }
}

fn messages(reply: &Reply, model: &str, number: usize) -> String {
    let mut begun = messages_whole(reply, model, number);
    let (content, stop) = (begun["content"].take(), begun["stop_reason"].take());
    let output = std::mem::replace(&mut begun["usage"]["output_tokens"], json!(1));
    begun["usage"]["cache_creation_input_tokens"] = json!(0);
    begun["content"] = json!([]);
    let mut out = String::new();
    named(&mut out, &json!({"type": "message_start", "message": begun}));
    named(&mut out, &json!({"type": "ping"}));
    for (at, block) in content.as_array().unwrap().iter().enumerate() {
        let (key, kind, part, empty) = match block["type"].as_str().unwrap() {
            "thinking" => ("thinking", "thinking_delta", "thinking", json!("")),
            "text" => ("text", "text_delta", "text", json!("")),
            _ => ("input", "input_json_delta", "partial_json", json!({})),
        };
        let mut start = block.clone();
        let said = text_of(&std::mem::replace(&mut start[key], empty));
        let mut deltas: Vec<Value> =
            pieces(&said).into_iter().map(|piece| json!({"type": kind, (part): piece})).collect();
        let signature = start.get_mut("signature").map(|signature| std::mem::replace(signature, json!("")));
        deltas.extend(signature.map(|all| json!({"type": "signature_delta", "signature": all})));
        named(&mut out, &json!({"type": "content_block_start", "index": at, "content_block": start}));
        for delta in deltas {
            named(&mut out, &json!({"type": "content_block_delta", "index": at, "delta": delta}));
        }
        named(&mut out, &json!({"type": "content_block_stop", "index": at}));
    }
    if let Some((kind, message)) = &reply.error {
        named(&mut out, &json!({"type": "error", "error": {"type": kind, "message": message}}));
        return out;
    }
    let stop = json!({"stop_reason": stop, "stop_sequence": null});
    named(&mut out, &json!({"type": "message_delta", "delta": stop, "usage": {"output_tokens": output}}));
    named(&mut out, &json!({"type": "message_stop"}));
    out
}

fn messages_whole(reply: &Reply, model: &str, number: usize) -> Value {
    let (all, cached, output) = reply.usage.unwrap_or_default();
    let mut content = Vec::new();
    if !reply.reasoning.is_empty() {
        let signature = format!("sig-{number}==");
        content.push(json!({"type": "thinking", "thinking": reply.reasoning, "signature": signature}));
    }
    if !reply.text.is_empty() {
        content.push(json!({"type": "text", "text": reply.text}));
    }
    for (n, (name, arguments)) in reply.calls.iter().enumerate() {
        content.push(json!({"type": "tool_use", "id": format!("toolu_{number}_{n}"), "name": name, "input": arguments}));
    }
    json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model, "content": content, "stop_reason": anthropic_stop(reply),
        "usage": {"input_tokens": all - cached, "cache_read_input_tokens": cached, "output_tokens": output}})
}

/// Arguments that are a text are sent as they are: what a bad model writes.
fn text_of(arguments: &Value) -> String {
    arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned)
}

fn items(reply: &Reply, number: usize) -> Vec<Value> {
    let mut items = Vec::new();
    if !reply.reasoning.is_empty() {
        items.push(json!({"type": "reasoning", "id": format!("rs_{number}"), "summary": [], "encrypted_content": format!("enc-{number}==")}));
    }
    if !reply.text.is_empty() {
        items.push(json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": reply.text, "annotations": []}]}));
    }
    for (n, (name, arguments)) in reply.calls.iter().enumerate() {
        let mut item = json!({"type": "function_call", "id": format!("fc_{number}_{n}"), "call_id": format!("call_{number}_{n}"), "status": "completed", "name": name, "arguments": text_of(arguments)});
        // Codex offers an MCP server's tools under one name.
        if let Some((namespace, name)) = name.split_once("::") {
            item["namespace"] = namespace.into();
            item["name"] = name.into();
        }
        items.push(item);
    }
    items
}

fn response(reply: &Reply, model: &str, number: usize, status: &str) -> Value {
    let (all, cached, output) = reply.usage.unwrap_or_default();
    let incomplete = match reply.stop.as_deref() {
        Some("length") => json!({"reason": "max_output_tokens"}),
        Some("content_filter") => json!({"reason": "content_filter"}),
        _ => Value::Null,
    };
    let status = if incomplete.is_null() { status } else { "incomplete" };
    json!({"id": format!("resp_{number}"), "object": "response", "status": status, "incomplete_details": incomplete, "model": model, "error": null,
        "output": items(reply, number),
        "usage": {"input_tokens": all, "input_tokens_details": {"cached_tokens": cached}, "output_tokens": output, "total_tokens": all + output}})
}

/// A text as events that differ in their `delta`.
fn in_pieces(out: &mut String, event: &Value, text: &str) {
    for piece in pieces(text) {
        let mut event = event.clone();
        event["delta"] = piece.into();
        named(out, &event);
    }
}

fn responses(reply: &Reply, model: &str, number: usize) -> String {
    let mut out = String::new();
    let begun = json!({"id": format!("resp_{number}"), "object": "response", "status": "in_progress", "model": model, "output": []});
    named(&mut out, &json!({"type": "response.created", "response": begun}));
    for (at, item) in items(reply, number).into_iter().enumerate() {
        let mut empty = item.clone();
        for (key, nothing) in [("content", json!([])), ("arguments", json!(""))] {
            empty.get_mut(key).into_iter().for_each(|value| *value = nothing.clone());
        }
        named(&mut out, &json!({"type": "response.output_item.added", "output_index": at, "item": empty}));
        if item["type"] == "message" {
            let delta = json!({"type": "response.output_text.delta", "output_index": at, "content_index": 0});
            in_pieces(&mut out, &delta, &reply.text);
        }
        if item["type"] == "function_call" {
            let delta = json!({"type": "response.function_call_arguments.delta", "output_index": at});
            in_pieces(&mut out, &delta, item["arguments"].as_str().unwrap());
        }
        named(&mut out, &json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    if let Some((kind, message)) = &reply.error {
        let failed = json!({"id": format!("resp_{number}"), "status": "failed", "error": {"code": kind, "message": message}});
        named(&mut out, &json!({"type": "response.failed", "response": failed}));
        return out;
    }
    let end = response(reply, model, number, "completed");
    let kind = if end["status"] == "incomplete" { "response.incomplete" } else { "response.completed" };
    named(&mut out, &json!({"type": kind, "response": end}));
    out
}

fn chat_stop(reply: &Reply) -> &str {
    match reply.stop.as_deref() {
        Some(stop) => stop,
        // The plainest of servers say `stop` whatever they do.
        None if reply.calls.is_empty() || reply.bare => "stop",
        None => "tool_calls",
    }
}

fn chat_usage(reply: &Reply) -> Option<Value> {
    let (all, cached, output) = reply.usage?;
    let details = json!({"cached_tokens": cached});
    Some(json!({"prompt_tokens": all, "completion_tokens": output, "total_tokens": all + output,
        "prompt_tokens_details": details}))
}

fn chat(reply: &Reply, model: &str, number: usize) -> String {
    let mut out = String::new();
    let chunk = |out: &mut String, delta: Value, finish: Option<&str>| {
        let chunk = json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        out.push_str(&format!("data: {chunk}\n\n"));
    };
    chunk(&mut out, json!({"role": "assistant", "content": ""}), None);
    for piece in pieces(&reply.reasoning) {
        chunk(&mut out, json!({"reasoning_content": piece}), None);
    }
    for piece in pieces(&reply.text) {
        chunk(&mut out, json!({"content": piece}), None);
    }
    for (n, (name, arguments)) in reply.calls.iter().enumerate() {
        let mut call = chat_call(reply, number, n, name, arguments);
        if reply.bare {
            chunk(&mut out, json!({"tool_calls": [call]}), None);
            continue;
        }
        (call["index"], call["function"]["arguments"]) = (json!(n), json!(""));
        chunk(&mut out, json!({"tool_calls": [call]}), None);
        for piece in pieces(&text_of(arguments)) {
            chunk(&mut out, json!({"tool_calls": [{"index": n, "function": {"arguments": piece}}]}), None);
        }
    }
    if let Some((kind, message)) = &reply.error {
        let error = json!({"error": {"message": message, "type": kind, "code": kind}});
        out.push_str(&format!("data: {error}\n\n"));
        return out;
    }
    chunk(&mut out, json!({}), Some(chat_stop(reply)));
    if let Some(usage) = chat_usage(reply) {
        let last = json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "model": model, "choices": [], "usage": usage});
        out.push_str(&format!("data: {last}\n\n"));
    }
    if !reply.bare {
        out.push_str("data: [DONE]\n\n");
    }
    out
}

/// A whole call; the plainest of servers give it no id.
fn chat_call(reply: &Reply, number: usize, n: usize, name: &str, arguments: &Value) -> Value {
    let mut call = json!({"function": {"name": name, "arguments": text_of(arguments)}});
    if !reply.bare {
        call["id"] = format!("call_{number}_{n}").into();
        call["type"] = "function".into();
        call["extra_content"] = json!({"google": {"thought_signature": format!("ts-{number}")}});
    }
    call
}

fn chat_whole(reply: &Reply, model: &str, number: usize) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text});
    if !reply.reasoning.is_empty() {
        message["reasoning_content"] = reply.reasoning.as_str().into();
    }
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().enumerate();
        message["tool_calls"] =
            calls.map(|(n, (name, arguments))| chat_call(reply, number, n, name, arguments)).collect();
    }
    let mut body = json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion", "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": chat_stop(reply)}]});
    if let Some(usage) = chat_usage(reply) {
        body["usage"] = usage;
    }
    body
}
