//! Encodes and decodes OpenAI's Responses API (`/v1/responses`), without state on the provider's side.
//!
//! The provider stores nothing (`store: false`). Therefore the answer contains its reasoning in encrypted form. The
//! reasoning goes back unchanged with the results of the answer's calls.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Decoder, cut, data_url, echo, non_empty, raw, stop, system, tokens, unreadable};
use crate::brain::classify;
use crate::brain::{CallProgress, Message, MessagePart, Reply, Request, Result, StopReason, ToolCall, Usage};

const NAME: &str = "responses";

/// The body of a request.
pub fn encode(request: &Request, model: &str, endpoint: &str) -> Value {
    let mut input: Vec<Value> = Vec::new();
    for message in &request.messages {
        match message {
            Message::User { parts } => {
                let content: Vec<Value> = non_empty(parts).iter().map(part).collect();
                input.push(json!({"role": "user", "content": content}));
            }
            Message::Assistant { text, tool_calls, raw } => {
                if let Some(items) = echo(raw.as_ref(), NAME, endpoint) {
                    input.extend(items.iter().cloned());
                    continue;
                }
                if !text.is_empty() {
                    input.push(json!({"role": "assistant", "content": text}));
                }
                let call = |call: &ToolCall| json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments});
                input.extend(tool_calls.iter().map(call));
            }
            Message::ToolResults { results } => {
                let output = |result: &crate::brain::ToolResult| json!({"type": "function_call_output", "call_id": result.call_id, "output": result.text});
                input.extend(results.iter().map(output));
            }
        }
    }
    let mut body = json!({
        "model": model,
        "input": input,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "stream": true,
    });
    let text = system(&request.system, request.schema.as_ref());
    if !text.is_empty() {
        body["instructions"] = text.into();
    }
    if !request.tools.is_empty() {
        let tool = |tool: &crate::brain::ToolSpec| json!({"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema, "strict": false});
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(most) = request.max_output_tokens {
        body["max_output_tokens"] = most.into();
    }
    if let Some(schema) = &request.schema {
        body["text"] =
            json!({"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": false}});
    }
    body
}

fn part(part: &MessagePart) -> Value {
    match part {
        MessagePart::Text { text } => json!({"type": "input_text", "text": text}),
        MessagePart::Image { media_type, base64 } => {
            json!({"type": "input_image", "image_url": data_url(media_type, base64)})
        }
    }
}

/// The decoder of one answer.
#[derive(Debug, Default)]
pub struct ResponsesDecoder {
    endpoint: String,
    model: String,
    items: BTreeMap<u64, Value>,
    /// The text so far.
    words: String,
    usage: Usage,
    stop: Option<StopReason>,
}

impl ResponsesDecoder {
    /// Before the first event.
    pub fn new(endpoint: String, model: &str) -> Self {
        Self { endpoint, model: model.to_owned(), ..Self::default() }
    }

    /// The whole response at its end.
    fn end(&mut self, response: &Value, progress: &mut CallProgress) {
        if let Some(model) = response["model"].as_str().filter(|model| !model.is_empty()) {
            model.clone_into(&mut self.model);
        }
        // The pieces say the same, unless a server sends only pieces, or only the whole.
        if let Some(output) = response["output"].as_array().filter(|output| output.len() > self.items.len()) {
            self.items = (0..).zip(output.iter().cloned()).collect();
        }
        let usage = &response["usage"];
        if usage.is_object() {
            self.usage = Usage {
                input: tokens(&usage["input_tokens"]),
                cached: tokens(&usage["input_tokens_details"]["cached_tokens"]),
                cache_write: 0,
                output: tokens(&usage["output_tokens"]),
            };
            progress.usage = self.usage;
        }
        self.stop =
            Some(match (response["status"].as_str(), response["incomplete_details"]["reason"].as_str()) {
                (Some("incomplete"), Some("content_filter")) => StopReason::Refusal,
                (Some("incomplete"), _) => StopReason::Length,
                _ => StopReason::End,
            });
        if self.words.is_empty() {
            self.parts().filter_map(text_of).for_each(|text| progress.add(text));
        }
    }

    /// The parts of the messages.
    fn parts(&self) -> impl Iterator<Item = &Value> {
        let messages = self.items.values().filter(|item| item["type"] == "message");
        messages.flat_map(|item| item["content"].as_array().into_iter().flatten())
    }
}

fn text_of(part: &Value) -> Option<&str> {
    part["text"].as_str().or(part["refusal"].as_str())
}

fn call(item: &Value) -> ToolCall {
    let field = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let id = item["call_id"].as_str().or(item["id"].as_str()).unwrap_or_default().to_owned();
    let arguments = Some(field("arguments")).filter(|text| !text.trim().is_empty());
    ToolCall { id, name: field("name"), arguments: arguments.unwrap_or_else(|| "{}".to_owned()) }
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, name: &str, data: &Value, progress: &mut CallProgress) -> Result<()> {
        match data["type"].as_str().unwrap_or(name) {
            "response.output_text.delta" | "response.refusal.delta" => {
                if let Some(text) = data["delta"].as_str() {
                    self.words.push_str(text);
                    progress.add(text);
                }
            }
            "response.output_item.done" if data["item"].is_object() => {
                let next = self.items.last_key_value().map_or(0, |(at, _)| at + 1);
                self.items.insert(data["output_index"].as_u64().unwrap_or(next), data["item"].clone());
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                self.end(&data["response"], progress);
            }
            "response.failed" => return Err(classify::in_stream(&data["response"], &[])),
            "error" => return Err(classify::in_stream(data, &[])),
            _ if data["error"].is_object() => return Err(classify::in_stream(data, &[])),
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, progress: &mut CallProgress) -> Result<()> {
        if !body["error"].is_null() || body["status"] == "failed" {
            return Err(classify::in_stream(body, &[]));
        }
        if !body["output"].is_array() {
            return Err(unreadable("it has no `output`"));
        }
        self.end(body, progress);
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.stop.is_some()
    }

    fn finish(&mut self) -> Result<Reply> {
        let Some(ended) = self.stop else { return Err(cut()) };
        let refused = self.parts().any(|part| part["refusal"].is_string());
        let text: String = self.parts().filter_map(text_of).collect();
        let text = if text.is_empty() { std::mem::take(&mut self.words) } else { text };
        let items: Vec<Value> = std::mem::take(&mut self.items).into_values().collect();
        let tool_calls: Vec<ToolCall> =
            items.iter().filter(|item| item["type"] == "function_call").map(call).collect();
        let stop = stop(if refused { StopReason::Refusal } else { ended }, &tool_calls);
        let raw = raw(NAME, &self.endpoint, items);
        Ok(Reply { text, tool_calls, raw, usage: self.usage, stop, model: std::mem::take(&mut self.model) })
    }
}
