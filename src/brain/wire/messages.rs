//! Encodes and decodes Anthropic's Messages API (`/v1/messages`), which llama.cpp and Ollama support, too.
//!
//! The encoder sets at most three cache breakpoints (the API allows four):
//! - at the end of the system text;
//! - after the message [`Request::cache_after`];
//! - after the last message, if it holds results of tools.
//!
//! An answer of this API goes back to the same endpoint as it came, thinking blocks included.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use super::{Decoder, append, cut, echo, non_empty, raw, stop, system, tokens, unreadable};
use crate::brain::classify;
use crate::brain::{
    CallProgress, Message, MessagePart, RawTurn, Reply, Request, Result, StopReason, ToolCall, Usage,
};

const NAME: &str = "messages";
/// The default of `max_tokens`, which this format requires.
const MAX_TOKENS: u32 = 8192;

/// The body of a request.
pub fn encode(request: &Request, model: &str, endpoint: &str) -> Value {
    let mut messages: Vec<Value> = Vec::new();
    // The first message has to be a person's.
    if !matches!(request.messages.first(), Some(Message::User { .. })) {
        messages.push(json!({"role": "user", "content": [{"type": "text", "text": "(The conversation began earlier.)"}]}));
    }
    let last = request.messages.len().wrapping_sub(1);
    let mut ids = CallIds::default();
    for (at, message) in request.messages.iter().enumerate() {
        let (role, mut content) = match message {
            Message::User { parts } => ("user", non_empty(parts).iter().map(part).collect()),
            Message::Assistant { text, tool_calls, raw } => {
                ("assistant", answer(text, tool_calls, raw.as_ref(), endpoint, &mut ids))
            }
            Message::ToolResults { results } => {
                ("user", results.iter().map(|one| result(one, &ids.result(&one.call_id))).collect::<Vec<_>>())
            }
        };
        if request.cache_after == Some(at) || (at == last && matches!(message, Message::ToolResults { .. })) {
            mark(&mut content);
        }
        if !content.is_empty() {
            messages.push(json!({"role": role, "content": content}));
        }
    }
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_output_tokens.unwrap_or(MAX_TOKENS),
        "messages": messages,
        "stream": true,
    });
    let text = system(&request.system, request.schema.as_ref());
    if !text.is_empty() {
        body["system"] = json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
    }
    if !request.tools.is_empty() {
        let tool = |tool: &crate::brain::ToolSpec| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema});
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body
}

pub(crate) fn part(part: &MessagePart) -> Value {
    match part {
        MessagePart::Text { text } => json!({"type": "text", "text": text}),
        MessagePart::Image { media_type, base64 } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": base64}})
        }
    }
}

fn answer(
    text: &str,
    calls: &[ToolCall],
    raw: Option<&RawTurn>,
    endpoint: &str,
    ids: &mut CallIds,
) -> Vec<Value> {
    ids.open.clear();
    if let Some(items) = echo(raw, NAME, endpoint) {
        ids.used.extend(calls.iter().map(|call| call.id.clone()));
        return items.to_vec();
    }
    let mut content = Vec::new();
    if !text.trim().is_empty() {
        content.push(json!({"type": "text", "text": text}));
    }
    for call in calls {
        // An input has to be an object, whatever the model wrote.
        let input = serde_json::from_str(&call.arguments).ok().filter(Value::is_object);
        let input = input.unwrap_or_else(|| json!({"arguments": call.arguments}));
        content
            .push(json!({"type": "tool_use", "id": ids.call(&call.id), "name": call.name, "input": input}));
    }
    if content.is_empty() {
        content.push(json!({"type": "text", "text": "(no text)"}));
    }
    content
}

fn result(result: &crate::brain::ToolResult, id: &str) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": result.text});
    if result.is_error {
        block["is_error"] = true.into();
    }
    block
}

/// Ids of other providers may hold signs that are refused here.
fn id(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect()
}

/// The ids of a request's calls. Other servers may repeat theirs, which is refused here.
#[derive(Default)]
struct CallIds {
    used: HashSet<String>,
    /// Ids as they came, of calls whose results follow, and as they are sent.
    open: Vec<(String, String)>,
}

impl CallIds {
    fn call(&mut self, given: &str) -> String {
        let plain = id(given);
        let mut sent = plain.clone();
        while !self.used.insert(sent.clone()) {
            sent = format!("{plain}_{}", self.used.len());
        }
        self.open.push((given.to_owned(), sent.clone()));
        sent
    }

    fn result(&mut self, given: &str) -> String {
        let at = self.open.iter().position(|(id, _)| id == given);
        at.map_or_else(|| id(given), |at| self.open.remove(at).1)
    }
}

