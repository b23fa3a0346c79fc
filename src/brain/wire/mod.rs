//! Encodes and decodes the three HTTP formats of providers (pure), and makes the HTTP calls.
//!
//! [`WireFormat::encode`] turns a request into a JSON body. A [`Decoder`] is a state machine over the events of an
//! event stream. The decoder keeps the parts of a provider's answer as raw JSON and reports the progress of the answer.
//! Neither uses a socket or a clock; only [`http`] does.
//!
//! `messages`, `responses`, `chat`: one file for each format.

pub mod chat;
pub mod http;
pub mod messages;
pub mod responses;

use serde_json::{Map, Value};

use super::call_result::{BrainError, CallProgress, FailureClass, Reply, Result, StopReason};
use super::request::{MessagePart, RawTurn, Request, ToolCall};
use crate::words::words;

pub use http::{BrainTimeouts, WireBrain};

words! {
    /// An HTTP format.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum WireFormat, name {
        /// Anthropic's Messages.
        Messages = "messages",
        /// OpenAI's Responses.
        Responses = "responses",
        /// OpenAI's Chat Completions, spoken by everything local too.
        Chat = "chat",
    }
}

impl WireFormat {
    /// The whole URL of `base`, which may end in a version (`/v1`, `/v1beta/openai`) or not, or be whole already. A query
    /// stays at the end.
    pub fn url(self, base: &str) -> String {
        if let Some((base, query)) = base.split_once('?') {
            return format!("{}?{query}", self.url(base));
        }
        let base = base.trim().trim_end_matches('/');
        let path = match self {
            Self::Messages => "messages",
            Self::Responses => "responses",
            Self::Chat => "chat/completions",
        };
        let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
        let is_version = |piece: &str| {
            piece.strip_prefix('v').is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()))
        };
        if rest.ends_with(&format!("/{path}")) {
            base.to_owned()
        } else if rest.split('/').skip(1).any(is_version) {
            format!("{base}/{path}")
        } else {
            format!("{base}/v1/{path}")
        }
    }

    /// The JSON body of `request` for `model` at `base`.
    pub fn encode(self, request: &Request, base: &str, model: &str) -> Value {
        let id = endpoint(base, model);
        match self {
            Self::Messages => messages::encode(request, model, &id),
            Self::Responses => responses::encode(request, model, &id),
            Self::Chat => chat::encode(request, base, model, &id),
        }
    }

    /// The decoder of one answer to `request`.
    pub fn decoder(self, request: &Request, base: &str, model: &str) -> Box<dyn Decoder> {
        let id = endpoint(base, model);
        match self {
            Self::Messages => Box::new(messages::MessagesDecoder::new(id, model)),
            Self::Responses => Box::new(responses::ResponsesDecoder::new(id, model)),
            Self::Chat => Box::new(chat::ChatDecoder::new(id, model, request.messages.len())),
        }
    }
}

/// The name of an endpoint in [`crate::brain::RawTurn`].
fn endpoint(base: &str, model: &str) -> String {
    format!("{} {model}", base.trim().trim_end_matches('/'))
}

/// A state machine over the events of one answer. However the bytes were cut, the answer is the same.
pub trait Decoder: Send {
    /// Decodes one event, by its name and its data, and counts it in `progress`. The caller drops what an event counted
    /// that fails.
    ///
    /// # Errors
    /// The provider reports an error, or the event can't be read. The answer is lost.
    fn event(&mut self, name: &str, data: &Value, progress: &mut CallProgress) -> Result<()>;

    /// Decodes a whole answer, as a server sends it that doesn't stream. It counts as [`Decoder::event`] does.
    ///
    /// # Errors
    /// It is an error, or no answer.
    fn whole(&mut self, body: &Value, progress: &mut CallProgress) -> Result<()>;

    /// The data `[DONE]`: nothing follows.
    fn done(&mut self) {}

    /// Whether the answer is whole, so that the end of the stream is no cut.
    fn is_whole(&self) -> bool;

    /// Whether nothing more is awaited.
    fn is_over(&self) -> bool {
        self.is_whole()
    }

    /// The answer.
    ///
    /// # Errors
    /// It isn't whole.
    fn finish(&mut self) -> Result<Reply>;
}

/// The stream ended before the answer did.
pub(crate) fn cut() -> BrainError {
    BrainError::new(FailureClass::Crash, "the answer was cut off before its end")
}

/// An answer that isn't one.
pub(crate) fn unreadable(what: &str) -> BrainError {
    BrainError::new(FailureClass::Crash, format!("the answer can't be read: {what}"))
}

/// The items of `raw`, if this wire and this endpoint sent them.
pub fn echo<'a>(raw: Option<&'a RawTurn>, wire: &str, endpoint: &str) -> Option<&'a [Value]> {
    let raw = raw.filter(|raw| raw.wire == wire && raw.endpoint == endpoint)?;
    (!raw.items.is_empty()).then_some(&raw.items)
}

