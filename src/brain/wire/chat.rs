//! Encodes and decodes OpenAI's Chat Completions (`/v1/chat/completions`), which llama.cpp, Ollama, vLLM, LM Studio and
//! OpenRouter support.
//!
//! Servers differ most in this format. An answer is one message that grows piece by piece: strings are appended,
//! objects are merged, and unknown fields are kept. So the message can be sent back unchanged; only a call's arguments
//! are replaced if they aren't a JSON object. A piece of a call may lack its index or its id, and several calls may
//! have the same index.

use serde_json::{Map, Value, json};

use super::{Decoder, append, cut, data_url, echo, non_empty, raw, stop, system, tokens, unreadable};
use crate::brain::classify;
use crate::brain::{
    BrainError, CallProgress, FailureClass, Message, MessagePart, Reply, Request, Result, StopReason,
    ToolCall, Usage,
};

const NAME: &str = "chat";

/// The body of a request.
pub fn encode(request: &Request, base: &str, model: &str, endpoint: &str) -> Value {
    let mut messages: Vec<Value> = Vec::new();
    let text = system(&request.system, request.schema.as_ref());
    if !text.is_empty() {
        messages.push(json!({"role": "system", "content": text}));
    }
    for message in &request.messages {
        match message {
            Message::User { parts } => {
                messages.push(json!({"role": "user", "content": content(&non_empty(parts))}));
            }
            Message::Assistant { text, tool_calls, raw } => {
                messages.push(match echo(raw.as_ref(), NAME, endpoint) {
                    Some(items) => items[0].clone(),
                    None => answer(text, tool_calls),
                });
            }
            Message::ToolResults { results } => {
                let result = |result: &crate::brain::ToolResult| json!({"role": "tool", "tool_call_id": result.call_id, "content": result.text});
                messages.extend(results.iter().map(result));
            }
        }
    }
    let mut body = json!({
        "model": model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if let Some(most) = request.max_output_tokens {
        // OpenAI's newer models refuse the name that everybody else knows.
        let name = if base.contains("//api.openai.com") { "max_completion_tokens" } else { "max_tokens" };
        body[name] = most.into();
    }
    if !request.tools.is_empty() {
        let tool = |tool: &crate::brain::ToolSpec| json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema}});
        body["tools"] = request.tools.iter().map(tool).collect();
    } else if let Some(schema) = &request.schema {
        // With tools, llama.cpp refuses a grammar of its caller's; the words in the system text have to do.
        body["response_format"] =
            json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}});
    }
    body
}

fn content(parts: &[MessagePart]) -> Value {
    if let [MessagePart::Text { text }] = parts {
        return text.as_str().into();
    }
    let part = |part: &MessagePart| match part {
        MessagePart::Text { text } => json!({"type": "text", "text": text}),
        MessagePart::Image { media_type, base64 } => {
            json!({"type": "image_url", "image_url": {"url": data_url(media_type, base64)}})
        }
    };
    parts.iter().map(part).collect()
}

fn answer(text: &str, calls: &[ToolCall]) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        let call = |call: &ToolCall| {
            let arguments = readable(&call.arguments);
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
        };
        message["tool_calls"] = calls.iter().map(call).collect();
    }
    message
}

/// Arguments as an object: servers whose templates read them refuse a request with others, even if they wrote them.
fn readable(arguments: &str) -> String {
    let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
    if is_object { arguments.to_owned() } else { json!({ "arguments": arguments }).to_string() }
}

/// One call, as far as it came.
#[derive(Debug)]
struct PartialCall {
    index: Option<u64>,
    value: Map<String, Value>,
    arguments: String,
}

impl PartialCall {
    fn text(&self, key: &str) -> &str {
        self.value.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.value.get("function").and_then(|function| function["name"].as_str()).unwrap_or_default()
    }
}

/// The decoder of one answer.
#[derive(Debug, Default)]
pub struct ChatDecoder {
    endpoint: String,
    model: String,
    /// The number of messages in the request, for ids that are new to the conversation.
    round: usize,
    message: Map<String, Value>,
    slots: Vec<PartialCall>,
    usage: Usage,
    stop: Option<StopReason>,
    /// Whether the server says in each piece if it is the last one: one that leaves that out ends with `[DONE]` alone.
    says_stop: bool,
    declined: bool,
    done: bool,
}