/// Puts a cache point at the last block that can bear one.
fn mark(content: &mut [Value]) {
    let bears = |block: &&mut Value| !block["type"].as_str().is_some_and(|kind| kind.contains("thinking"));
    if let Some(block) = content.iter_mut().rev().find(bears) {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

/// One block of the answer, as far as it came.
#[derive(Debug, Default)]
struct PartialBlock {
    value: Value,
    /// The input of a call, in pieces.
    input: String,
}

/// The decoder of one answer.
#[derive(Debug, Default)]
pub struct MessagesDecoder {
    endpoint: String,
    model: String,
    blocks: BTreeMap<u64, PartialBlock>,
    usage: Usage,
    stop: Option<StopReason>,
    over: bool,
}

impl MessagesDecoder {
    /// Before the first event.
    pub fn new(endpoint: String, model: &str) -> Self {
        Self { endpoint, model: model.to_owned(), ..Self::default() }
    }

    fn begin(&mut self, message: &Value, progress: &mut CallProgress) {
        if let Some(model) = message["model"].as_str().filter(|model| !model.is_empty()) {
            model.clone_into(&mut self.model);
        }
        self.count(&message["usage"], progress);
    }

    /// Counts are cumulative; a later event may leave out what an earlier one said.
    fn count(&mut self, usage: &Value, progress: &mut CallProgress) {
        if !usage.is_object() {
            return;
        }
        let old = self.usage;
        let before = old.input.saturating_sub(old.cached).saturating_sub(old.cache_write);
        let count = |key: &str, old: u64| if usage[key].is_null() { old } else { tokens(&usage[key]) };
        let fresh = count("input_tokens", before);
        self.usage.cached = count("cache_read_input_tokens", old.cached);
        self.usage.cache_write = count("cache_creation_input_tokens", old.cache_write);
        self.usage.input = fresh.saturating_add(self.usage.cached).saturating_add(self.usage.cache_write);
        self.usage.output = count("output_tokens", old.output);
        progress.usage = self.usage;
    }

    fn delta(&mut self, data: &Value, progress: &mut CallProgress) {
        let Some(at) = data["index"].as_u64() else { return };
        let block =
            self.blocks.entry(at).or_insert_with(|| PartialBlock { value: json!({}), input: String::new() });
        let Some(map) = block.value.as_object_mut() else { return };
        let delta = &data["delta"];
        let text = |key: &str| delta[key].as_str().unwrap_or_default();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                map.entry("type").or_insert_with(|| "text".into());
                append(map, "text", text("text"));
                progress.add(text("text"));
            }
            "input_json_delta" => block.input.push_str(text("partial_json")),
            "thinking_delta" => append(map, "thinking", text("thinking")),
            "signature_delta" => append(map, "signature", text("signature")),
            "citations_delta" => {
                let list = map.entry("citations").or_insert_with(|| json!([]));
                if let Some(list) = list.as_array_mut() {
                    list.push(delta["citation"].clone());
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, reason: &Value) {
        self.stop = match reason.as_str() {
            None => self.stop,
            Some("tool_use") => Some(StopReason::ToolUse),
            Some("max_tokens" | "model_context_window_exceeded") => Some(StopReason::Length),
            Some("refusal") => Some(StopReason::Refusal),
            Some(_) => Some(StopReason::End),
        };
    }
}

impl Decoder for MessagesDecoder {
    fn event(&mut self, name: &str, data: &Value, progress: &mut CallProgress) -> Result<()> {
        match data["type"].as_str().unwrap_or(name) {
            "message_start" => self.begin(&data["message"], progress),
            "content_block_start" => {
                if let (Some(at), Value::Object(_)) = (data["index"].as_u64(), &data["content_block"]) {
                    let block = PartialBlock { value: data["content_block"].clone(), input: String::new() };
                    progress.add(block.value["text"].as_str().unwrap_or_default());
                    self.blocks.insert(at, block);
                }
            }
            "content_block_delta" => self.delta(data, progress),
            "message_delta" => {
                self.ended(&data["delta"]["stop_reason"]);
                self.count(&data["usage"], progress);
            }
            "message_stop" => self.over = true,
            "error" => return Err(classify::in_stream(data, &[])),
            _ if data["error"].is_object() => return Err(classify::in_stream(data, &[])),
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, progress: &mut CallProgress) -> Result<()> {
        if !body["error"].is_null() {
            return Err(classify::in_stream(body, &[]));
        }
        let Some(content) = body["content"].as_array() else { return Err(unreadable("it has no `content`")) };
        self.begin(body, progress);
        for (at, value) in (0..).zip(content) {
            progress.add(value["text"].as_str().unwrap_or_default());
            self.blocks.insert(at, PartialBlock { value: value.clone(), input: String::new() });
        }
        self.ended(&body["stop_reason"]);
        self.over = true;
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.over
    }

    fn finish(&mut self) -> Result<Reply> {
        if !self.over {
            return Err(cut());
        }
        let (mut text, mut tool_calls, mut items) = (String::new(), Vec::new(), Vec::new());
        for (_, PartialBlock { mut value, input }) in std::mem::take(&mut self.blocks) {
            match value["type"].as_str() {
                Some("text") => {
                    let block_text = value["text"].as_str().unwrap_or_default();
                    // An empty text can't go back.
                    if block_text.is_empty() {
                        continue;
                    }
                    text.push_str(block_text);
                }
                Some("tool_use") => {
                    let field = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
                    let arguments = if input.trim().is_empty() {
                        if value["input"].is_object() { value["input"].to_string() } else { "{}".to_owned() }
                    } else {
                        input
                    };
                    let call = ToolCall { id: field("id"), name: field("name"), arguments };
                    let input = serde_json::from_str(&call.arguments).ok().filter(Value::is_object);
                    value["input"] = input.unwrap_or_else(|| json!({"arguments": call.arguments}));
                    tool_calls.push(call);
                }
                Some(_) => {}
                None => continue,
            }
            items.push(value);
        }
        let stop = stop(self.stop.unwrap_or(StopReason::End), &tool_calls);
        let raw = raw(NAME, &self.endpoint, items);
        Ok(Reply { text, tool_calls, raw, usage: self.usage, stop, model: std::mem::take(&mut self.model) })
    }
}