/// The items of an answer, to be echoed.
pub fn raw(wire: &str, endpoint: &str, items: Vec<Value>) -> Option<RawTurn> {
    (!items.is_empty()).then(|| RawTurn { wire: wire.to_owned(), endpoint: endpoint.to_owned(), items })
}

/// The system text; a schema stands in it in words, because not every server takes one.
pub fn system(system: &str, schema: Option<&Value>) -> String {
    match schema {
        None => system.to_owned(),
        Some(schema) => {
            let gap = if system.is_empty() { "" } else { "\n\n" };
            format!(
                "{system}{gap}Answer with JSON alone, without a code fence. It must fit this JSON schema: {schema}"
            )
        }
    }
}

/// The parts that say something. Providers refuse empty texts and empty messages.
pub fn non_empty(parts: &[MessagePart]) -> Vec<MessagePart> {
    let empty = |part: &MessagePart| matches!(part, MessagePart::Text { text } if text.trim().is_empty());
    let non_empty: Vec<MessagePart> = parts.iter().filter(|part| !empty(part)).cloned().collect();
    if non_empty.is_empty() { vec![MessagePart::Text { text: "(no text)".to_owned() }] } else { non_empty }
}

/// A picture as a URL.
pub fn data_url(media_type: &str, base64: &str) -> String {
    format!("data:{media_type};base64,{base64}")
}

/// A number of tokens; of an absurd one so many that sums of them fit everywhere.
pub fn tokens(value: &Value) -> u64 {
    const MOST: u64 = 1 << 40;
    value.as_u64().unwrap_or_else(|| value.as_f64().map_or(0, |n| n as u64)).min(MOST)
}

/// Appends a string to the string under `key`.
pub fn append(map: &mut Map<String, Value>, key: &str, more: &str) {
    match map.get_mut(key) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            map.insert(key.to_owned(), Value::String(more.to_owned()));
        }
    }
}

/// The content without the thoughts that servers of local models may leave before it: up to `</think>`. A model's
/// template may have put its `<think>` into the request; then the tag is a line of its own, since an answer about such
/// tags has it among its words. An answer that reached its length limit within its thoughts has nothing else.
fn without_thoughts(content: &str, is_cut: bool) -> &str {
    if is_cut && content.trim_start().starts_with("<think>") && !content.contains("</think>") {
        return "";
    }
    let thoughts = content.split_once("</think>").filter(|(thoughts, said)| {
        let is_line = || thoughts.ends_with('\n') && said.trim_start_matches([' ', '\r']).starts_with('\n');
        thoughts.trim_start().starts_with("<think>") || (is_line() && !thoughts.contains("<think>"))
    });
    thoughts.map_or(content, |(_, said)| said.trim_start())
}

/// Why an answer ended, corrected by its calls: some servers say `stop` for an answer with calls.
pub fn stop(reason: StopReason, calls: &[ToolCall]) -> StopReason {
    match reason {
        StopReason::End if !calls.is_empty() => StopReason::ToolUse,
        StopReason::ToolUse if calls.is_empty() => StopReason::End,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_numbers_of_tokens_can_be_added_up() {
        for (text, count) in [
            ("7", 7),
            ("7.9", 7),
            ("-1", 0),
            ("-1.5", 0),
            ("\"7\"", 0),
            ("18446744073709551615", 1 << 40),
            ("1e300", 1 << 40),
        ] {
            assert_eq!(tokens(&serde_json::from_str(text).unwrap()), count, "{text}");
        }
    }

    #[test]
    fn urls_with_and_without_a_version() {
        let table = [
            ("https://api.anthropic.com", WireFormat::Messages, "https://api.anthropic.com/v1/messages"),
            ("https://api.openai.com/v1/", WireFormat::Responses, "https://api.openai.com/v1/responses"),
            ("http://127.0.0.1:8080", WireFormat::Chat, "http://127.0.0.1:8080/v1/chat/completions"),
            (
                "https://openrouter.ai/api/v1",
                WireFormat::Chat,
                "https://openrouter.ai/api/v1/chat/completions",
            ),
            ("https://openrouter.ai/api", WireFormat::Chat, "https://openrouter.ai/api/v1/chat/completions"),
            (
                "https://h.example/openai/v1?api-version=preview",
                WireFormat::Responses,
                "https://h.example/openai/v1/responses?api-version=preview",
            ),
            (
                "https://g.example/v1beta/openai",
                WireFormat::Chat,
                "https://g.example/v1beta/openai/chat/completions",
            ),
            ("https://v1.example", WireFormat::Chat, "https://v1.example/v1/chat/completions"),
            ("http://h/v1/chat/completions", WireFormat::Chat, "http://h/v1/chat/completions"),
        ];
        for (base, wire, url) in table {
            assert_eq!(wire.url(base), url);
        }
    }
}