impl ChatDecoder {
    /// Before the first event, as an answer to a request of `round` messages.
    pub fn new(endpoint: String, model: &str, round: usize) -> Self {
        Self { endpoint, model: model.to_owned(), round, ..Self::default() }
    }

    fn grow(&mut self, delta: &Map<String, Value>, progress: &mut CallProgress) {
        for (key, value) in delta {
            match (key.as_str(), value) {
                (_, Value::Null) => {}
                ("tool_calls", Value::Array(pieces)) => pieces.iter().for_each(|piece| self.call(piece)),
                ("content", Value::String(text)) => {
                    append(&mut self.message, key, text);
                    progress.add(text);
                }
                // Some servers send the content in parts.
                ("content", Value::Array(parts)) => {
                    for text in parts.iter().filter_map(|part| part["text"].as_str()) {
                        append(&mut self.message, key, text);
                        progress.add(text);
                    }
                }
                ("refusal", Value::String(text)) => {
                    self.declined |= !text.is_empty();
                    append(&mut self.message, key, text);
                    progress.add(text);
                }
                ("role", _) => {}
                (_, value) => merge(self.message.entry(key.as_str()).or_insert(Value::Null), value),
            }
        }
    }

    /// Adds a piece of a call. Servers name the call by its index, by its id, or not at all.
    fn call(&mut self, piece: &Value) {
        let Some(map) = piece.as_object() else { return };
        let index = piece["index"].as_u64();
        let id = piece["id"].as_str().unwrap_or_default();
        let name = piece["function"]["name"].as_str().unwrap_or_default();
        let known = match index {
            Some(_) => self.slots.iter().rposition(|slot| slot.index == index),
            None if !id.is_empty() => self.slots.iter().rposition(|slot| slot.text("id") == id),
            None => self.slots.len().checked_sub(1),
        };
        let another = |slot: &PartialCall| {
            let other_id = !id.is_empty() && !slot.text("id").is_empty() && slot.text("id") != id;
            // Whole calls, one a piece, all without an id.
            let is_complete = || serde_json::from_str::<Value>(&slot.arguments).is_ok();
            other_id || (id.is_empty() && !name.is_empty() && !slot.name().is_empty() && is_complete())
        };
        let at = known.filter(|at| !another(&self.slots[*at])).unwrap_or_else(|| {
            self.slots.push(PartialCall { index, value: Map::new(), arguments: String::new() });
            self.slots.len() - 1
        });
        let slot = &mut self.slots[at];
        match &piece["function"]["arguments"] {
            Value::String(text) => slot.arguments.push_str(text),
            Value::Null => {}
            whole => slot.arguments = whole.to_string(),
        }
        for (key, value) in map {
            match (key.as_str(), value) {
                ("index", _) | (_, Value::Null) => {}
                ("id" | "type", Value::String(text)) => {
                    if !text.is_empty() {
                        slot.value.insert(key.clone(), value.clone());
                    }
                }
                ("function", Value::Object(function)) => {
                    let mut function = function.clone();
                    function.remove("arguments");
                    // A name comes once, or again and again.
                    function
                        .retain(|key, value| !(key == "name" && value.as_str().is_none_or(str::is_empty)));
                    let kept = slot.value.entry("function").or_insert_with(|| json!({}));
                    if let Some(kept) = kept.as_object_mut() {
                        kept.extend(function);
                    }
                }
                // The call's name and arguments are written into an object.
                ("function", _) => {}
                (_, value) => merge(slot.value.entry(key.as_str()).or_insert(Value::Null), value),
            }
        }
    }
}

/// Strings and lists grow, objects merge, anything else is replaced.
fn merge(old: &mut Value, new: &Value) {
    match (old, new) {
        (Value::String(old), Value::String(new)) => old.push_str(new),
        (Value::Array(old), Value::Array(new)) => old.extend(new.iter().cloned()),
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in new {
                merge(old.entry(key.as_str()).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (old, new) => *old = new.clone(),
    }
}

impl Decoder for ChatDecoder {
    fn event(&mut self, _: &str, data: &Value, progress: &mut CallProgress) -> Result<()> {
        if !data["error"].is_null() {
            return Err(classify::in_stream(data, &[]));
        }
        if let Some(model) = data["model"].as_str().filter(|model| !model.is_empty()) {
            model.clone_into(&mut self.model);
        }
        // Other choices than the first weren't asked for.
        if let Some(choice) = data["choices"].as_array().and_then(|choices| choices.first()) {
            if !choice["error"].is_null() {
                return Err(classify::in_stream(choice, &[]));
            }
            let grown = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
            if let Some(delta) = grown.as_object() {
                self.grow(delta, progress);
            }
            self.says_stop |= choice.get("finish_reason").is_some_and(Value::is_null);
            self.stop = match choice["finish_reason"].as_str() {
                None | Some("") => self.stop,
                Some("tool_calls" | "function_call") => Some(StopReason::ToolUse),
                Some("length" | "max_tokens") => Some(StopReason::Length),
                Some("content_filter" | "refusal") => Some(StopReason::Refusal),
                Some("error") => return Err(BrainError::new(FailureClass::Crash, "the provider broke off")),
                Some(_) => Some(StopReason::End),
            };
        }
        let usage = &data["usage"];
        if usage.is_object() {
            self.usage = Usage {
                input: tokens(&usage["prompt_tokens"]),
                cached: tokens(&usage["prompt_tokens_details"]["cached_tokens"])
                    .max(tokens(&usage["prompt_cache_hit_tokens"])),
                cache_write: tokens(&usage["prompt_tokens_details"]["cache_write_tokens"]),
                output: tokens(&usage["completion_tokens"]),
            };
            progress.usage = self.usage;
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, progress: &mut CallProgress) -> Result<()> {
        self.event("", body, progress)?;
        if body["choices"].as_array().is_none_or(Vec::is_empty) {
            return Err(unreadable("it has no `choices`"));
        }
        self.stop.get_or_insert(StopReason::End);
        Ok(())
    }

    fn done(&mut self) {
        self.done = true;
    }

    fn is_whole(&self) -> bool {
        self.stop.is_some() || (self.done && !self.says_stop)
    }

    fn is_over(&self) -> bool {
        // The usage comes after the reason to stop, in a piece of its own.
        self.done
    }

    fn finish(&mut self) -> Result<Reply> {
        if !self.is_whole() || (self.message.is_empty() && self.slots.is_empty() && self.stop.is_none()) {
            return Err(cut());
        }
        let mut tool_calls = Vec::new();
        let mut message = std::mem::take(&mut self.message);
        let mut raw_calls = Vec::new();
        for (n, mut slot) in std::mem::take(&mut self.slots).into_iter().enumerate() {
            if slot.text("id").is_empty() {
                slot.value.insert("id".into(), format!("call_{}_{n}", self.round).into());
            }
            if slot.arguments.trim().is_empty() {
                slot.arguments = "{}".to_owned();
            }
            let (id, name) = (slot.text("id").to_owned(), slot.name().to_owned());
            slot.value.entry("type").or_insert_with(|| "function".into());
            let function = slot.value.entry("function").or_insert_with(|| json!({}));
            function["arguments"] = readable(&slot.arguments).into();
            raw_calls.push(Value::Object(slot.value));
            tool_calls.push(ToolCall { id, name, arguments: slot.arguments });
        }
        let field = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut text = field("content");
        if self.declined && text.is_empty() {
            text = field("refusal");
        }
        message.insert("role".into(), "assistant".into());
        message.entry("content").or_insert_with(|| "".into());
        if !raw_calls.is_empty() {
            message.insert("tool_calls".into(), Value::Array(raw_calls));
        }
        let ended = if self.declined { StopReason::Refusal } else { self.stop.unwrap_or(StopReason::End) };
        let stop = stop(ended, &tool_calls);
        let raw = raw(NAME, &self.endpoint, vec![Value::Object(message)]);
        Ok(Reply { text, tool_calls, raw, usage: self.usage, stop, model: std::mem::take(&mut self.model) })
    }
}
